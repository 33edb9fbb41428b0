import { describe, expect, it } from "vitest";
import { problemText } from "../../../../src/core/yaml/problems.ts";
import { cluster, configMap, errorsOf, type Files, inForce, placement, read, readAll } from "../reading.ts";

const web = configMap("web");
const api = configMap("api");

describe("fleet.yaml", () => {
  const fleet = (spec: string): string => `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {${spec}}\n`;

  it("says where to look, how to decide and what to guard", () => {
    const text = fleet(
      "roots: [./apps/, teams/a], profile: kubefleet, contexts: {eu: admin@eu}, guards: {clusters: 5}",
    );
    expect(
      read({ "fleet.yaml": text, "apps/c.yaml": cluster("eu"), "teams/a/x.yaml": web, "other/b.yaml": api }),
    ).toMatchObject({
      fleet: {
        roots: ["apps", "teams/a"],
        profile: "kubefleet",
        contexts: new Map([["eu", "admin@eu"]]),
        guards: { objectsPerCluster: 10, percentPerCluster: 20, clusters: 5, percentOfClusters: 30 },
      },
      objects: new Map([["/ConfigMap/web/web", {}]]),
      files: new Map([
        ["apps/c.yaml", expect.anything()],
        ["fleet.yaml", expect.anything()],
        ["teams/a/x.yaml", expect.anything()],
      ]),
      problems: [],
    });
  });

  it("that cannot be read leaves the accepted settings in force", () => {
    const before: Files = { "fleet.yaml": fleet("profile: kubefleet"), "a.yaml": web };
    for (const text of [fleet("profile: kubefleat"), fleet("profile: [").slice(0, -3), "kind: Fleet\n", ""])
      expect(readAll(before, { "fleet.yaml": text, "a.yaml": web }).fleet.profile).toBe("kubefleet");
    expect(readAll(before, { "a.yaml": web }).fleet.profile).toBe("default");
  });

  it("says which properties of members may be recorded, and nothing that is none of them", () => {
    const entrypoint = fleet("collect: [k8s.io/cluster-entrypoint]");
    expect(read({ "fleet.yaml": fleet("") }).fleet.collect).toEqual([]);
    expect(read({ "fleet.yaml": entrypoint }).fleet.collect).toEqual(["k8s.io/cluster-entrypoint"]);
    const faults: readonly (readonly [collect: string, message: string])[] = [
      ["[k8s.io/cluster-entrypiont]", "fleet.yaml:3:18: error FLT1302"],
      ["[k8s.io/cluster-entrypoint, k8s.io/cluster-entrypoint]", "fleet.yaml:3:45: error FLT1308"],
      ["k8s.io/cluster-entrypoint", "fleet.yaml:3:17: error FLT1302"],
      ["[3]", "fleet.yaml:3:18: error FLT1302"],
    ];
    for (const [collect, message] of faults) {
      const after = readAll({ "fleet.yaml": entrypoint }, { "fleet.yaml": fleet(`collect: ${collect}`) });
      expect(errorsOf(after)).toEqual([expect.stringContaining(message)]);
      expect(after.fleet.collect).toEqual(["k8s.io/cluster-entrypoint"]);
    }
  });

  it("counts once, and at the top only", () => {
    const intent = read({ "fleet.yaml": `${fleet("")}---\n${fleet("profile: kubefleet")}`, "a/fleet.yaml": fleet("") });
    expect(errorsOf(intent)).toEqual([
      "a/fleet.yaml:2:7: error FLT1350: kind: a Fleet is read from fleet.yaml at the top only",
      "fleet.yaml:1:1: error FLT1316: metadata.name: Fleet.flotilla.dev fleet is also defined at fleet.yaml:5",
      "fleet.yaml:5:1: error FLT1316: metadata.name: Fleet.flotilla.dev fleet is also defined at fleet.yaml:1",
    ]);
    expect(intent.fleet.profile).toBe("default");
  });

  it("with a root in which nothing is deletes nothing", () => {
    const intent = readAll({ "apps/a.yaml": web }, { "fleet.yaml": fleet("roots: [app]"), "apps/a.yaml": web });
    expect(inForce(intent)).toEqual(["ConfigMap web/web (held c1 apps/a.yaml#0)"]);
    expect(errorsOf(intent)).toEqual(["app: error FLT1110: there are no objects here"]);
  });

  it("names contexts of members that do not exist", () => {
    const { problems } = read({ "fleet.yaml": fleet("contexts: {eu-01: x}"), "c.yaml": cluster("eu-1") });
    expect(problems.map(problemText)).toEqual([
      'fleet.yaml:3:19: warning FLT1335: spec.contexts.eu-01: there is no MemberCluster eu-01; did you mean "eu-1"?',
    ]);
  });
});

