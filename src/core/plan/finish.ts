import { conditionOf, settleConditions } from "../model/condition.ts";
import type { Binding, PlacementRecord } from "../model/ledger.ts";
import type { Reason, RenderedTarget } from "../model/plan.ts";
import type { RunRecord } from "../model/run-record.ts";
import { earliest, type Instant } from "../model/value.ts";
import { placementVerdicts } from "../status/placement-conditions.ts";
import type { PlanContext } from "./context.ts";
import { doomedObjects } from "./doom.ts";
import type { Doom } from "./guard.ts";
import { revised, revisedMap } from "./identity.ts";
import { bindingReasons, gathered } from "./reasons.ts";
import { readinessIn, type When } from "./when.ts";

/** One placement, decided. */
export interface Placed {
  /** Null when the placement is gone from every member and is forgotten. */
  readonly record: PlacementRecord | null;
  /** Its update runs; null where they were not decided with it. */
  readonly runs: readonly RunRecord[] | null;
  readonly rendered: readonly RenderedTarget[];
  readonly dooms: readonly Doom[];
  /** What is to be said, once it is known what waits for a confirmation. */
  readonly reasons: (isHeld: PlanContext["isHeld"]) => readonly Reason[];
  readonly doomed: When["doomed"];
  readonly wakeAt: Instant | null;
}

/** Adds the conditions, and gives back `before` itself when nothing differs from it. */
export function finished(
  before: PlacementRecord | null,
  record: PlacementRecord,
  context: PlanContext,
  when: When,
): Placed {
  const { world, ledger } = context;
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
  const next = revised(told, { conditions: settleConditions(told.conditions, placementVerdicts(told), world.now) });
  const reasonsOf = (binding: Binding, isHeld: PlanContext["isHeld"]): readonly Reason[] => {
    const readiness = when.readiness.get(binding.cluster) ?? readinessIn(context, next, binding);
    return bindingReasons(next, binding, { readiness, context, isHeld });
  };
  return {
    record: before !== null && revised(before, next) === before ? before : next,
    runs: null,
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

/** A rollout in which nothing moves. */
export const still = (record: PlacementRecord, context: PlanContext): When => ({
  bindings: record.bindings,
  rendered: [],
  dooms: [],
  reasons: [],
  // Whoever waited for the budget goes on waiting.
  heldBack: new Set([...record.bindings.values()].filter(isHeldBack).map((it) => it.cluster)),
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
