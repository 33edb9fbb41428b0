import { isObject, type JsonObject } from "../model/json.ts";
import { deletionStage } from "../model/names.ts";
import { placementKey } from "../model/placement.ts";
import {
  type DeletionProgress,
  type PlannedStage,
  type RunEnd,
  type RunPlan,
  type RunRecord,
  runKey,
  type StageProgress,
  strategyKey,
  type UpdateRunSpec,
} from "../model/update-run.ts";
import type { Digest, RunKey } from "../model/value.ts";
import { recordedTasks } from "../rollout/tasks/recorded-tasks.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { applyStrategy } from "./api-types.ts";
import { at, type Draft, type Field, group, listOf, nullable, objectOf, readWithin, unionOf } from "./codec/codec.ts";
import { conditionsIfAny } from "./codec/conditions.ts";
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

const startedAt = at(["startTime"], nullable(instant));
const endedAt = at(["endTime"], nullable(instant));

/** KubeFleet's StageUpdatingStatus (`status/README.md#update-runs`), and beside it, in `notes`, what that has no field for. */
const stageProgress = group<StageProgress, WrittenStage>({
  isPassedOver: at(["notes", "passedOver"], flag),
  finishedAt: at(["notes", "finishedAt"], nullable(instant)),
  clusters: stageClusters,
  before: recordedTasks("before", "beforeStageTaskStatus"),
  after: recordedTasks("after", "afterStageTaskStatus"),
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
