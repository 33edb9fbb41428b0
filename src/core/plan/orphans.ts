import type { Binding } from "../model/binding.ts";
import { remembered } from "../model/identity.ts";
import type { Inventory, InventoryEntry } from "../model/inventory.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectKey } from "../model/manifest.ts";
import type { RenderedManifest } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import { keysOf, snapshotOf } from "../render/resource-snapshot.ts";
import type { PlanContext } from "./moves/context.ts";
import { targetRendering } from "./moves/version.ts";

/** Orphans by placement; one without any is not in it. */
export type OrphanCounts = ReadonlyMap<PlacementKey, number>;

/**
 * What a member's inventory lists and no decision explains: a member that came back with old state
 * (`plan/README.md#d-7`).
 */
export function orphanReasons(
  ledger: Ledger,
  context: PlanContext,
  countOn: (input: OrphanInput) => OrphanCounts,
): readonly Reason[] {
  const reasons: Reason[] = [];
  for (const [cluster, seen] of context.world.observed) {
    if (seen.kind !== "reached" || ledger.clusters.get(cluster)?.contactFailure !== null) continue;
    const counts = countOn({ cluster, inventory: seen.inventory, ledger, context });
    if (counts.size === 0) continue;
    for (const placement of seen.inventory.placements.keys()) {
      const objects = counts.get(placement);
      if (objects !== undefined) reasons.push({ kind: "orphans", cluster, placement, objects });
    }
  }
  return reasons;
}

/** What orphans on a member are counted by. */
export interface OrphanInput {
  readonly cluster: ClusterName;
  readonly inventory: Inventory;
  readonly ledger: Ledger;
  readonly context: PlanContext;
}

/** Counts on a member; `before` itself where `placements` have as many as they had then. */
export function orphansIn(input: OrphanInput, placements: Iterable<PlacementKey>, before: OrphanCounts): OrphanCounts {
  let counts: Map<PlacementKey, number> | null = null;
  for (const placement of placements) {
    const objects = orphansOf(placement, input);
    if (objects === (before.get(placement) ?? 0)) continue;
    counts ??= new Map(before);
    if (objects > 0) counts.set(placement, objects);
    else counts.delete(placement);
  }
  return counts ?? before;
}

/** Whether two records of a placement explain the same objects on every cluster. */
export function explainsAlike(before: PlacementRecord | undefined, after: PlacementRecord): boolean {
  if (before === after) return true;
  if (before?.resourceSnapshots !== after.resourceSnapshots || before.bindings.size !== after.bindings.size)
    return false;
  if (before.bindings === after.bindings) return true;
  for (const [cluster, { target, leaving }] of after.bindings) {
    const was = before.bindings.get(cluster);
    if (was === undefined || was.target !== target || was.leaving !== leaving || isOverridden(target)) return false;
  }
  return true;
}

/** What an override leaves of a target is told by rendering it, and that takes what may not be there. */
const isOverridden = (target: Binding["target"]): boolean =>
  target !== null && target.clusterOverrides.length + target.resourceOverrides.length > 0;

/** Entries of ours that belong neither to what a binding carries nor to what is on its way out. */
function orphansOf(placement: PlacementKey, { cluster, inventory, ledger, context }: OrphanInput): number {
  const entries = inventory.placements.get(placement)?.entries;
  if (entries === undefined || entries.size === 0) return 0;
  const record = ledger.placements.get(placement);
  const binding = record?.bindings.get(cluster);
  const keys = record === undefined || binding === undefined ? null : wantedKeys(binding, record, context);
  const leaving = binding?.leaving ?? [];
  let count = 0;
  for (const [key, entry] of entries)
    if (mayBeOurs(entry) && keys?.has(key) !== true && !leaving.some((it) => objectKey(it.id) === key)) count += 1;
  return count;
}

/** What a member refused to give us, as it is somebody else's, or never made is listed without a uid. */
const mayBeOurs = ({ uid, outcome }: InventoryEntry): boolean => uid !== null || outcome.kind === "claimed";

/** What a binding is to carry; null when it has no target. Of what it selects, overrides may have dropped some. */
function wantedKeys(binding: Binding, record: PlacementRecord, context: PlanContext): ReadonlySet<ObjectKey> | null {
  const { target } = binding;
  if (target === null) return null;
  if (isOverridden(target)) {
    const rendering = targetRendering(binding, record, context);
    if (rendering?.kind === "rendered") return keysIn(rendering.manifests);
  }
  const snapshot = snapshotOf(record, target.resourceIndex);
  return snapshot === null ? null : keysOf(snapshot);
}

const keysIn = remembered((manifests: readonly RenderedManifest[]) => new Set(manifests.map((it) => it.key)));

/**
 * Members whose inventory knows nothing of a placement that they carried by the record: somebody deleted it
 * (`apply/README.md#f-43`). Reported in the pass that observes it, or decides about the placement: only records that
 * changed in it are looked at.
 */
export function lostInventories(ledger: Ledger, { world, trustedObservations }: PlanContext): readonly Reason[] {
  const reasons: Reason[] = [];
  for (const [placement, record] of ledger.placements) {
    const before = world.ledger.placements.get(placement);
    if (before === undefined || before === record) continue;
    for (const { cluster, facts } of before.bindings.values()) {
      const inventory = trustedObservations.get(cluster)?.inventory;
      if (facts?.applied !== "applied" || inventory === undefined || inventory.placements.has(placement)) continue;
      reasons.push({ kind: "inventoryLost", cluster, placement });
    }
  }
  return reasons;
}
