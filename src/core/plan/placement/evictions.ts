import type { Binding } from "../../model/binding.ts";
import { settleConditions } from "../../model/condition.ts";
import { rememberedPair, sameMap } from "../../model/identity.ts";
import type { Intent } from "../../model/intent.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import type { DisruptionBudget, Eviction, EvictionRecord } from "../../model/placement.ts";
import type { RunRecord } from "../../model/update-run.ts";
import { type ClusterName, compareText, type PlacementKey, type RunKey } from "../../model/value.ts";
import { type EvictionInput, judgeEviction } from "../../rollout/eviction.ts";
import { plannedIn } from "../../rollout/run-plan.ts";
import { evictionVerdicts } from "../../status/eviction-conditions.ts";
import { guardMoves } from "../guard/protection.ts";
import { type PlanContext, uidOf } from "../moves/context.ts";
import type { Move } from "../moves/move.ts";
import { begin, type PlacementProgress } from "../moves/progress.ts";
import { readinessIn } from "../moves/readiness.ts";

/** A placement that evictions took off some clusters. */
interface Evicted {
  readonly progress: PlacementProgress;
  /** The evictions that were judged. */
  readonly evictions: readonly EvictionRecord[];
}

/** By what evictions of a placement are judged, besides what everything else in this pass left. */
interface EvictionContext {
  readonly plan: PlanContext;
  /** As the members had it before this pass; null when there was none. */
  readonly before: PlacementRecord | null;
  readonly runs: readonly RunRecord[];
}

/**
 * Judges every eviction of a placement that has not been judged, in the order of their names, each after what the ones
 * before it took away (`rollout/README.md#evictions`), and all of them after the rollout: a cluster that gets a new
 * target in this pass is not available (`rollout/README.md#evictions-come-last`). What was judged stays so until its
 * file is removed.
 */
export const carryOutEvictions = (progress: PlacementProgress, context: EvictionContext): Evicted =>
  unjudgedOf(progress.record.key, context.plan).reduce<Evicted>((it, eviction) => judged(eviction, it, context), {
    progress,
    evictions: [],
  });

/** Evictions of a placement that have not been judged, in the order of their names. */
export const unjudgedOf = (key: PlacementKey, { world, ledger }: PlanContext): readonly Eviction[] =>
  unjudged(world.intent.evictions, ledger.evictions).get(key) ?? none;

const none: readonly never[] = [];

/** By placement: draining a cluster evicts every placement from it. */
const unjudged = rememberedPair(
  (asked: Intent["evictions"], known: Ledger["evictions"]): ReadonlyMap<PlacementKey, readonly Eviction[]> => {
    const found = new Map<PlacementKey, Eviction[]>();
    for (const it of asked.values()) {
      if (known.has(it.name)) continue;
      const others = found.get(it.placement);
      if (others === undefined) found.set(it.placement, [it]);
      else others.push(it);
    }
    return found;
  },
);

/** Without a verdict while what it would take away is protected and nobody approved that: it is judged when somebody has. */
function judged(eviction: Eviction, { progress, evictions }: Evicted, context: EvictionContext): Evicted {
  const { plan, before } = context;
  const { record } = progress;
  const verdict = verdictOf(eviction, record, context);
  const all = [...evictions, recordOf(eviction, verdict, plan)];
  const binding = record.bindings.get(eviction.cluster);
  if (verdict.kind !== "executed" || !verdict.evict || binding === undefined) return { progress, evictions: all };
  const carried = asCarried(binding, before?.bindings.get(eviction.cluster), plan);
  const move: Move = { record, cause: "eviction", binding: carried, to: null, gate: null };
  const guarded = guardMoves([move], progress.guarded, plan);
  const proposed = { ...progress, guarded, moves: [...progress.moves, move] };
  if (guarded.waiting.has(move)) return { progress: proposed, evictions };
  return { progress: begin(withoutOthers(proposed, move, carried !== binding), [move], plan), evictions: all };
}

/**
 * What was to come to a cluster that the placement is evicted from does not come. What has begun to leave it in this pass
 * leaves all the same, unless the cluster is taken as it was before.
 */
