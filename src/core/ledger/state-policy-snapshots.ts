import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { PlacementRecord, PolicySnapshot, SchedulingVerdict } from "../model/ledger.ts";
import type { Digest } from "../model/value.ts";
import { emitDocuments } from "../yaml/canonical.ts";
import { conditionJson, conditionsOf, decisionJson, decisionOf } from "./state-condition.ts";
import { countAt, type Findings, find, objectsAt, partAt } from "./state-fields.ts";
import { base64At, base64Of, fleetKey, headingJson, kindIn, open, placementApiVersion } from "./state-names.ts";
import { policyJson, policyOf } from "./state-policy.ts";

/** The text of `policy-snapshots.yaml`: a SchedulingPolicySnapshot a document, ascending by index. */
export const policySnapshotsText = (record: PlacementRecord): string =>
  emitDocuments(
    record.policySnapshots.map((it) => policySnapshotJson(record, it, it === record.policySnapshots.at(-1))),
  );

function policySnapshotJson(record: PlacementRecord, snapshot: PolicySnapshot, isLatest: boolean): Json {
  const { index, policy, verdict } = snapshot;
  const generation = isLatest ? record.generation : (verdict?.observedGeneration ?? null);
  return {
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(record.namespace, "SchedulingPolicySnapshot"),
      name: `${record.name}-${index}`,
      namespace: record.namespace,
      labels: {
        [fleetKey.parent]: record.name,
        [fleetKey.policyIndex]: String(index),
        [fleetKey.isLatest]: String(isLatest),
      },
      annotations: {
        [fleetKey.generation]: generation === null ? null : String(generation),
        [fleetKey.numberOfClusters]: policy.kind === "PickN" ? String(policy.numberOfClusters) : null,
      },
    }),
    spec: { policy: policyJson(policy), policyHash: base64Of(snapshot.hash) },
    ...(verdict === null ? {} : { status: verdictJson(verdict) }),
  };
}

const verdictJson = ({ observedGeneration, condition, decisions }: SchedulingVerdict): JsonObject => ({
  conditions: [conditionJson(condition)],
  observedCRPGeneration: observedGeneration,
  targetClusters: decisions.map(decisionJson),
});

export function policySnapshotOf(findings: Findings, document: Json): PolicySnapshot {
  const { labels, spec, status } = open(findings, document, "SchedulingPolicySnapshot");
  return {
    index: countAt(findings, labels, fleetKey.policyIndex),
    hash: base64At(findings, spec, "policyHash") as Digest,
    policy: policyOf(findings, partAt(spec, "policy")),
    verdict: isObject(document) && Object.hasOwn(document, "status") ? verdictOf(findings, status) : null,
  };
}

function verdictOf(findings: Findings, status: JsonObject): SchedulingVerdict | null {
  const [condition] = conditionsOf(findings, status);
  if (condition === undefined) find(findings, "conditions", "is empty");
  if (condition === undefined) return null;
  return {
    observedGeneration: countAt(findings, status, "observedCRPGeneration"),
    condition,
    decisions: objectsAt(findings, status, "targetClusters").map((it) => decisionOf(findings, it)),
  };
}
