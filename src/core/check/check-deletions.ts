import type { Binding } from "../model/binding.ts";
import type { AcceptedBounds, DeletionGroup, HeldDeletion } from "../model/deletion.ts";
import type { DeletionBounds } from "../model/fleet.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { ObjectKey } from "../model/manifest.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DefectSubject, DeletionDefectCode, PlanDefect } from "../model/plan-defect.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import { defect, inventoryKey, placementActionsIn, sameObject } from "./check-defect.ts";

/**
 * Lists where a plan deletes more than the bounds allow without a confirmation, or what waits for one
 * (`plan/README.md#d-3`, `#d-4`).
 */
export function* checkDeletions(plan: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  yield* permitsWithinBounds(plan, world);
  yield* takesNoMoreThanItPermits(plan, world);
  yield* leavesAloneWhatWaits(plan);
}

/** Earlier passes kept to the bounds of their time: only what is new is judged. */
function* permitsWithinBounds({ ledger }: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  const { intent, ledger: old } = world;
  const { permitted, bounds, cause } = ledger.deletions;
  if (bounds !== null && bounds !== old.deletions.bounds) yield* boundsLoosened(bounds, intent.fleet.guards, old);
  if (permitted === old.deletions.permitted) return;
  const allowed = bounds?.inForce ?? intent.fleet.guards;
  const clusters = mostClusters(allowed, intent.clusters.size);
  const known = cause === old.deletions.cause ? old.deletions.permitted : nothingPermitted;
  if (permitted.size > clusters) {
    const losers = [...permitted.keys()].filter((it) => !known.has(it)).flatMap((it) => losersOn(it, ledger));
    yield* blaming(
      new Set(losers),
      { kind: "ledger" },
      "PermittedClustersExceeded",
      `permits deletions on ${permitted.size} clusters for one commit, at most ${clusters} may`,
    );
  }
  for (const [cluster, count] of permitted) {
    const before = known.get(cluster) ?? 0;
    if (count <= Math.max(before, allowed.objectsPerCluster)) continue;
    const most = mostObjects(allowed, cluster, ledger, world);
    if (count > most)
      yield* blaming(
        losersOn(cluster, ledger),
        { kind: "cluster", cluster },
        "PermittedObjectsExceeded",
        `permits ${count} deletions on ${cluster} for one commit, at most ${most} may`,
      );
  }
}

const nothingPermitted: ReadonlyMap<ClusterName, number> = new Map();

/** A defect for each placement that is to blame; about `otherwise` where none is known. */
function* blaming(
  placements: Iterable<PlacementKey>,
  otherwise: DefectSubject,
  code: DeletionDefectCode,
  message: string,
): Generator<PlanDefect<DeletionDefectCode>> {
  const blamed = [...placements];
  if (blamed.length === 0) yield defect(code, otherwise, message);
  for (const placement of blamed) yield defect(code, { kind: "placement", placement }, message);
}

/**
 * Placements that lose something on a cluster by the commit that is counted, or are to: what leaves, what the newest
 * version leaves out, and what leaves as a whole. What is only permitted and will be overridden away is not on record.
 */
const losersOn = (cluster: ClusterName, { placements, deletions: { cause } }: Ledger): readonly PlacementKey[] =>
  [...placements.values()].flatMap(({ key, bindings, deleting, resourceSnapshots }) => {
    const binding = bindings.get(cluster);
    if (binding === undefined) return [];
    const { state, leaving, target } = binding;
    const isGoing = leaving.some((it) => it.cause === cause && !it.released);
    if (isGoing || state === "Unscheduled" || deleting !== null) return key;
    const kept = new Set(resourceSnapshots.at(-1)?.resources.map(({ id }) => inventoryKey(id)));
    const carried = resourceSnapshots.find((it) => it.index === target?.resourceIndex)?.resources ?? [];
    return carried.some(({ id }) => !kept.has(inventoryKey(id))) ? key : [];
  });

/** A loosened bound counts from the next commit, so that no commit permits its own deletions. */
function* boundsLoosened(
  { inForce }: AcceptedBounds,
  guards: DeletionBounds,
  old: Ledger,
): Generator<PlanDefect<DeletionDefectCode>> {
  const said = old.deletions.bounds?.declared ?? guards;
  for (const key of Object.keys(guards) as (keyof DeletionBounds)[])
    if (inForce[key] > Math.min(guards[key], said[key]))
      yield defect(
        "DeletionBoundLoosened",
        { kind: "ledger" },
        `loosens the bound ${key} to ${inForce[key]} in the commit that asks for it`,
      );
}

const mostClusters = (bounds: DeletionBounds, all: number): number =>
  Math.max(bounds.clusters, Math.floor((all * bounds.percentOfClusters) / 100));

/**
 * The larger of the number and the share of what the cluster carried before, by its targets: each object once, and only
 * what it lists, if it answered.
 */
