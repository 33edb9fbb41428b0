import { at, type Draft, type Field, listOf, objectOf, unionOf } from "../../ledger/codec/codec.ts";
import { jsonObject } from "../../ledger/codec/scalars.ts";
import { type JsonObject, member } from "../../model/json.ts";
import {
  noTaskRecords,
  type StageTask,
  type TaskKind,
  type TaskRecords,
  type TaskSide,
} from "../../model/stage-task.ts";
import type { PlannedStage, RunRecord, StageProgress } from "../../model/update-run.ts";
import type { TaskType } from "./task-type.ts";
import { taskKinds, taskType } from "./tasks.ts";

type Parameters = { readonly [Kind in TaskKind]: TaskType<Kind>["parameters"] };

/** A task in a plan: its type, and what the strategy says about it. */
export const stageTask = objectOf(
  unionOf<StageTask>(
    "type",
    Object.fromEntries([...taskKinds].sort().map((it) => [it, taskType(it).parameters])) as unknown as Parameters,
  ),
);

/** A stage in the record of a run. */
interface RecordedStage extends StageProgress {
  readonly run: RunRecord;
  readonly stage: PlannedStage;
}

/**
 * The tasks on one side of a stage as KubeFleet's StageTaskStatus, in the order of the plan: what is not there is not so
 * yet. What that has no field for stands in the notes of the stage.
 */
export function recordedTasks(when: TaskSide, statusKey: string): Field<TaskRecords, RecordedStage> {
  const statuses = at([statusKey], listOf(jsonObject));
  return {
    put(into, records, { run, stage, ...progress }) {
      const tasks = stage[when];
      if (tasks.length === 0) return;
      const all = tasks.map((task) => {
        const draft: Draft = { type: task.kind };
        const recorded = { task, when, stage: stage.name, progress, run };
        taskType(task.kind).recorded(when).put(draft, records[task.kind], recorded);
        const { notes, ...status } = draft;
        if (notes !== undefined) addNotes(into, when, notes as JsonObject);
        return status;
      });
      statuses.put(into, all, null);
    },
    take(from, context) {
      const all = statuses.take(from, context);
      let records = noTaskRecords;
      for (const kind of taskKinds) {
        const status = all.find((it) => member(it, "type") === kind);
        if (status === undefined) continue;
        const record = taskType(kind)
          .recorded(when)
          .take({ ...status, notes: from["notes"] ?? {} }, context);
        if (record !== null) records = { ...records, [kind]: record };
      }
      return records;
    },
  };
}

/** Notes of several tasks stand beside each other. */
function addNotes(into: Draft, when: TaskSide, notes: JsonObject): void {
  const known = into["notes"] as Draft | undefined;
  into["notes"] = {
    ...known,
    [when]: { ...(known?.[when] as JsonObject | undefined), ...(notes[when] as JsonObject) },
  };
}
