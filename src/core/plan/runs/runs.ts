import type { PlacementRecord } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import type { Reason, RenderedTarget } from "../../model/plan.ts";
import type { ClockTrust, RunRecord, RunWait, UpdateRun } from "../../model/update-run.ts";
import {
  type ClusterName,
  compareText,
  type DurationMs,
  earliest,
  type Instant,
  later,
  seconds,
} from "../../model/value.ts";
import type { RunScene } from "../../rollout/run-context.ts";
import { planRun } from "../../rollout/run-plan.ts";
import { hasWorkLeft, unbegunDeletion, initialized as withPlan } from "../../rollout/run-progress.ts";
import { stepRun } from "../../rollout/run-step.ts";
import { settledRun } from "../../status/run-conditions.ts";
import type { PlanContext } from "../context.ts";
import type { Doom } from "../guard/guard.ts";
import { eachOnce, runDooms } from "../guard/run-dooms.ts";
import { revised } from "../identity.ts";
import { uidOf } from "../where.ts";
import { holdOn, runConsents } from "./run-consent.ts";
import { carryOutRun, type Mover, moverOf, plannedIn, runBindings } from "./run-moves.ts";
import { askAhead, isPermitted, mayLeave } from "./run-protection.ts";
import { type Selected, versionFor } from "./run-version.ts";
import { recordsOf, runsOf } from "./runs-of.ts";

/** An External placement as this pass found it, and what its runs may roll out. */
export interface RunsScene extends Selected {
  /** As scheduled in this pass; null when there is no such placement, or it is on its way out. */
  readonly record: PlacementRecord | null;
}

