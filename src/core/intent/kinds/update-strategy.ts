import type {
  Stage as WrittenStage,
  ClusterStagedUpdateStrategy as WrittenStrategy,
  Task as WrittenTask,
} from "#schemas/cluster-staged-update-strategy";
import schema from "../../../../schemas/cluster-staged-update-strategy.json" with { type: "json" };
import type { Scope } from "../../model/manifest.ts";
import { maxFailuresAnnotation, placementGroup } from "../../model/names.ts";
import type { CountOrPercent } from "../../model/placement.ts";
import type { StageTask, TaskSide } from "../../model/stage-task.ts";
import { type Stage, strategyKey, type UpdateStrategy } from "../../model/update-run.ts";
import { taskKinds, taskType } from "../../rollout/tasks/tasks.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath, warning } from "../../yaml/problems.ts";
import { countOrPercent, repeatedIndices } from "./fields.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";
import { commonProblems, isQualifiedName, labelSelectorProblems, malformedProblem } from "./metadata.ts";

/** The stages of runs. */
export const updateStrategyKind: ReadKind<WrittenStrategy, ContentOf<"strategy">> = {
  names: [
    {
      group: placementGroup,
      kind: "ClusterStagedUpdateStrategy",
      scope: "Cluster",
      versions: ["v1", "v1alpha1", "v1beta1"],
    },
    { group: placementGroup, kind: "StagedUpdateStrategy", scope: "Namespaced", versions: ["v1", "v1beta1"] },
  ],
  schema,
  ownPlace: null,
  rules: (it) => updateStrategyProblems(it),
  content: (it, scope) => ({ kind: "strategy", strategy: updateStrategyFrom(it, scope) }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

function updateStrategyFrom({ metadata, spec }: WrittenStrategy, scope: Scope): Omit<UpdateStrategy, "source"> {
  const namespace = scope === "Cluster" ? null : (metadata.namespace ?? null);
  const allowed = new Map<string, CountOrPercent>();
  for (const { stage, limit } of failureLimits(metadata.annotations?.[maxFailuresAnnotation] ?? ""))
    if (limit !== null) allowed.set(stage, limit);
  return {
    key: strategyKey(namespace, metadata.name),
    scope,
    namespace,
    name: metadata.name,
    stages: spec.stages.map((it) => stageOf(it, allowed.get(it.name) ?? { count: 0 })),
  };
}

function stageOf(written: WrittenStage, maxFailures: CountOrPercent): Stage {
  const { name, labelSelector, sortingLabelKey = "", maxConcurrency = 1 } = written;
  return {
    name,
    selector: labelSelector ?? null,
    sortingLabelKey: sortingLabelKey === "" ? null : sortingLabelKey,
    maxConcurrency: concurrencyOf(maxConcurrency) ?? { count: 1 },
    before: (written.beforeStageTasks ?? []).map(taskOf),
    after: (written.afterStageTasks ?? []).map(taskOf),
    maxFailures,
  };
}

const taskOf = (written: WrittenTask): StageTask => taskType(written.type).task(written);

/** `3` or `"25%"`, from 1 on; null for anything else (`intent/README.md#v-us-04`, `#v-us-05`). */
function concurrencyOf(written: number | string): CountOrPercent | null {
  const value = countOrPercent(written);
  return value === null || ("count" in value ? value.count : value.percent) === 0 ? null : value;
}

/** How many clusters of a stage may fail; null when the text is neither a number nor a percentage. */
interface FailureLimit {
  readonly stage: string;
  readonly limit: CountOrPercent | null;
}

/** The entries of `canary=0,prod=10%`; an empty text has none (`rollout/README.md#b-13`). */
function failureLimits(text: string): readonly FailureLimit[] {
  if (text.trim() === "") return [];
  return text.split(",").map((entry) => {
    const at = entry.indexOf("=");
    const written = entry.slice(at + 1).trim();
    const isCount = /^[0-9]{1,9}$/.test(written);
    return {
      stage: (at < 0 ? entry : entry.slice(0, at)).trim(),
      limit: at < 0 ? null : countOrPercent(isCount ? Number(written) : written),
    };
  });
}

/**
 * Checks a strategy by the rules of its kind (`intent/README.md#runs-and-strategies`); what makes KubeFleet fail a run
 * when it begins is refused here, in every version (`rollout/README.md#b-19`, `#b-20`).
 */
function updateStrategyProblems(strategy: WrittenStrategy): FieldProblems {
  const { metadata, spec } = strategy;
  const { stages } = spec;
  const at: JsonPath = ["spec", "stages"];
  return [
    ...commonProblems(strategy, { known: [maxFailuresAnnotation] }),
    ...failureProblems(metadata.annotations?.[maxFailuresAnnotation] ?? "", stages),
    ...(stages.length === 0 ? [warning("FLT1317", at, "without a stage every run fails", "add a stage")] : []),
    ...stages.flatMap((it, i) => stageProblems(it, [...at, i])),
    ...repeatedIndices(stages, (it) => it.name).map((i) =>
      error("FLT1308", [...at, i, "name"], "another stage has this name", "give each stage its own name"),
    ),
  ];
}

function stageProblems(stage: WrittenStage, at: JsonPath): FieldProblems {
  const { name, sortingLabelKey = "", maxConcurrency = 1, beforeStageTasks = [], afterStageTasks = [] } = stage;
  const problems = [...labelSelectorProblems(stage.labelSelector, [...at, "labelSelector"])];
  if (!/^[a-z0-9]{1,63}$/.test(name)) problems.push(stageName(name, [...at, "name"]));
  if (stage.labelSelector === undefined)
    problems.push(warning("FLT1317", at, "without labelSelector the stage has no cluster", "write {} to mean all"));
  if (sortingLabelKey !== "" && !isQualifiedName(sortingLabelKey))
    problems.push(malformedProblem("label key", [...at, "sortingLabelKey"], sortingLabelKey));
  if (concurrencyOf(maxConcurrency) === null)
    problems.push(
      error("FLT1303", [...at, "maxConcurrency"], concurrency, "write 3 or 25%", JSON.stringify(maxConcurrency)),
    );
  return [
    ...problems,
    ...taskListProblems(beforeStageTasks, "before", [...at, "beforeStageTasks"]),
    ...taskListProblems(afterStageTasks, "after", [...at, "afterStageTasks"]),
  ];
}

const concurrency = "must be a whole number from 1, or a percentage from 1% to 100%";

const stageName = (name: string, at: JsonPath): FieldProblem =>
  error(
    "FLT1309",
    at,
    "is not a valid stage name",
    "use lower-case letters and digits only, at most 63",
    JSON.stringify(name),
  );

/** One task of each type that may stand there: the schema allows as many as there are. */
const taskListProblems = (tasks: readonly WrittenTask[], side: TaskSide, at: JsonPath): FieldProblems => [
  ...tasks.flatMap((it, i) => taskProblems(it, side, [...at, i])),
  ...repeatedIndices(tasks, (it) => it.type).map((i) =>
    error("FLT1313", [...at, i], "another task has this type", oneOfEach(side)),
  ),
];

function taskProblems(task: WrittenTask, side: TaskSide, at: JsonPath): FieldProblems {
  const type = taskType(task.type);
  if (type.sides.includes(side)) return type.problems(task, at);
  return [error("FLT1313", [...at, "type"], `${task.type} is not allowed ${side} a stage`, type.otherwise)];
}

const oneOfEach = (side: TaskSide): string => {
  const kinds = taskKinds.filter((it) => taskType(it).sides.includes(side));
  return `keep one ${[...kinds].sort().join(", one ")}`;
};

/** Every entry has to name a stage, once, with a limit that is understood: otherwise there would be no limit. */
function failureProblems(text: string, stages: readonly WrittenStage[]): FieldProblems {
  const at: JsonPath = ["metadata", "annotations", maxFailuresAnnotation];
  const limits = failureLimits(text);
  const names = stages.map((it) => it.name);
  return [
    ...limits.flatMap(({ stage, limit }) => {
      if (limit === null) return [error("FLT1310", at, `${stage}: ${failures}`, "write canary=0,prod=10%")];
      if (names.includes(stage)) return [];
      return [error("FLT1310", at, `there is no stage "${stage}"`, didYouMean(stage, names, "name one of the stages"))];
    }),
    ...repeatedIndices(limits, (it) => it.stage).map((i) =>
      error("FLT1310", at, `stage "${limits[i]?.stage}" occurs twice`, "keep one of the two"),
    ),
  ];
}

const failures = "how many clusters may fail must be a whole number, or a percentage from 0% to 100%";
