import { describe, expect, test } from "vitest";
import { scheduleHub } from "../../../src/core/hub/schedule-hub.ts";
import { isObject, type Json, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import { exactInstantText, type Instant, minutes } from "../../../src/core/model/value.ts";

const now = Date.UTC(2026, 10, 21, 12) as Instant;
const ago = (length: number): string => exactInstantText((now - length) as Instant);

const agentStatus = (heartbeat: string): Json => [
  {
    type: "MemberAgent",
    lastReceivedHeartbeat: heartbeat,
    conditions: [
      { type: "Joined", status: "True", lastTransitionTime: ago(minutes(60)) },
      { type: "Healthy", status: "True", lastTransitionTime: ago(minutes(60)) },
    ],
  },
];

const member = (name: string, labels: JsonObject = {}, status: JsonObject = {}): JsonObject => ({
  apiVersion: "cluster.kubernetes-fleet.io/v1beta1",
  kind: "MemberCluster",
  metadata: { name, labels },
  spec: { identity: { kind: "ServiceAccount", name } },
  status: { agentStatus: agentStatus(ago(1000)), ...status },
});

const snapshot = (index: number, policy: Json, number: number | null = null, more: JsonObject = {}): JsonObject => ({
  apiVersion: "placement.kubernetes-fleet.io/v1beta1",
  kind: "ClusterSchedulingPolicySnapshot",
  metadata: {
    name: `web-${index}`,
    generation: 1,
    labels: { "kubernetes-fleet.io/parent-CRP": "web", "kubernetes-fleet.io/is-latest-snapshot": "true" },
    annotations: {
      "kubernetes-fleet.io/CRP-generation": "4",
      ...(number === null ? {} : { "kubernetes-fleet.io/number-of-clusters": String(number) }),
    },
  },
  spec: { policy },
  ...more,
});

const binding = (cluster: string, state: string, index: number, more: JsonObject = {}): JsonObject => ({
  apiVersion: "placement.kubernetes-fleet.io/v1beta1",
  kind: "ClusterResourceBinding",
  metadata: {
    name: `web-${cluster}-1`,
    labels: { "kubernetes-fleet.io/parent-CRP": "web" },
    finalizers: ["kubernetes-fleet.io/scheduler-crb-cleanup"],
    ...more,
  },
  spec: {
    state,
    targetCluster: cluster,
    schedulingPolicySnapshotName: `web-${index}`,
    resourceSnapshotName: "web-3-snapshot",
    clusterDecision: { clusterName: cluster, selected: true, reason: "picked", clusterScore: { affinityScore: 0 } },
  },
});

const list = (...items: readonly JsonObject[]): Json => ({ apiVersion: "v1", kind: "List", items });

function scheduled(...documents: readonly Json[]): readonly JsonObject[] {
  const outcome = scheduleHub(documents, { profile: "kubefleet", now });
  if (outcome.kind === "refused") throw new Error(outcome.message);
  return (outcome.list["items"] as readonly Json[]).filter(isObject);
}

const told = (items: readonly JsonObject[]): readonly string[] =>
  items
    .filter((it) => it["kind"] !== "ClusterSchedulingPolicySnapshot")
    .map((it) => `${String(memberAt(it, "spec", "targetCluster"))} ${String(memberAt(it, "spec", "state"))}`);

test("new bindings have KubeFleet's shape, and the snapshot gets its status", () => {
  const [said, ...made] = scheduled(list(member("a"), member("b")), snapshot(0, { placementType: "PickN" }, 1));
  expect(said?.["status"]).toEqual({
    conditions: [
      {
        type: "Scheduled",
        status: "True",
        reason: "SchedulingPolicyFulfilled",
        message: "picked 1 cluster",
        observedGeneration: 1,
        lastTransitionTime: "2026-11-21T12:00:00Z",
      },
    ],
    observedCRPGeneration: 4,
    targetClusters: [
      {
        clusterName: "b",
        clusterScore: { affinityScore: 0, priorityScore: 0 },
        reason: "picked b: affinity score 0, topology score 0",
        selected: true,
      },
      {
        clusterName: "a",
        clusterScore: { affinityScore: 0, priorityScore: 0 },
        reason: "a fits and is not needed: affinity score 0, topology score 0",
        selected: false,
      },
    ],
  });
  expect(made).toEqual([
    {
      apiVersion: "placement.kubernetes-fleet.io/v1beta1",
      kind: "ClusterResourceBinding",
      metadata: {
        finalizers: ["kubernetes-fleet.io/scheduler-crb-cleanup"],
        labels: { "kubernetes-fleet.io/parent-CRP": "web" },
        name: expect.stringMatching(/^web-b-[0-9a-f]{8}$/),
      },
      spec: {
        clusterDecision: memberAt(said, "status", "targetClusters", "0") ?? expect.anything(),
        resourceSnapshotName: "",
        schedulingPolicySnapshotName: "web-0",
        state: "Scheduled",
        targetCluster: "b",
      },
    },
  ]);
});

test("A 44, A 19: a binding that is dropped keeps its annotations, and one that is revived loses the note", () => {
  const annotations = { "example.com/mine": "1", "kubernetes-fleet.io/previous-binding-state": "Bound" };
  const items = scheduled(
    member("a"),
    member("b", { x: "y" }),
    snapshot(1, {
      placementType: "PickAll",
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [{ labelSelector: { matchLabels: { x: "y" } } }],
          },
        },
      },
    }),
    binding("a", "Bound", 0, { annotations: { "example.com/mine": "1" } }),
    binding("b", "Unscheduled", 0, { annotations }),
  );
  expect(told(items)).toEqual(["a Unscheduled", "b Bound"]);
  expect(items.slice(1).map((it) => memberAt(it, "metadata", "annotations"))).toEqual([
    annotations,
    { "example.com/mine": "1" },
  ]);
  expect(memberAt(items[2], "spec", "schedulingPolicySnapshotName")).toBe("web-1");
  expect(memberAt(items[2], "spec", "resourceSnapshotName")).toBe("web-3-snapshot");
});

