import { describe, expect, it } from "vitest";
import { cluster, codesOf, read } from "../reading.ts";

const withSpec = (fields: string): string => cluster("a").replace("spec: {", `spec: {${fields}, `);

describe("a member cluster is read with what it carries", () => {
  it("labels, taints, declared properties and capacity", () => {
    const text = `apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata: {name: eu-1, labels: {env: prod}}
spec:
  identity: {kind: User, name: eu-1}
  taints: [{key: gpu, effect: NoSchedule}]
  deleteOptions: {}
status:
  properties: {kubernetes-fleet.io/node-count: {value: "3", observationTime: "2026-01-01T00:00:00Z"}}
  resourceUsage: {capacity: {cpu: 12, memory: 48Gi}, available: {cpu: 500m}}
  conditions: []
`;
    expect([...read({ "a.yaml": text }).clusters.values()]).toEqual([
      {
        name: "eu-1",
        labels: { env: "prod", "kubernetes-fleet.io/member-name": "eu-1" },
        taints: [{ key: "gpu", value: "", effect: "NoSchedule" }],
        properties: { "kubernetes-fleet.io/node-count": { value: "3", observedAt: Date.UTC(2026, 0, 1) } },
        resourceUsage: {
          capacity: { cpu: "12", memory: "48Gi" },
          allocatable: {},
          available: { cpu: "500m" },
          observedAt: null,
        },
        spec: {
          heartbeatPeriodSeconds: 60,
          identity: { kind: "User", name: "eu-1" },
          taints: [{ key: "gpu", effect: "NoSchedule" }],
          deleteOptions: { validationMode: "Strict" },
        },
        source: { path: "a.yaml", document: 0, line: 1, column: 1 },
      },
    ]);
  });
});

const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
  ["V-MC-01", "a long name", cluster("a".repeat(64)), ["3:18 error FLT1309"]],
  ["E", "a name with dots", cluster("a.b"), ["3:18 error FLT1309"]],
  ["V-MC-02", "no identity", cluster("a").replace(/spec: .*/, "spec: {}"), ["4:1 error FLT1300"]],
  ["V-MC-03", "a heartbeat of 601 seconds", withSpec("heartbeatPeriodSeconds: 601"), ["4:32 error FLT1302"]],
  [
    "V-MC-05",
    "a taint without a proper key",
    withSpec("taints: [{key: 'gpu=', effect: NoSchedule}]"),
    ["4:23 error FLT1305"],
  ],
  [
    "V-MC-06",
    "a taint with a bad value",
    withSpec("taints: [{key: gpu, value: '-a', effect: NoSchedule}]"),
    ["4:35 error FLT1305"],
  ],
  [
    "V-MC-07",
    "a taint twice",
    withSpec("taints: [{key: a, effect: NoSchedule}, {key: a, value: '', effect: NoSchedule}]"),
    ["4:47 error FLT1308"],
  ],
  [
    "V-MC-08",
    "an effect that does not exist",
    withSpec("taints: [{key: a, effect: NoExecute}]"),
    ["4:34 error FLT1302"],
  ],
  ["versions", "a field of v1beta1 in v1", withSpec("deleteOptions: {}"), ["4:8 error FLT1301"]],
  [
    "B-113",
    "a quantity that is none",
    `${cluster("a")}status: {resourceUsage: {capacity: {cpu: lots}}}\n`,
    ["5:42 error FLT1302"],
  ],
  ["B-74", "a label that is none", cluster("a", "env: 'a b'"), ["3:35 error FLT1305"]],
  ["", "another cluster's name", cluster("a", "kubernetes-fleet.io/member-name: b"), ["3:63 error FLT1305"]],
];

describe("what a hub would refuse is refused", () => {
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(codesOf(text)).toEqual(want);
    });
});