/** What the update runs of one placement do now. */
export interface Course {
  /** With the bindings that they moved, and the snapshot that one of them made. */
  readonly record: PlacementRecord | null;
  /** Every run of the placement that stays on record. */
  readonly runs: readonly RunRecord[];
  readonly rendered: readonly RenderedTarget[];
  readonly dooms: readonly Doom[];
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/**
 * Takes every update run of a placement as far as it goes now.
 *
 * The newest goes first: what it has moved, or moves in this pass, an older one leaves alone (`rollout/README.md#b-4`).
 */
export function decideRuns(key: PlacementRecord["key"], scene: RunsScene, context: PlanContext): Course {
  const asked = runsOf(context.world.intent, key);
  const kept = recordsOf(context.ledger, key);
  let course: Course = { record: scene.record, runs: [], rendered: [], dooms: [], reasons: [], wakeAt: null };
  const records = newestFirst(asked, kept, context);
  for (const [at, it] of records.entries())
    course = advanced(course, it, { scene, older: records.slice(at + 1), context });
  return {
    ...course,
    runs: [...course.runs].sort((a, b) => compareText(a.key, b.key)),
    dooms: eachOnce(course.dooms),
    reasons: [...course.reasons, ...failures(course.runs)],
  };
}

/** The records of all runs, as their documents have them now. One whose document is gone is forgotten. */
function newestFirst(
  asked: readonly UpdateRun[],
  kept: readonly RunRecord[],
  context: PlanContext,
): readonly RunRecord[] {
  const records = new Map(kept.map((it) => [it.key, it]));
  const unusable = kept.filter((it) => isUnusable(it, context));
  const current = asked.map((it) => recorded(it, records.get(it.key), context));
  return [...current, ...unusable.filter((it) => !asked.some(({ key }) => key === it.key))].sort(
    (a, b) => b.since - a.since || compareText(b.key, a.key),
  );
}

/** Its document is there and cannot be used: neither gone nor changed (`plan/README.md#d-2`). */
const isUnusable = ({ namespace, name }: RunRecord, { world: { intent } }: PlanContext): boolean =>
  intent.unusable.has(
    objectKey({
      group: placementGroup,
      kind: namespace === null ? "ClusterStagedUpdateRun" : "StagedUpdateRun",
      namespace,
      name,
    }),
  );

function recorded(
  { key, scope, namespace, name, spec }: UpdateRun,
  before: RunRecord | undefined,
  context: PlanContext,
) {
  if (before === undefined) {
    return {
      key,
      scope,
      namespace,
      name,
      uid: uidOf(context.ledger, "UpdateRun", key),
      generation: 1,
      spec,
      since: context.sequence,
      plan: null,
      stages: [],
      deletion: unbegunDeletion,
      end: null,
      conditions: [],
    } satisfies RunRecord;
  }
  // Only the state may change, and of a run that is over nothing does (`rollout/README.md#u34`).
  if (before.end !== null || before.spec.state === spec.state) return before;
  return { ...before, spec, generation: before.generation + 1 };
}

/** What a run's turn needs besides the run. */
interface Turn {
  readonly scene: RunsScene;
  /** Runs whose turn comes after it. */
  readonly older: readonly RunRecord[];
  readonly context: PlanContext;
}

function advanced(course: Course, run: RunRecord, turn: Turn): Course {
  if (run.end !== null || isUnusable(run, turn.context)) return { ...course, runs: [...course.runs, run] };
  const planned = run.plan === null ? initialized(course, run, turn) : { course, run, waits: none };
  if (planned.run.plan === null || planned.run.end !== null) return told(planned, turn);
  return stepped(planned, turn);
}

const none: readonly never[] = [];

interface Moved {
  readonly course: Course;
  readonly run: RunRecord;
  readonly waits: readonly RunWait[];
}

/** Freezes the run's plan; or it fails for good, or waits for what is not there yet. */
function initialized(course: Course, run: RunRecord, { scene, older, context }: Turn): Moved {
  const { intent, now } = context.world;
  const { record } = course;
  const chosen = record === null ? null : versionFor(run, record, scene, context);
  const planning = planRun({
    run,
    placement: record,
    strategy: intent.strategies.get(run.spec.strategy) ?? null,
    members: intent.clusters,
    underWay: [...course.runs, ...older.map((it) => asHeard(it, course, context))].filter((it) =>
      hasWorkLeft(it, record),
    ),
    version: chosen?.version ?? { kind: "failed", code: "SnapshotNotFound", message: "there is no placement" },
  });
  switch (planning.kind) {
    case "planned": {
      const { plan } = planning;
      const resourceSnapshots = chosen?.resourceSnapshots;
      const next = record === null || resourceSnapshots === undefined ? record : revised(record, { resourceSnapshots });
      return { course: { ...course, record: next }, run: withPlan(run, plan), waits: none };
    }
    case "failed": {
      const { code, message } = planning;
      return { course, run: { ...run, end: { kind: "failed", at: now, code, message } }, waits: none };
    }
    case "waiting":
      return { course, run, waits: [{ kind: "planning", message: planning.message }] };
  }
}

/** An older run by what members say in this pass: its turn comes later, and what it will hear then is true already. */
function asHeard(run: RunRecord, course: Course, context: PlanContext): RunRecord {
  if (run.plan === null || run.end !== null || isUnusable(run, context)) return run;
  const scene = sceneOf(course, run, moverOf(run, course.record, context), context);
  return stepRun(run, { ...scene, isAtHand: () => false }).run;
}

/** Clusters that the placement picks and the frozen plan does not have (`rollout/README.md#b-22`). */
function joinedSince({ plan }: RunRecord, record: PlacementRecord | null): readonly RunWait[] {
  if (plan === null || record === null) return none;
  const joined = [...record.bindings.values()].flatMap(({ cluster, state }) =>
    state === "Unscheduled" || plannedIn(plan).has(cluster) || plan.deletions.includes(cluster) ? [] : [cluster],
  );
  return joined.length === 0 ? none : [{ kind: "joined", clusters: joined.sort(compareText) }];
}

/** Lets an initialized run do what it may do now. */
function stepped({ course, run, waits }: Moved, turn: Turn): Course {
  const { context } = turn;
  const before = context.ledger.runs.get(run.key);
  const mover = moverOf(run, course.record, context);
  askAhead(run, course.record, mover, context);
  const hold = holdOn(run, context);
  const scene = sceneOf(course, run, mover, context);
  const step = stepRun(run, hold === null ? scene : { ...scene, isAtHand: () => false });
  const remove = hold === null ? step.remove.filter((it) => mayLeave(it, course.record, context)) : [];
  const moves = carryOutRun({ ...step, remove }, course.record, mover, context);
  const after: Course = {
    ...course,
    record: moves.record,
    rendered: [...course.rendered, ...moves.rendered],
    dooms: [...course.dooms, ...runDooms(step.run, before ?? null, course.record, context)],
    reasons: [...course.reasons, ...moves.reasons],
    wakeAt: earliest(course.wakeAt, step.wakeAt),
  };
  const held: readonly RunWait[] = hold === null || step.run.end !== null ? [] : [{ kind: "held", because: hold }];
  const joined = step.run.end === null ? joinedSince(step.run, course.record) : none;
  return told({ course: after, run: step.run, waits: [...waits, ...held, ...step.waits, ...joined] }, turn);
}

function sceneOf({ record, runs }: Course, run: RunRecord, mover: Mover, context: PlanContext): RunScene {
  const { world, ledger, sequence } = context;
  const { now } = world;
  const clock = clockTrust(world.clockOffset);
  return {
    now,
    clock,
    latest: clock === "unsound" ? later(now, behind(world.clockOffset ?? 0)) : now,
    sequence,
    fleet: ledger.fleet,
    placement: record,
    bindings: record === null ? new Map() : runBindings(run, record, context),
    isAtHand: (cluster) =>
      mover.moveOf(cluster).kind === "moved" && isPermitted(cluster, { run, record, mover }, context),
    ...runConsents(run, record, context),
    newerOn: (cluster) => runs.find((it) => hasMoved(it, cluster))?.key ?? null,
  };
}

/** By how much members' clocks are later than ours, at most: they tell the time down to the second. */
const behind = (offset: number): DurationMs => (offset < 0 ? seconds(1) - offset : 0) as DurationMs;

/** Beyond this, our clock or the members' jumped (`rollout/README.md#i-06`). */
const clockTolerance = 60_000;

const clockTrust = (offset: number | null): ClockTrust => {
  if (offset === null) return "unseen";
  return Math.abs(offset) <= clockTolerance ? "sound" : "unsound";
};

const hasMoved = ({ stages }: RunRecord, cluster: ClusterName): boolean =>
  stages.some((it) => (it.clusters.get(cluster)?.startedAt ?? null) !== null);

/** The run with its conditions, on the course. */
function told({ course, run, waits }: Moved, { context }: Turn): Course {
  const reasons = waits.map((wait): Reason => ({ kind: "run", run: run.key, placement: run.spec.placement, wait }));
  return {
    ...course,
    runs: [...course.runs, settledRun(run, waits, context.world.now)],
    reasons: [...course.reasons, ...reasons],
  };
}

/** A failed run is worth saying as long as no newer one has taken its place. */
const failures = ([newest]: readonly RunRecord[]): readonly Reason[] =>
  newest?.end?.kind === "failed"
    ? [
        {
          kind: "runFailed",
          run: newest.key,
          placement: newest.spec.placement,
          code: newest.end.code,
          message: newest.end.message,
        },
      ]
    : [];
