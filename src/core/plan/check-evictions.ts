import type { EvictionRecord } from "../model/eviction.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { ObjectKey } from "../model/manifest.ts";
import type { Plan, World } from "../model/plan.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import { lifeOf } from "./check-life.ts";

/**
 * Says which evictions a plan carries out although too few clusters would be left (`security.md` I-54). Counted anew, by
 * what members say now. What does not work is no loss.
 */
export function* evictsWithinBudget({ ledger }: Plan, world: World): Generator<string> {
  for (const [key, record] of world.ledger.placements) {
    const evicted = newlyExecuted(key, ledger, world);
    const lost = evicted.filter((it) => works(record, it.cluster, world)).length;
    if (lost === 0) continue;
    if (hasUnreadBudget(record, world)) yield `evicts from ${key}, whose disruption budget cannot be read`;
    const floor = fewestOf(record, world);
    const left = [...record.bindings.keys()].filter((it) => works(record, it, world)).length - lost;
    if (left < floor)
      yield `evicts ${lost} available clusters of ${key} and leaves ${left}, at least ${floor} must stay`;
  }
}

/** A budget that is there and cannot be read protects all (I-54). */
const hasUnreadBudget = ({ key }: PlacementRecord, { intent }: World): boolean =>
  !intent.budgets.has(key) &&
  intent.unusable.has(`placement.kubernetes-fleet.io/ClusterResourcePlacementDisruptionBudget//${key}` as ObjectKey);

/** The clusters that a plan evicts a placement from. */
export const evictedFrom = (key: PlacementKey, ledger: Ledger, world: World): ReadonlySet<ClusterName> =>
  new Set(newlyExecuted(key, ledger, world).map((it) => it.cluster));

const newlyExecuted = (key: PlacementKey, { evictions }: Ledger, { ledger: old }: World): readonly EvictionRecord[] =>
  [...evictions.values()].filter((it) => it.placement === key && !old.evictions.has(it.name) && isExecuted(it));

const isExecuted = ({ conditions }: EvictionRecord): boolean =>
  conditions.some((it) => it.type === "Executed" && it.status === "True");

/** What cannot be seen counts as working: KubeFleet calls it available at once. What only reports does no work (E22). */
function works(record: PlacementRecord, cluster: EvictionRecord["cluster"], world: World): boolean {
  const binding = record.bindings.get(cluster);
  if (binding?.target?.applyStrategy.type === "ReportDiff") return false;
  return binding !== undefined && lifeOf(binding, record, world) !== "down";
}

/** Percentages are of the clusters asked for, and round up (`spec/rollout.md` §4.3). */
function fewestOf({ key, spec, bindings }: PlacementRecord, { intent }: World): number {
  const budget = intent.budgets.get(key);
  if (budget === undefined) return 0;
  const wanted = spec.policy.kind === "PickN" ? spec.policy.numberOfClusters : bindings.size;
  const { bound, limit } = budget;
  const count = "count" in limit ? limit.count : Math.ceil((limit.percent * wanted) / 100);
  return bound === "minAvailable" ? count : bindings.size - count;
}
