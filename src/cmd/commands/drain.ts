import type { Ledger } from "../../core/model/ledger.ts";
import type { ClusterName, PlacementKey } from "../../core/model/value.ts";
import { oneLine } from "../../shell/reconcile/one-line.ts";
import type { AuthoredFile } from "../../shell/reconcile/ports.ts";
import { type DeliveryOptions, declined, deliver } from "../deliver.ts";
import { type CordonEdit, cordoned, uncordoned } from "../edits/cordon.ts";
import { drainPlan, isThere, whyNotEvicted } from "../edits/evictions-of.ts";
import { type FoundDocument, valueIn } from "../edits/found-document.ts";
import { undefinedObject } from "../edits/named-objects.ts";
import { evictionFile, evictionKind, freeName } from "../edits/new-file.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { nothingOf } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { openWorkplace, readRecord, type Workplace } from "../workplace.ts";

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
  const because = whyNotEvicted(record);
  if (because !== null) return declined(`${placement} cannot be evicted`, because, terminal);
  if (!isThere(record, cluster as ClusterName)) {
    const clusters = [...record.bindings.keys()].filter((it) => isThere(record, it));
    terminal.err(nothingOf(`${placement} on ${cluster}`, clusters));
    return exitCodes.usage;
  }
  const file = newEviction(workplace, ledger, { placement, cluster });
  if (file === null) {
    terminal.out(`${placement} is to be evicted from ${cluster} already: it waits to be judged\n`);
    return exitCodes.done;
  }
  const slug = `evict-${placement}-${cluster}`;
  const subject = `Evict ${placement} from ${cluster}`;
  return deliver(workplace.author, { files: [file], subject, slug }, options, terminal);
}

/** What `flotilla drain` and `flotilla uncordon` are given. */
export interface DrainOptions extends DeliveryOptions {
  readonly cluster: string;
}

/** Keeps new placements off a cluster, and evicts those that are there. */
export async function drain(options: DrainOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster } = options;
  const workplace = await openWorkplace(options);
  const member = memberFile(workplace, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const ledger = await readRecord(options, terminal.environment);
  const edit = cordoned(member);
  if (edit.kind === "unsupported") return unsupported(member, "add the taint", terminal);
  if (ledger.fleet === "") terminal.err("warning: nothing is recorded of this fleet yet: nothing is evicted\n");
  const { evict: leaving, stays } = drainPlan(ledger, cluster as ClusterName);
  for (const { placement, because } of stays) terminal.err(`warning: ${placement} stays: ${oneLine(because)}\n`);
  const evictions = leaving.flatMap((placement) => newEviction(workplace, ledger, { placement, cluster }) ?? []);
  const files = [...changed(member, edit), ...evictions];
  if (files.length === 0) {
    terminal.out(`${cluster} is drained already: it has the taint, and nothing is there to evict\n`);
    return exitCodes.done;
  }
  return deliver(workplace.author, { files, subject: `Drain ${cluster}`, slug: `drain-${cluster}` }, options, terminal);
}

/** Lets placements on a cluster again. */
export async function uncordon(options: DrainOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster } = options;
  const workplace = await openWorkplace(options);
  const member = memberFile(workplace, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const edit = uncordoned(member);
  if (edit.kind === "unsupported") return unsupported(member, "remove the taint", terminal);
  if (edit.kind === "unchanged") {
    terminal.out(`${cluster} has no taint of a drain\n`);
    return exitCodes.done;
  }
  const written = { files: changed(member, edit), subject: `Uncordon ${cluster}`, slug: `uncordon-${cluster}` };
  return deliver(workplace.author, written, options, terminal);
}

function memberFile(workplace: Workplace, cluster: string, terminal: Terminal): FoundDocument | null {
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

const unsupported = ({ path }: FoundDocument, what: string, terminal: Terminal): ExitCode =>
  declined(`${path} cannot be edited`, `${what} cordon-key=cordon-value:NoSchedule by hand`, terminal);

const changed = ({ path, text: before }: FoundDocument, edit: CordonEdit): readonly AuthoredFile[] =>
  edit.kind === "edited" ? [{ path, text: edit.text, before }] : [];

interface Eviction {
  readonly placement: string;
  readonly cluster: string;
}

/** The file of a new eviction; null when one is there already, under the name that it would have, and not judged yet. */
function newEviction({ root, find }: Workplace, ledger: Ledger, { placement, cluster }: Eviction): AuthoredFile | null {
  const filesOf = (name: string) => find({ kind: evictionKind, namespace: null, name });
  const isThis = (it: FoundDocument): boolean =>
    valueIn(it, "spec", "placementName") === placement && valueIn(it, "spec", "clusterName") === cluster;
  // The names of a placement and a cluster, put together, may be those of two others.
  const isTaken = (name: string): boolean => ledger.evictions.has(name) || filesOf(name).some((it) => !isThis(it));
  const name = freeName(`${placement}-${cluster}`, isTaken);
  return filesOf(name).length > 0 ? null : { ...evictionFile(name, { placement, cluster }, root), before: null };
}
