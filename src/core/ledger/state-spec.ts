import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import { deleteAdoptedAnnotation, progressDeadlineAnnotation } from "../model/names.ts";
import type {
  ApplyStrategy,
  CountOrPercent,
  PlacementSpec,
  ResourceSelector,
  RollingUpdate,
  RolloutStrategy,
} from "../model/placement.ts";
import { type DurationMs, seconds } from "../model/value.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  find,
  given,
  numberAt,
  objectsAt,
  partAt,
  textAt,
  textOrNull,
} from "./state-fields.ts";
import { policyJson, policyOf, selectorJson, selectorOf } from "./state-policy.ts";

/** A placement's spec as KubeFleet writes it, defaults filled in: `ledger/README.md#the-state-branch`. */
export const specJson = ({ resourceSelectors, policy, strategy, revisionHistoryLimit }: PlacementSpec): JsonObject => ({
  resourceSelectors: resourceSelectors.map(resourceSelectorJson),
  policy: policyJson(policy),
  strategy: {
    type: strategy.type,
    ...(strategy.type === "External" ? {} : { rollingUpdate: rollingUpdateJson(strategy.rollingUpdate) }),
    applyStrategy: applyStrategyJson(strategy.applyStrategy),
    deleteStrategy: { propagationPolicy: strategy.propagationPolicy },
  },
  revisionHistoryLimit,
});

/** What a placement's spec takes from annotations, as such. */
export const specAnnotations = ({ strategy }: PlacementSpec): Readonly<Record<string, string | null>> => ({
  [progressDeadlineAnnotation]: durationText(strategy.progressDeadline),
  [deleteAdoptedAnnotation]: strategy.deleteAdopted ? "true" : null,
});

export const specOf = (findings: Findings, spec: JsonObject, annotations: JsonObject): PlacementSpec => ({
  resourceSelectors: objectsAt(findings, spec, "resourceSelectors").map((it) => resourceSelectorOf(findings, it)),
  policy: policyOf(findings, partAt(spec, "policy")),
  strategy: strategyOf(findings, partAt(spec, "strategy"), annotations),
  revisionHistoryLimit: countAt(findings, spec, "revisionHistoryLimit"),
});

/** KubeFleet's ApplyStrategy: `ledger/README.md#the-state-branch`. */
export const applyStrategyJson = (it: ApplyStrategy): JsonObject =>
  given({
    type: it.type,
    comparisonOption: it.comparisonOption,
    whenToApply: it.whenToApply,
    whenToTakeOver: it.whenToTakeOver,
    allowCoOwnership: it.allowCoOwnership,
    serverSideApplyConfig: it.type === "ServerSideApply" || it.forceConflicts ? { force: it.forceConflicts } : null,
  });

export const applyStrategyOf = (findings: Findings, object: JsonObject): ApplyStrategy => ({
  type: choiceAt(findings, object, "type", ["ClientSideApply", "ServerSideApply", "ReportDiff"]),
  comparisonOption: choiceAt(findings, object, "comparisonOption", ["PartialComparison", "FullComparison"]),
  whenToApply: choiceAt(findings, object, "whenToApply", ["Always", "IfNotDrifted"]),
  whenToTakeOver: choiceAt(findings, object, "whenToTakeOver", ["Always", "IfNoDiff", "Never"]),
  allowCoOwnership: object["allowCoOwnership"] === true,
  forceConflicts: partAt(object, "serverSideApplyConfig")["force"] === true,
});

const resourceSelectorJson = (it: ResourceSelector): JsonObject =>
  given({
    group: it.group,
    version: it.version,
    kind: it.kind,
    name: it.name,
    labelSelector: it.labelSelector === null ? null : selectorJson(it.labelSelector),
    selectionScope: it.selectionScope,
  });

function resourceSelectorOf(findings: Findings, object: JsonObject): ResourceSelector {
  const selector = member(object, "labelSelector");
  return {
    group: textAt(findings, object, "group"),
    version: textAt(findings, object, "version"),
    kind: textAt(findings, object, "kind"),
    name: textOrNull(findings, object, "name"),
    labelSelector: isObject(selector) ? selectorOf(findings, selector) : null,
    selectionScope: choiceAt(findings, object, "selectionScope", [
      "NamespaceWithResources",
      "NamespaceOnly",
      "NamespaceWithResourceSelectors",
    ]),
  };
}

const rollingUpdateJson = ({ maxUnavailable, maxSurge, unavailablePeriod }: RollingUpdate): JsonObject => ({
  maxUnavailable: boundJson(maxUnavailable),
  maxSurge: boundJson(maxSurge),
  unavailablePeriodSeconds: unavailablePeriod / 1000,
});

/** `3` or `"25%"`, as KubeFleet writes it. */
export const boundJson = (it: CountOrPercent): Json => ("count" in it ? it.count : `${it.percent}%`);

/** The inverse of {@link boundJson}. */
export function boundAt(findings: Findings, object: JsonObject, key: string): CountOrPercent {
  const percent = /^(\d{1,3})%$/.exec(String(member(object, key)));
  return percent === null ? { count: countAt(findings, object, key) } : { percent: Number(percent[1]) };
}

function strategyOf(findings: Findings, strategy: JsonObject, annotations: JsonObject): RolloutStrategy {
  const type = choiceAt(findings, strategy, "type", ["RollingUpdate", "External"]);
  return {
    type,
    rollingUpdate:
      type === "External" ? unusedRollingUpdate : rollingUpdateOf(findings, partAt(strategy, "rollingUpdate")),
    applyStrategy: applyStrategyOf(findings, partAt(strategy, "applyStrategy")),
    propagationPolicy: choiceAt(findings, partAt(strategy, "deleteStrategy"), "propagationPolicy", [
      "Delete",
      "Abandon",
    ]),
    progressDeadline: durationAt(findings, annotations, progressDeadlineAnnotation),
    deleteAdopted: annotations[deleteAdoptedAnnotation] === "true",
  };
}

const rollingUpdateOf = (findings: Findings, rolling: JsonObject): RollingUpdate => ({
  maxUnavailable: boundAt(findings, rolling, "maxUnavailable"),
  maxSurge: boundAt(findings, rolling, "maxSurge"),
  unavailablePeriod: (numberAt(findings, rolling, "unavailablePeriodSeconds") * 1000) as DurationMs,
});

/** What External placements carry in memory: KubeFleet's defaults, which decide nothing there. */
const unusedRollingUpdate: RollingUpdate = {
  maxUnavailable: { percent: 25 },
  maxSurge: { percent: 25 },
  unavailablePeriod: seconds(60),
};

/** A duration as Go reads it, in the one unit that fits. */
export const durationText = (it: DurationMs): string => (it % 1000 === 0 ? `${it / 1000}s` : `${it}ms`);

/** The inverse of {@link shortDuration}. */
export function durationAt(findings: Findings, object: JsonObject, key: string): DurationMs {
  const [, digits, unit] = /^(\d+)(ms|s)$/.exec(textAt(findings, object, key)) ?? [];
  if (digits === undefined) find(findings, key, "is no duration");
  return (Number(digits ?? 0) * (unit === "s" ? 1000 : 1)) as DurationMs;
}
