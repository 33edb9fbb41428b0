import type { Binding } from "../model/binding.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { ObjectKey } from "../model/manifest.ts";
import type { EvictionRecord } from "../model/placement.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DisruptionDefectCode, PlanDefect } from "../model/plan-defect.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import { defect, inventoryKey, sameKey } from "./check-defect.ts";

/**
 * Whether a cluster is available, by what the member says now, or by the record where it was not asked. `perhaps`: some
 * object has no health check, and only the planner knows since when.
 */
export function availabilityOf(
  { cluster, target, facts, removal, leaving }: Binding,
  { key, resourceSnapshots }: PlacementRecord,
  { observed }: World,
): "up" | "perhaps" | "down" {
  if (removal !== null || target === null) return "down";
  const seen = observed.get(cluster);
  if (seen === undefined) {
    if (facts?.sequence !== target.sequence || facts.applied !== "applied") return "down";
    return facts.phase === "available" ? "up" : facts.phase === "untrackable" ? "perhaps" : "down";
  }
  const carried = seen.kind === "reached" ? seen.inventory.placements.get(key) : undefined;
  if (seen.kind !== "reached" || carried?.sequence !== target.sequence) return "down";
  const wanted = resourceSnapshots.find((it) => it.index === target.resourceIndex)?.resources ?? [];
  const wasUp = facts?.sequence === target.sequence && /^(available|untrackable)$/.test(facts.phase);
  const phases = wanted.flatMap(({ id }) => {
    const at = inventoryKey(id) as ObjectKey;
    const entry = carried.entries.get(at);
    if (entry === undefined || leaving.some((it) => sameKey(at, it.id))) return [];
    if (entry.outcome.kind !== "applied") return "failed";
    const live = seen.objects.get(at);
    if (live === undefined) return "untrackable";
    // An object that others changed counts as available only if it was before.
    const isOurs = live.uid === entry.uid && live.fingerprint === entry.fingerprint;
    return isOurs || wasUp ? live.health.phase : "progressing";
  });
  if (phases.some((it) => it === "failed" || it === "progressing")) return "down";
  return phases.includes("untrackable") ? "perhaps" : "up";
}

/**
 * Whether the state of a cluster with its target is unknown, so that it may be available: its member has not reported
 * on that target, or is unreachable. A reported failure, or a deadline that has passed, is known.
 */
export function isAvailabilityUnknown(
  { cluster, target, facts, removal }: Binding,
  { key, spec }: PlacementRecord,
  { observed, now }: World,
): boolean {
  if (removal !== null || target === null) return false;
  const seen = observed.get(cluster);
  const told = facts?.sequence === target.sequence ? facts : null;
  if (seen === undefined) return told === null || (told.applied !== "failed" && told.phase === "progressing");
  if (seen.kind !== "reached") return true;
  const isCarried = seen.inventory.placements.get(key)?.sequence === target.sequence;
  return !isCarried && now < target.startedAt + spec.strategy.progressDeadline;
}

/** Whether a decision changes or removes what a cluster carries. */
export const isDisturbed = (before: Binding, after: Binding | undefined): boolean =>
  after !== undefined &&
  (after.removal !== null ||
    (after.target?.sequence !== before.target?.sequence && after.target?.digest !== before.target?.digest));

/**
 * Lists evictions that leave too few clusters available (`rollout/README.md#i-54`). Counted independently, from what
 * members say now and what else this plan changes. Evicting an unavailable cluster costs nothing.
 */
export function* checkEvictions({ ledger }: Plan, world: World): Generator<PlanDefect<DisruptionDefectCode>> {
  for (const [key, record] of world.ledger.placements) {
    const after = ledger.placements.get(key);
    const evicted = after === undefined ? new Set<ClusterName>() : evictedFrom(key, ledger, world);
    const lost = [...evicted].filter((it) => works(record, it, world)).length;
    if (after === undefined || lost === 0) continue;
    const subject = { kind: "placement", placement: key } as const;
    if (hasUnreadBudget(record, world))
      yield defect("DisruptionBudgetUnreadable", subject, `evicts from ${key}, whose disruption budget cannot be read`);
    const floor = fewestOf(after, world);
    const left = [...after.bindings.values()].filter(
      (it) => isUntouched(it, record.bindings.get(it.cluster)) && works(record, it.cluster, world),
    ).length;
    if (left < floor)
      yield defect(
        "DisruptionBudgetExceeded",
        subject,
        `evicts ${lost} available clusters of ${key} and leaves ${left}, at least ${floor} must stay`,
      );
  }
}

/**
 * It keeps its target: a cluster that just got another one is not available (`rollout/README.md#evictions-come-last`).
 */
const isUntouched = ({ removal, target }: Binding, was: Binding | undefined): boolean =>
  removal === null && target !== null && target.sequence === was?.target?.sequence;

/** A budget that cannot be read protects everything (`rollout/README.md#i-54`). */
const hasUnreadBudget = ({ key }: PlacementRecord, { intent }: World): boolean =>
  !intent.budgets.has(key) &&
  intent.unusable.has(`placement.kubernetes-fleet.io/ClusterResourcePlacementDisruptionBudget//${key}` as ObjectKey);

/**
 * The clusters that a plan evicts a placement from, each once, without those that lose it for another reason, as their
 * eviction says.
 */
export const evictedFrom = (
  key: PlacementKey,
  { evictions, placements }: Ledger,
  { ledger: old }: World,
): ReadonlySet<ClusterName> => {
  const fresh = [...evictions.values()].filter(
    (it) => it.placement === key && !old.evictions.has(it.name) && isCarriedOut(it),
  );
  const isGoing = (cluster: ClusterName): boolean =>
    placements.get(key)?.bindings.get(cluster)?.removal != null &&
    old.placements.get(key)?.bindings.get(cluster)?.removal == null;
  return new Set(fresh.map((it) => it.cluster).filter(isGoing));
};

const isCarriedOut = ({ found, conditions }: EvictionRecord): boolean =>
  found === null && conditions.some((it) => it.type === "Executed" && it.status === "True");

/**
 * Untrackable counts as available, as in KubeFleet. A cluster that only reports differences does not
 * (`rollout/README.md#e22`).
 */
function works(record: PlacementRecord, cluster: ClusterName, world: World): boolean {
  const binding = record.bindings.get(cluster);
  if (binding?.target?.applyStrategy.type === "ReportDiff") return false;
  return binding !== undefined && availabilityOf(binding, record, world) !== "down";
}

/**
 * How many clusters must stay available; percentages are of the number asked for, rounded up
 * (`rollout/README.md#the-disruption-budget`).
 */
function fewestOf({ key, spec, bindings }: PlacementRecord, { intent }: World): number {
  const budget = intent.budgets.get(key);
  if (budget === undefined) return 0;
  const wanted = spec.policy.kind === "PickN" ? spec.policy.numberOfClusters : bindings.size;
  const { bound, limit } = budget;
  const count = "count" in limit ? limit.count : Math.ceil((limit.percent * wanted) / 100);
  return bound === "minAvailable" ? count : bindings.size - count;
}
