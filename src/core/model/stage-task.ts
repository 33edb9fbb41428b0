import type { Request } from "./trust.ts";
import type { Digest, DurationMs, Instant } from "./value.ts";

/** What a stage waits for: a type of task, as `core/rollout/tasks` describes it, with what the strategy says about it. */
export type StageTask = { readonly kind: "Approval" } | { readonly kind: "TimedWait"; readonly wait: DurationMs };

export type TaskKind = StageTask["kind"];
export type TaskOf<Kind extends TaskKind> = Extract<StageTask, { readonly kind: Kind }>;

/** Tasks stand before a stage, or behind it. */
export type TaskSide = "before" | "after";

/** What is recorded of the tasks on one side of a stage, each by its type. Null: nothing. */
export interface TaskRecords extends Readonly<Record<TaskKind, unknown>> {
  readonly Approval: Gate | null;
  /** It follows from when the stage's last cluster ended. */
  readonly TimedWait: null;
}

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

/** What a run waits for because of a task that is not done. */
export type TaskWait = {
  readonly kind: "task";
  readonly stage: string;
} & (
  | {
      readonly task: "Approval";
      readonly when: TaskSide;
      readonly digest: Digest;
      /** Why a given answer does not count; null without one. */
      readonly because: string | null;
    }
  | { readonly task: "TimedWait"; readonly until: Instant; readonly clock: ClockTrust }
);

/**
 * Whether our clock agrees with the members' (`rollout/README.md#i-06`). With fewer than three of them reporting the
 * time a jump cannot be noticed: waits end by our clock, and the status says so.
 */
export type ClockTrust = "sound" | "unsound" | "unseen";
