import { oneLine } from "../../../core/model/one-line.ts";
import type { ClusterName, PlacementKey } from "../../../core/model/value.ts";
import type { AuthoredFile } from "../../../shell/reconcile/ports.ts";
import {
  calledOff,
  changedFile,
  cordoned,
  drainPlan,
  isThere,
  newEviction,
  uncordoned,
  whyNotEvicted,
} from "../../edits/drain.ts";
import { type FoundDocument, filesWithout } from "../../edits/found-document.ts";
import { undefinedObject } from "../../edits/new-object.ts";
import { type DeliveryOptions, declined, deliver } from "../../hub/commit-files.ts";
import { readRecord } from "../../hub/record.ts";
import { openWorkplace, type Workplace } from "../../hub/work-tree.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { nothingOf } from "../../terminal/outcome.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { outcomeOf } from "./drain-outcome.ts";

/** What `flotilla evict` is given. */
export interface EvictOptions extends DeliveryOptions {
  readonly placement: string;
  readonly cluster: string;
}

/** Writes an eviction: one placement leaves one cluster, once, as its disruption budget allows. */
export async function evict(options: EvictOptions, terminal: Terminal): Promise<ExitCode> {
  const { placement, cluster } = options;
  const workplace = await openWorkplace(options);
  const ledger = await readRecord(options, terminal.environment);
  const record = ledger.placements.get(placement as PlacementKey);
  if (record === undefined) {
    terminal.err(nothingOf(`placement ${placement}`, [...ledger.placements.keys()]));
    return exitCodes.usage;
  }
  if (!isThere(record, cluster as ClusterName)) {
    const clusters = [...record.bindings.keys()].filter((it) => isThere(record, it));
    terminal.err(nothingOf(`${placement} on ${cluster}`, clusters));
    return exitCodes.usage;
  }
  const because = whyNotEvicted(record, cluster as ClusterName, ledger);
  if (because !== null) return declined(`${placement} cannot be evicted`, because, terminal);
  const { file } = newEviction(workplace, ledger, { placement, cluster });
  if (file === null) {
    terminal.out(`${placement} is to be evicted from ${cluster} already: it waits to be judged\n`);
    return exitCodes.done;
  }
  const slug = `evict-${placement}-${cluster}`;
  const subject = `Evict ${placement} from ${cluster}`;
  return deliver(workplace.author, { files: [file], subject, slug }, options, terminal);
}

/** What `flotilla drain` is given. */
export interface DrainOptions extends DeliveryOptions {
  readonly cluster: string;
  /** Waits for what becomes of it, at most two minutes. */
  readonly wait?: boolean;
  /** Commits the confirmation as well that taking a whole cluster's objects away may need. */
  readonly confirm?: boolean;
}

/** Keeps new placements off a cluster, evicts those that are there, and tells what became of each. */
export async function drain(options: DrainOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster, wait = true, confirm = false, dryRun = false, pr = false } = options;
  if (confirm && (!wait || pr || dryRun))
    return declined(
      "--confirm confirms what the evictions took away, once they are judged",
      "leave out --no-wait, --pr and --dry-run; flotilla confirm does it later",
      terminal,
    );
  const workplace = await openWorkplace(options);
  const member = memberFile(workplace, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const ledger = await readRecord(options, terminal.environment);
  const edit = cordoned(member);
  if (edit.kind === "unsupported") return unsupported(member, "add the taint", terminal);
  if (ledger.fleet === "") terminal.err("warning: nothing is recorded of this fleet yet: nothing is evicted\n");
  const plan = drainPlan(ledger, cluster as ClusterName);
  for (const { placement, because } of plan.stays) terminal.err(`warning: ${placement} stays: ${oneLine(because)}\n`);
  const evictions = plan.evict.map((placement) => newEviction(workplace, ledger, { placement, cluster }));
  const files = [...changedFile(member, edit), ...evictions.flatMap((it) => it.file ?? [])];
  if (files.length === 0 && evictions.length === 0) {
    terminal.out(`${cluster} is drained already: it has the taint, and nothing is there to evict\n`);
    return exitCodes.done;
  }
  const written = { files, subject: `Drain ${cluster}`, slug: `drain-${cluster}` };
  if (files.length > 0) await deliver(workplace.author, written, options, terminal);
  else terminal.out(`${cluster} is to be drained already: its evictions wait to be judged\n`);
  const names = evictions.map((it) => it.name);
  if (dryRun || names.length === 0) return exitCodes.done;
  return outcomeOf({ workplace, names, cluster: cluster as ClusterName }, options, terminal);
}

/** What `flotilla uncordon` is given. */
export interface UncordonOptions extends DeliveryOptions {
  readonly cluster: string;
}

/** Lets placements on a cluster again, and removes the evictions from it that came to nothing. */
export async function uncordon(options: UncordonOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster } = options;
  const workplace = await openWorkplace(options);
  const member = memberFile(workplace, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const edit = uncordoned(member);
  if (edit.kind === "unsupported") return unsupported(member, "remove the taint", terminal);
  const ledger = await readRecord(options, terminal.environment);
  const { files: dropped, stuck } = filesWithout(calledOff(workplace, ledger, cluster));
  for (const path of stuck)
    terminal.err(`warning: ${oneLine(path)} cannot be edited; remove the eviction in it by hand\n`);
  const files: readonly AuthoredFile[] = [...changedFile(member, edit), ...dropped];
  if (files.length === 0) {
    terminal.out(`${cluster} has no taint of a drain, and no eviction there waits\n`);
    return exitCodes.done;
  }
  const written = { files, subject: `Uncordon ${cluster}`, slug: `uncordon-${cluster}` };
  return deliver(workplace.author, written, options, terminal);
}

/** Where the MemberCluster of a name is defined; null when that is nowhere or in several places, which is said. */
export function memberFile(workplace: Workplace, cluster: string, terminal: Terminal): FoundDocument | null {
  const wanted = { kind: "MemberCluster", namespace: null, name: cluster };
  const found = workplace.find(wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) {
    const { message, fix } = undefinedObject(workplace, wanted);
    declined(message, fix, terminal);
  } else
    declined(
      `several files define ${cluster}: ${found.map((it) => it.path).join(", ")}`,
      "remove all but one",
      terminal,
    );
  return null;
}

/** That a file is laid out in a way that cannot be edited without loss. */
export const unsupported = ({ path }: FoundDocument, what: string, terminal: Terminal): ExitCode =>
  declined(`${path} cannot be edited`, `${what} cordon-key=cordon-value:NoSchedule by hand`, terminal);
