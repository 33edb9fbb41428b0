import type { Binding, ClusterDecision } from "../model/binding.ts";
import { isObject, type Json, type JsonObject, memberAt, textOf } from "../model/json.ts";
import { kubeFleetPrefix, placementGroup } from "../model/names.ts";
import { type ClusterName, compareText } from "../model/value.ts";
import { bindingName } from "../schedule/binding-name.ts";
import type { CycleBinding } from "../schedule/framework/cycle.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { annotationOf, type HubObject, hubNamespaceOf, nameOf, placementOf } from "./hub-objects.ts";

const previousState = `${kubeFleetPrefix}/previous-binding-state`;
const schedulerFinalizer = `${kubeFleetPrefix}/scheduler-crb-cleanup`;
const parentLabel = `${kubeFleetPrefix}/parent-CRP`;

/** Bindings that take part in the cycle: one whose deletion has begun does not. */
export const hubBindings = (bindings: readonly HubObject[], snapshot: JsonObject): readonly CycleBinding[] =>
  bindings.filter((it) => !isDeleting(it.value)).map((it) => standingOf(it.value, nameOf(snapshot)));

const isDeleting = (value: JsonObject): boolean => textOf(memberAt(value, "metadata", "deletionTimestamp")) !== null;

function standingOf(value: JsonObject, snapshot: string): CycleBinding {
  const cluster = (textOf(memberAt(value, "spec", "targetCluster")) ?? "") as ClusterName;
  const decision = hubDecision(memberAt(value, "spec", "clusterDecision"));
  return {
    name: nameOf(value),
    cluster,
    state: stateOf(textOf(memberAt(value, "spec", "state"))) ?? "Scheduled",
    previousState: boundOrScheduled(annotationOf(value, previousState)),
    removing: false,
    obsolete: textOf(memberAt(value, "spec", "schedulingPolicySnapshotName")) !== snapshot,
    decision: { ...decision, cluster, selected: true },
  };
}

const stateOf = (text: string | null): Binding["state"] | null =>
  text === "Unscheduled" ? text : boundOrScheduled(text);

const boundOrScheduled = (text: string | null): "Scheduled" | "Bound" | null =>
  text === "Bound" || text === "Scheduled" ? text : null;

/** A decision as a hub writes it. */
export function hubDecision(value: Json): ClusterDecision {
  const score = memberAt(value, "clusterScore");
  const points = (name: string): number => {
    const found = memberAt(score, name);
    return typeof found === "number" ? found : 0;
  };
  return {
    cluster: (textOf(memberAt(value, "clusterName")) ?? "") as ClusterName,
    selected: memberAt(value, "selected") === true,
    score: isObject(score) ? { affinity: points("affinityScore"), topology: points("priorityScore") } : null,
    reason: textOf(memberAt(value, "reason")) ?? "",
  };
}

/** A decision in a hub's shape. The key of the topology score is historic. */
export const decisionJson = ({ cluster, selected, score, reason }: ClusterDecision): JsonObject => ({
  clusterName: cluster,
  ...(score === null ? {} : { clusterScore: { affinityScore: score.affinity, priorityScore: score.topology } }),
  reason,
  selected,
});

/** All bindings as they are once the schedule is carried out, by name. */
export function scheduledBindings(
  bindings: readonly HubObject[],
  { create, keep, drop }: Schedule,
  snapshot: JsonObject,
): readonly JsonObject[] {
  const kept = new Map(keep.map((it) => [it.binding.name, it]));
  const dropped = new Map(drop.map((it) => [it.name, it]));
  const standing = bindings.flatMap(({ value }): readonly JsonObject[] => {
    if (isDeleting(value)) return withoutFinalizer(value);
    const gone = dropped.get(nameOf(value));
    if (gone !== undefined) return [revised(value, { state: "Unscheduled" }, gone.state)];
    const stays = kept.get(nameOf(value));
    if (stays === undefined) return [value];
    const { state, decision } = stays;
    const clusterDecision = decisionJson(decision);
    return [revised(value, { state, schedulingPolicySnapshotName: nameOf(snapshot), clusterDecision }, null)];
  });
  const names = new Set(standing.map(nameOf));
  const made = create.map((it) => newBinding(it, snapshot, names));
  return [...standing, ...made].sort((a, b) => compareText(nameOf(a), nameOf(b)));
}

/** The scheduler gives a binding up whose deletion has begun; it is gone once nobody holds it. */
function withoutFinalizer(value: JsonObject): readonly JsonObject[] {
  const { finalizers = [], ...metadata } = objectAt(value, "metadata");
  const left = (Array.isArray(finalizers) ? (finalizers as readonly Json[]) : []).filter(
    (it) => it !== schedulerFinalizer,
  );
  return left.length === 0 ? [] : [{ ...value, metadata: { ...metadata, finalizers: left } }];
}

const objectAt = (value: JsonObject, key: string): JsonObject => {
  const found = value[key];
  return isObject(found) ? found : {};
};

/** With another spec; the state before is noted where it is given, and otherwise no longer (`schedule/README.md#a-19`). */
function revised(value: JsonObject, spec: JsonObject, before: string | null): JsonObject {
  const { annotations: written, ...metadata } = objectAt(value, "metadata");
  const { [previousState]: _, ...others } = isObject(written) ? written : {};
  const annotations = before === null ? others : { ...others, [previousState]: before };
  return {
    ...value,
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: { ...objectAt(value, "spec"), ...spec },
  };
}

function newBinding(decision: ClusterDecision, snapshot: JsonObject, names: Set<string>): JsonObject {
  const namespace = hubNamespaceOf(snapshot);
  const placement = placementOf(snapshot);
  let others = 0;
  while (names.has(bindingName(placement, decision.cluster, others))) others += 1;
  const name = bindingName(placement, decision.cluster, others);
  names.add(name);
  return {
    apiVersion: `${placementGroup}/v1beta1`,
    kind: namespace === null ? "ClusterResourceBinding" : "ResourceBinding",
    metadata: {
      finalizers: [schedulerFinalizer],
      labels: { [parentLabel]: placement },
      name,
      ...(namespace === null ? {} : { namespace }),
    },
    spec: {
      clusterDecision: decisionJson(decision),
      resourceSnapshotName: "",
      schedulingPolicySnapshotName: nameOf(snapshot),
      state: "Scheduled",
      targetCluster: decision.cluster,
    },
  };
}
