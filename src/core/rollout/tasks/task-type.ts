import type { Task as WrittenTask } from "#schemas/cluster-staged-update-strategy";
import type { Field, Members } from "../../ledger/codec/codec.ts";
import type { ClockTrust, Gate, TaskKind, TaskOf, TaskRecords, TaskSide, TaskWaitOf } from "../../model/stage-task.ts";
import type { Authors, GateAnswer } from "../../model/trust.ts";
import type { PlannedStage, RunPlan, RunRecord, StageProgress } from "../../model/update-run.ts";
import type { Digest, DurationMs, Instant, RunKey } from "../../model/value.ts";
import type { FieldProblems, JsonPath } from "../../yaml/problems.ts";

/** A type of task that stages can have: one file has all that is known about it, and `tasks.ts` has the table. */
export interface TaskType<Kind extends TaskKind> {
  // How it is written in a strategy.

  /** On which sides of a stage it may stand, and what to do instead where it may not. */
  readonly sides: readonly TaskSide[];
  readonly otherwise: string;
  /** Checks a task that the schema has passed. */
  problems(written: WrittenTask, at: JsonPath): FieldProblems;
  /** The task, with defaults. */
  task(written: WrittenTask): TaskOf<Kind>;

  // What it decides.

  /** How far it is in this pass: asked once the stage has come there, until the stage is over. */
  advance(task: TaskOf<Kind>, record: TaskRecords[Kind], context: TaskContext): StageTaskResult<Kind>;
  /** What is kept of it when it turns out that the stage is passed over (`rollout/README.md#passed-over`). */
  withdraw(record: TaskRecords[Kind]): TaskRecords[Kind];

  /** What ends a wait for it. */
  readonly endsBy: TaskEnd;

  // How it is recorded.

  /** What a plan says of it besides its type. */
  readonly parameters: Members<Omit<TaskOf<Kind>, "kind">>;
  /** KubeFleet's StageTaskStatus besides its type, and below `notes.<side>` what that has no field for. */
  recorded(when: TaskSide): Field<TaskRecords[Kind], RecordedTask<Kind>>;

  // Its words.

  /** What a wait for it is called where programs read of it (`-o json`). */
  readonly waitKind: string;
  /** What a run waits for, without the stage. */
  waitText(wait: TaskWaitOf<Kind>): string;
  /** Who can end the wait, and how, in words; null if nobody can. Programs go by `endsBy`. */
  readonly whoCanAct: string | null;
  /** The commands that help with it; null for none. */
  commands(wait: TaskWaitOf<Kind>, run: RunKey): string | null;
  /** Its line in the description of a run. */
  describe(view: TaskView<Kind>): string;
  /** What a stage waits for because of it, in the state of a run; null when it does not. */
  pendingText(view: Pick<TaskView<Kind>, "task" | "record" | "when" | "progress">): string | null;
  /** What a commit says that has changed, each after the name of the stage. */
  changes(was: TaskRecords[Kind], is: TaskRecords[Kind], when: TaskSide): readonly string[];

  // What a forecast makes of it.

  /** When somebody outside lets it pass, as far as a forecast assumes; null when nobody does, or nobody has to. */
  passesAt(task: TaskOf<Kind>, record: TaskRecords[Kind], assumed: ForecastAssumptions): Instant | null;
  /** What is recorded of it once they have. */
  passed(task: TaskOf<Kind>, record: TaskRecords[Kind], at: Instant): TaskRecords[Kind];
  /** What happened to it between two states of a stage. */
  events(task: TaskOf<Kind>, place: TaskPlace, states: StageStates): readonly TaskEvent[];
}

/** What ends a wait for a task: what people commit, the clock, or what members say. */
export type TaskEnd = "people" | "time" | "members";

/** Where a task stands. */
interface TaskPlace {
  readonly stage: string;
  readonly when: TaskSide;
}

/** What a run asks people, and what they answer. */
interface ApprovalInputs {
  /** The rules under which an approval of a stage is requested now. */
  readonly requestRulesOf: (stage: PlannedStage, when: TaskSide) => RequestRules;
  /** 32 hexadecimal digits for a request of this run: different for every stage and pass. */
  readonly nonceFor: (stage: PlannedStage, when: TaskSide) => string;
  /** The answer to a request that was made in an earlier pass. */
  readonly answerTo: (stage: PlannedStage, when: TaskSide, gate: Gate) => GateAnswer;
}

/** The rules under which an approval is requested. */
export interface RequestRules {
  /** Of all rules that have to be met; null without a trust file. */
  readonly rules: Digest | null;
  /** How long a request may stay open before a new one replaces it; null: for ever. */
  readonly maxAge: DurationMs | null;
  /** Who changed what would be approved. Looked up once, when the request is made. */
  readonly authors: () => Authors;
}

/** What tasks look at, besides their stage. */
export interface TaskInputs extends ApprovalInputs {
  readonly now: Instant;
  /** Waits may end by our clock unless it is `unsound`. */
  readonly clock: ClockTrust;
  /** Names the fleet in request digests. */
  readonly fleet: string;
}

/** Everything that decides how far a task is. */
export interface TaskContext extends TaskInputs {
  readonly run: RunRecord;
  readonly root: RunPlan["root"];
  readonly stage: PlannedStage;
  readonly when: TaskSide;
  /** When the last cluster of the stage ended; null before. */
  readonly finishedAt: Instant | null;
}

/** The state of a task after a pass. */
export interface StageTaskResult<Kind extends TaskKind> {
  readonly record: TaskRecords[Kind];
  /** Null when it is done. */
  readonly wait: TaskWaitOf<Kind> | null;
  /** Why the run has failed because of it; null when it has not. */
  readonly rejection: string | null;
  /** When time alone changes this; null when it does not. */
  readonly wakeAt: Instant | null;
}

/** A task as it is recorded, and what of the run stands beside it. */
export interface RecordedTask<Kind extends TaskKind> {
  readonly task: TaskOf<Kind>;
  readonly when: TaskSide;
  readonly stage: string;
  readonly progress: Pick<StageProgress, "finishedAt" | "endedAt">;
  readonly run: Pick<RunRecord, "name" | "generation">;
}

/** A task as the description of a run shows it. */
interface TaskView<Kind extends TaskKind> extends TaskPlace {
  readonly task: TaskOf<Kind>;
  readonly record: TaskRecords[Kind];
  readonly progress: StageProgress;
  readonly hasRunEnded: boolean;
  readonly now: Instant;
}

/** What a forecast assumes of people. */
export interface ForecastAssumptions {
  /** How long after its request an approval is given; null: never. */
  readonly approveAfter: DurationMs | null;
}

/** A stage before and after a pass. */
export interface StageStates {
  readonly was: StageProgress | undefined;
  readonly is: StageProgress;
}

/** An event of a forecast that is a task's. */
export type TaskEvent = ApprovalEvent | TimedWaitEvent;

/** Of a forecast: an approval is requested, or given. */
export interface ApprovalEvent {
  readonly kind: "approvalNeeded" | "approved";
  readonly stage: string;
  readonly when: TaskSide;
}

/** Of a forecast: a wait begins. */
export interface TimedWaitEvent {
  readonly kind: "timer";
  readonly stage: string;
  readonly until: Instant;
}

/** The moment of an event, and how times are shown: as a length of time after the start of the forecast. */
export interface EventTimes {
  readonly at: Instant;
  readonly offset: (at: Instant) => string;
}
