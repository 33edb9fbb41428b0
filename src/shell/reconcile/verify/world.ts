import type { StateCommit } from "../../../core/audit/audit-chain.ts";
import { commitLines } from "../../../core/model/commit.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import type { World } from "../../../core/model/plan.ts";
import type { TrustRecord } from "../../../core/model/trust.ts";
import { type Commit, type Instant, instantOf } from "../../../core/model/value.ts";
import { readArchive } from "../archive.ts";
import { Fault } from "../fault.ts";
import { readHistory } from "../history.ts";
import type { Memory, State } from "../memory.ts";
import type { Ports, RawCommit, Repository } from "../ports.ts";
import { parentsOf } from "../repository-queries.ts";
import { readSource } from "../source.ts";

type Sources = Pick<Ports, "repository" | "verifier">;

/** One step of the state branch. */
interface StateStep {
  readonly before: State;
  readonly after: State;
}

/** The world that the writer of a state commit saw, and the files of its source commit that are read. */
interface WriterView {
  readonly world: World;
  readonly files: State["accepted"];
}

/** The world as a commit's writer saw it, but for the members; null where its source commit is not here. */
export async function worldAt(
  { repository, verifier }: Sources,
  memory: Memory,
  { before, after, at }: StateStep & { readonly at: Instant },
): Promise<WriterView | null> {
  const head = after.ledger.sourceCommit;
  if (head === null) return null;
  const from = before.ledger.sourceCommit;
  // Whether it follows is looked at on its own.
  const acceptRewrite = from === null || from === head ? null : { from, to: head };
  const settings = { members: "record", patience: "none", acceptRewrite, trustAnchor: null } as const;
  const source = await readSource(repository, head, before, { memory, settings }).catch(orMissing);
  if (source === null) return null;
  const trustAnchor = anchorOf(before.ledger.trust, after.ledger.trust);
  const { intent } = source;
  const history = await readHistory({ repository, verifier }, memory, {
    source,
    ledger: before.ledger,
    anchor: trustAnchor,
    now: at,
  }).catch(orMissing);
  if (history === null) return null;
  const isProtected = (after.ledger.trust?.trust.protectedTargets.length ?? 0) > 0;
  const archive = isProtected ? await readArchive(repository, after.ledger, intent, memory) : new Map();
  const world: World = {
    intent,
    ledger: before.ledger,
    observed: new Map(),
    unsound: newlyUnsound(before.ledger, after.ledger),
    archive,
    history,
    trustAnchor,
    now: at,
    entropy: "",
    clockOffset: null,
    patience: "none",
  };
  return { world, files: intent.files };
}

/** The placements whose plan failed in this step, by what was recorded of that. */
const newlyUnsound = (before: Ledger, after: Ledger): World["unsound"] =>
  new Map(
    [...after.quarantines]
      .filter(([key, it]) => before.quarantines.get(key) !== it)
      .map(([key, { violations }]) => [key, violations]),
  );

/** The anchor that the operator must have given then; whether it is the right one is asked at the end. */
const anchorOf = (before: TrustRecord | null, after: TrustRecord | null) =>
  after !== null && after.by === "anchor" && after.trust.digest !== before?.trust.digest ? after.trust.digest : null;

function orMissing(error: unknown): null {
  if (error instanceof Fault && (error.code === "RepositoryCorrupt" || error.code === "ObjectUnsound")) return null;
  throw error;
}

/** Whether a commit of the source branch is, or follows, another; no where either is not here. */
export const followsSource = (repository: Repository, commit: Commit, ancestor: Commit): Promise<boolean> =>
  repository.descends(commit, ancestor).catch((error: unknown) => {
    if (error instanceof Fault) return false;
    throw error;
  });

/** The facts in a commit of the state branch, from its bytes. */
export async function stateCommitOf(
  { repository, verifier }: Sources,
  raw: RawCommit,
  { before, after }: StateStep,
): Promise<StateCommit> {
  const text = new TextDecoder().decode(raw.raw);
  const at = decidedAt(commitLines(raw.raw)?.committer ?? "", trailer(text, "Decided-At"));
  const certificates = certificatesOf(before.ledger.trust ?? after.ledger.trust);
  const { signature } = await verifier.commit({ ...raw, changes: [], merge: null }, certificates, at);
  const [from, to] = [before.ledger.sourceCommit, after.ledger.sourceCommit];
  const isForward = from === null || from === to || (to !== null && (await followsSource(repository, to, from)));
  return {
    commit: raw.commit,
    parents: parentsOf(raw.raw).length,
    sourceCommit: trailer(text, "Source-Commit"),
    sequence: trailer(text, "Ledger-Sequence"),
    decisionVersion: trailer(text, "Decision-Version"),
    signature,
    at,
    isForward,
  };
}

/** The moment that a decision was made at: what the message says, where that is within the second of the commit's date. */
function decidedAt(committer: string, said: string | null): Instant {
  const second = Number(/ (\d+) [+-]\d{4}$/.exec(committer)?.[1] ?? 0) * 1000;
  const at = said === null ? null : instantOf(said);
  return at !== null && at >= second && at < second + 1000 ? at : (second as Instant);
}

/** Every OpenPGP certificate that a trust file lists. */
const certificatesOf = (record: TrustRecord | null): readonly string[] =>
  [...(record?.trust.principals.values() ?? [])].flatMap((it) => [...it.openPgp.values()]);

/** The last line that says it: what was decided stands above, in other people's words. */
const trailer = (text: string, name: string): string | null =>
  [...text.matchAll(new RegExp(`^${name}: (.*)$`, "gm"))].at(-1)?.[1] ?? null;
