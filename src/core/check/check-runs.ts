import type { Binding } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DefectSubject, PlanDefect, RunDefectCode } from "../model/plan-defect.ts";
import type { ClusterProgress, PlannedCluster, PlannedStage, RunRecord, StageProgress } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import { defect } from "./check-defect.ts";
import { forgottenRecords, rulesOfOpen } from "./check-tasks.ts";

/** Lists where a plan moves an External placement in a way that the plan of an update run does not allow now. */
export function* checkRuns(plan: Plan, world: World): Generator<PlanDefect<RunDefectCode>> {
  yield* movesOnlyByRuns(plan, world);
  for (const [key, run] of plan.ledger.runs) {
    const before = world.ledger.runs.get(key);
    if (before === run) continue;
    yield* keepsItsPlan(run, before);
    yield* opensInOrder(run, before, plan, world);
    yield* startsWithinBounds(run, before, plan, world);
  }
}

/** `rollout/README.md#i-05`, `#i-09`: a cluster changes only as an unfinished run plans it, when its stage has come. */
function* movesOnlyByRuns({ ledger }: Plan, world: World): Generator<PlanDefect<RunDefectCode>> {
  for (const [key, record] of ledger.placements) {
    const before = world.ledger.placements.get(key);
    if (record === before || record.spec.strategy.type !== "External" || record.deleting !== null) continue;
    const runs = [...ledger.runs.values()].filter((it) => it.spec.placement === key && it.spec.state === "Run");
    for (const [cluster, binding] of record.bindings) {
      const was = before?.bindings.get(cluster);
      if (isNewTarget(binding, was) && !runs.some((it) => brings(it, binding)))
        yield defect(
          "TargetWithoutRun",
          { kind: "binding", placement: key, cluster },
          `moves ${key} on ${cluster}, which no run says`,
        );
      const isGoing = binding.removal !== null && was?.removal == null;
      if (isGoing && !runs.some((it) => takes(it, cluster)) && !isEvicted(ledger, record, cluster))
        yield defect(
          "RemovalWithoutRun",
          { kind: "binding", placement: key, cluster },
          `takes ${key} from ${cluster}, which no run says`,
        );
    }
  }
}

const isNewTarget = ({ target }: Binding, was: Binding | undefined): boolean =>
  target !== null &&
  target.sequence !== was?.target?.sequence &&
  // A removal was called off: the content is the same.
  target.digest !== was?.target?.digest;

function brings(run: RunRecord, { cluster, target }: Binding): boolean {
  const at = run.plan?.stages.findIndex((it) => it.clusters.some((planned) => planned.cluster === cluster)) ?? -1;
  const planned = run.plan?.stages[at]?.clusters.find((it) => it.cluster === cluster);
  return (
    planned !== undefined &&
    planned.digest === target?.digest &&
    run.plan?.resourceIndex === target.resourceIndex &&
    run.stages.slice(0, at).every((it) => it.endedAt !== null) &&
    run.stages[at]?.clusters.get(cluster)?.startedAt != null
  );
}

const takes = ({ plan, stages }: RunRecord, cluster: ClusterName): boolean =>
  plan?.deletions.includes(cluster) === true && stages.every((it) => it.endedAt !== null);

const isEvicted = ({ evictions }: Plan["ledger"], { key }: PlacementRecord, cluster: ClusterName): boolean =>
  [...evictions.values()].some(
    (it) =>
      it.placement === key &&
      it.cluster === cluster &&
      it.conditions.some((condition) => condition.type === "Executed" && condition.status === "True"),
  );

/** `rollout/README.md#i-05`, `#u7`: the plan and the end of a run never change, nor what is final of its tasks. */
function* keepsItsPlan(run: RunRecord, before: RunRecord | undefined): Generator<PlanDefect<RunDefectCode>> {
  if (before === undefined || before.uid !== run.uid) return;
  const subject = { kind: "run", run: run.key } as const;
  if (before.plan !== null && run.plan !== before.plan)
    yield defect("RunPlanChanged", subject, `changes the plan of run ${run.key}`);
  if (before.end !== null && (run.end !== before.end || run.stages !== before.stages))
    yield defect("RunContinuedAfterEnd", subject, `goes on with run ${run.key}, which has ended`);
  for (const [at, stage] of before.stages.entries())
    for (const when of ["before", "after"] as const)
      for (const { code, what } of forgottenRecords(stage[when], run.stages[at]?.[when]))
        yield defect(code, subject, `forgets ${what} of run ${run.key}`);
}

/**
 * `rollout/README.md#i-01`, `#i-06`: a stage ends when its clusters and tasks are done; only then the next one starts.
 */
function* opensInOrder(
  run: RunRecord,
  before: RunRecord | undefined,
  plan: Plan,
  world: World,
): Generator<PlanDefect<RunDefectCode>> {
  for (const [at, stage] of run.plan?.stages.entries() ?? []) {
    const progress = run.stages[at];
    if (progress === undefined) continue;
    const where = `stage ${stage.name} of run ${run.key}`;
    const subject: StageSubject = { kind: "stage", run: run.key, stage: stage.name };
    const hasBegun = [...progress.clusters.values()].some((it) => it.startedAt !== null);
    if (hasBegun && run.stages.slice(0, at).some((it) => it.endedAt === null))
      yield defect("StageOutOfOrder", subject, `begins ${where} out of turn`);
    yield* beginsAsked(stage, progress, before?.stages[at], { where, subject, run, plan, world });
    const isNews = progress.finishedAt !== null && before?.stages[at]?.finishedAt == null;
    if (isNews && progress.finishedAt < world.now)
      yield defect("StageFinishBackdated", subject, `dates the landing of ${where} earlier than it was seen`);
    if (progress.endedAt === null || before?.stages[at]?.endedAt != null) continue;
    if (!hasBegun || progress.isPassedOver) continue;
    const { finishedAt } = progress;
    for (const { defects, how } of rulesOfOpen(stage.after, progress.after, { world, finishedAt }))
      yield defect(defects.after, subject, `ends ${where} ${how}`);
  }
}

