import { expect, test } from "vitest";
import type { MemberCluster } from "../../../src/core/model/fleet.ts";
import { digestOf } from "../../../src/core/model/json.ts";
import { type ClusterRecord, emptyLedger, nothingCollected } from "../../../src/core/model/ledger.ts";
import type { ClusterName, Instant } from "../../../src/core/model/value.ts";
import { describeCluster, wideClusterRows } from "../../../src/core/report/cluster-text.ts";
import { binding, noon, record as placement } from "../status/record.ts";

const name = "prod" as ClusterName;

const member: MemberCluster = {
  name,
  labels: { region: "eu", env: "prod" },
  taints: [{ key: "gpu", value: "", effect: "NoSchedule" }],
  properties: { "kubernetes-fleet.io/node-count": { value: "3", observedAt: null } },
  resourceUsage: { capacity: { cpu: "24" }, allocatable: {}, available: {}, observedAt: null },
  spec: {},
  source: { path: "clusters/prod.yaml", document: 0, line: 4, column: 1 },
};

const known: ClusterRecord = {
  name,
  uid: "u",
  generation: 1,
  specDigest: digestOf("any"),
  kubeSystemUid: "k",
  properties: new Map([
    ["k8s.io/k8s-version", "v1.36.3"],
    ["resources.kubernetes-fleet.io/available-cpu", "5"],
    ["kubernetes.azure.com/per-cpu-core-cost", "0.03"],
  ]),
  collection: {
    ...nothingCollected,
    origins: new Map([["kubernetes.azure.com/per-cpu-core-cost", "provider"]]),
    measuredAt: (noon - 90_000) as Instant,
  },
  namespaces: null,
  contactFailure: null,
  conditions: [],
};

const carried = placement([binding(name)]);
const look = {
  ledger: {
    ...emptyLedger,
    clusters: new Map([[name, known]]),
    placements: new Map([[carried.key, carried]]),
  },
  intent: { clusters: new Map([[name, member]]) },
  cordoned: new Set<string>(),
  now: noon,
};

test("the wide table shows resources as decisions read them, and how old they are", () => {
  const [header, [row = []]] = wideClusterRows(look, null) as readonly [
    readonly string[],
    readonly [readonly string[]],
  ];
  expect(Object.fromEntries(header.map((it, at) => [it, row[at]]))).toEqual({
    NAME: "prod",
    VERSION: "v1.36.3",
    STATUS: "Healthy",
    AVAILABLE: "1/1",
    SINCE: "",
    NODES: "3",
    CPU: "5/24",
    MEMORY: "-",
    "COST/CORE": "0.03",
    MEASURED: "1m30s ago",
  });
});

test("a member is described with its file, who says which property, and what it carries and why", () => {
  const { lines, properties, placements } = describeCluster(known, look);
  expect(lines).toEqual([
    "prod: Healthy; Kubernetes v1.36.3; 1/1 placements available",
    "  defined in clusters/prod.yaml:4",
    "  labels: env=prod, region=eu",
    "  taint: gpu:NoSchedule",
    "  UID of kube-system: k",
    "  resources measured 1m30s ago",
  ]);
  expect(properties[1]).toEqual([
    ["k8s.io/k8s-version", "v1.36.3", "cluster"],
    ["kubernetes-fleet.io/node-count", "3", "file"],
    ["kubernetes.azure.com/per-cpu-core-cost", "0.03", "provider"],
    ["resources.kubernetes-fleet.io/available-cpu", "5", "cluster"],
    ["resources.kubernetes-fleet.io/total-cpu", "24", "file"],
  ]);
  expect(placements[1]).toEqual([["web", "0", "Bound", "True", "picked by scheduling policy"]]);
});

test("of a member's namespaces some are named, and where they were cut that is said", () => {
  const names = Array.from({ length: 12 }, (_, at) => [`n${at + 10}`, ""] as const);
  const namespaces = { names: new Map(names), isCut: true, recordedAt: noon };
  const ten = names.slice(0, 10).map(([it]) => it);
  const linesOf = (is: ClusterRecord["namespaces"]): readonly string[] =>
    describeCluster({ ...known, namespaces: is }, look).lines;
  expect(linesOf(namespaces)).toContain(`  namespaces: ${ten.join(", ")} and 2 more, and others that are not recorded`);
  expect(linesOf({ names: new Map(), isCut: false, recordedAt: noon })).toContain("  namespaces: none");
});

test("a member that was never reached, or that no file defines any more, says so", () => {
  const contactFailure = { code: "Unreachable", message: "connection refused", since: noon } as const;
  const lost = { ...known, kubeSystemUid: null, contactFailure, collection: nothingCollected };
  const ledger = { ...emptyLedger, clusters: new Map([[name, lost]]) };
  expect(describeCluster(lost, { ...look, ledger, intent: { clusters: new Map() } }).lines).toEqual([
    "prod: Unreachable; Kubernetes v1.36.3; 0/0 placements available",
    "  no file defines it any more",
    "  never reached yet",
    "  no contact since 2026-11-21T12:00:00Z: Unreachable: connection refused",
  ]);
});
