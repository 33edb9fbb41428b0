import { conditionOf } from "../../core/model/condition.ts";
import { type Json, type JsonList, listAt, member } from "../../core/model/json.ts";
import type { Ledger, PlacementRecord } from "../../core/model/ledger.ts";
import type { ClusterName } from "../../core/model/value.ts";
import { runOn } from "../../core/plan/placement/evictions.ts";
import { editedText } from "./edited-text.ts";
import { documentsFound, type FoundDocument, type TextFile, valueIn, type WantedDocument } from "./found-document.ts";
import { evictionFile, evictionKind, freeName } from "./new-object.ts";

/** Placements that a cluster is drained of, and those that an eviction cannot take away. */
interface DrainPlan {
  readonly evict: readonly string[];
  readonly stays: readonly { readonly placement: string; readonly because: string }[];
}

/** What to evict from a cluster so that nothing is left there, by placement key. */
export function drainPlan(ledger: Ledger, cluster: ClusterName): DrainPlan {
  const there = [...ledger.placements.values()].filter((it) => isScheduledOn(it, cluster));
  const judged = there.map((it) => ({ placement: it.key as string, because: whyNotEvicted(it, cluster, ledger) }));
  return {
    evict: judged.filter((it) => it.because === null).map((it) => it.placement),
    stays: judged.flatMap(({ placement, because }) => (because === null ? [] : [{ placement, because }])),
  };
}

/** Whether the placement is scheduled to the cluster, and not being removed. */
export function isScheduledOn({ bindings, deleting }: PlacementRecord, cluster: ClusterName): boolean {
  const binding = bindings.get(cluster);
  return deleting === null && binding !== undefined && binding.removal === null && binding.state !== "Unscheduled";
}

/** Why an eviction would never be valid, or null (`intent/README.md#v-crpe-03`, `#rules`; `rollout/README.md#b-17`). */
export function whyNotEvicted(record: PlacementRecord, cluster: ClusterName, { runs }: Ledger): string | null {
  const { key, scope, spec, deleting } = record;
  if (deleting !== null) return "it is being removed everywhere";
  if (scope === "Namespaced") return "only a ClusterResourcePlacement can be evicted; edit its policy instead";
  if (spec.policy.kind === "PickFixed") return "it names its clusters (PickFixed); edit its clusterNames instead";
  const run = runOn(
    cluster,
    [...runs.values()].filter((it) => it.spec.placement === key),
  );
  return run === null ? null : `${cluster} is in the plan of the update run ${run}; evict it when that has ended`;
}

/** A placement on a cluster. */
interface EvictedFrom {
  readonly placement: string;
  readonly cluster: string;
}

/** The name of an eviction, and its file; null if there is one already that is not processed yet. */
interface NewEviction {
  readonly name: string;
  readonly file: NewFile | null;
}

/** A file that is not there yet. */
interface NewFile extends TextFile {
  readonly before: null;
}

/** Chooses a free name for a new eviction: joined names of placement and cluster may be ambiguous. */
export function newEviction(
  { root, find }: { readonly root: string; readonly find: Find },
  ledger: Ledger,
  { placement, cluster }: EvictedFrom,
): NewEviction {
  const filesOf = (name: string) => find({ kind: evictionKind, namespace: null, name });
  const isThis = isEvictionOf({ placement, cluster });
  const isTaken = (name: string): boolean => ledger.evictions.has(name) || filesOf(name).some((it) => !isThis(it));
  const name = freeName(`${placement}-${cluster}`, isTaken);
  if (filesOf(name).length > 0) return { name, file: null };
  return { name, file: { ...evictionFile(name, { placement, cluster }, root), before: null } };
}

/** Whether a file's eviction is of this placement from this cluster, and not another one under the name. */
export const isEvictionOf =
  ({ placement, cluster }: EvictedFrom) =>
  (it: FoundDocument): boolean =>
    valueIn(it, "spec", "placementName") === placement && valueIn(it, "spec", "clusterName") === cluster;

type Find = (wanted: WantedDocument) => readonly FoundDocument[];

/** Evictions from a cluster that were not executed: not processed yet, or refused. */
export function unexecutedEvictions(
  { find, named }: { readonly find: Find; readonly named: (kind: string, namespace: null) => readonly string[] },
  { evictions }: Ledger,
  cluster: string,
): readonly FoundDocument[] {
  const wasExecuted = (name: string): boolean => {
    const record = evictions.get(name);
    return record !== undefined && conditionOf(record.conditions, "Executed")?.status === "True";
  };
  return named(evictionKind, null)
    .filter((name) => !wasExecuted(name))
    .flatMap((name) => find({ kind: evictionKind, namespace: null, name }))
    .filter((it) => valueIn(it, "spec", "clusterName") === cluster);
}

/** The taint that keeps new placements off a drained cluster: the one that `kubectl fleet drain` sets. */
const cordonTaint = { key: "cordon-key", value: "cordon-value", effect: "NoSchedule" } as const;

/** What becomes of a MemberCluster's file. */
type CordonEdit =
  | { readonly kind: "edited"; readonly text: string }
  /** It says so already. */
  | { readonly kind: "unchanged" }
  /** Its layout cannot be edited without loss. */
  | { readonly kind: "unsupported" };

/** The file of a MemberCluster with the taint. Placements that tolerate it are not kept away. */
export const cordoned = (found: FoundDocument): CordonEdit =>
  taintsOf(found).some(isCordon)
    ? { kind: "unchanged" }
    : edit(
        editedText(found.text, found.document, { kind: "append", under: ["spec"], key: "taints", item: cordonTaint }),
      );

/** The file of a MemberCluster without the taint; taints of others stay. */
export const uncordoned = (found: FoundDocument): CordonEdit =>
  taintsOf(found).some(isCordon)
    ? edit(editedText(found.text, found.document, { kind: "drop", under: ["spec"], key: "taints", selects: isCordon }))
    : { kind: "unchanged" };

/** The file as the edit leaves it; none where it stays. */
export const changedFile = ({ path, text: before }: FoundDocument, edited: CordonEdit): readonly ChangedText[] =>
  edited.kind === "edited" ? [{ path, text: edited.text, before }] : [];

interface ChangedText extends TextFile {
  readonly before: string;
}

/** The names of the members that files cordon. */
export const cordonedIn = (files: readonly TextFile[]): ReadonlySet<string> =>
  new Set(
    files
      .filter(({ text }) => text.includes(cordonTaint.key))
      .flatMap(documentsFound)
      .filter((it) => valueIn(it, "kind") === "MemberCluster" && taintsOf(it).some(isCordon))
      .map((it) => String(valueIn(it, "metadata", "name"))),
  );

const edit = (text: string | null): CordonEdit => (text === null ? { kind: "unsupported" } : { kind: "edited", text });

const isCordon = (taint: Json): boolean =>
  member(taint, "key") === cordonTaint.key && member(taint, "value") === cordonTaint.value;

const taintsOf = (found: FoundDocument): JsonList => listAt(valueIn(found, "spec", "taints"));
