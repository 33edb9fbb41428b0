import type { Task as WrittenTask } from "#schemas/cluster-staged-update-strategy";
import type { StageTask, TaskKind, TaskRecords, TaskWait } from "../../model/stage-task.ts";
import { earliest, type Instant } from "../../model/value.ts";
import { approval, approvalEventText } from "./approval.ts";
import type { EventTimes, TaskContext, TaskEnd, TaskEvent, TaskType } from "./task-type.ts";
import { timedWait, timedWaitEventText } from "./timed-wait.ts";

/** The types that the schema has: those of the noun, and no others. */
const taskTypes: { readonly [Kind in WrittenTask["type"]]: TaskType<Kind> } = {
  TimedWait: timedWait,
  Approval: approval,
};

/** All types of tasks, in the order in which those on one side of a stage are looked at. */
export const taskKinds = Object.keys(taskTypes) as readonly TaskKind[];

/** All that is known about a type of task. */
export const taskType = <Kind extends TaskKind>(kind: Kind): TaskType<Kind> => taskTypes[kind];

/** How far the tasks on one side of a stage are. */
interface TasksResult {
  readonly records: TaskRecords;
  /** None when all are done, or one was rejected. */
  readonly waits: readonly TaskWait[];
  readonly rejection: string | null;
  readonly wakeAt: Instant | null;
}

/** Takes the tasks on one side of a stage as far as they go now: all run at the same time. */
export function advanceTasks(before: TaskRecords, context: TaskContext): TasksResult {
  const tasks = inOrder(context.stage[context.when]);
  let records = before;
  const results = tasks.map((task) => {
    const result = taskType(task.kind).advance(task, before[task.kind], context);
    if (result.record !== before[task.kind]) records = { ...records, [task.kind]: result.record };
    return result;
  });
  return {
    records,
    waits: results.flatMap((it) => it.wait ?? []),
    rejection: results.find((it) => it.rejection !== null)?.rejection ?? null,
    wakeAt: earliest(...results.map((it) => it.wakeAt)),
  };
}

/** What is kept of the tasks before a stage that is passed over. */
export function withdrawTasks(before: TaskRecords): TaskRecords {
  let records = before;
  for (const kind of taskKinds) {
    const record = taskType(kind).withdraw(before[kind]);
    if (record !== before[kind]) records = { ...records, [kind]: record };
  }
  return records;
}

/** Tasks in the order of {@link taskKinds}. */
export const inOrder = (tasks: readonly StageTask[]): readonly StageTask[] =>
  taskKinds.flatMap((kind) => tasks.filter((it) => it.kind === kind));

/** What ends a wait. */
export const endOfWait = ({ task }: TaskWait): TaskEnd => taskType(task).endsBy;

/** An event of a forecast in words. */
export function taskEventText(event: TaskEvent, times: EventTimes): string {
  switch (event.kind) {
    case "approvalNeeded":
    case "approved":
      return approvalEventText(event);
    case "timer":
      return timedWaitEventText(event, times);
  }
}