test("A7: a binding whose deletion has begun loses the scheduler's finalizer, and is gone when it has no other", () => {
  const deletionTimestamp = ago(1000);
  const work = "kubernetes-fleet.io/work-cleanup";
  const finalizers = ["kubernetes-fleet.io/scheduler-crb-cleanup", work];
  const items = scheduled(
    member("a"),
    member("b"),
    snapshot(0, null),
    binding("a", "Bound", 0, { deletionTimestamp, finalizers }),
    binding("b", "Bound", 0, { deletionTimestamp }),
  );
  expect(told(items)).toEqual(["a Bound", "a Scheduled", "b Scheduled"]);
  expect(memberAt(items[1], "metadata", "finalizers")).toEqual([work]);
});

test("what it gives, with the MemberClusters, is scheduled again without any change", () => {
  const members = [member("a", { r: "e" }), member("b", { r: "w" }), member("c", { r: "w" })];
  const policy = { placementType: "PickN", topologySpreadConstraints: [{ topologyKey: "r" }] };
  const first = scheduled(...members, snapshot(0, policy, 2));
  expect(told(first)).toEqual(["a Scheduled", "c Scheduled"]);
  expect(scheduled(...members, list(...first))).toEqual(first);
});

test("a member of a hub is judged by its agent; the files of a repository have none, and are eligible by default", () => {
  const silent = member("a", {}, { agentStatus: agentStatus(ago(minutes(6))) });
  const { status: _, ...file } = member("b");
  expect(told(scheduled(silent, file, snapshot(0, null)))).toEqual([]);
  const outcome = scheduleHub([file, snapshot(0, null)], { profile: "default", now });
  expect(outcome.kind === "scheduled" && (outcome.list["items"] as readonly Json[]).length).toBe(2);
});

test("objects of other kinds and other placements are passed over, and so are earlier snapshots", () => {
  const other = binding("a", "Bound", 0, { labels: { "kubernetes-fleet.io/parent-CRP": "shop" } });
  const old = snapshot(0, { placementType: "PickFixed", clusterNames: ["a"] });
  const labels = { "kubernetes-fleet.io/parent-CRP": "web", "kubernetes-fleet.io/is-latest-snapshot": "false" };
  const past = { ...old, metadata: { ...(old["metadata"] as JsonObject), labels } };
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
  expect(told(scheduled(list(member("a"), config, past, snapshot(1, null), other)))).toEqual(["a Scheduled"]);
});

