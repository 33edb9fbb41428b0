import type { World } from "../model/plan.ts";
import type { RunDefectCode } from "../model/plan-defect.ts";
import type { StageTask, TaskKind, TaskOf, TaskRecords, TaskSide } from "../model/stage-task.ts";
import type { Instant } from "../model/value.ts";

/** What the second opinion has to know about a type of task. */
interface TaskRules<Kind extends TaskKind> {
  /** Goes by what is recorded: the audit checks commits long after, and has nothing that members said. */
  isDone(task: TaskOf<Kind>, record: TaskRecords[Kind], moment: TaskMoment): boolean;
  /** What is wrong when a stage starts without a task before it, or ends without one after it. */
  readonly defects: Readonly<Record<TaskSide, RunDefectCode>>;
  /** How a stage starts or ends then, in words. */
  readonly how: string;
  /** Which record never changes again, and what is wrong when one does; null when there is none. */
  readonly final: FinalRecord<Kind> | null;
}

interface FinalRecord<Kind extends TaskKind> {
  is(record: TaskRecords[Kind]): boolean;
  readonly code: RunDefectCode;
  /** What is forgotten, in words. */
  readonly what: string;
}

interface TaskMoment {
  readonly world: Pick<World, "now" | "clockOffset">;
  /** When the last cluster of the stage ended; null before. */
  readonly finishedAt: Instant | null;
}

const taskRules: { readonly [Kind in TaskKind]: TaskRules<Kind> } = {
  Approval: {
    isDone: (_, gate) => isApproved(gate),
    defects: { before: "StageStartUnapproved", after: "StageEndUnapproved" },
    how: "unasked",
    final: { is: (gate) => isApproved(gate), code: "RunApprovalForgotten", what: "an approval" },
  },
  TimedWait: {
    isDone: ({ wait }, _, { finishedAt, world: { now, clockOffset } }) =>
      finishedAt !== null && now >= finishedAt + wait && Math.abs(clockOffset ?? 0) <= 60_000,
    defects: { before: "StageWaitCutShort", after: "StageWaitCutShort" },
    how: "before its time",
    final: null,
  },
};

const isApproved = (gate: TaskRecords["Approval"]): boolean => gate?.approval != null;

const rulesOf = <Kind extends TaskKind>(kind: Kind): TaskRules<Kind> => taskRules[kind];

/** The rules of every task that is not done. */
export const rulesOfOpen = (
  tasks: readonly StageTask[],
  records: TaskRecords,
  moment: TaskMoment,
): readonly Pick<TaskRules<TaskKind>, "defects" | "how">[] =>
  tasks.flatMap((task) => {
    const rules = rulesOf(task.kind);
    return rules.isDone(task, records[task.kind], moment) ? [] : [rules];
  });

/** Every record that is not as it was, though it was never to change again. */
export const forgottenRecords = (
  was: TaskRecords,
  is: TaskRecords | undefined,
): readonly Pick<FinalRecord<TaskKind>, "code" | "what">[] =>
  (Object.keys(taskRules) as TaskKind[]).flatMap((kind) => {
    const { final } = rulesOf(kind);
    return final?.is(was[kind]) === true && is?.[kind] !== was[kind] ? [final] : [];
  });
