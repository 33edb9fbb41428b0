import type { Strategy as WrittenStrategy } from "#schemas/cluster-resource-placement";
import { deleteAdoptedAnnotation, progressDeadlineAnnotation } from "../../model/names.ts";
import type { ApplyStrategy, CountOrPercent, Placement, RollingUpdate } from "../../model/placement.ts";
import { durationOf, minutes, seconds } from "../../model/value.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { countOrPercent, countOrPercentProblems, notSupportedYet } from "./fields.ts";
import { annotationProblems } from "./metadata.ts";

type WrittenApplyStrategy = NonNullable<WrittenStrategy["applyStrategy"]>;
type Annotations = Readonly<Record<string, string>>;

/** How long a cluster may take before it counts as failed, by default (`rollout/README.md#b-1`). */
const defaultProgressDeadline = minutes(10);

/** How a placement rolls out and applies, after defaults; two settings are annotations. */
export const placementStrategyFrom = (
  written: WrittenStrategy,
  annotations: Annotations,
): Placement["spec"]["strategy"] => ({
  type: written.type ?? "RollingUpdate",
  rollingUpdate: rollingUpdateOf(written.rollingUpdate ?? {}),
  applyStrategy: applyStrategyOf(written.applyStrategy ?? {}),
  propagationPolicy: written.deleteStrategy?.propagationPolicy ?? "Delete",
  progressDeadline: durationOf(annotations[progressDeadlineAnnotation] ?? "") ?? defaultProgressDeadline,
  deleteAdopted: annotations[deleteAdoptedAnnotation] === "true",
});

function rollingUpdateOf(written: NonNullable<WrittenStrategy["rollingUpdate"]>): RollingUpdate {
  const { maxUnavailable = "25%", maxSurge = "25%", unavailablePeriodSeconds = 60 } = written;
  const quarter: CountOrPercent = { percent: 25 };
  return {
    maxUnavailable: countOrPercent(maxUnavailable) ?? quarter,
    maxSurge: countOrPercent(maxSurge) ?? quarter,
    unavailablePeriod: seconds(unavailablePeriodSeconds),
  };
}

function applyStrategyOf(written: WrittenApplyStrategy): ApplyStrategy {
  return {
    type: written.type ?? "ClientSideApply",
    comparisonOption: written.comparisonOption ?? "PartialComparison",
    whenToApply: written.whenToApply ?? "Always",
    whenToTakeOver: written.whenToTakeOver ?? "Always",
    allowCoOwnership: written.allowCoOwnership ?? false,
    forceConflicts: written.serverSideApplyConfig?.force ?? false,
  };
}

const at: JsonPath = ["spec", "strategy"];

/** Checks how a placement rolls out and applies (`intent/README.md#v-pl-60`, `#v-pl-62` … `#v-pl-71`). */
export function strategyProblems(strategy: WrittenStrategy): FieldProblems {
  return [
    ...rollingUpdateProblems(strategy),
    ...applyStrategyProblems(strategy.applyStrategy ?? {}),
    ...(strategy.reportBackStrategy?.type === "Mirror"
      ? [notSupportedYet([...at, "reportBackStrategy", "type"], "Mirror is")]
      : []),
  ];
}

function rollingUpdateProblems({ type, rollingUpdate }: WrittenStrategy): FieldProblems {
  if (rollingUpdate === undefined) return [];
  const path: JsonPath = [...at, "rollingUpdate"];
  if (type === "External") return [error("FLT1307", path, "does not go with type External", "remove it")];
  const { maxUnavailable = "25%", maxSurge = "25%" } = rollingUpdate;
  const wrong = Object.entries({ maxUnavailable, maxSurge }).flatMap(([field, it]) =>
    countOrPercentProblems(it, [...path, field]),
  );
  const stalls = isNothing(maxUnavailable) && isNothing(maxSurge);
  return stalls ? [...wrong, error("FLT1303", path, stalled, "raise one of the two")] : wrong;
}

const stalled = "maxUnavailable and maxSurge are both 0, so that nothing could ever be updated";

function isNothing(written: number | string): boolean {
  const value = countOrPercent(written);
  return value !== null && ("count" in value ? value.count : value.percent) === 0;
}

function applyStrategyProblems(strategy: WrittenApplyStrategy): FieldProblems {
  const path: JsonPath = [...at, "applyStrategy"];
  const { type = "ClientSideApply", comparisonOption, whenToApply, serverSideApplyConfig } = strategy;
  const problems: FieldProblem[] = [];
  if (type === "ReportDiff") problems.push(notSupportedYet([...path, "type"], "ReportDiff is"));
  if (comparisonOption === "FullComparison")
    problems.push(notSupportedYet([...path, "comparisonOption"], "FullComparison is"));
  if (whenToApply === "IfNotDrifted") problems.push(notSupportedYet([...path, "whenToApply"], "IfNotDrifted is"));
  if (serverSideApplyConfig !== undefined && type !== "ServerSideApply")
    problems.push(error("FLT1307", [...path, "serverSideApplyConfig"], `does not go with type ${type}`, useServerSide));
  return problems;
}

const useServerSide = "remove it, or use type ServerSideApply";

/** Checks the settings in annotations of a placement. */
export function settingProblems(annotations: Annotations): FieldProblems {
  const at = (key: string): JsonPath => ["metadata", "annotations", key];
  const deadline = annotations[progressDeadlineAnnotation];
  const adopted = annotations[deleteAdoptedAnnotation];
  const problems = [...annotationProblems(annotations, [progressDeadlineAnnotation, deleteAdoptedAnnotation])];
  if (deadline !== undefined && durationOf(deadline) === null)
    problems.push(
      error("FLT1310", at(progressDeadlineAnnotation), "is not a duration above 0", "write 10m, 90s or 1h30m"),
    );
  if (adopted !== undefined && adopted !== "true" && adopted !== "false")
    problems.push(
      error("FLT1310", at(deleteAdoptedAnnotation), "must be true or false, in quotes", 'write "true" or "false"'),
    );
  return problems;
}

/** `intent/README.md#v-pl-61`: External does not change. */
export function strategyUpdateProblems(before: Placement["spec"], after: Placement["spec"]): FieldProblems {
  if (before.strategy.type !== "External" || after.strategy.type === "External") return [];
  const message = "cannot change from External to RollingUpdate";
  return [error("FLT1315", [...at, "type"], message, "put External back")];
}
