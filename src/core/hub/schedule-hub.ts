import type { Condition } from "../model/condition.ts";
import type { FleetSpec } from "../model/fleet.ts";
import { isObject, type Json, type JsonObject, memberAt, textOf } from "../model/json.ts";
import type { PolicySnapshot } from "../model/ledger.ts";
import { kubeFleetPrefix } from "../model/names.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { exactInstantText, type Instant, instantOf } from "../model/value.ts";
import { policyHash } from "../schedule/policy-snapshot.ts";
import { profiles } from "../schedule/profile.ts";
import { recordVerdict } from "../schedule/record-verdict.ts";
import { schedule } from "../schedule/schedule.ts";
import { decisionJson, hubBindings, hubDecision, scheduledBindings } from "./hub-bindings.ts";
import { hubMembers } from "./hub-members.ts";
import { annotationOf, type HubProblem, hubNamespaceOf, hubObjects, problemAt } from "./hub-objects.ts";
import { hubPolicy } from "./hub-policy.ts";

/** How the scheduler is run over the objects of a hub. */
interface HubRun {
  readonly profile: FleetSpec["profile"];
  readonly now: Instant;
}

/** A List of the policy snapshot with its status, and of all its bindings; or why there is none. */
type HubSchedule =
  | { readonly kind: "scheduled"; readonly list: JsonObject }
  | ({ readonly kind: "refused" } & HubProblem);

const generationAnnotation = `${kubeFleetPrefix}/CRP-generation`;

/**
 * Runs one scheduling cycle over the objects of a KubeFleet hub, as they are in documents and lists, and gives them back as
 * they are after it (`schedule/README.md#the-scheduler-alone`). With the MemberClusters, what it gives can be scheduled
 * again.
 */
export function scheduleHub(documents: readonly Json[], { profile, now }: HubRun): HubSchedule {
  const found = hubObjects(documents);
  if ("message" in found) return { kind: "refused", ...found };
  const { members, snapshot, bindings } = found;
  const policy = hubPolicy(snapshot);
  if ("message" in policy) return { kind: "refused", ...policy };
  for (const it of bindings)
    if (textOf(memberAt(it.value, "spec", "targetCluster")) === null)
      return { kind: "refused", ...problemAt(it, ["spec"], "a binding has no targetCluster") };
  const { value } = snapshot;
  const before = recordedSnapshot(value, policy);
  const outcome = schedule(
    {
      policy,
      namespace: hubNamespaceOf(value),
      // A hub has no tenants.
      grants: [],
      candidates: hubMembers(members, profile === "kubefleet"),
      cycleBindings: hubBindings(bindings, value),
      recorded: before.verdict?.decisions ?? [],
      now,
    },
    profiles[profile],
  );
  const after = recordVerdict(before, outcome, generationOf(value), now);
  const told = after === before ? value : withStatus(value, after);
  const items = [told, ...scheduledBindings(bindings, outcome, value)];
  return { kind: "scheduled", list: { apiVersion: "v1", kind: "List", items } };
}

/** Of the placement, as the snapshot repeats it; its own where nobody wrote that. */
function generationOf(value: JsonObject): number {
  const written = Number(annotationOf(value, generationAnnotation) ?? memberAt(value, "metadata", "generation") ?? 1);
  return Number.isSafeInteger(written) && written >= 0 ? written : 1;
}

const ownGenerationOf = (value: JsonObject): number => {
  const written = memberAt(value, "metadata", "generation");
  return typeof written === "number" ? written : 1;
};

/** What stands in the snapshot's status. */
function recordedSnapshot(value: JsonObject, policy: PlacementPolicy): PolicySnapshot {
  const status = memberAt(value, "status");
  const conditions = memberAt(status, "conditions");
  const condition = (Array.isArray(conditions) ? (conditions as readonly Json[]) : []).find(
    (it) => textOf(memberAt(it, "type")) === "Scheduled",
  );
  const targets = memberAt(status, "targetClusters");
  const decisions = (Array.isArray(targets) ? (targets as readonly Json[]) : []).map(hubDecision);
  const observed = memberAt(status, "observedCRPGeneration");
  const said = condition === undefined ? null : conditionOf(condition);
  const observedGeneration = typeof observed === "number" ? observed : -1;
  return {
    index: 0,
    hash: policyHash(policy),
    policy,
    verdict: said === null ? null : { observedGeneration, condition: said, decisions },
  };
}

function conditionOf(value: Json): Condition | null {
  const status = textOf(memberAt(value, "status"));
  if (status !== "True" && status !== "False" && status !== "Unknown") return null;
  const generation = memberAt(value, "observedGeneration");
  return {
    type: "Scheduled",
    status,
    reason: textOf(memberAt(value, "reason")) ?? "",
    message: textOf(memberAt(value, "message")) ?? "",
    observedGeneration: typeof generation === "number" ? generation : 0,
    lastTransitionTime: instantOf(textOf(memberAt(value, "lastTransitionTime")) ?? "") ?? (0 as Instant),
  };
}

function withStatus(value: JsonObject, { verdict }: PolicySnapshot): JsonObject {
  if (verdict === null) return value;
  const { status: before } = value;
  const { lastTransitionTime, ...condition } = verdict.condition;
  return {
    ...value,
    status: {
      ...(isObject(before) ? before : {}),
      conditions: [
        {
          ...condition,
          observedGeneration: ownGenerationOf(value),
          lastTransitionTime: exactInstantText(lastTransitionTime),
        },
      ],
      observedCRPGeneration: verdict.observedGeneration,
      targetClusters: verdict.decisions.map(decisionJson),
    },
  };
}