describe("names that lead nowhere", () => {
  it("a cluster that PickFixed names and that has no file", () => {
    const text = placement("p", "  policy: {placementType: PickFixed, clusterNames: [eu-1, eu-01]}\n");
    expect(read({ "p.yaml": text, "c.yaml": cluster("eu-1") }).problems.map(problemText)).toEqual([
      'p.yaml:6:59: warning FLT1335: spec.policy.clusterNames[1]: there is no MemberCluster eu-01; did you mean "eu-1"?',
    ]);
  });
});

describe("confirmations (D 3)", () => {
  const digest = "ab".repeat(32);
  const confirmation = (of: string): string =>
    `apiVersion: flotilla.dev/v1alpha1\nkind: DeletionConfirmation\nspec: {digest: ${of}}\n`;

  it("count in the file that is named after their digest", () => {
    const intent = read({ [`approvals/deletions/${digest}.yaml`]: confirmation(`"${digest}"`), "a.yaml": web });
    expect([...intent.confirmations]).toEqual([digest]);
    expect(intent.problems).toEqual([]);
    expect([...intent.files.keys()]).toEqual(["a.yaml", `approvals/deletions/${digest}.yaml`]);
  });

  it("count nowhere else, and under no other name", () => {
    const other = "cd".repeat(32);
    const intent = read({
      [`approvals/deletions/${other}.yaml`]: confirmation(`"${digest}"`),
      "approvals/deletions/x.yaml": confirmation("x"),
      "approvals/run.yaml": "anything: [",
      "a.yaml": confirmation(`"${digest}"`),
      "trust/keys.yaml": "anything: [",
    });
    expect([...intent.confirmations]).toEqual([]);
    expect(intent.problems.map((it) => `${it.path} ${it.severity} ${it.code}`)).toEqual([
      "a.yaml error FLT1350",
      `approvals/deletions/${other}.yaml error FLT1350`,
      "approvals/deletions/x.yaml error FLT1350",
      "approvals/deletions/x.yaml error FLT1302",
      "approvals/run.yaml error FLT1022",
      "trust/ error FLT1237",
    ]);
  });

  it("hold no deletion when they cannot be read", () => {
    const intent = readAll(
      { "a.yaml": web, "b.yaml": api },
      { "a.yaml": web, [`approvals/deletions/${digest}.yaml`]: "[" },
    );
    expect(inForce(intent)).toEqual(["ConfigMap web/web"]);
  });
});

describe("paths", () => {
  const cases: readonly [id: string, files: Files, want: readonly string[]][] = [
    ["B-30", { "a.yaml": web, "l.yaml": "link" }, ["l.yaml warning FLT1101"]],
    ["B-31", { "a.yaml": web, sub: "submodule" }, ["sub warning FLT1102"]],
    ["B-32", { "a./b:c.yaml": web }, ["a./b:c.yaml warning FLT1103"]],
    ["B-32", { "con.yaml": web }, ["con.yaml warning FLT1103"]],
    ["B-32", { [`${"a/".repeat(33)}b.yaml`]: web }, [`${"a/".repeat(33)}b.yaml warning FLT1103`]],
    ["B-33", { "a.yaml": web, "A.yaml": api }, ["a.yaml warning FLT1104"]],
    ["B-33", { "\u00e9.yaml": web, "e\u0301.yaml": api }, ["\u00e9.yaml warning FLT1104"]],
  ];
  for (const [id, files, want] of cases)
    it(`${id} ${Object.keys(files)[0]?.slice(0, 30)}`, () => {
      const intent = read(files);
      expect(intent.problems.map((it) => `${it.path} ${it.severity} ${it.code}`)).toEqual(want);
      expect(intent.objects.size).toBeGreaterThan(0);
    });
});
