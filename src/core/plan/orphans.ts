import type { Binding } from "../model/binding.ts";
import { commonKeys } from "../model/identity.ts";
import type { Inventory } from "../model/inventory.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectKey } from "../model/manifest.ts";
import { remembered, rememberedPair } from "../model/memo.ts";
import type { Reason, RenderedManifest } from "../model/plan.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import { keysOf, snapshotOf } from "../render/resource-snapshot.ts";
import type { PlanContext } from "./moves/context.ts";
import { targetRendering } from "./moves/version.ts";

/**
 * What a member's inventory lists and no decision explains: a member that came back with old state
 * (`plan/README.md#d-7`).
 */
export function orphanReasons(ledger: Ledger, context: PlanContext): readonly Reason[] {
  const reasons: Reason[] = [];
  for (const [cluster, seen] of context.world.observed) {
    if (seen.kind !== "reached" || ledger.clusters.get(cluster)?.contactFailure !== null) continue;
    const counts = orphansOn(cluster, seen.inventory, { ledger, context });
    if (counts.size === 0) continue;
    for (const placement of seen.inventory.placements.keys()) {
      const objects = counts.get(placement);
      if (objects !== undefined) reasons.push({ kind: "orphans", cluster, placement, objects });
    }
  }
  return reasons;
}

/** What orphans are counted by. */
interface OrphanInput {
  readonly ledger: Ledger;
  readonly context: PlanContext;
}

/** Orphans by placement; one without any is not in it. */
type Counts = ReadonlyMap<PlacementKey, number>;

interface Counted {
  readonly cluster: ClusterName;
  readonly placements: Ledger["placements"];
  readonly counts: Counts;
}

const countedIn = new WeakMap<Inventory, Counted>();

/** Counts what was counted before only where the placement's record is another one by now. */
function orphansOn(cluster: ClusterName, inventory: Inventory, input: OrphanInput): Counts {
  const { placements } = input.ledger;
  const last = countedIn.get(inventory);
  const known = last?.cluster === cluster ? last : null;
  if (known !== null && known.placements === placements) return known.counts;
  const suspects = known === null ? inventory.placements : changedRecords(known.placements, placements);
  const counts = recounted(known?.counts ?? new Map(), commonKeys(suspects, inventory.placements), (placement) =>
    orphansOf(placement, cluster, { ...input, inventory }),
  );
  countedIn.set(inventory, { cluster, placements, counts });
  return counts;
}

function recounted(
  before: Counts,
  suspects: Iterable<PlacementKey>,
  countOf: (placement: PlacementKey) => number,
): Counts {
  let counts: Map<PlacementKey, number> | null = null;
  for (const placement of suspects) {
    const objects = countOf(placement);
    if (objects === (before.get(placement) ?? 0)) continue;
    counts ??= new Map(before);
    if (objects > 0) counts.set(placement, objects);
    else counts.delete(placement);
  }
  return counts ?? before;
}

/** Placements whose records differ between two ledgers. */
const changedRecords = rememberedPair(
  (before: Ledger["placements"], after: Ledger["placements"]): ReadonlySet<PlacementKey> => {
    const changed = new Set<PlacementKey>();
    for (const [key, record] of after) if (before.get(key) !== record) changed.add(key);
    for (const key of before.keys()) if (!after.has(key)) changed.add(key);
    return changed;
  },
);

/** Entries that belong neither to what a binding carries nor to what is on its way out. */
function orphansOf(
  placement: PlacementKey,
  cluster: ClusterName,
  input: OrphanInput & { readonly inventory: Inventory },
): number {
  const entries = input.inventory.placements.get(placement)?.entries;
  if (entries === undefined || entries.size === 0) return 0;
  const record = input.ledger.placements.get(placement);
  const binding = record?.bindings.get(cluster);
  if (record === undefined || binding === undefined) return entries.size;
  const keys = wantedKeys(binding, record, input);
  let count = 0;
  for (const key of entries.keys())
    if (keys?.has(key) !== true && !binding.leaving.some((it) => objectKey(it.id) === key)) count += 1;
  return count;
}

/** What a binding is to carry; null when it has no target. Of what it selects, overrides may have dropped some. */
function wantedKeys(
  binding: Binding,
  record: PlacementRecord,
  { context }: OrphanInput,
): ReadonlySet<ObjectKey> | null {
  const { target } = binding;
  if (target === null) return null;
  if (target.clusterOverrides.length + target.resourceOverrides.length > 0) {
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
