import type { HeldDeletion } from "../../../core/model/deletion.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import type { EvictionRecord } from "../../../core/model/placement.ts";
import {
  type ClusterName,
  type DurationMs,
  later,
  minutes,
  oneLine,
  type PlacementKey,
  seconds,
} from "../../../core/model/value.ts";
import { deletionSetLines } from "../../../core/report/deletion-text.ts";
import { someNames as listed, quantity } from "../../../core/report/phrases.ts";
import { evictionVerdict } from "../../../core/report/tables.ts";
import type { State } from "../../../shell/reconcile/memory.ts";
import type { Clock, Repository } from "../../../shell/reconcile/ports.ts";
import { readStateBranch } from "../../../shell/reconcile/state.ts";
import { type CommitOptions, commitFiles } from "../../hub/commit-files.ts";
import { clockOf, closing, openReconcilerRecord, originUrl } from "../../hub/wire.ts";
import type { WorkTree } from "../../hub/work-tree.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { recheckDeletions } from "../approvals/approval-record.ts";
import { confirmationCommit } from "../approvals/confirm.ts";

/** What a drain is asked for. */
export interface DrainOptions extends CommitOptions {
  readonly cluster: string;
  /** Waits for what becomes of it, at most two minutes. */
  readonly wait?: boolean;
  /** Commits the confirmation as well that taking a whole cluster's objects away may need. */
  readonly confirm?: boolean;
}

/** A drain that was committed. */
interface CommittedDrain {
  readonly workTree: WorkTree;
  readonly cluster: ClusterName;
  /** Of its evictions. */
  readonly names: readonly string[];
}

/** A reconciler judges within seconds; one that does not is not running, or has other worries. */
const limit = minutes(2);

/** Waits for what becomes of a drain, tells it, and commits the confirmation that it takes, where that is asked for. */
export async function awaitDrain(
  drained: CommittedDrain,
  options: DrainOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { cluster, names, workTree } = drained;
  const unseen = await whyNotReadYet(options, workTree);
  if (options.wait === false || unseen !== null) {
    if (unseen !== null) terminal.out(`${oneLine(unseen)}\n`);
    if (options.confirm === true) terminal.err("warning: nothing is confirmed yet: run flotilla confirm then\n");
    terminal.out("to see the results: flotilla get evictions\n");
    return exitCodes.done;
  }
  const verdicts: EvictionRecord[] = [];
  const tell = (record: EvictionRecord): void => {
    verdicts.push(record);
    terminal.out(`${oneLine(verdictText(record))}\n`);
  };
  return closing(await openReconcilerRecord(options, terminal.environment), async (repository) => {
    const { ledger, missing } = await awaitEvictions(names, { repository, clock: clockOf(terminal), limit, tell });
    if (missing.length > 0) terminal.err(missingText(missing));
    const executed = verdicts.filter((it) => evictionVerdict(it).outcome === "Executed");
    const evicted = executed.map((it) => it.placement);
    await settleDeletions({ held: heldOf(ledger, cluster), evicted, ...drained }, options, terminal);
    return executed.length === names.length ? exitCodes.done : exitCodes.stuck;
  });
}

/** Why no reconciler reads the commit yet; null when one may. */
async function whyNotReadYet({ pr, push, branch }: DrainOptions, { author }: WorkTree): Promise<string | null> {
  if (pr === true) return "they are processed once the pull request is merged";
  if (author.branch !== branch) return `they are processed once they are on ${branch}`;
  if (push !== true && (await originUrl({ repo: author.name })) !== null)
    return "they are processed once origin has them: git push";
  return null;
}

function verdictText(record: EvictionRecord): string {
  const { outcome, message } = evictionVerdict(record);
  const { placement, cluster } = record;
  switch (outcome) {
    case "Executed":
      return `${placement} leaves ${cluster}: ${message}`;
    case "Refused":
      return `${placement} stays on ${cluster}: refused: ${message}`;
    case "Invalid":
      return `${placement} stays on ${cluster}: invalid: ${message}`;
  }
}

const missingText = (missing: readonly string[]): string =>
  `error: no reconciler processed ${listed(missing)} within two minutes\n` +
  "  check that one is running (flotilla reconcile --watch); flotilla get evictions shows the results\n";

/** Sets of deletions on a cluster that wait for a person. */
const heldOf = ({ deletions }: Ledger, cluster: ClusterName): readonly HeldDeletion[] =>
  deletions.held.filter((it) => !it.confirmed && it.groups.some(({ clusters }) => clusters.includes(cluster)));

interface Held extends CommittedDrain {
  readonly held: readonly HeldDeletion[];
  readonly evicted: readonly PlacementKey[];
}

/** Confirms what this drain took away and nothing else; of what waits besides, or unasked, it says how to. */
async function settleDeletions(
  { held, evicted, cluster, workTree }: Held,
  options: DrainOptions,
  terminal: Terminal,
): Promise<void> {
  for (const set of held) {
    const isOwn = set.groups.every(
      (it) => evicted.includes(it.placement) && it.clusters.every((name) => name === cluster),
    );
    for (const line of deletionSetLines(set)) terminal.out(`${oneLine(line)}\n`);
    if (options.confirm === true && isOwn) {
      const objection = recheckDeletions(set, false, options, terminal.environment);
      await commitFiles(workTree.author, { ...confirmationCommit(set), objection }, options, terminal);
      continue;
    }
    if (options.confirm === true) terminal.err("warning: not confirmed, as it deletes more than this drain evicted\n");
    terminal.out(`to confirm them: flotilla confirm ${set.digest}\n`);
  }
  if (options.confirm === true && held.length === 0 && evicted.length > 0)
    terminal.out(`nothing of ${quantity(evicted.length, "placement")} waits for a confirmation\n`);
}

/** Between two looks at the record. */
const pause = seconds(1);

/** Where verdicts are looked for, by which clock, and who is told of each. */
interface EvictionWatch {
  readonly repository: Repository;
  readonly clock: Clock;
  readonly limit: DurationMs;
  readonly tell: (record: EvictionRecord) => void;
}

/** What is recorded when the waiting is over. */
interface AwaitedEvictions {
  readonly ledger: Ledger;
  /** Evictions that nobody judged in time, in the order in which they were given. */
  readonly missing: readonly string[];
}

/** Looks at the record until each of these evictions was judged, or the time is up. Tells of each verdict once. */
async function awaitEvictions(names: readonly string[], watch: EvictionWatch): Promise<AwaitedEvictions> {
  const { repository, clock, limit, tell } = watch;
  const deadline = later(clock.now(), limit);
  let missing = names;
  let known: State | null = null;
  for (;;) {
    const { state: head } = await repository.heads();
    if (known === null || known.commit !== head) known = await readStateBranch(repository, head, known);
    const { ledger } = known;
    for (const name of missing) {
      const record = ledger.evictions.get(name);
      if (record !== undefined) tell(record);
    }
    missing = missing.filter((it) => !ledger.evictions.has(it));
    if (missing.length === 0 || clock.now() >= deadline) return { ledger, missing };
    await clock.sleepUntil(later(clock.now(), pause), new AbortController().signal);
  }
}
