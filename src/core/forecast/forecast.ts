import { decide } from "../decide/decide.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { StageTask, TaskRecords } from "../model/stage-task.ts";
import type { RunRecord } from "../model/update-run.ts";
import {
  type ClusterName,
  type DurationMs,
  earliest,
  type Instant,
  later,
  type RunKey,
  seconds,
} from "../model/value.ts";
import { weightOf } from "../report/reason-text.ts";
import type { ForecastAssumptions } from "../rollout/tasks/task-type.ts";
import { taskType } from "../rollout/tasks/tasks.ts";
import type { RolloutFocus } from "./events.ts";
import { afterActions, memberAtTime, nextHealthChange, type VirtualMember } from "./member.ts";
import { type Assumptions, membersAsRecorded } from "./recorded-members.ts";
import { type Ending, type Forecast, finishedForecast, newTimeline, reasonsOn, recordPass } from "./timeline.ts";

/** What a forecast assumes, and how far it goes. */
export interface ForecastSetup extends Assumptions {
  readonly focus: RolloutFocus;
  /** How long after its request an approval is given; null: never. */
  readonly approveAfter: DurationMs | null;
  readonly until: DurationMs;
  readonly mostPasses: number;
}

/**
 * Plays the real planner over members that exist in the forecast only, from event to event, until nothing happens any
 * more (`forecast/README.md`).
 *
 * Pure: the same world and assumptions give the same forecast. Every plan passes its check as in a real pass;
 * members do at once what they are told, and `landing` later it is available. The clock jumps to whatever comes next.
 */
export function forecast(world: World, setup: ForecastSetup): Forecast {
  const horizon = later(world.now, setup.until);
  let state: ForecastState = { now: world.now, ledger: world.ledger, members: membersAsRecorded(world, setup) };
  const timeline = newTimeline(world, setup.focus);
  for (let passes = 1; passes <= setup.mostPasses; passes++) {
    const step = passIn(state, world, setup);
    if ("ending" in step) return finishedForecast(timeline, step.ending, passes);
    recordPass(timeline, {
      before: state.ledger,
      after: step.state.ledger,
      reasons: step.plan.reasons,
      now: state.now,
    });
    state = step.state;
    const ending = endingOf(step, horizon, setup);
    if (ending !== null) return finishedForecast(timeline, ending, passes);
    if (!step.hasMoved) state = { ...state, now: step.next ?? state.now };
  }
  return finishedForecast(timeline, { kind: "passes" }, setup.mostPasses);
}

/** The forecast's world between two passes. */
interface ForecastState {
  readonly now: Instant;
  readonly ledger: Ledger;
  readonly members: ReadonlyMap<ClusterName, VirtualMember>;
}

interface Step {
  readonly plan: Plan;
  readonly state: ForecastState;
  readonly hasMoved: boolean;
  /** When something next happens by itself; null when nothing does. */
  readonly next: Instant | null;
}

function passIn(before: ForecastState, world: World, setup: ForecastSetup): Step | { readonly ending: Ending } {
  const { now } = before;
  const members = new Map([...before.members].map(([name, it]) => [name, memberAtTime(it, now)]));
  const ledger = withPassedTasks(before.ledger, now, setup);
  const seen: World = {
    ...world,
    ledger,
    observed: new Map([...members].map(([name, it]) => [name, it.seen])),
    now,
    // Clocks do not jump in a forecast.
    clockOffset: seconds(0),
    patience: "retryAt",
  };
  const decision = decide(seen);
  if (decision.kind === "unsound") return { ending: { kind: "unsound", faults: decision.faults } };
  const decided = decision.plan;
  if (decided.refusal !== null) return { ending: { kind: "refused", refusal: decided.refusal } };
  for (const it of decided.actions) {
    const member = members.get(it.cluster);
    if (member !== undefined) members.set(it.cluster, afterActions(member, it, { now, landing: setup.landing }));
  }
  const state = { now, ledger: decided.ledger, members };
  const turns = [...members.values()].map(nextHealthChange);
  const wake = decided.wakeAt === null ? null : (Math.max(decided.wakeAt, later(now, seconds(1))) as Instant);
  const next = earliest(wake, nextPassingTask(decided.ledger, now, setup), ...turns);
  return { plan: decided, state, hasMoved: decided.decides || decided.actions.length > 0, next };
}

