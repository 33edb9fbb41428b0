import { flotillaGroup } from "../model/names.ts";
import {
  type PlannedCluster,
  type PlannedStage,
  type RunPlan,
  type RunRecord,
  runKey,
  type Stage,
} from "../model/update-run.ts";
import type { RunKey } from "../model/value.ts";
import { stageTask } from "../rollout/tasks/recorded-tasks.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { applyStrategy, kubeLabelSelector } from "./api-types.ts";
import { at, listIfAny, listOf, type Members, nullable, object } from "./codec/codec.ts";
import { clusterName, countOrPercentCodec, digest, flag, integer, labelsIfAny, string } from "./codec/scalars.ts";
import { documentOf, keyFromName } from "./document.ts";

const tasks = listIfAny(stageTask);

const stageMembers: Members<Omit<Stage, "maxFailures">> = {
  name: string,
  selector: at(["labelSelector"], nullable(kubeLabelSelector)),
  sortingLabelKey: nullable(string),
  maxConcurrency: countOrPercentCodec,
  before: at(["beforeStageTasks"], tasks),
  after: at(["afterStageTasks"], tasks),
};

/** KubeFleet's StageConfig: `rollout/README.md#staged-runs`. How many clusters may fail it does not know. */
export const stageConfig = object<Omit<Stage, "maxFailures">>(stageMembers);

const plannedCluster = object<PlannedCluster>({
  cluster: clusterName,
  clusterOverrides: listIfAny(string),
  resourceOverrides: listIfAny(string),
  labels: labelsIfAny,
  digest,
});

const runPlan = object<RunPlan>({
  root: digest,
  policySnapshot: integer,
  policyHash: digest,
  clusterCount: integer,
  resourceIndex: integer,
  applyStrategy,
  deleteAdopted: flag,
  stages: listOf(
    object<PlannedStage>({ ...stageMembers, maxFailures: countOrPercentCodec, clusters: listOf(plannedCluster) }),
  ),
  deletions: listOf(clusterName),
});

/** `runs/<name>/plan.yaml`, a kind of our own: a plan, and the run that it is of. */
export const runPlanCodec = documentOf<{ readonly key: RunKey; readonly plan: RunPlan }>(
  { kind: "UpdateRunPlan", apiVersion: `${flotillaGroup}/v1alpha1` },
  { key: keyFromName(runKey), plan: at(["spec"], runPlan) },
);

/** The text of a plan's file: written once, and never again (`rollout/README.md#b-22`). */
export const runPlanText = ({ key, name, namespace }: RunRecord, plan: RunPlan): string =>
  emitYaml(runPlanCodec.write({ key, plan }, { name, namespace }));
