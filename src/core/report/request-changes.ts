import type { PendingRemoval } from "../model/binding.ts";
import { remembered } from "../model/identity.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { apiVersionOf, type ObjectId, objectKey, type VersionedId } from "../model/manifest.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { RenderedManifest } from "../model/plan.ts";
import { type ClusterName, type Commit, compareText, type PlacementKey } from "../model/value.ts";
import { type ApprovalRequest, requestedPlacement } from "../plan/approval/approval-request.ts";
import { deletableOf } from "../plan/moves/begin.ts";
import { quantity } from "./phrases.ts";
import { fateTexts, type LeaveFate } from "./request-page.ts";

/** What becomes of one object of a cluster. */
export interface ObjectRow {
  readonly fate: "created" | "changed" | (typeof fateTexts)[keyof typeof fateTexts];
  readonly id: ObjectId;
  /** Who takes it, if it is handed over. */
  readonly to: PlacementKey | null;
  /** Null if there is none, or it is unknown. */
  readonly before: RenderedManifest | null;
  readonly after: RenderedManifest | null;
}

export interface ChangeGroup {
  readonly clusters: readonly ClusterName[];
  readonly rows: readonly ObjectRow[];
  /** Objects that stay as they are. */
  readonly same: number;
}

/** The changes that a request would make, as far as they are known. */
interface RequestChanges {
  readonly groups: readonly ChangeGroup[];
  /** Clusters whose manifests before or after are unknown. */
  readonly unknown: readonly ClusterName[];
}

/** The changes to every object, by the verified content of the request. */
export function changesIn(ask: ApprovalRequest, view: RequestContent | null, ledger: Ledger): RequestChanges {
  const clusters = clustersOf(ask);
  const groups = new Map<string, ChangeGroup>();
  const unknown: ClusterName[] = [];
  for (const cluster of clusters) {
    const move = view?.moves.get(cluster);
    if (move === undefined || !isKnown(move)) {
      unknown.push(cluster);
      continue;
    }
    const group = groupOf(cluster, move, { fateOf: fatesOn(ask, cluster, ledger), ended: endedOn(ask, cluster) });
    const key = JSON.stringify([
      group.same,
      group.rows.map((it) => [it.fate, it.to, it.id, it.before?.digest, it.after?.digest]),
    ]);
    const known = groups.get(key);
    groups.set(key, known === undefined ? group : { ...known, clusters: [...known.clusters, cluster] });
  }
  return { groups: [...groups.values()], unknown };
}

const clustersOf = (ask: ApprovalRequest): readonly ClusterName[] =>
  ask.kind === "change" ? [...ask.change.clusters.keys()] : ask.stage.clusters.map((it) => it.cluster);

const isKnown = ({ before, after }: ManifestChange): boolean => before !== null && after !== null;

interface Leaving {
  readonly fateOf: LeaveLookup;
  /** Objects that left by an earlier change, and about which something else is asked now. */
  readonly ended: readonly ObjectId[];
}

function groupOf(cluster: ClusterName, { before, after }: ManifestChange, { fateOf, ended }: Leaving): ChangeGroup {
  const was = new Map((before ?? []).map((it) => [it.key, it]));
  const is = new Map((after ?? []).map((it) => [it.key, it]));
  const come = [...is.values()].flatMap((it): readonly ObjectRow[] => {
    const old = was.get(it.key) ?? null;
    if (old?.digest === it.digest) return [];
    return [{ fate: old === null ? "created" : "changed", id: it.id, to: null, before: old, after: it }];
  });
  const go = [...was.values()]
    .filter((it) => !is.has(it.key))
    .map((it): ObjectRow => goingRow(it.id, fateOf(it.id), it));
  const late = ended.filter((it) => !was.has(objectKey(it))).map((it) => goingRow(it, fateOf(it), null));
  return { clusters: [cluster], rows: [...come, ...go, ...late], same: is.size - come.length };
}

const goingRow = (id: ObjectId, it: LeaveFate, before: RenderedManifest | null): ObjectRow => ({
  fate: fateTexts[it.fate],
  id,
  to: it.fate === "handOver" ? it.to : null,
  before,
  after: null,
});

/** What is asked about that left by an earlier change: nobody takes it any more. */
export const endedOn = (ask: ApprovalRequest, cluster: ClusterName): readonly ObjectId[] => {
  if (ask.kind === "gate") return [];
  const left = new Set(ask.record.bindings.get(cluster)?.leaving.map((it) => objectKey(it.id)));
  return (ask.change.leaves.get(cluster) ?? []).flatMap(({ object }) => (left.has(objectKey(object)) ? object : []));
};

type LeaveLookup = (id: ObjectId) => LeaveFate;

/**
 * What happens to objects that leave: as a change says; else as the run's plan says, which releases adopted ones, but for
 * what the record says that another placement takes.
 */
