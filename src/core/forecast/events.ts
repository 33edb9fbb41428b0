import type { Binding } from "../model/binding.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Reason } from "../model/reason.ts";
import type { TaskSide } from "../model/stage-task.ts";
import type { PlannedStage, RunRecord, RunWait, StageProgress } from "../model/update-run.ts";
import type { ClusterName, Instant, PlacementKey, RunKey } from "../model/value.ts";
import type { StageStates, TaskEvent } from "../rollout/tasks/task-type.ts";
import { inOrder, taskType } from "../rollout/tasks/tasks.ts";
import { waitText } from "../status/run-words.ts";

/** The rollout that a forecast is about: that of a run or, without runs, of a placement. */
export interface RolloutFocus {
  readonly placement: PlacementKey;
  readonly run: RunKey | null;
}

/** An event of a forecast. `stage` is null without stages. */
export type ForecastEvent = { readonly at: Instant } & (
  | {
      readonly kind: "planned";
      readonly resourceIndex: number;
      readonly stages: number;
      readonly clusters: number;
      readonly deletions: number;
    }
  | { readonly kind: "stageBegins" | "stageEnds"; readonly stage: string }
  | {
      readonly kind: "starts";
      readonly cluster: ClusterName;
      readonly stage: string | null;
      readonly resourceIndex: number;
    }
  | { readonly kind: "lands"; readonly cluster: ClusterName; readonly stage: string | null }
  | {
      readonly kind: "fails" | "skipped";
      readonly cluster: ClusterName;
      readonly stage: string | null;
      readonly because: string;
    }
  | TaskEvent
  /** The run cannot continue for now; why. */
  | { readonly kind: "holds"; readonly stage: string | null; readonly because: string }
  | { readonly kind: "leaves" | "gone"; readonly cluster: ClusterName }
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed"; readonly because: string }
);

type Untimed<T> = T extends unknown ? Omit<T, "at"> : never;
type Happening = Untimed<ForecastEvent>;

/** What one pass of a forecast changed. */
export interface ForecastPass {
  readonly before: Ledger;
  readonly after: Ledger;
  readonly reasons: readonly Reason[];
  readonly now: Instant;
}

/** The events of one pass, in causal order. */
export function eventsOf({ placement, run }: RolloutFocus, pass: ForecastPass): readonly ForecastEvent[] {
  const { before, after, now } = pass;
  const story = run === null ? ofPlacement(placement, pass) : ofRun(before.runs.get(run), after.runs.get(run), pass);
  return [...story].map((it) => ({ at: now, ...it }));
}

/** Whether a cluster has its target, all of it available as far as that can be tracked. */
export const isUp = ({ target, facts }: Binding): boolean =>
  target !== null &&
  facts?.sequence === target.sequence &&
  facts.applied === "applied" &&
  (facts.phase === "available" || facts.phase === "untrackable");

/** Whether a cluster reported that its target fails. */
const isDown = ({ target, facts }: Binding): boolean =>
  target !== null && facts?.sequence === target.sequence && (facts.applied === "failed" || facts.phase === "failed");

const troubleIn = ({ facts }: Binding): string => facts?.objectFailures[0]?.message ?? "it fails";

function* ofPlacement(key: PlacementKey, { before, after }: ForecastPass): Generator<Happening> {
  const [was, is] = [before.placements.get(key), after.placements.get(key)];
  const [old, bindings] = [was?.bindings ?? none, is?.bindings ?? none];
  for (const [cluster, it] of bindings)
    if (isUp(it) && !isAsBefore(it, old.get(cluster), isUp)) yield { kind: "lands", cluster, stage: null };
  for (const [cluster, it] of bindings)
    if (isDown(it) && !isAsBefore(it, old.get(cluster), isDown))
      yield { kind: "fails", cluster, stage: null, because: troubleIn(it) };
  for (const [cluster, { target }] of old)
    if (target !== null && !bindings.has(cluster)) yield { kind: "gone", cluster };
  for (const [cluster, { target, removal }] of bindings) {
    if (target === null || removal !== null || target.sequence === old.get(cluster)?.target?.sequence) continue;
    yield { kind: "starts", cluster, stage: null, resourceIndex: target.resourceIndex };
  }
  for (const [cluster, { removal }] of bindings)
    if (removal !== null && old.get(cluster)?.removal == null) yield { kind: "leaves", cluster };
}

const none: PlacementRecord["bindings"] = new Map();

const isAsBefore = (is: Binding, was: Binding | undefined, claim: (it: Binding) => boolean): boolean =>
  was !== undefined && was.target?.sequence === is.target?.sequence && claim(was);