function endingOf(step: Step, horizon: Instant, { focus }: ForecastSetup): Ending | null {
  const { state, next, hasMoved, plan: decided } = step;
  const end = focus.run === null ? null : (state.ledger.runs.get(focus.run)?.end ?? null);
  if (end !== null) return end.kind === "succeeded" ? { kind: "done" } : { kind: "failed" };
  if (hasMoved) return null;
  const isOpen = reasonsOn(focus, decided.reasons, state.ledger).some((it) => weightOf(it) !== "notice");
  const isToBreak = [...state.members.values()].some((it) => it.fate.kind === "breaks");
  if (focus.run === null && !isOpen && (!isToBreak || next === null || next > horizon)) return { kind: "done" };
  if (next === null) return { kind: "waits" };
  return next > horizon ? { kind: "time", next } : null;
}

/** When somebody outside is assumed to let tasks pass, and of which placement's runs. */
interface Passing extends ForecastAssumptions {
  readonly focus: RolloutFocus;
}

/** The ledger with the tasks of the placement's runs passed that somebody lets pass by `now`; nobody judges how. */
function withPassedTasks(ledger: Ledger, now: Instant, passing: Passing): Ledger {
  const runs = new Map<RunKey, RunRecord>();
  let isNews = false;
  for (const [key, run] of ledger.runs) {
    const next = isConcerned(run, passing) ? runWithPassedTasks(run, now, passing) : run;
    if (next !== run) isNews = true;
    runs.set(key, next);
  }
  return isNews ? { ...ledger, runs } : ledger;
}

/** When somebody next lets a task pass; null if nobody has to or does. Never before `now`. */
function nextPassingTask({ runs }: Ledger, now: Instant, passing: Passing): Instant | null {
  const next = earliest(
    ...[...runs.values()]
      .filter((it) => isConcerned(it, passing))
      .flatMap(tasksOf)
      .map(({ task, records }) => taskType(task.kind).passesAt(task, records[task.kind], passing)),
  );
  return next === null ? null : (Math.max(next, now) as Instant);
}

interface RunTask {
  readonly task: StageTask;
  /** Of its side of the stage. */
  readonly records: TaskRecords;
}

const tasksOf = ({ plan, stages }: RunRecord): readonly RunTask[] =>
  (plan?.stages ?? []).flatMap((stage, at) =>
    (["before", "after"] as const).flatMap((when) => {
      const records = stages[at]?.[when];
      return records === undefined ? [] : stage[when].map((task) => ({ task, records }));
    }),
  );

const isConcerned = ({ spec, end }: RunRecord, { focus }: Passing): boolean =>
  spec.placement === focus.placement && end === null;

function runWithPassedTasks(run: RunRecord, now: Instant, passing: Passing): RunRecord {
  const stages = run.stages.map((progress, at) => {
    const planned = run.plan?.stages[at];
    if (planned === undefined) return progress;
    const before = passedTasks(planned.before, progress.before, now, passing);
    const after = passedTasks(planned.after, progress.after, now, passing);
    return before === progress.before && after === progress.after ? progress : { ...progress, before, after };
  });
  return stages.some((it, at) => it !== run.stages[at]) ? { ...run, stages } : run;
}

/** What is recorded of the tasks on one side of a stage once all have passed that somebody lets pass by now. */
function passedTasks(tasks: readonly StageTask[], before: TaskRecords, now: Instant, passing: Passing): TaskRecords {
  let records = before;
  for (const task of tasks) {
    const due = taskType(task.kind).passesAt(task, before[task.kind], passing);
    if (due !== null && due <= now)
      records = { ...records, [task.kind]: taskType(task.kind).passed(task, before[task.kind], now) };
  }
  return records;
}