function withoutOthers(progress: PlacementProgress, move: Move, isAsBefore: boolean): PlacementProgress {
  const isElsewhere = ({ binding }: Move): boolean => binding.cluster !== move.binding.cluster;
  const { begun, counted } = progress;
  const others = counted.filter((it) => isElsewhere(it) || (!isAsBefore && begun.includes(it)));
  return { ...progress, begun: begun.filter(isElsewhere), counted: [move, ...others] };
}

const verdictOf = (
  eviction: Eviction,
  record: PlacementRecord,
  { plan, before, runs }: EvictionContext,
): ReturnType<typeof judgeEviction> =>
  judgeEviction({
    eviction,
    placement: record,
    budget: budgetOf(record.key, plan),
    readinessOf: (it) => {
      const binding = record.bindings.get(it);
      return binding === undefined ? { kind: "unknown" } : readinessIn(plan, record, binding);
    },
    isNew: (it) => (before?.bindings.get(it)?.target ?? null) === null,
    runOn: (it) => runOn(it, runs),
  });

/**
 * Every eviction that stays on record: those whose files are there, and what was judged in this pass, whether with its
 * placement or because there is no such placement.
 */
export function evictionsNow(
  fresh: readonly EvictionRecord[],
  placements: Ledger["placements"],
  context: PlanContext,
): Ledger["evictions"] {
  const { intent } = context.world;
  const { evictions: before } = context.ledger;
  const kept = [...before.values()].filter(({ name }) => intent.evictions.has(name) || isUnusable(name, context));
  const known = new Set([...kept, ...fresh].map((it) => it.name));
  const lost = [...intent.evictions.values()]
    .filter(
      (it) => !known.has(it.name) && !placements.has(it.placement) && !context.ledger.quarantines.has(it.placement),
    )
    .map((it) => recordOf(it, judgeEviction({ ...nowhere, eviction: it }), context));
  const all = [...kept, ...fresh, ...lost].sort((a, b) => compareText(a.name, b.name));
  const after = new Map(all.map((it) => [it.name, it]));
  return sameMap(after, before) ? before : after;
}

/** Where there is no placement. */
const nowhere: Omit<EvictionInput, "eviction"> = {
  placement: null,
  budget: null,
  readinessOf: () => ({ kind: "unknown" }),
  isNew: () => true,
  runOn: () => null,
};

const isUnusable = (name: string, { world }: PlanContext): boolean =>
  world.intent.unusable.has(
    objectKey({ group: placementGroup, kind: "ClusterResourcePlacementEviction", namespace: null, name }),
  );

const recordOf = (
  { name, placement, cluster }: Eviction,
  verdict: ReturnType<typeof judgeEviction>,
  { ledger, world }: PlanContext,
): EvictionRecord => ({
  name,
  uid: uidOf(ledger, "Eviction", name),
  placement,
  cluster,
  found: verdict.kind === "executed" && !verdict.evict ? "leaving" : null,
  conditions: settleConditions([], evictionVerdicts(verdict), world.now),
});

/** Without a version that it was to get in this pass: what is taken away is what is there. */
function asCarried(binding: Binding, was: Binding | undefined, { sequence }: PlanContext): Binding {
  if (was === undefined || was.removal !== null || binding.target?.sequence !== sequence) return binding;
  return { ...binding, target: was.target, leaving: was.leaving, facts: was.facts };
}

/** One that cannot be read protects all the same (`rollout/README.md#i-54`). */
function budgetOf(placement: PlacementKey, { world: { intent } }: PlanContext): DisruptionBudget | "unusable" | null {
  const kind = "ClusterResourcePlacementDisruptionBudget";
  const isUnread = intent.unusable.has(objectKey({ group: placementGroup, kind, namespace: null, name: placement }));
  return intent.budgets.get(placement) ?? (isUnread ? "unusable" : null);
}

/** The newest unfinished run that has the cluster in its plan. */
export function runOn(cluster: ClusterName, runs: readonly RunRecord[]): RunKey | null {
  const holding = runs.filter(
    ({ plan, end }) =>
      plan !== null && end === null && (plannedIn(plan).has(cluster) || plan.deletions.includes(cluster)),
  );
  return holding.sort((a, b) => b.since - a.since || compareText(b.key, a.key))[0]?.key ?? null;
}
