import type { Binding } from "../model/binding.ts";
import { conditionOf, settleConditions } from "../model/condition.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { EvictionRecord } from "../model/placement.ts";
import type { Reason, RenderedTarget } from "../model/plan.ts";
import type { RunRecord } from "../model/update-run.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { placementVerdicts } from "../status/placement-conditions.ts";
import type { PlanContext } from "./context.ts";
import { judgeEvictions } from "./evict.ts";
import { doomedObjects } from "./guard/doom.ts";
import type { Doom } from "./guard/guard.ts";
import { revised, revisedMap } from "./identity.ts";
import { bindingReasons, gathered } from "./reasons.ts";
import { recordsOf } from "./runs/runs-of.ts";
import { readinessIn, type When } from "./when.ts";

/** One placement, decided. */
export interface Placed {
  /** Null when the placement is gone from every member and is forgotten. */
  readonly record: PlacementRecord | null;
  /** Its update runs; null where they were not decided with it. */
  readonly runs: readonly RunRecord[] | null;
  /** Evictions that were judged with it. */
  readonly evictions: readonly EvictionRecord[];
  readonly rendered: readonly RenderedTarget[];
  readonly dooms: readonly Doom[];
  /** What is to be said, once it is known what waits for a confirmation. */
  readonly reasons: (isHeld: PlanContext["isHeld"]) => readonly Reason[];
  readonly doomed: When["doomed"];
  readonly wakeAt: Instant | null;
}

/**
 * Judges the evictions by what the rollout left, adds the conditions, and gives back `before` itself when nothing differs
 * from it.
 */
export function finished(
  before: PlacementRecord | null,
  rolledOut: PlacementRecord,
  context: PlanContext,
  rollout: When,
): Placed {
  const { world, ledger } = context;
  const { record, evictions, when } = afterEvictions(before, rolledOut, context, rollout);
  const bindings = revisedMap(record.bindings, (binding, cluster): Binding => {
    const conditions = context.conditionsOf(binding, {
      trouble: ledger.clusters.get(cluster)?.trouble ?? null,
      heldBack: when.heldBack.has(cluster),
      failure: when.unrenderable.get(cluster) ?? null,
    });
    return conditions === binding.conditions ? binding : { ...binding, conditions };
  });
  const nothing = { change: record.change, reasons: [], wakeAt: null };
  const asked = when.isSuspended === true ? nothing : context.protection.askedFor(record);
  const told = revised(record, { bindings, change: asked.change });
  const verdicts = placementVerdicts(told, when.arithmetic);
  const next = revised(told, { conditions: settleConditions(told.conditions, verdicts, world.now) });
  const reasonsOf = (binding: Binding, isHeld: PlanContext["isHeld"]): readonly Reason[] => {
    const readiness = when.readiness.get(binding.cluster) ?? readinessIn(context, next, binding);
    return bindingReasons(next, binding, { readiness, context, isHeld });
  };
  return {
    record: before !== null && revised(before, next) === before ? before : next,
    runs: null,
    evictions,
    rendered: when.rendered,
    dooms: when.dooms,
    doomed: when.doomed,
    reasons: (isHeld) => [
      ...when.reasons,
      ...asked.reasons,
      ...gathered([...next.bindings.values()].flatMap((it) => reasonsOf(it, isHeld))),
    ],
    wakeAt: earliest(when.wakeAt, asked.wakeAt),
  };
}

interface AfterEvictions {
  readonly record: PlacementRecord;
  readonly evictions: readonly EvictionRecord[];
  /** Without what was to come to clusters that the placement was evicted from. */
  readonly when: When;
}

function afterEvictions(
  before: PlacementRecord | null,
  record: PlacementRecord,
  context: PlanContext,
  when: When,
): AfterEvictions {
  if (when.isSuspended === true) return { record, evictions: [], when };
  const runs = when.runs ?? recordsOf(context.ledger, record.key);
  const evicted = judgeEvictions({ record, before, runs }, context);
  if (evicted.record === record) return { record, evictions: evicted.evictions, when };
  const isThere = (cluster: ClusterName): boolean =>
    evicted.record.bindings.get(cluster) === record.bindings.get(cluster);
  const reasons = when.reasons.flatMap((it): readonly Reason[] => {
    if (it.kind !== "started") return [it];
    const clusters = it.clusters.filter(isThere);
    return clusters.length === 0 ? [] : [{ ...it, clusters }];
  });
  return {
    record: evicted.record,
    evictions: evicted.evictions,
    when: {
      ...when,
      rendered: when.rendered.filter((it) => isThere(it.cluster)),
      dooms: [...when.dooms.filter((it) => isThere(it.cluster)), ...evicted.dooms],
      reasons,
      heldBack: new Set([...when.heldBack].filter(isThere)),
      doomed: (cluster) => (isThere(cluster) ? when.doomed(cluster) : []),
    },
  };
}

/** A rollout in which nothing moves. */
export const still = (record: PlacementRecord, context: PlanContext): When => ({
  bindings: record.bindings,
  rendered: [],
  dooms: [],
  reasons: [],
  // Whoever waited for the budget goes on waiting.
  heldBack: new Set([...record.bindings.values()].filter(isHeldBack).map((it) => it.cluster)),
  arithmetic: null,
  unrenderable: new Map(),
  readiness: new Map(),
  doomed: (cluster) => {
    const binding = record.bindings.get(cluster);
    return binding === undefined ? [] : doomedObjects(binding, undefined, record, context);
  },
  wakeAt: null,
  isSettled: false,
});

const isHeldBack = ({ conditions }: Binding): boolean => conditionOf(conditions, "RolloutStarted")?.status === "False";
