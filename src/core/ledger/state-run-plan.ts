import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import { flotillaGroup } from "../model/names.ts";
import {
  type PlannedCluster,
  type PlannedStage,
  type RunPlan,
  type RunRecord,
  runKey,
  type Stage,
  type StageTask,
} from "../model/update-run.ts";
import type { ClusterName, Digest, RunKey } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  filled,
  given,
  labelsAt,
  objectsAt,
  partAt,
  sortedLabels,
  textAt,
  textOrNull,
  textsAt,
} from "./state-fields.ts";
import { headingJson, open } from "./state-names.ts";
import { selectorJson, selectorOf } from "./state-policy.ts";
import { applyStrategyJson, applyStrategyOf, boundAt, boundJson, durationAt, durationText } from "./state-spec.ts";

/** The text of `runs/<name>/plan.yaml`, a kind of our own: written once, and never again (`rollout/README.md#b-22`). */
export const runPlanText = ({ name, namespace }: RunRecord, plan: RunPlan): string =>
  emitYaml({
    ...headingJson({ apiVersion: `${flotillaGroup}/v1alpha1`, kind: "UpdateRunPlan", name, namespace }),
    spec: {
      root: plan.root,
      policySnapshot: plan.policySnapshot,
      policyHash: plan.policyHash,
      clusterCount: plan.clusterCount,
      resourceIndex: plan.resourceIndex,
      applyStrategy: applyStrategyJson(plan.applyStrategy),
      ...(plan.deleteAdopted ? { deleteAdopted: true } : {}),
      stages: plan.stages.map(plannedStageJson),
      deletions: plan.deletions,
    },
  });

/** A plan, and the run that it is of. */
export interface PlanFile {
  readonly key: RunKey;
  readonly plan: RunPlan;
}

export function runPlanOf(findings: Findings, document: Json): PlanFile {
  const { name, namespace, spec } = open(findings, document, "UpdateRunPlan");
  return {
    key: runKey(namespace, name),
    plan: {
      root: textAt(findings, spec, "root") as Digest,
      policySnapshot: countAt(findings, spec, "policySnapshot"),
      policyHash: textAt(findings, spec, "policyHash") as Digest,
      clusterCount: countAt(findings, spec, "clusterCount"),
      resourceIndex: countAt(findings, spec, "resourceIndex"),
      applyStrategy: applyStrategyOf(findings, partAt(spec, "applyStrategy")),
      deleteAdopted: spec["deleteAdopted"] === true,
      stages: objectsAt(findings, spec, "stages").map((it) => plannedStageOf(findings, it)),
      deletions: textsAt(findings, spec, "deletions") as ClusterName[],
    },
  };
}

/** KubeFleet's StageConfig: `rollout/README.md#staged-runs`. How many clusters may fail it does not know. */
export const stageJson = (it: Stage): JsonObject =>
  given({
    name: it.name,
    labelSelector: it.selector === null ? null : selectorJson(it.selector),
    sortingLabelKey: it.sortingLabelKey,
    maxConcurrency: boundJson(it.maxConcurrency),
    beforeStageTasks: filled(it.before.map(taskJson)),
    afterStageTasks: filled(it.after.map(taskJson)),
  });

const plannedStageJson = (it: PlannedStage): JsonObject => ({
  ...stageJson(it),
  maxFailures: boundJson(it.maxFailures),
  clusters: it.clusters.map(plannedClusterJson),
});

function plannedStageOf(findings: Findings, object: JsonObject): PlannedStage {
  const selector = member(object, "labelSelector");
  return {
    name: textAt(findings, object, "name"),
    selector: isObject(selector) ? selectorOf(findings, selector) : null,
    sortingLabelKey: textOrNull(findings, object, "sortingLabelKey"),
    maxConcurrency: boundAt(findings, object, "maxConcurrency"),
    before: objectsAt(findings, object, "beforeStageTasks").map((it) => taskOf(findings, it)),
    after: objectsAt(findings, object, "afterStageTasks").map((it) => taskOf(findings, it)),
    maxFailures: boundAt(findings, object, "maxFailures"),
    clusters: objectsAt(findings, object, "clusters").map((it) => plannedClusterOf(findings, it)),
  };
}

const taskJson = (it: StageTask): JsonObject =>
  it.kind === "Approval" ? { type: it.kind } : { type: it.kind, waitTime: durationText(it.wait) };

function taskOf(findings: Findings, object: JsonObject): StageTask {
  const kind = choiceAt(findings, object, "type", ["Approval", "TimedWait"]);
  return kind === "Approval" ? { kind } : { kind, wait: durationAt(findings, object, "waitTime") };
}

const plannedClusterJson = (it: PlannedCluster): JsonObject =>
  given({
    cluster: it.cluster,
    clusterOverrides: filled(it.clusterOverrides),
    resourceOverrides: filled(it.resourceOverrides),
    labels: sortedLabels(it.labels),
    digest: it.digest,
  });

const plannedClusterOf = (findings: Findings, object: JsonObject): PlannedCluster => ({
  cluster: textAt(findings, object, "cluster") as ClusterName,
  clusterOverrides: textsAt(findings, object, "clusterOverrides"),
  resourceOverrides: textsAt(findings, object, "resourceOverrides"),
  labels: labelsAt(findings, object, "labels"),
  digest: textAt(findings, object, "digest") as Digest,
});