function mostObjects(bounds: DeletionBounds, cluster: ClusterName, { clusters }: Ledger, world: World): number {
  const seen = world.observed.get(cluster);
  const isTrusted = seen?.kind === "reached" && clusters.get(cluster)?.contactFailure === null;
  const parts = isTrusted ? [...seen.inventory.placements.values()] : [];
  const isListed = (key: string): boolean => parts.some((it) => it.entries.get(key as ObjectKey)?.uid != null);
  const carried = new Set<string>();
  for (const { bindings, resourceSnapshots } of world.ledger.placements.values()) {
    const index = bindings.get(cluster)?.target?.resourceIndex;
    const snapshot = resourceSnapshots.find((it) => it.index === index);
    for (const { id } of snapshot?.resources ?? []) carried.add(inventoryKey(id));
  }
  const count = isTrusted ? [...carried].filter(isListed).length : carried.size;
  return Math.max(bounds.objectsPerCluster, Math.floor((count * bounds.percentPerCluster) / 100));
}

/**
 * Every deletion that starts in this pass is permitted, or within the bounds by itself. Counted from the bindings,
 * independently of the guard.
 */
function* takesNoMoreThanItPermits({ ledger }: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  const { permitted, bounds, held } = ledger.deletions;
  const allowed = bounds?.inForce ?? world.intent.fleet.guards;
  const asked = byPlacement(held);
  const taken = new Map<ClusterName, Set<string>>();
  const takers = new Map<ClusterName, PlacementKey[]>();
  for (const [key, record] of ledger.placements) {
    const before = world.ledger.placements.get(key);
    if (record === before) continue;
    for (const [cluster, binding] of record.bindings) {
      const was = before?.bindings.get(cluster);
      if (binding.leaving === was?.leaving || binding.leaving.length === 0) continue;
      const gone = newlyDeleted(binding, was, { record, asked: asked.get(key) ?? [], world });
      if (gone.length === 0) continue;
      // What two placements lose at once is one object.
      taken.set(cluster, new Set([...(taken.get(cluster) ?? []), ...gone]));
      takers.set(cluster, [...(takers.get(cluster) ?? []), key]);
    }
  }
  for (const [cluster, { size: count }] of taken) {
    const counted = permitted.get(cluster) ?? 0;
    if (count <= Math.max(counted, allowed.objectsPerCluster)) continue;
    const most = Math.max(counted, mostObjects(allowed, cluster, ledger, world));
    if (count <= most) continue;
    for (const placement of takers.get(cluster) ?? [])
      yield defect(
        "DeletedObjectsExceeded",
        { kind: "binding", placement, cluster },
        `takes ${count} objects from ${cluster} at once, at most ${most} may go unasked`,
      );
  }
  const most = Math.max(permitted.size, mostClusters(allowed, world.intent.clusters.size));
  if (taken.size > most)
    yield* blaming(
      new Set([...takers.values()].flat()),
      { kind: "ledger" },
      "DeletedClustersExceeded",
      `takes objects from ${taken.size} clusters at once, at most ${most} may lose any unasked`,
    );
}

interface Taking {
  readonly record: PlacementRecord;
  /** Of its placement. */
  readonly asked: readonly DeletionGroup[];
  readonly world: World;
}

function byPlacement(held: readonly HeldDeletion[]): ReadonlyMap<PlacementKey, readonly DeletionGroup[]> {
  const groups = new Map<PlacementKey, DeletionGroup[]>();
  for (const group of held.flatMap((it) => it.groups)) {
    const list = groups.get(group.placement);
    if (list === undefined) groups.set(group.placement, [group]);
    else list.push(group);
  }
  return groups;
}

/** Keys of objects whose deletion starts, without those that wait for a confirmation and those that are only released. */
function newlyDeleted(binding: Binding, was: Binding | undefined, { record, asked, world }: Taking): readonly string[] {
  const { cluster, removal, leaving } = binding;
  if (removal?.propagation === "Abandon") return [];
  // What is handed over is no deletion, unless that is over.
  const known = new Set(was?.leaving.flatMap((it) => (it.handOver === undefined ? inventoryKey(it.id) : [])));
  const seen = world.observed.get(cluster);
  const carried = seen?.kind === "reached" ? seen.inventory.placements.get(record.key)?.entries : undefined;
  const adopted = new Set([...(was?.facts?.adopted ?? []), ...(binding.facts?.adopted ?? [])].map(inventoryKey));
  for (const [key, entry] of carried ?? []) if (entry.adopted) adopted.add(key);
  const own = asked.filter((it) => it.clusters.includes(cluster));
  const isAsked = (key: string): boolean => own.some((it) => it.objects.some((id) => inventoryKey(id) === key));
  return leaving.flatMap((it): readonly string[] => {
    const key = inventoryKey(it.id);
    const isKept = it.released || it.handOver !== undefined || (adopted.has(key) && !it.evenAdopted);
    return isKept || known.has(key) || isAsked(key) ? [] : [key];
  });
}

function* leavesAloneWhatWaits({ actions, ledger }: Plan): Generator<PlanDefect<DeletionDefectCode>> {
  for (const held of ledger.deletions.held) {
    if (held.confirmed) continue;
    const groups = byPlacement([held]);
    for (const [cluster, work] of placementActionsIn(actions)) {
      if (work.remove.length === 0) continue;
      const group = (groups.get(work.placement) ?? []).filter((it) => it.clusters.includes(cluster));
      const caught = work.remove.find((gone) => group.some((it) => it.objects.some((id) => sameObject(id, gone))));
      if (caught !== undefined)
        yield defect(
          "HeldObjectRemoved",
          { kind: "object", placement: work.placement, cluster, object: caught.key },
          `removes ${caught.key} from ${cluster}, which waits for confirmation ${held.digest}`,
        );
    }
  }
}
