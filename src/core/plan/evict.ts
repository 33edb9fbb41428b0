import { settleConditions } from "../model/condition.ts";
import type { DisruptionBudget, Eviction, EvictionRecord } from "../model/eviction.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { objectKey } from "../model/manifest.ts";
import { placementGroup } from "../model/names.ts";
import { type ClusterName, compareText, type PlacementKey, type RunKey } from "../model/value.ts";
import { judgeEviction } from "../rollout/eviction.ts";
import { evictionVerdicts } from "../status/eviction-conditions.ts";
import type { PlanContext } from "./context.ts";
import { doomsOf } from "./doom.ts";
import type { Doom } from "./guard.ts";
import { revised, revisedMap, sameMap } from "./identity.ts";
import { plannedIn } from "./run-moves.ts";
import { recordsOf } from "./runs-of.ts";
import { withdrawn } from "./transition.ts";
import { readinessIn } from "./when.ts";
import { uidOf } from "./where.ts";

/** What the evictions of this pass come to. */
export interface Evictions {
  readonly records: Ledger["evictions"];
  /** Placements that lose clusters, without them. */
  readonly placements: ReadonlyMap<PlacementKey, Evicted>;
}

/** A placement that evictions took off some clusters. */
export interface Evicted {
  readonly record: PlacementRecord;
  readonly dooms: readonly Doom[];
}

/**
 * Judges every eviction that has not been judged, in the order of their names, each after what the ones before it took
 * away (`spec/rollout.md` §4). What was judged stays so until its file is removed.
 */
export function judgeEvictions(context: PlanContext): Evictions {
  const { intent } = context.world;
  const { evictions: before } = context.ledger;
  const records: [string, EvictionRecord][] = [...before].filter(
    ([name]) => intent.evictions.has(name) || isUnusable(name, context),
  );
  const placements = new Map<PlacementKey, Evicted>();
  for (const [name, eviction] of intent.evictions) {
    if (before.has(name)) continue;
    const placement =
      placements.get(eviction.placement)?.record ?? context.ledger.placements.get(eviction.placement) ?? null;
    const judged = judge(eviction, placement, context);
    if (judged === null) continue;
    records.push([name, judged.record]);
    if (judged.evicted === null) continue;
    const dooms = [...(placements.get(eviction.placement)?.dooms ?? []), ...judged.evicted.dooms];
    placements.set(eviction.placement, { record: judged.evicted.record, dooms });
  }
  const after = new Map(records.sort(([a], [b]) => compareText(a, b)));
  return { records: sameMap(after, before) ? before : after, placements };
}

const isUnusable = (name: string, { world }: PlanContext): boolean =>
  world.intent.unusable.has(
    objectKey({ group: placementGroup, kind: "ClusterResourcePlacementEviction", namespace: null, name }),
  );

/** Null while what it would take away is protected and nobody approved that: it is judged when somebody has. */
function judge(
  eviction: Eviction,
  placement: PlacementRecord | null,
  context: PlanContext,
): { readonly record: EvictionRecord; readonly evicted: Evicted | null } | null {
  const { now } = context.world;
  const { name, cluster } = eviction;
  const verdict = judgeEviction({
    eviction,
    placement,
    budget: budgetOf(eviction.placement, context),
    readinessOf: (it) => {
      const binding = placement?.bindings.get(it);
      return placement === null || binding === undefined
        ? { kind: "unknown" }
        : readinessIn(context, placement, binding);
    },
    runOn: (it) => runOn(it, eviction.placement, context),
  });
  const record: EvictionRecord = {
    name,
    uid: uidOf(context.ledger, "Eviction", name),
    placement: eviction.placement,
    cluster,
    conditions: settleConditions([], evictionVerdicts(verdict), now),
  };
  const isTaken = verdict.kind === "executed" && verdict.evict && placement !== null;
  const binding = placement?.bindings.get(cluster);
  if (isTaken && binding !== undefined && !context.protection.permits({ record: placement, binding, next: null }))
    return null;
  return { record, evicted: isTaken ? without(cluster, placement, context) : null };
}

/** One that cannot be read protects all the same (`security.md` I-54). */
function budgetOf(placement: PlacementKey, { world: { intent } }: PlanContext): DisruptionBudget | "unusable" | null {
  const kind = "ClusterResourcePlacementDisruptionBudget";
  const isUnread = intent.unusable.has(objectKey({ group: placementGroup, kind, namespace: null, name: placement }));
  return intent.budgets.get(placement) ?? (isUnread ? "unusable" : null);
}

/** The newest unfinished run that has the cluster in its plan. */
function runOn(cluster: ClusterName, placement: PlacementKey, { ledger }: PlanContext): RunKey | null {
  const runs = recordsOf(ledger, placement).filter(
    ({ plan, end }) =>
      plan !== null && end === null && (plannedIn(plan).has(cluster) || plan.deletions.includes(cluster)),
  );
  return runs.sort((a, b) => b.since - a.since || compareText(b.key, a.key))[0]?.key ?? null;
}

function without(cluster: ClusterName, placement: PlacementRecord, context: PlanContext): Evicted {
  const dooms: Doom[] = [];
  const bindings = revisedMap(placement.bindings, (binding) => {
    if (binding.cluster !== cluster) return binding;
    const gone = withdrawn(binding, { record: placement, context });
    if (gone !== null) dooms.push(...doomsOf(placement, gone));
    return gone;
  });
  return { record: revised(placement, { bindings }), dooms };
}
