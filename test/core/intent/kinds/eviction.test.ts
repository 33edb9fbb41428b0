import { describe, expect, it } from "vitest";
import type { Intent } from "../../../../src/core/model/intent.ts";
import { budget, cluster, codesOf, errorsOf, eviction, type Files, placement, read, readAll } from "../reading.ts";

const pickN = "  policy: {placementType: PickN, numberOfClusters: 1}\n";
const ground: Files = { "p.yaml": placement("web", pickN), "c.yaml": cluster("c1") };

const codesIn = ({ problems }: Intent): readonly string[] =>
  problems.map((it) => `${it.path} ${it.severity} ${it.code}`.replace(/^a\.yaml /, ""));

describe("evictions", () => {
  it("name a placement and a cluster", () => {
    expect([...read({ ...ground, "a.yaml": eviction("e1", "web", "c1") }).evictions]).toEqual([
      [
        "e1",
        { name: "e1", placement: "web", cluster: "c1", source: { path: "a.yaml", document: 0, line: 1, column: 1 } },
      ],
    ]);
  });

  const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
    ["V-CRPE-01", "both names", eviction("e", "web", "c1"), []],
    ["V-CRPE-01", "no cluster", eviction("e", "web", "c1").replace(", clusterName: c1", ""), ["error FLT1300"]],
    ["V-CRPE-01", "no placement", eviction("e", "web", "c1").replace("placementName: web, ", ""), ["error FLT1300"]],
    ["V-CRPE-01", "a name beyond 255", eviction("e", "a".repeat(256), "c1"), ["error FLT1309"]],
    ["V-CRPE-01", "an empty name", eviction("e", "web", "''"), ["error FLT1309"]],
    ["versions", "v1 does not exist", eviction("e", "web", "c1").replace("v1beta1", "v1"), ["error FLT1301"]],
    ["versions", "v1alpha1", eviction("e", "web", "c1").replace("v1beta1", "v1alpha1"), ["warning FLT1910"]],
    ["V-CRPE-05", "a placement that is missing", eviction("e", "ghost", "c1"), ["error FLT1314"]],
    ["V-CRPE-06", "a cluster that is missing", eviction("e", "web", "c2"), ["warning FLT1335"]],
  ];
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(codesIn(read({ ...ground, "a.yaml": text }))).toEqual(want);
    });

  it("V-CRPE-02 neither name may change", () => {
    const other = { ...ground, "a.yaml": eviction("e", "api", "c2") };
    const intent = readAll({ ...ground, "a.yaml": eviction("e", "web", "c1") }, other);
    expect(errorsOf(intent)).toEqual([
      "a.yaml:4:23: error FLT1315: spec.placementName: cannot change from web to api",
      "a.yaml:4:41: error FLT1315: spec.clusterName: cannot change from c1 to c2",
    ]);
    expect(intent.evictions.get("e")).toMatchObject({ placement: "web", cluster: "c1" });
  });

  it("V-CRPE-03 nothing is evicted from PickFixed: an error here, a verdict for the reconciler", () => {
    const fixed = placement("web", "  policy: {placementType: PickFixed, clusterNames: [c1]}\n");
    const intent = read({ ...ground, "p.yaml": fixed, "a.yaml": eviction("e", "web", "c1") });
    expect(codesIn(intent)).toEqual(["error FLT1314"]);
    expect(intent.evictions.size).toBe(1);
  });

  it("V-CRPE-04 a placement in a file is never in deletion, whatever was copied from a hub", () => {
    const copied = placement("web", pickN).replace(
      "{name: web}",
      "{name: web, deletionTimestamp: '2026-08-01T00:00:00Z'}",
    );
    expect(codesIn(read({ ...ground, "p.yaml": copied, "a.yaml": eviction("e", "web", "c1") }))).toEqual([]);
  });

  it("V-CRPE-07 what a budget forbids is no error of the eviction's file", () => {
    const files = { ...ground, "b.yaml": budget("web", "maxUnavailable: 0"), "a.yaml": eviction("e", "web", "c1") };
    expect(codesIn(read(files))).toEqual([]);
  });
});

describe("disruption budgets", () => {
  const limits: readonly [spec: string, want: object][] = [
    ["maxUnavailable: 2", { bound: "maxUnavailable", limit: { count: 2 } }],
    ["maxUnavailable: 0%", { bound: "maxUnavailable", limit: { percent: 0 } }],
    ["minAvailable: 50%", { bound: "minAvailable", limit: { percent: 50 } }],
    ["minAvailable: 0", { bound: "minAvailable", limit: { count: 0 } }],
  ];
  for (const [spec, want] of limits)
    it(spec, () => {
      const intent = read({ ...ground, "a.yaml": budget("web", spec) });
      expect([...intent.budgets]).toEqual([
        ["web", { placement: "web", ...want, source: { path: "a.yaml", document: 0, line: 1, column: 1 } }],
      ]);
      expect(intent.problems).toEqual([]);
    });

  const refused: readonly [id: string, spec: string, want: readonly string[]][] = [
    ["V-PDB-01", "minAvailable: 1, maxUnavailable: 1", ["error FLT1307"]],
    ["V-PDB-01, B 12", "", ["error FLT1300"]],
    ["V-PDB-02", "maxUnavailable: '10'", ["error FLT1303"]],
    ["V-PDB-02", "minAvailable: 101%", ["error FLT1303"]],
    ["V-PDB-02", "minAvailable: -1", ["error FLT1303"]],
    ["V-PDB-02", "minAvailable: 1.5", ["error FLT1302"]],
  ];
  for (const [id, spec, want] of refused)
    it(`${id} {${spec}} is refused`, () => {
      expect(codesOf(budget("web", spec)).map((it) => it.replace(/^\S+ /, ""))).toEqual(want);
      expect(read({ "a.yaml": budget("web", spec) }).budgets.size).toBe(0);
    });

  const unsuitable: readonly [id: string, policy: string, spec: string, want: readonly string[]][] = [
    ["V-PDB-03", "", "minAvailable: 1", []],
    ["V-PDB-03", "", "maxUnavailable: 1", ["error FLT1314"]],
    ["V-PDB-03", pickN, "maxUnavailable: 1", []],
    ["V-PDB-04", "", "minAvailable: 2", []],
    ["V-PDB-04", "", "minAvailable: 50%", ["error FLT1314"]],
    ["V-PDB-04", pickN, "minAvailable: 50%", []],
  ];
  for (const [id, policy, spec, want] of unsuitable)
    it(`${id} {${spec}} for ${policy === "" ? "PickAll" : "PickN"} stays in force, and is an error where it is no bound`, () => {
      const intent = read({ ...ground, "p.yaml": placement("web", policy), "a.yaml": budget("web", spec) });
      expect(codesIn(intent)).toEqual(want);
      expect(intent.budgets.size).toBe(1);
    });

  it("V-PDB-05 one without a placement is a warning", () => {
    expect(codesIn(read({ ...ground, "a.yaml": budget("wbe", "minAvailable: 1") }))).toEqual(["warning FLT1337"]);
  });
});
