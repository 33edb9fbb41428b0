import type {
  Binding,
  BindingFacts,
  ClusterDecision,
  ObjectFailure,
  Removal,
  Target,
} from "../../../src/core/model/binding.ts";
import { type Condition, settleConditions, type Verdict } from "../../../src/core/model/condition.ts";
import { digestOf } from "../../../src/core/model/json.ts";
import type {
  ContactFailure,
  PlacementRecord,
  PolicySnapshot,
  ResourceSnapshot,
} from "../../../src/core/model/ledger.ts";
import type { ApplyStrategy, PlacementPolicy, RolloutStrategy } from "../../../src/core/model/placement.ts";
import {
  type ClusterName,
  type Commit,
  type Instant,
  instantOf,
  type PlacementKey,
  type Sequence,
} from "../../../src/core/model/value.ts";
import { type BindingContext, bindingVerdicts } from "../../../src/core/status/binding-conditions.ts";
import { clientSide, defaultStrategy } from "../../strategy.ts";

export const noon = instantOf("2026-11-21T12:00:00Z") as Instant;
export const later = instantOf("2026-11-21T12:05:00Z") as Instant;
const digest = digestOf("any");
const commit = "c0ffee" as Commit;

export const fine: BindingContext = { contactFailure: null, heldBack: false, failure: null };
export const heldBack: BindingContext = { ...fine, heldBack: true };
export const unreachable: ContactFailure = { code: "Unreachable", message: "connection refused", since: noon };

/** Decided after the target of everything here. */
export const removal: Removal = {
  sequence: 8 as Sequence,
  since: noon,
  cause: commit,
  propagation: "Delete",
};

export const target = (resourceIndex: number, more: Partial<Target> = {}): Target => ({
  resourceIndex,
  clusterOverrides: [],
  resourceOverrides: [],
  labels: {},
  applyStrategy: clientSide,
  digest,
  sequence: 7 as Sequence,
  startedAt: noon,
  ...more,
});

export const facts = (more: Partial<BindingFacts> = {}): BindingFacts => ({
  sequence: 7 as Sequence,
  applied: "applied",
  phase: "available",
  since: noon,
  objectFailures: [],
  objectFailureCount: 0,
  adopted: [],
  ...more,
});

export const objectFailure = (
  type: ObjectFailure["type"],
  message: string,
  name = "web",
  code = type === "Applied" ? "ManifestApplyFailed" : "Failed",
): ObjectFailure => ({
  id: { group: "apps", version: "v1", kind: "Deployment", namespace: "shop", name },
  type,
  code,
  message,
});

export const notApplied = facts({
  applied: "failed",
  phase: "progressing",
  objectFailures: [objectFailure("Applied", "spec.selector is immutable")],
  objectFailureCount: 1,
});
export const notYet = facts({
  phase: "progressing",
  objectFailures: [objectFailure("Available", "1 of 2 replicas")],
  objectFailureCount: 1,
});
export const broken = facts({
  phase: "failed",
  objectFailures: [objectFailure("Available", "image pull failed")],
  objectFailureCount: 3,
});

/**
 * A bound cluster on content 0 whose objects are all available, unless `more` says otherwise; conditions are settled
 * at noon.
 */
export function binding(cluster: string, more: Partial<Binding> = {}, context: BindingContext = fine): Binding {
  const bare: Binding = {
    cluster: cluster as ClusterName,
    name: `web-${cluster}-00000000`,
    uid: cluster,
    generation: 3,
    state: "Bound",
    previousState: null,
    policySnapshot: 0,
    decision: picked(cluster),
    target: target(0),
    removal: null,
    leaving: [],
    facts: facts(),
    conditions: [],
    ...more,
  };
  return { ...bare, conditions: settleConditions([], bindingVerdicts(bare, context), noon) };
}

/** Picked, waiting for the rollout to admit it. */
export const waiting = (cluster: string): Binding =>
  binding(cluster, { state: "Scheduled", target: null, facts: null }, heldBack);

export const picked = (cluster: string): ClusterDecision => ({
  cluster: cluster as ClusterName,
  selected: true,
  score: null,
  reason: "picked by scheduling policy",
});
export const passedOver = (cluster: string, reason: string): ClusterDecision => ({
  ...picked(cluster),
  selected: false,
  reason,
});

const fulfilled: Condition = {
  type: "Scheduled",
  status: "True",
  reason: "SchedulingPolicyFulfilled",
  message: "found all the clusters needed",
  observedGeneration: 1,
  lastTransitionTime: noon,
};
export const unfulfilled: Condition = {
  ...fulfilled,
  status: "False",
  reason: "SchedulingPolicyUnfulfilled",
  message: "could not find all the clusters needed",
};

export const pickAll: PlacementPolicy = { kind: "PickAll", required: [], tolerations: [] };
export const pickN = (numberOfClusters: number): PlacementPolicy => ({
  kind: "PickN",
  numberOfClusters,
  required: [],
  preferred: [],
  spread: [],
  tolerations: [],
});

export const contents = (index: number): ResourceSnapshot => ({
  index,
  hash: digest,
  commit: `${commit}${index}` as Commit,
  resources: [
    {
      id: { group: "", version: "v1", kind: "Namespace", namespace: null, name: "shop" },
      digest,
      path: "resources/shop.yaml",
      document: 0,
      blob: "b10b" as ResourceSnapshot["resources"][number]["blob"],
    },
    {
      id: { group: "apps", version: "v1", kind: "Deployment", namespace: "shop", name: "web" },
      digest,
      path: "resources/web.yaml",
      document: 0,
      blob: "b10b" as ResourceSnapshot["resources"][number]["blob"],
    },
  ],
});

export const policySnapshot = (
  policy: PlacementPolicy,
  decisions: readonly ClusterDecision[],
  condition = fulfilled,
): PolicySnapshot => ({ index: 0, hash: digest, policy, verdict: { observedGeneration: 5, condition, decisions } });

/**
 * A placement in its fifth generation, on these clusters; all of them picked, in the order given, unless `more` says
 * otherwise.
 */
export function record(
  bindings: readonly Binding[],
  more: Partial<PlacementRecord> & {
    readonly policy?: PlacementPolicy;
    readonly applyStrategy?: ApplyStrategy;
    readonly type?: RolloutStrategy["type"];
  } = {},
): PlacementRecord {
  const { policy = pickAll, applyStrategy = clientSide, type = "RollingUpdate", ...rest } = more;
  return {
    key: "web" as PlacementKey,
    scope: "Cluster",
    namespace: null,
    name: "web",
    uid: "u",
    generation: 5,
    specDigest: digest,
    spec: {
      resourceSelectors: [],
      policy,
      strategy: { ...defaultStrategy, type, applyStrategy },
      revisionHistoryLimit: 10,
    },
    deleting: null,
    policySnapshots: [
      policySnapshot(
        policy,
        bindings.map((it) => picked(it.cluster)),
      ),
    ],
    resourceSnapshots: [contents(0)],
    bindings: new Map(bindings.map((it) => [it.cluster, it])),
    change: null,
    selectionError: null,
    unrolled: null,
    conditions: [],
    ...rest,
  };
}

/** `Applied Unknown ApplyPending`: a condition or verdict without its words. */
export const terse = ({ type, status, reason }: Verdict): string => `${type} ${status} ${reason}`;
