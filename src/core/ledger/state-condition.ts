import type { Condition } from "../model/condition.ts";
import type { JsonObject } from "../model/json.ts";
import type { ClusterDecision } from "../model/ledger.ts";
import { type ClusterName, exactInstantText } from "../model/value.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  given,
  instantAt,
  numberAt,
  objectsAt,
  partAt,
  textAt,
} from "./state-fields.ts";

/** KubeFleet's Condition: `ledger/README.md#the-state-branch`. */
export const conditionJson = (it: Condition): JsonObject => ({
  type: it.type,
  status: it.status,
  reason: it.reason,
  message: it.message,
  observedGeneration: it.observedGeneration,
  lastTransitionTime: exactInstantText(it.lastTransitionTime),
});

/** The conditions of a status; none where there are none. The same status gives the same ones. */
export function conditionsOf(findings: Findings, status: JsonObject): readonly Condition[] {
  const known = readBefore.get(status);
  if (known !== undefined) return known;
  const conditions = conditionsIn(findings, status);
  if (findings.first === null) readBefore.set(status, conditions);
  return conditions;
}

// A thousand bindings say the same, and the reader gives one value for it: it is decoded and kept once.
const readBefore = new WeakMap<JsonObject, readonly Condition[]>();

const conditionsIn = (findings: Findings, status: JsonObject): readonly Condition[] =>
  objectsAt(findings, status, "conditions").map((it) => ({
    type: textAt(findings, it, "type"),
    status: choiceAt(findings, it, "status", ["Unknown", "True", "False"]),
    reason: textAt(findings, it, "reason"),
    message: textAt(findings, it, "message"),
    observedGeneration: countAt(findings, it, "observedGeneration"),
    lastTransitionTime: instantAt(findings, it, "lastTransitionTime"),
  }));

/** KubeFleet's ClusterDecision: `ledger/README.md#the-state-branch`. The key of the topology score is historic. */
export const decisionJson = ({ cluster, selected, score, reason }: ClusterDecision): JsonObject =>
  given({
    clusterName: cluster,
    selected,
    clusterScore: score === null ? null : { affinityScore: score.affinity, priorityScore: score.topology },
    reason,
  });

export function decisionOf(findings: Findings, object: JsonObject): ClusterDecision {
  const score = partAt(object, "clusterScore");
  return {
    cluster: textAt(findings, object, "clusterName") as ClusterName,
    selected: object["selected"] === true,
    score: !Object.hasOwn(object, "clusterScore")
      ? null
      : { affinity: numberAt(findings, score, "affinityScore"), topology: numberAt(findings, score, "priorityScore") },
    reason: textAt(findings, object, "reason"),
  };
}
