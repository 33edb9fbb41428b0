import { type Json, type JsonObject, member } from "../model/json.ts";
import { deletionStage } from "../model/names.ts";
import type {
  ClusterProgress,
  DeletionProgress,
  Gate,
  PlannedCluster,
  PlannedStage,
  RunPlan,
  RunRecord,
  StageProgress,
  StageTask,
} from "../model/update-run.ts";
import { exactInstantText, type Instant, later } from "../model/value.ts";
import { approvalRequestName } from "./layout.ts";
import { namespacedNameJson } from "./state-bindings.ts";
import { conditionJson, conditionsOf } from "./state-condition.ts";
import { type Findings, filled, given, instantAt, instantOrNull, objectsAt, partAt } from "./state-fields.ts";
import { requestNotesJson, requestOf } from "./state-request.ts";
import {
  type ClusterNotes,
  clusterConditionsJson,
  clusterNotesJson,
  clustersOf,
  deleting,
  trueAt,
  updating,
} from "./state-run-clusters.ts";

// What KubeFleet has fields for stands in `status`; the rest, in notes: one annotation of the run. Nothing stands twice.

/** KubeFleet's StageUpdatingStatus: `status/README.md#update-runs`. */
export function stageStatusJson(run: RunRecord, stage: PlannedStage, progress: StageProgress): JsonObject {
  const tasksJson = (when: "before" | "after"): JsonObject[] =>
    stage[when].map((task) => taskStatusJson({ run, stage, progress, when, task }));
  return given({
    stageName: stage.name,
    clusters: filled(stage.clusters.map((it) => clusterJson(it, progress.clusters.get(it.cluster), run))),
    beforeStageTaskStatus: filled(tasksJson("before")),
    afterStageTaskStatus: filled(tasksJson("after")),
    ...spanJson(progress),
  });
}

/** The same for the clusters that lose the placement; they carry no overrides. */
export const deletionStatusJson = (run: RunRecord, { deletions }: RunPlan): JsonObject =>
  given({
    stageName: deletionStage,
    clusters: filled(
      deletions.map((clusterName) =>
        given({ clusterName, conditions: conditionsJson(run.deletion.clusters.get(clusterName), run, deleting) }),
      ),
    ),
    ...spanJson(run.deletion),
  });

/** What KubeFleet has no field for. */
export const stageNotesJson = ({ isPassedOver, finishedAt, before, after, clusters }: StageProgress): JsonObject =>
  given({
    passedOver: isPassedOver ? true : null,
    finishedAt: finishedAt === null ? null : exactInstantText(finishedAt),
    before: before === null ? null : requestNotesJson(before),
    after: after === null ? null : requestNotesJson(after),
    ...clusterNotesJson(clusters),
  });

export const deletionNotesJson = ({ clusters }: DeletionProgress): JsonObject => clusterNotesJson(clusters);

/** The inverse of {@link stageStatusJson} and {@link stageNotesJson}. */
export const stageProgressOf = (findings: Findings, status: JsonObject, notes: JsonObject): StageProgress => ({
  startedAt: instantOrNull(findings, status, "startTime"),
  isPassedOver: notes["passedOver"] === true,
  clusters: clustersOf(findings, status, clusterNotes(notes)),
  finishedAt: instantOrNull(findings, notes, "finishedAt"),
  before: gateOf(findings, objectsAt(findings, status, "beforeStageTaskStatus"), partAt(notes, "before")),
  after: gateOf(findings, objectsAt(findings, status, "afterStageTaskStatus"), partAt(notes, "after")),
  endedAt: instantOrNull(findings, status, "endTime"),
  conditions: conditionsOf(findings, status),
});

/** The inverse of {@link deletionStatusJson} and {@link deletionNotesJson}. */
export const deletionProgressOf = (findings: Findings, status: JsonObject, notes: JsonObject): DeletionProgress => ({
  startedAt: instantOrNull(findings, status, "startTime"),
  clusters: clustersOf(findings, status, clusterNotes(notes)),
  endedAt: instantOrNull(findings, status, "endTime"),
  conditions: conditionsOf(findings, status),
});

