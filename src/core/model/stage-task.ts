import type { Request } from "./trust.ts";
import type { Digest, DurationMs, Instant } from "./value.ts";

/** The nouns of every type of task: all that is told of tasks follows from this table. */
interface TaskNouns {
  readonly Approval: {
    readonly task: object;
    readonly record: Gate | null;
    readonly wait: {
      readonly when: TaskSide;
      readonly digest: Digest;
      /** Why a given answer does not count; null without one. */
      readonly because: string | null;
    };
  };
  readonly TimedWait: {
    readonly task: { readonly wait: DurationMs };
    /** It follows from when the stage's last cluster ended. */
    readonly record: null;
    readonly wait: { readonly until: Instant; readonly clock: ClockTrust };
  };
}

export type TaskKind = keyof TaskNouns;

/** A task of one type, with what the strategy says about it. */
export type TaskOf<Kind extends TaskKind> = { [It in Kind]: { readonly kind: It } & TaskNouns[It]["task"] }[Kind];

/** What a stage waits for: a type of task, as `core/rollout/tasks` describes it, with what the strategy says about it. */
export type StageTask = TaskOf<TaskKind>;

/** Tasks stand before a stage, or behind it. */
export type TaskSide = "before" | "after";

/** What is recorded of the tasks on one side of a stage, each by its type. Null: nothing. */
export type TaskRecords = { readonly [Kind in TaskKind]: TaskNouns[Kind]["record"] };

/** Before the stage came there. */
export const noTaskRecords: TaskRecords = { Approval: null, TimedWait: null };

/** Whether anything was requested or recorded. */
export const isAnyRecorded = (records: TaskRecords): boolean => Object.values(records).some((it) => it !== null);

/**
 * One Approval task and its answer. Its request is `approvals/<run>-<before|after>-<stage>.yaml`; the digest is over
 * the fleet, the run's uid, the stage, before or after, and the plan's root.
 */
export type Gate = Request;

/** KubeFleet's name for a gate's request (`trust/README.md#the-request`); unique: stages have no dash. */
export const approvalRequestName = (run: string, when: TaskSide, stage: string): string => `${run}-${when}-${stage}`;

/** What a run waits for because a task of one type is not done. */
export type TaskWaitOf<Kind extends TaskKind> = {
  [It in Kind]: { readonly kind: "task"; readonly stage: string; readonly task: It } & TaskNouns[It]["wait"];
}[Kind];

/** What a run waits for because of a task that is not done. */
export type TaskWait = TaskWaitOf<TaskKind>;

/**
 * Whether our clock agrees with the members' (`rollout/README.md#i-06`). With fewer than three of them reporting the
 * time a jump cannot be noticed: waits end by our clock, and the status says so.
 */
export type ClockTrust = "sound" | "unsound" | "unseen";
