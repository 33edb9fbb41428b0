import { type ClusterName, oneLine, type PlacementKey } from "../../../core/model/value.ts";
import type { AuthoredFile } from "../../../shell/reconcile/ports.ts";
import {
  changedFile,
  cordoned,
  drainPlan,
  isScheduledOn,
  newEviction,
  uncordoned,
  unexecutedEvictions,
  whyNotEvicted,
} from "../../edits/drain.ts";
import { type FoundDocument, filesWithout } from "../../edits/found-document.ts";
import { undefinedObject } from "../../edits/new-object.ts";
import { type CommitOptions, commitFiles, usageError } from "../../hub/commit-files.ts";
import { readRecordedLedger } from "../../hub/record.ts";
import { loadWorkTree, type WorkTree } from "../../hub/work-tree.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { unknownText } from "../../terminal/outcome.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { awaitDrain, type DrainOptions } from "./drain-outcome.ts";

export interface EvictOptions extends CommitOptions {
  readonly placement: string;
  readonly cluster: string;
}

/** Writes an eviction: one placement leaves one cluster, once, as its disruption budget allows. */
export async function evictPlacement(options: EvictOptions, terminal: Terminal): Promise<ExitCode> {
  const { placement, cluster } = options;
  const workTree = await loadWorkTree(options);
  const ledger = await readRecordedLedger(options, terminal.environment);
  const record = ledger.placements.get(placement as PlacementKey);
  if (record === undefined) {
    terminal.err(unknownText(`placement ${placement}`, [...ledger.placements.keys()]));
    return exitCodes.usage;
  }
  if (!isScheduledOn(record, cluster as ClusterName)) {
    const clusters = [...record.bindings.keys()].filter((it) => isScheduledOn(record, it));
    terminal.err(unknownText(`${placement} on ${cluster}`, clusters));
    return exitCodes.usage;
  }
  const because = whyNotEvicted(record, cluster as ClusterName, ledger);
  if (because !== null) return usageError(`${placement} cannot be evicted`, because, terminal);
  const { file } = newEviction(workTree, ledger, { placement, cluster });
  if (file === null) {
    terminal.out(`${placement} is already to be evicted from ${cluster}: it waits to be processed\n`);
    return exitCodes.done;
  }
  const slug = `evict-${placement}-${cluster}`;
  const subject = `Evict ${placement} from ${cluster}`;
  return commitFiles(workTree.author, { files: [file], subject, slug }, options, terminal);
}

/** Keeps new placements off a cluster, evicts those that are there, and prints the result of each. */
export async function drain(options: DrainOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster, wait = true, confirm = false, dryRun = false, pr = false } = options;
  if (confirm && (!wait || pr || dryRun))
    return usageError(
      "--confirm confirms what the evictions delete, once they are processed",
      "leave out --no-wait, --pr and --dry-run; flotilla confirm does it later",
      terminal,
    );
  const workTree = await loadWorkTree(options);
  const member = findMemberFile(workTree, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const ledger = await readRecordedLedger(options, terminal.environment);
  const edit = cordoned(member);
  if (edit.kind === "unsupported") return cannotEdit(member, "add the taint", terminal);
  if (ledger.fleet === "") terminal.err("warning: nothing is recorded of this fleet yet: nothing is evicted\n");
  const plan = drainPlan(ledger, cluster as ClusterName);
  for (const { placement, because } of plan.stays) terminal.err(`warning: ${placement} stays: ${oneLine(because)}\n`);
  const evictions = plan.evict.map((placement) => newEviction(workTree, ledger, { placement, cluster }));
  const files = [...changedFile(member, edit), ...evictions.flatMap((it) => it.file ?? [])];
  if (files.length === 0 && evictions.length === 0) {
    terminal.out(`${cluster} is already drained: it has the taint, and there is nothing to evict\n`);
    return exitCodes.done;
  }
  const written = { files, subject: `Drain ${cluster}`, slug: `drain-${cluster}` };
  if (files.length > 0) await commitFiles(workTree.author, written, options, terminal);
  else terminal.out(`${cluster} is already being drained: its evictions wait to be processed\n`);
  const names = evictions.map((it) => it.name);
  if (dryRun || names.length === 0) return exitCodes.done;
  return awaitDrain({ workTree, names, cluster: cluster as ClusterName }, options, terminal);
}

export interface UncordonOptions extends CommitOptions {
  readonly cluster: string;
}

/** Allows placements on a cluster again, and removes its evictions that were not executed. */
export async function uncordon(options: UncordonOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster } = options;
  const workTree = await loadWorkTree(options);
  const member = findMemberFile(workTree, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const edit = uncordoned(member);
  if (edit.kind === "unsupported") return cannotEdit(member, "remove the taint", terminal);
  const ledger = await readRecordedLedger(options, terminal.environment);
  const { files: dropped, stuck } = filesWithout(unexecutedEvictions(workTree, ledger, cluster));
  for (const path of stuck)
    terminal.err(`warning: ${oneLine(path)} cannot be edited; remove the eviction in it by hand\n`);
  const files: readonly AuthoredFile[] = [...changedFile(member, edit), ...dropped];
  if (files.length === 0) {
    terminal.out(`${cluster} has no drain taint, and no eviction waits there\n`);
    return exitCodes.done;
  }
  const written = { files, subject: `Uncordon ${cluster}`, slug: `uncordon-${cluster}` };
  return commitFiles(workTree.author, written, options, terminal);
}

/** Finds the file that defines a MemberCluster; null, with an error printed, if none or several do. */
export function findMemberFile(workTree: WorkTree, cluster: string, terminal: Terminal): FoundDocument | null {
  const wanted = { kind: "MemberCluster", namespace: null, name: cluster };
  const found = workTree.find(wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) {
    const { message, fix } = undefinedObject(workTree, wanted);
    usageError(message, fix, terminal);
  } else
    usageError(
      `several files define ${cluster}: ${found.map((it) => it.path).join(", ")}`,
      "remove all but one",
      terminal,
    );
  return null;
}

/** Prints that a file cannot be edited without loss. */
export const cannotEdit = ({ path }: FoundDocument, what: string, terminal: Terminal): ExitCode =>
  usageError(`${path} cannot be edited`, `${what} cordon-key=cordon-value:NoSchedule by hand`, terminal);