const clusterNotes = (notes: JsonObject): ClusterNotes => ({
  sequences: partAt(notes, "sequences"),
  supersededBy: partAt(notes, "supersededBy"),
});

const spanJson = ({ startedAt, endedAt, conditions }: DeletionProgress): { readonly [key: string]: Json } => ({
  startTime: startedAt === null ? null : exactInstantText(startedAt),
  endTime: endedAt === null ? null : exactInstantText(endedAt),
  conditions: filled(conditions.map(conditionJson)),
});

const clusterJson = (planned: PlannedCluster, progress: ClusterProgress | undefined, run: RunRecord): JsonObject =>
  given({
    clusterName: planned.cluster,
    resourceOverrideSnapshots: filled(planned.resourceOverrides.map(namespacedNameJson)),
    clusterResourceOverrideSnapshots: filled(planned.clusterOverrides),
    conditions: conditionsJson(progress, run, updating),
  });

const conditionsJson = (
  progress: ClusterProgress | undefined,
  { generation }: RunRecord,
  words: typeof updating,
): readonly JsonObject[] | null =>
  progress === undefined ? null : filled(clusterConditionsJson(progress, generation, words));

interface TaskPlace {
  readonly run: RunRecord;
  readonly stage: PlannedStage;
  readonly progress: StageProgress;
  readonly when: "before" | "after";
  readonly task: StageTask;
}

/** KubeFleet's StageTaskStatus: what is not there is not so yet. */
function taskStatusJson({ run, stage, progress, when, task }: TaskPlace): JsonObject {
  const yes = (type: string, reason: string, message: string, lastTransitionTime: Instant): JsonObject =>
    conditionJson({ type, status: "True", reason, message, observedGeneration: run.generation, lastTransitionTime });
  if (task.kind === "TimedWait") {
    const over = waitOver(progress, task);
    const elapsed = (at: Instant): JsonObject =>
      yes("WaitTimeElapsed", "AfterStageTaskWaitTimeElapsed", "the wait is over", at);
    return given({ type: task.kind, conditions: over === null ? null : [elapsed(over)] });
  }
  const approvalRequestName = approvalRequestNameOf(run, stage, when);
  const gate = progress[when];
  if (gate === null) return { type: task.kind, approvalRequestName };
  const created = yes(requested, "StageTaskApprovalRequestCreated", "the approval is asked for", gate.requestedAt);
  const conditions =
    gate.approval === null
      ? [created]
      : [created, yes(approved, "StageTaskApprovalRequestApproved", "the approval was given", gate.approval.at)];
  return { type: task.kind, approvalRequestName, conditions };
}

const requested = "ApprovalRequestCreated";
const approved = "ApprovalRequestApproved";

const approvalRequestNameOf = ({ name }: RunRecord, stage: PlannedStage, when: "before" | "after"): string =>
  approvalRequestName(name, when, stage.name);

/** When a wait was over, for a stage that ended: nobody has a clock here, so that no wait is called over before. */
function waitOver({ finishedAt, endedAt }: StageProgress, task: StageTask & { kind: "TimedWait" }): Instant | null {
  if (finishedAt === null || endedAt === null) return null;
  const over = later(finishedAt, task.wait);
  return over <= endedAt ? over : null;
}

function gateOf(findings: Findings, tasks: readonly JsonObject[], notes: JsonObject): Gate | null {
  const task = tasks.find((it) => member(it, "type") === "Approval") ?? {};
  const asked = trueAt(findings, task, requested);
  if (asked === null) return null;
  const answered = trueAt(findings, task, approved);
  return requestOf(findings, notes, {
    requestedAt: instantAt(findings, asked, "lastTransitionTime"),
    approvedAt: answered === null ? null : instantAt(findings, answered, "lastTransitionTime"),
  });
}
