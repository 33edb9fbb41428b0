import { at } from "../../ledger/codec/codec.ts";
import { trueCondition } from "../../ledger/codec/conditions.ts";
import { duration } from "../../ledger/codec/scalars.ts";
import type { ClockTrust, TaskOf } from "../../model/stage-task.ts";
import type { StageProgress } from "../../model/update-run.ts";
import { type DurationMs, durationOf, type Instant, instantText, later, shortDuration } from "../../model/value.ts";
import { error, type JsonPath } from "../../yaml/problems.ts";
import type { EventTimes, RecordedTask, TaskType, TimedWaitEvent } from "./task-type.ts";

/**
 * Waits for some time after the last cluster of a stage has ended, exactly (`rollout/README.md#b-14`, `#b-15`), provided
 * that our clock can be trusted (`#i-06`).
 */
export const timedWait: TaskType<"TimedWait"> = {
  sides: ["after"],
  otherwise: "put it after the previous stage",
  problems({ waitTime }, place) {
    const path: JsonPath = [...place, "waitTime"];
    if (waitTime === undefined) return [error("FLT1300", path, "is required for a TimedWait", "write 30m or 1h30m")];
    if (waitOf(waitTime) !== null) return [];
    const fix = "write hours, minutes and seconds, such as 30m or 1h30m";
    return [error("FLT1312", path, "is not a duration above zero", fix, JSON.stringify(waitTime))];
  },
  task: ({ waitTime = "" }) => ({ kind: "TimedWait", wait: waitOf(waitTime) ?? (0 as DurationMs) }),

  advance({ wait }, record, { stage, finishedAt, now, clock }) {
    const until = finishedAt === null ? null : later(finishedAt, wait);
    if (until === null || (now >= until && clock !== "unsound"))
      return { record, wait: null, rejection: null, wakeAt: null };
    return {
      record,
      wait: { kind: "task", task: "TimedWait", stage: stage.name, until, clock },
      rejection: null,
      wakeAt: until > now ? until : null,
    };
  },
  withdraw: () => null,
  endsBy: "time",

  parameters: { wait: at(["waitTime"], duration) },
  recorded: () => ({
    put(into, _, recorded) {
      const over = overAt(recorded);
      if (over === null) return;
      const condition = { reason: "AfterStageTaskWaitTimeElapsed", message: "the wait is over", at: over };
      into["conditions"] = [trueCondition("WaitTimeElapsed", condition, recorded.run)];
    },
    take: () => null,
  }),

  waitKind: "timer",
  waitText: ({ until, clock }) => `waits until ${instantText(until)}${clockWords[clock]}`,
  whoCanAct: null,
  commands: () => null,
  describe({ task, progress, now }) {
    const name = `wait of ${shortDuration(task.wait)}`;
    if (progress.isPassedOver) return `${name}: not needed, since nothing changes`;
    const until = endOf(progress, task);
    if (until === null) return `${name}: begins when all clusters are done`;
    const isOver = progress.endedAt !== null || now >= until;
    return `${name}: ${isOver ? "over since" : "until"} ${instantText(until)}`;
  },
  pendingText({ task, progress }) {
    const until = endOf(progress, task);
    return until === null ? null : `wait until ${instantText(until)}`;
  },
  changes: () => [],

  passesAt: () => null,
  passed: () => null,
  events(task, { stage }, { was, is }) {
    const until = endOf(is, task);
    return until === null || was?.finishedAt != null ? [] : [{ kind: "timer", stage, until }];
  },
};

/**
 * `1h30m` or `1.5h`: hours, minutes and seconds, above zero; null for anything else (`intent/README.md#v-us-13`,
 * `#v-us-15`).
 */
const waitOf = (written: string): DurationMs | null =>
  /^(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[smh])+$/.test(written) ? durationOf(written) : null;

/** When a wait ends; null if it has not started. */
const endOf = ({ finishedAt }: Pick<StageProgress, "finishedAt">, { wait }: TaskOf<"TimedWait">): Instant | null =>
  finishedAt === null ? null : later(finishedAt, wait);

/** When a wait was over, for a stage that ended: there is no clock here, so that no wait is called over before. */
function overAt({ task, progress }: RecordedTask<"TimedWait">): Instant | null {
  const over = endOf(progress, task);
  return over === null || progress.endedAt === null || over > progress.endedAt ? null : over;
}

export const timedWaitEventText = ({ stage, until }: TimedWaitEvent, { at: since, offset }: EventTimes): string =>
  `stage ${stage} waits ${shortDuration((until - since) as DurationMs)}, until ${offset(until)}`;

const clockWords: Readonly<Record<ClockTrust, string>> = {
  sound: "",
  unsound: ", and for our clock to agree with the members'",
  unseen: "; fewer than three members tell the time",
};