test("M1: a SchedulingPolicySnapshot has a namespace, which members have or not", () => {
  const having = (name: string, namespaces: JsonObject, status = "True"): JsonObject =>
    member(name, {}, { namespaces, conditions: [{ type: "NamespaceCollectionSucceeded", status }] });
  const cluster = snapshot(0, null);
  const namespaced = {
    ...cluster,
    kind: "SchedulingPolicySnapshot",
    metadata: { ...(cluster["metadata"] as JsonObject), namespace: "team-a" },
  };
  const members = [
    having("a", { "team-a": "" }),
    having("b", { other: "" }),
    member("c"),
    having("d", { other: "" }, "False"),
    having("e", {}),
    // As Flotilla has it of a member that does not let anybody list them, before and after it once did.
    having("f", {}, "Unknown"),
    having("g", { other: "" }, "Unknown"),
  ];
  const items = scheduled(...members, namespaced);
  expect(items.slice(1).map((it) => [it["kind"], memberAt(it, "spec", "targetCluster")])).toEqual(
    ["a", "c", "d", "f"].map((it) => ["ResourceBinding", it]),
  );
});

describe("what cannot be scheduled is refused, with where it stands", () => {
  const required = (expression: JsonObject): Json => ({
    placementType: "PickAll",
    affinity: {
      clusterAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          clusterSelectorTerms: [{ propertySelector: { matchExpressions: [expression] } }],
        },
      },
    },
  });
  const terms =
    "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms";
  const rows: readonly (readonly [string, readonly Json[], string])[] = [
    ["nothing", [], "0 : there is no policy snapshot"],
    [
      "two snapshots that are the latest",
      [snapshot(0, null), snapshot(1, null)],
      "1 : web-1 is another latest policy snapshot beside web-0",
    ],
    [
      "one cluster twice",
      [list(member("a"), member("a")), snapshot(0, null)],
      "0 items.1.metadata.name: there are two MemberClusters a",
    ],
    [
      "PickN without a number",
      [snapshot(0, { placementType: "PickN" })],
      "0 metadata.annotations: PickN needs the annotation kubernetes-fleet.io/number-of-clusters, a whole number",
    ],
    [
      "A 62: another placementType",
      [snapshot(0, { placementType: "PickSome" })],
      '0 spec.policy.placementType: "placementType" is not one of PickAll, PickN, PickFixed',
    ],
    [
      "an operator that does not exist",
      [snapshot(0, required({ name: "np", operator: "Near", values: ["1"] }))],
      `0 ${terms}.0.propertySelector.matchExpressions.0.operator: "operator" is not one of Gt, Ge, Lt, Le, Eq, Ne`,
    ],
    [
      "Q13: no value",
      [snapshot(0, required({ name: "np", operator: "Gt", values: [] }))],
      '0 spec.policy.affinity: np is compared with "", which is no quantity',
    ],
  ];

  test.each(rows)("%s", (_, documents, want) => {
    const outcome = scheduleHub(documents, { profile: "kubefleet", now });
    expect(
      outcome.kind === "refused" &&
        `${outcome.document} ${outcome.path.join(".")}: ${outcome.message}`.replace(" : ", " : "),
    ).toBe(want);
  });
});

test("S18: where the cycle comes to no end, the condition says so, and what was decided stays", () => {
  const having = (name: string, value: string): JsonObject => member(name, {}, { properties: { np: { value } } });
  const policy = {
    placementType: "PickN",
    affinity: {
      clusterAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, preference: { propertySorter: { name: "np", sortOrder: "Descending" } } },
        ],
      },
    },
  };
  const items = scheduled(having("a", "300m"), having("b", "0.3"), having("c", "0.1"), snapshot(0, policy, 2));
  const conditions = memberAt(items[0], "status", "conditions") as readonly Json[];
  expect(items).toHaveLength(1);
  expect([memberAt(conditions[0], "status"), memberAt(conditions[0], "reason")]).toEqual([
    "Unknown",
    "SchedulingFailed",
  ]);
});