function* ofRun(was: RunRecord | undefined, is: RunRecord | undefined, pass: ForecastPass): Generator<Happening> {
  if (is === undefined) return;
  const { plan, end } = is;
  if (plan !== null && was?.plan == null) {
    const clusters = plan.stages.reduce((sum, it) => sum + it.clusters.length, 0);
    const { resourceIndex, stages, deletions } = plan;
    yield { kind: "planned", resourceIndex, stages: stages.length, clusters, deletions: deletions.length };
  }
  for (const [at, stage] of plan?.stages.entries() ?? []) {
    const progress = is.stages[at];
    if (progress !== undefined && progress !== was?.stages[at])
      yield* ofStage({ stage, was: was?.stages[at], is: progress, run: is });
    yield* failuresIn(stage, progress, is, pass);
  }
  yield* ofDeletion(was, is);
  yield* blockedOf(is, pass);
  if (end === null || was?.end != null) return;
  if (end.kind === "succeeded") yield { kind: "succeeded" };
  else if (end.kind === "superseded") yield { kind: "failed", because: `run ${end.by} has taken over its clusters` };
  else yield { kind: "failed", because: `${end.code}: ${end.message}` };
}

interface StageChange {
  readonly stage: PlannedStage;
  readonly was: StageProgress | undefined;
  readonly is: StageProgress;
  readonly run: RunRecord;
}

function* ofStage({ stage, was, is, run }: StageChange): Generator<Happening> {
  const { name } = stage;
  yield* ofTasks(stage, "before", { was, is });
  if (is.startedAt !== null && was?.startedAt == null) yield { kind: "stageBegins", stage: name };
  for (const { cluster } of stage.clusters) {
    const end = is.clusters.get(cluster)?.end ?? null;
    if (end === null || was?.clusters.get(cluster)?.end != null) continue;
    if (end.kind === "succeeded") yield { kind: "lands", cluster, stage: name };
    if (end.kind === "skipped") yield { kind: "skipped", cluster, stage: name, because: end.because };
    if (end.kind === "superseded") yield { kind: "skipped", cluster, stage: name, because: `run ${end.by} updates it` };
  }
  for (const { cluster } of stage.clusters) {
    if (is.clusters.get(cluster)?.startedAt == null || was?.clusters.get(cluster)?.startedAt != null) continue;
    yield { kind: "starts", cluster, stage: name, resourceIndex: run.plan?.resourceIndex ?? 0 };
  }
  yield* ofTasks(stage, "after", { was, is });
  if (is.endedAt !== null && was?.endedAt == null) yield { kind: "stageEnds", stage: name };
}

function* ofTasks(stage: PlannedStage, when: TaskSide, states: StageStates): Generator<Happening> {
  for (const task of inOrder(stage[when])) yield* taskType(task.kind).events(task, { stage: stage.name, when }, states);
}

/** Clusters in progress that newly fail: they may recover, so the run's record does not say so. */
function* failuresIn(
  stage: PlannedStage,
  progress: StageProgress | undefined,
  { spec }: RunRecord,
  { before, after }: ForecastPass,
): Generator<Happening> {
  for (const [cluster, { startedAt, end }] of progress?.clusters ?? []) {
    const binding = after.placements.get(spec.placement)?.bindings.get(cluster);
    if (startedAt === null || end !== null || binding === undefined || !isDown(binding)) continue;
    const was = before.placements.get(spec.placement)?.bindings.get(cluster);
    if (!isAsBefore(binding, was, isDown))
      yield { kind: "fails", cluster, stage: stage.name, because: troubleIn(binding) };
  }
}

function* ofDeletion(was: RunRecord | undefined, { deletion }: RunRecord): Generator<Happening> {
  for (const [cluster, { startedAt, end }] of deletion.clusters) {
    const old = was?.deletion.clusters.get(cluster);
    if (startedAt !== null && old?.startedAt == null) yield { kind: "leaves", cluster };
    if (end !== null && old?.end == null) yield { kind: "gone", cluster };
  }
}

/** Why nothing new starts, unless only time is needed. Repeated when the reason changes. */
function* blockedOf({ key }: RunRecord, { reasons }: ForecastPass): Generator<Happening> {
  for (const it of reasons) {
    if (it.kind !== "run" || it.run !== key || !isBlocking(it.wait)) continue;
    yield { kind: "holds", stage: "stage" in it.wait ? it.wait.stage : null, because: waitText(it.wait) };
  }
}

const isBlocking = ({ kind }: RunWait): boolean =>
  kind === "planning" || kind === "failures" || kind === "stuck" || kind === "held";
