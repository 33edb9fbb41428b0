import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import { deletionStage } from "../model/names.ts";
import { placementKey } from "../model/placement.ts";
import {
  type DeletionProgress,
  type Gate,
  type PlannedStage,
  type RunEnd,
  type RunPlan,
  type RunRecord,
  runKey,
  type StageProgress,
  type StageTask,
  strategyKey,
  type UpdateRunSpec,
} from "../model/update-run.ts";
import { type Digest, type Instant, later, type RunKey } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { applyStrategy } from "./api-types.ts";
import { at, type Draft, type Field, group, listOf, nullable, objectOf, readWithin, unionOf } from "./codec/codec.ts";
import { conditionsIfAny, transition, trueCondition, trueConditionIn } from "./codec/conditions.ts";
import { notesOf, requestNotes, requestOf } from "./codec/requests.ts";
import { choice, digest, flag, instant, integer, jsonObject, sequenceText, string, stringOf } from "./codec/scalars.ts";
import {
  blank,
  documentOf,
  inAnnotations,
  inMetadata,
  inOwnNamespace,
  inSpec,
  inStatus,
  ownKey,
  present,
  scopedName,
} from "./document.ts";
import { approvalRequestName } from "./layout.ts";
import { type StageClusters, stageClusters } from "./run-clusters.ts";
import { stageConfig } from "./run-plan.ts";

/** The part of a run's record that stands in `run.yaml`, and which plan belongs to it. */
export interface RunHead extends Omit<RunRecord, "plan"> {
  /** Null for a run without a plan. */
  readonly planRoot: Digest | null;
}

/** What the status repeats of the plan is for the reader; `plan.yaml` is what counts. */
interface WrittenRun extends RunHead, Pick<RunRecord, "plan"> {}

interface WrittenStage extends StageProgress, StageClusters {
  readonly run: RunRecord;
  readonly stage: PlannedStage;
}

const requested = "ApprovalRequestCreated";
const approved = "ApprovalRequestApproved";

/** The tasks of a stage, and in its notes, what KubeFleet has no field for of the request. */
function gate(when: "before" | "after", statusKey: string): Field<Gate | null, WrittenStage> {
  const tasks = at([statusKey], listOf(jsonObject));
  const notes = at(["notes", when], requestNotes);
  return {
    put(into, request, whole) {
      const all = whole.stage[when];
      if (all.length > 0)
        tasks.put(
          into,
          all.map((task) => taskStatus(task, when, whole)),
          null,
        );
      if (request !== null) notes.put(into, notesOf(request), null);
    },
    take(from, context) {
      const task = tasks.take(from, context).find((it) => member(it, "type") === "Approval") ?? {};
      const asked = trueConditionIn(task, requested, context);
      if (asked === null) return null;
      const answered = trueConditionIn(task, approved, context);
      const requestedAt = transition(asked, context);
      const approvedAt = answered === null ? null : transition(answered, context);
      return requestOf(notes.take(from, context), { requestedAt, approvedAt }, context);
    },
  };
}

/** KubeFleet's StageTaskStatus: what is not there is not so yet. */
function taskStatus(task: StageTask, when: "before" | "after", { run, stage, ...progress }: WrittenStage): JsonObject {
  const yes = (type: string, reason: string, message: string, since: Instant): Json =>
    trueCondition(type, { reason, message, at: since }, run);
  switch (task.kind) {
    case "TimedWait": {
      const over = waitOver(progress, task);
      if (over === null) return { type: task.kind };
      const elapsed = yes("WaitTimeElapsed", "AfterStageTaskWaitTimeElapsed", "the wait is over", over);
      return { type: task.kind, conditions: [elapsed] };
    }
    case "Approval": {
      const status = { type: task.kind, approvalRequestName: approvalRequestName(run.name, when, stage.name) };
      const request = progress[when];
      if (request === null) return status;
      const { requestedAt, approval } = request;
      const created = yes(requested, "StageTaskApprovalRequestCreated", "the approval is asked for", requestedAt);
      if (approval === null) return { ...status, conditions: [created] };
      const given = yes(approved, "StageTaskApprovalRequestApproved", "the approval was given", approval.at);
      return { ...status, conditions: [created, given] };
    }
  }
}

/** When a wait was over, for a stage that ended: there is no clock here, so that no wait is called over before. */
function waitOver(
  { finishedAt, endedAt }: Pick<StageProgress, "finishedAt" | "endedAt">,
  { wait }: StageTask & { kind: "TimedWait" },
): Instant | null {
  if (finishedAt === null || endedAt === null) return null;
  const over = later(finishedAt, wait);
  return over <= endedAt ? over : null;
}

const startedAt = at(["startTime"], nullable(instant));
const endedAt = at(["endTime"], nullable(instant));

/** KubeFleet's StageUpdatingStatus (`status/README.md#update-runs`), and beside it, in `notes`, what that has no field for. */
const stageProgress = group<StageProgress, WrittenStage>({
  isPassedOver: at(["notes", "passedOver"], flag),
  finishedAt: at(["notes", "finishedAt"], nullable(instant)),
  clusters: stageClusters,
  before: gate("before", "beforeStageTaskStatus"),
  after: gate("after", "afterStageTaskStatus"),
  startedAt,
  endedAt,
  conditions: conditionsIfAny,
});

/** The same for the clusters that lose the placement; they carry no overrides. */
const deletionProgress = group<DeletionProgress, DeletionProgress & StageClusters>({
  clusters: stageClusters,
  startedAt,
  endedAt,
  conditions: conditionsIfAny,
});