type StageSubject = Extract<DefectSubject, { readonly kind: "stage" }>;

interface StagePlace {
  readonly where: string;
  readonly subject: StageSubject;
  readonly run: RunRecord;
  readonly plan: Plan;
  readonly world: World;
}

/**
 * `rollout/README.md#i-01`: no stage starts before the tasks that stand before it are done, unless it is passed over
 * because the run changes nothing in it and has changed nothing in it (`rollout/README.md#passed-over`). Once something
 * changes after all, they have to be.
 */
function* beginsAsked(
  stage: PlannedStage,
  progress: StageProgress,
  before: StageProgress | undefined,
  { where, subject, run, plan, world }: StagePlace,
): Generator<PlanDefect<RunDefectCode>> {
  const { isPassedOver } = progress;
  if (isPassedOver && before !== undefined && before.startedAt !== null && !before.isPassedOver)
    yield defect("StageSkippedAfterStart", subject, `passes over ${where}, which has begun`);
  const [open] = rulesOfOpen(stage.before, progress.before, { world, finishedAt: null });
  if (!isPassedOver && open === undefined) return;
  const [record, old] = [plan.ledger, world.ledger].map((it) => it.placements.get(run.spec.placement)?.bindings);
  for (const { cluster, digest } of stage.clusters) {
    const [is, was] = [progress.clusters.get(cluster), before?.clusters.get(cluster)];
    if (is?.startedAt == null || was?.end != null || is.end?.kind === "superseded") continue;
    const [target, known] = [record?.get(cluster)?.target, old?.get(cluster)?.target];
    const isChange = known?.digest !== digest;
    const isFresh = was?.startedAt == null;
    const isBrought = target?.digest === digest && target.sequence !== known?.sequence;
    if (isFresh && !isPassedOver && open !== undefined)
      yield defect(open.defects.before, subject, `begins ${where} ${open.how}`);
    else if (isChange && (isFresh || isBrought))
      yield defect("ClusterUpdateUnapproved", subject, `changes ${cluster} in ${where}, ${open?.how ?? "unasked"}`);
  }
}

/**
 * `rollout/README.md#i-02`, `#i-07`, `#i-08`: at most `maxConcurrency` clusters at a time, none after too many
 * failures, none once stopped.
 */
function* startsWithinBounds(
  run: RunRecord,
  before: RunRecord | undefined,
  { ledger }: Plan,
  world: World,
): Generator<PlanDefect<RunDefectCode>> {
  const record = ledger.placements.get(run.spec.placement);
  if (run.plan === null || record === undefined) return;
  for (const [at, stage] of run.plan.stages.entries()) {
    const progress = run.stages[at]?.clusters ?? new Map();
    const fresh = stage.clusters.filter(
      ({ cluster }) =>
        progress.get(cluster)?.startedAt != null && before?.stages[at]?.clusters.get(cluster)?.startedAt == null,
    );
    if (fresh.length === 0) continue;
    const where = `stage ${stage.name} of run ${run.key}`;
    const subject: StageSubject = { kind: "stage", run: run.key, stage: stage.name };
    if (run.spec.state !== "Run")
      yield defect("StageNotRunning", subject, `starts clusters in ${where}, which is not to run`);
    const underWay = stage.clusters.filter((it) => isUnderWay(progress.get(it.cluster)));
    const failed = underWay.filter((it) => hasFailed(record, it));
    const late = underWay.filter((it) => !failed.includes(it) && isOverdue(record, it, world));
    const active = underWay.length - failed.length - late.length;
    const most = Math.max(1, floorOf(stage.maxConcurrency, stage.clusters.length));
    if (active > most)
      yield defect(
        "MaxConcurrencyExceeded",
        subject,
        `has ${active} clusters under way in ${where}, at most ${most} may be`,
      );
    const allowed = floorOf(stage.maxFailures, stage.clusters.length);
    // A cluster that a newer run took over may have failed.
    const lost = stage.clusters.filter((it) => isLost(progress.get(it.cluster)));
    const failures = failed.filter((it) => !fresh.includes(it)).length + lost.length;
    if (failures > allowed)
      yield defect(
        "MaxFailuresExceeded",
        subject,
        `starts clusters in ${where} after ${failures} failures, ${allowed} may be`,
      );
  }
}

/** By the last facts about the version of the plan: silence is no recovery. */
function hasFailed({ bindings }: PlacementRecord, { cluster, digest }: PlannedCluster): boolean {
  const { target, facts } = bindings.get(cluster) ?? { target: null, facts: null };
  if (target === null || target.digest !== digest) return false;
  return facts?.sequence === target.sequence && (facts.applied === "failed" || facts.phase === "failed");
}

/** Its deadline may have passed: only the planner knows since when it runs. */
const isOverdue = ({ bindings, spec }: PlacementRecord, { cluster }: PlannedCluster, { now }: World): boolean =>
  now >= (bindings.get(cluster)?.target?.startedAt ?? now) + spec.strategy.progressDeadline;

const isLost = (it: ClusterProgress | undefined): boolean => it?.startedAt != null && it.end?.kind === "superseded";

interface Way {
  readonly startedAt: number | null;
  readonly end: object | null;
}

const isUnderWay = (it: Way | undefined): boolean => it !== undefined && it.startedAt !== null && it.end === null;

const floorOf = (bound: PlannedStage["maxConcurrency"], of: number): number =>
  "count" in bound ? bound.count : Math.floor((bound.percent * of) / 100);