export function fatesOn(ask: ApprovalRequest, cluster: ClusterName, ledger: Takers): LeaveLookup {
  if (ask.kind === "change") {
    const fates = new Map(ask.change.leaves.get(cluster)?.map((it) => [objectKey(it.object), it]));
    // Objects that are leaving already were decided on before.
    const left = new Map(ask.record.bindings.get(cluster)?.leaving.map((it) => [objectKey(it.id), it]));
    return (id) => fates.get(objectKey(id)) ?? decidedOn(left.get(objectKey(id)));
  }
  const record = requestedPlacement(ask, ledger);
  const isDeletable = deletableOf(ask.plan.deleteAdopted, record?.bindings.get(cluster)?.facts ?? null);
  return (id) => {
    const to = record === null ? null : takerOf(id, { cluster, placement: record.key }, ledger);
    return to === null ? { fate: isDeletable(id) ? "delete" : "release" } : { fate: "handOver", to };
  };
}

function decidedOn(left: PendingRemoval | undefined): LeaveFate {
  if (left?.handOver !== undefined) return { fate: "handOver", to: left.handOver.to };
  return { fate: left?.released === true ? "release" : "delete" };
}

type Takers = Pick<Ledger, "placements" | "overrides" | "runs">;

/**
 * The first other placement by name that stays on a cluster and has an object, or is to have it, by the record: by its newest
 * snapshot, or by one that a run which is not over brings. Not one whose override may delete it there: rather too much is said
 * to be deleted than too little.
 */
function takerOf(
  object: ObjectId,
  { cluster, placement }: { readonly cluster: ClusterName; readonly placement: PlacementKey },
  { placements, overrides, runs }: Takers,
): PlacementKey | null {
  const key = objectKey(object);
  const holds = (record: PlacementRecord): boolean => {
    const { resourceSnapshots, deleting, spec } = record;
    const binding = record.bindings.get(cluster);
    if (binding === undefined || binding.state === "Unscheduled" || binding.removal !== null) return false;
    if (deleting !== null || spec.strategy.applyStrategy.type === "ReportDiff") return false;
    const brought = broughtBy(runs).get(record.key) ?? [];
    const next = [resourceSnapshots.at(-1)?.index, binding.target?.resourceIndex, ...brought];
    return resourceSnapshots.some(
      (it) => next.includes(it.index) && it.resources.some(({ id }) => objectKey(id) === key),
    );
  };
  const found = [...placements.values()].filter((it) => it.key !== placement && holds(it)).map((it) => it.key);
  return found.filter((it) => !overrides.some((by) => mayDelete(by, it, object))).sort(compareText)[0] ?? null;
}

/** The versions that runs bring which are not over, by placement. */
const broughtBy = remembered((runs: Ledger["runs"]): ReadonlyMap<PlacementKey, readonly number[]> => {
  const brought = new Map<PlacementKey, readonly number[]>();
  for (const { plan, end, spec } of runs.values())
    if (plan !== null && end === null)
      brought.set(spec.placement, [...(brought.get(spec.placement) ?? []), plan.resourceIndex]);
  return brought;
});

/**
 * Whether an override of a placement deletes an object on some cluster; a cluster override of a Namespace acts on all in it,
 * a namespaced one in its own namespace.
 */
function mayDelete({ namespace, spec }: OverrideSnapshot, of: PlacementKey, object: ObjectId): boolean {
  const { placement, selectors, rules } = spec;
  if (placement !== null && placement !== of) return false;
  if (!rules.some((it) => it.action.kind === "Delete")) return false;
  return selectors.some(({ kind, name }) =>
    namespace === null && kind === "Namespace" && object.namespace !== null
      ? name === object.namespace
      : kind === object.kind && name === object.name && (namespace === null || namespace === object.namespace),
  );
}

/** The objects of a group, one line each. */
export function rowLines({ rows, same }: ChangeGroup): readonly string[] {
  const lines = rows
    .slice(0, mostRows)
    .map((it) => fateLine(it.fate, it.after?.id ?? it.before?.id ?? { ...it.id, version: "" }, it.to));
  const rest = same === 0 ? [] : [`  ${"same".padEnd(width)} ${quantity(same, "object")}`];
  const more = rows.length <= mostRows ? [] : [`  and ${quantity(rows.length - mostRows, "more object")}`];
  return [...lines, ...more, ...rest];
}

const mostRows = 100;

const width = fateTexts.release.length;

/** `  left in place v1 ConfigMap web/settings`; `  handed over   v1 ConfigMap web/settings to placement shop`. */
export const fateLine = (fate: string, id: VersionedId, to: PlacementKey | null = null): string =>
  `  ${fate.padEnd(width)} ${idText(id)}${to === null ? "" : ` to placement ${to}`}`;

const idText = ({ group, version, kind, namespace, name }: VersionedId): string => {
  const prefix = version === "" && group === "" ? "" : `${apiVersionOf({ group, version })} `;
  return `${prefix}${kind} ${namespace === null ? "" : `${namespace}/`}${name}`;
};

export type Manifests = readonly RenderedManifest[];

/** What a cluster runs now, and would run: identical lists are shared. Null if unknown. */
export interface ManifestChange {
  readonly before: Manifests | null;
  readonly after: Manifests | null;
}

/** What a request is about, read back and verified by its digest. */
export interface RequestContent {
  readonly moves: ReadonlyMap<ClusterName, ManifestChange>;
  /** The commits that it comes from, as far as recorded. */
  readonly commits: readonly Commit[];
}

/** The content of a request, ready to be shown. */
export interface ShownContent extends RequestContent {
  /** One line for each commit that it comes from. */
  readonly commitLines: readonly string[];
  /** The commit of the state branch that it was read from. */
  readonly state: Commit;
}