const updating = {
  started: "the cluster is to carry the version of the run",
  succeeded: "the cluster carries the version of the run",
};
const deleting = { started: "the cluster is to lose the placement", succeeded: "the cluster has lost the placement" };

/** A stage's status and its notes, apart. */
function stageParts(
  put: (into: Draft) => void,
  stageName: string,
): { readonly status: JsonObject; readonly notes: Draft } {
  const draft: Draft = { stageName, notes: {} };
  put(draft);
  const { notes, ...status } = draft;
  return { status, notes: present({ ...blank(stageNotes), ...(notes as Draft) }) };
}

const stageNotes = ["passedOver", "finishedAt", "before", "after", "sequences", "supersededBy"];

const stagesIn = inStatus("stagesStatus", listOf(jsonObject));
const stageNotesIn = at(["notes", "stages"], listOf(jsonObject));

const stages: Field<RunRecord["stages"], WrittenRun> = {
  put(into, all, run) {
    const { plan } = run;
    if (plan === null) return;
    const parts = all.flatMap((progress, index) => {
      const stage = plan.stages[index];
      if (stage === undefined) return [];
      const whole: WrittenStage = {
        ...progress,
        run,
        stage,
        planned: stage.clusters,
        words: updating,
        generation: run.generation,
      };
      return [stageParts((part) => stageProgress.put(part, whole, null), stage.name)];
    });
    stagesIn.put(
      into,
      parts.map((it) => it.status),
      null,
    );
    const notes = parts.map((it) => it.notes);
    if (notes.some((it) => Object.keys(it).length > 0)) stageNotesIn.put(into, notes, null);
  },
  take(from, context) {
    const notes = stageNotesIn.take(from, context);
    return stagesIn
      .take(from, context)
      .map((status, index) =>
        readWithin(["status", "stagesStatus", index], context, () =>
          stageProgress.take({ ...status, notes: notes[index] ?? {} }, context),
        ),
      );
  },
};

const deletionIn = inStatus("deletionStageStatus", jsonObject);
const deletionNotesIn = at(["notes", "deletion"], jsonObject);

const deletion: Field<DeletionProgress, WrittenRun> = {
  put(into, progress, { plan, generation }) {
    const planned = (plan?.deletions ?? []).map((cluster) => ({ cluster }));
    const whole: DeletionProgress & StageClusters = { ...progress, planned, words: deleting, generation };
    const parts = stageParts((part) => deletionProgress.put(part, whole, null), deletionStage);
    if (plan !== null) deletionIn.put(into, parts.status, null);
    if (Object.keys(parts.notes).length > 0) deletionNotesIn.put(into, parts.notes, null);
  },
  take: (from, context) => {
    const status = { ...deletionIn.take(from, context), notes: deletionNotesIn.take(from, context) };
    return readWithin(["status", "deletionStageStatus"], context, () => deletionProgress.take(status, context));
  },
};

const failures = [
  "Rejected",
  "PlacementNotFound",
  "NotExternal",
  "NotFullyScheduled",
  "NothingToDo",
  "StrategyNotFound",
  "ClusterInTwoStages",
  "BadSortLabel",
  "ClusterInNoStage",
  "SnapshotNotFound",
  "BadSelectors",
  "OverrideError",
  "StrategiesDiffer",
  "PolicyChanged",
  "CountChanged",
  "ApplyStrategyChanged",
] as const;

const runEnd = objectOf(
  unionOf<RunEnd>("kind", {
    succeeded: { at: instant },
    superseded: { at: instant, by: stringOf<RunKey>() },
    failed: { at: instant, code: choice(...failures), message: string },
  }),
);

/**
 * KubeFleet's update run with its status (`status/README.md#update-runs`), which is the record as far as it has fields:
 * times of clusters and tasks are those of their conditions. One annotation holds the rest.
 */
export const runCodec = documentOf<RunHead, WrittenRun>(
  {
    kind: "StagedUpdateRun",
    status: ["stagesStatus", "deletionStageStatus", "conditions"],
    notes: { annotation: ownKey("progress"), members: ["end", "stages", "deletion"] },
  },
  {
    ...scopedName(runKey),
    uid: inMetadata("uid", string),
    generation: inMetadata("generation", integer),
    spec: group<UpdateRunSpec>({
      placement: inOwnNamespace("placementName", placementKey),
      resourceIndex: inSpec("resourceSnapshotIndex", nullable(string)),
      strategy: inOwnNamespace("stagedRolloutStrategyName", strategyKey),
      state: inSpec("state", choice("Initialize", "Run", "Stop")),
    }),
    since: inAnnotations(ownKey("since-sequence"), sequenceText),
    planRoot: inAnnotations(ownKey("plan-root"), nullable(digest)),
    stages,
    deletion,
    end: at(["notes", "end"], nullable(runEnd)),
    conditions: inStatus("conditions", conditionsIfAny),
  },
);

const planStatus = (plan: RunPlan): JsonObject => ({
  policySnapshotIndexUsed: String(plan.policySnapshot),
  policyObservedClusterCount: plan.clusterCount,
  resourceSnapshotIndexUsed: String(plan.resourceIndex),
  appliedStrategy: applyStrategy.write(plan.applyStrategy) ?? null,
  stagedUpdateStrategySnapshot: { stages: plan.stages.map((it) => stageConfig.write(it) ?? null) },
});

export function runText(run: RunRecord): string {
  const { plan } = run;
  const document = runCodec.write({ ...run, planRoot: plan?.root ?? null }, {});
  const status = document["status"];
  return emitYaml(
    plan === null || !isObject(status) ? document : { ...document, status: { ...planStatus(plan), ...status } },
  );
}
