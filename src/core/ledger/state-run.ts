import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import { placementKey } from "../model/placement.ts";
import {
  type RunEnd,
  type RunFailure,
  type RunPlan,
  type RunRecord,
  runKey,
  strategyKey,
  type UpdateRunSpec,
} from "../model/update-run.ts";
import { type Digest, exactInstantText, type RunKey, type Sequence } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { conditionJson, conditionsOf } from "./state-condition.ts";
import {
  choiceAt,
  countAt,
  embeddedAt,
  type Findings,
  filled,
  find,
  given,
  instantAt,
  objectsAt,
  partAt,
  textAt,
  textOrNull,
} from "./state-fields.ts";
import { headingJson, kindIn, open, ownKey, placementApiVersion, scopeIn } from "./state-names.ts";
import { stageJson } from "./state-run-plan.ts";
import {
  deletionNotesJson,
  deletionProgressOf,
  deletionStatusJson,
  stageNotesJson,
  stageProgressOf,
  stageStatusJson,
} from "./state-run-stages.ts";
import { applyStrategyJson } from "./state-spec.ts";

const own = {
  since: ownKey("since-sequence"),
  planRoot: ownKey("plan-root"),
  progress: ownKey("progress"),
} as const;

/** The part of a run's record that stands in `run.yaml`, and which plan belongs to it. */
export interface RunFile {
  readonly run: Omit<RunRecord, "plan">;
  /** Null for a run without a plan. */
  readonly planRoot: Digest | null;
}

/**
 * The text of `runs/<name>/run.yaml`: KubeFleet's update run with its status (`status/README.md#update-runs`).
 *
 * The status is the record, as far as KubeFleet has fields: times of clusters and tasks are those of their conditions.
 * One annotation holds the rest. What the status repeats of the plan is for the reader; `plan.yaml` is what counts.
 */
export const runText = (run: RunRecord): string =>
  emitYaml({
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(run.namespace, "StagedUpdateRun"),
      name: run.name,
      namespace: run.namespace,
      uid: run.uid,
      generation: run.generation,
      annotations: {
        [own.since]: String(run.since),
        [own.planRoot]: run.plan?.root ?? null,
        [own.progress]: notesText(run),
      },
    }),
    spec: specJson(run.spec),
    status: given({
      ...(run.plan === null ? {} : planStatusJson(run, run.plan)),
      conditions: filled(run.conditions.map(conditionJson)),
    }),
  });

/** The inverse of {@link runText}, but for the plan. */
export function runOf(findings: Findings, document: Json): RunFile {
  const { name, namespace, metadata, annotations, spec, status } = open(findings, document, "StagedUpdateRun");
  const embedded = embeddedAt(findings, annotations, own.progress);
  const notes = isObject(embedded) ? embedded : {};
  const stageNotes = objectsAt(findings, notes, "stages");
  return {
    run: {
      key: runKey(namespace, name),
      scope: scopeIn(namespace),
      namespace,
      name,
      uid: textAt(findings, metadata, "uid"),
      generation: countAt(findings, metadata, "generation"),
      spec: specOf(findings, namespace, spec),
      since: countAt(findings, annotations, own.since) as Sequence,
      stages: objectsAt(findings, status, "stagesStatus").map((it, at) =>
        stageProgressOf(findings, it, stageNotes[at] ?? {}),
      ),
      deletion: deletionProgressOf(findings, partAt(status, "deletionStageStatus"), partAt(notes, "deletion")),
      end: member(notes, "end") === null ? null : endOf(findings, partAt(notes, "end")),
      conditions: conditionsOf(findings, status),
    },
    planRoot: textOrNull(findings, annotations, own.planRoot) as Digest | null,
  };
}

/** Placement and strategy are of the run's own namespace: KubeFleet names them without it. */
const specJson = ({ placement, resourceIndex, strategy, state }: UpdateRunSpec): JsonObject =>
  given({
    placementName: nameIn(placement),
    resourceSnapshotIndex: resourceIndex,
    stagedRolloutStrategyName: nameIn(strategy),
    state,
  });

const nameIn = (key: string): string => key.slice(key.indexOf("/") + 1);

const specOf = (findings: Findings, namespace: string | null, spec: JsonObject): UpdateRunSpec => ({
  placement: placementKey(namespace, textAt(findings, spec, "placementName")),
  resourceIndex: textOrNull(findings, spec, "resourceSnapshotIndex"),
  strategy: strategyKey(namespace, textAt(findings, spec, "stagedRolloutStrategyName")),
  state: choiceAt(findings, spec, "state", ["Initialize", "Run", "Stop"]),
});

const planStatusJson = (run: RunRecord, plan: RunPlan): JsonObject => ({
  policySnapshotIndexUsed: String(plan.policySnapshot),
  policyObservedClusterCount: plan.clusterCount,
  resourceSnapshotIndexUsed: String(plan.resourceIndex),
  appliedStrategy: applyStrategyJson(plan.applyStrategy),
  stagedUpdateStrategySnapshot: { stages: plan.stages.map(stageJson) },
  stagesStatus: plan.stages.flatMap((stage, at) => {
    const progress = run.stages[at];
    return progress === undefined ? [] : [stageStatusJson(run, stage, progress)];
  }),
  deletionStageStatus: deletionStatusJson(run, plan),
});

/** What KubeFleet's status has no field for, as compact JSON; null when there is nothing. */
function notesText({ end, stages, deletion }: RunRecord): string | null {
  const some = (notes: JsonObject): JsonObject | null => (Object.keys(notes).length === 0 ? null : notes);
  const stageNotes = stages.map(stageNotesJson);
  const notes = given({
    end: end === null ? null : endJson(end),
    stages: stageNotes.some((it) => some(it) !== null) ? stageNotes : null,
    deletion: some(deletionNotesJson(deletion)),
  });
  return some(notes) === null ? null : JSON.stringify(notes);
}

const endJson = (end: RunEnd): JsonObject => ({ ...end, at: exactInstantText(end.at) });

function endOf(findings: Findings, object: JsonObject): RunEnd {
  const at = instantAt(findings, object, "at");
  const kind = choiceAt(findings, object, "kind", ["succeeded", "superseded", "failed"]);
  if (kind === "succeeded") return { kind, at };
  if (kind === "superseded") return { kind, at, by: textAt(findings, object, "by") as RunKey };
  return { kind, at, code: failureAt(findings, object), message: textAt(findings, object, "message") };
}

function failureAt(findings: Findings, object: JsonObject): RunFailure {
  const code = textAt(findings, object, "code");
  if (isFailure(code)) return code;
  find(findings, "code", "is none that a run can fail with");
  return "Rejected";
}

const isFailure = (code: string): code is RunFailure => Object.hasOwn(failures, code);

// An object, so that the compiler asks for every one of them.
const failures: Readonly<Record<RunFailure, true>> = {
  PlacementNotFound: true,
  NotExternal: true,
  NotFullyScheduled: true,
  NothingToDo: true,
  StrategyNotFound: true,
  ClusterInTwoStages: true,
  BadSortLabel: true,
  ClusterInNoStage: true,
  SnapshotNotFound: true,
  BadSelectors: true,
  OverrideError: true,
  StrategiesDiffer: true,
  PolicyChanged: true,
  CountChanged: true,
  ApplyStrategyChanged: true,
  Rejected: true,
};
