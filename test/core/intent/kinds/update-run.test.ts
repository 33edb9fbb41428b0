import { describe, expect, it } from "vitest";
import type { Intent } from "../../../../src/core/model/intent.ts";
import { problemText } from "../../../../src/core/yaml/problems.ts";
import {
  cluster,
  configMap,
  errorsOf,
  type Files,
  inForce,
  placement,
  read,
  readAll,
  run,
  updateStrategy,
} from "../reading.ts";

const external = placement("web", "  strategy: {type: External}\n");
const ofTeam = external.replace("kind: Namespace, name: web", "kind: ConfigMap, name: web");
const everything = updateStrategy("ring", "{name: all, labelSelector: {}}");
/** What a run needs to be able to begin. */
const ground: Files = { "p.yaml": external, "s.yaml": everything, "c.yaml": cluster("c1", "ring: canary, order: '1'") };

const codesIn = ({ problems }: Intent): readonly string[] =>
  problems.map((it) => `${it.path} ${it.severity} ${it.code}`.replace(/^a\.yaml /, ""));

const inNamespace = (text: string, namespace: string | null): string =>
  text
    .replace("kind: Cluster", "kind: ")
    .replace("metadata: {", namespace === null ? "metadata: {" : `metadata: {namespace: ${namespace}, `);

describe("an update run is read with KubeFleet's defaults", () => {
  it("all of them", () => {
    expect([...read({ ...ground, "a.yaml": run("r1") }).runs.values()]).toEqual([
      {
        key: "r1",
        scope: "Cluster",
        namespace: null,
        name: "r1",
        spec: { placement: "web", resourceIndex: null, strategy: "ring", state: "Initialize" },
        source: { path: "a.yaml", document: 0, line: 1, column: 1 },
      },
    ]);
  });

  it("the namespaced kind belongs to the placement and the strategy of its own namespace", () => {
    const text = inNamespace(run("r1", "  resourceSnapshotIndex: '3'\n  state: Run\n"), "team");
    const files = { "a.yaml": text, "s.yaml": inNamespace(everything, "team") };
    const intent = read(files);
    expect(intent.runs.get("team/r1" as never)).toMatchObject({
      scope: "Namespaced",
      namespace: "team",
      spec: { placement: "team/web", resourceIndex: "3", strategy: "team/ring", state: "Run" },
    });
    expect(codesIn(intent)).toEqual(["error FLT1314"]);
    expect(codesIn(read({ ...files, "p.yaml": inNamespace(ofTeam, "team") }))).toEqual([]);
  });

  it("the same run in two namespaces is two runs", () => {
    const intent = read({ "a.yaml": inNamespace(run("r1"), "a"), "b.yaml": inNamespace(run("r1"), "b") });
    expect([...intent.runs.keys()]).toEqual(["a/r1", "b/r1"]);
  });
});

describe("what a hub would refuse is refused", () => {
  const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
    ["V-UR-01", "a name of 63 characters", run("a".repeat(63)), []],
    ["V-UR-01", "a name of 64 characters", run("a".repeat(64)), ["error FLT1309"]],
    ["V-ANY-01", "an upper-case name", run("Run"), ["error FLT1309"]],
    ["V-UR-02", "no placement", run("r").replace("  placementName: web\n", ""), ["error FLT1300"]],
    ["V-UR-02", "a placement's name that is none", run("r").replace("web", "W".repeat(256)), ["error FLT1309"]],
    ["V-UR-03", "no strategy", run("r").replace("  stagedRolloutStrategyName: ring\n", ""), ["error FLT1300"]],
    ["V-UR-05", "a state", run("r", "  state: Run\n"), []],
    ["V-UR-05", "a state that does not exist", run("r", "  state: Paused\n"), ["error FLT1302"]],
    ["V-UR-08", "an index", run("r", "  resourceSnapshotIndex: '0'\n"), []],
    ["V-UR-08", "an empty index is none", run("r", "  resourceSnapshotIndex: ''\n"), []],
    ["V-UR-08", "latest", run("r", "  resourceSnapshotIndex: latest\n"), ["error FLT1302"]],
    ["U19", "-1", run("r", "  resourceSnapshotIndex: '-1'\n"), ["error FLT1302"]],
    ["U19", "abc", run("r", "  resourceSnapshotIndex: abc\n"), ["error FLT1302"]],
    ["U19", "01, which the run finds out", run("r", "  resourceSnapshotIndex: '01'\n"), []],
    ["B-71", "an index that is a number", run("r", "  resourceSnapshotIndex: 1\n"), ["error FLT1302"]],
    ["V-ANY-05", "a field that does not exist", run("r", "  stage: Run\n"), ["error FLT1301"]],
    ["versions", "v1", run("r", "  state: Run\n").replace("v1beta1", "v1"), []],
    [
      "versions",
      "v1alpha1 is read as v1beta1",
      run("r", "  state: Run\n").replace("v1beta1", "v1alpha1"),
      ["warning FLT1910"],
    ],
    [
      "versions",
      "v1alpha1 of the namespaced kind",
      inNamespace(run("r"), "a").replace("v1beta1", "v1alpha1"),
      ["error FLT1301"],
    ],
    ["", "a cluster-scoped run in a namespace", run("r").replace("{name", "{namespace: a, name"), ["error FLT1413"]],
    ["", "a namespace that is none", inNamespace(run("r"), "A"), ["error FLT1309"]],
    ["", "a namespaced run without a namespace", inNamespace(run("r"), null), ["error FLT1412"]],
    ["what a server writes", "status in a file", `${run("r")}status: {}\n`, ["warning FLT1405"]],
    [
      "",
      "a setting that does not exist",
      run("r").replace("{name", "{annotations: {flotilla.dev/x: z}, name"),
      ["warning FLT1301"],
    ],
  ];
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(codesIn(read({ ...ground, "a.yaml": text }))).toEqual(want);
    });
});

describe("what may change of a run (V-UR-04, V-UR-06)", () => {
  const indexed = "  resourceSnapshotIndex: '1'\n";
  const state = (it: string): string => `  state: ${it}\n`;
  const cases: readonly [id: string, from: string, to: string, want: readonly string[]][] = [
    ["V-UR-04 the same index", indexed, `${indexed}${state("Run")}`, []],
    ["V-UR-04 another index", indexed, "  resourceSnapshotIndex: '2'\n", ["cannot change from 1 to 2"]],
    ["V-UR-04 an index taken away", indexed, "", ["cannot change from 1 to none"]],
    ["V-UR-04 an index added", "", indexed, ["cannot change from none to 1"]],
    ["V-UR-04 absent and empty are one", "", "  resourceSnapshotIndex: ''\n", []],
    ["V-UR-06", state("Initialize"), state("Run"), []],
    ["V-UR-06", state("Run"), state("Stop"), []],
    ["V-UR-06", state("Stop"), state("Run"), []],
    ["V-UR-06, U33", state("Initialize"), state("Stop"), ["cannot change from Initialize to Stop"]],
    ["V-UR-06", state("Run"), state("Initialize"), ["cannot change from Run to Initialize"]],
    ["V-UR-06 by leaving it out", state("Run"), "", ["cannot change from Run to Initialize"]],
    ["V-UR-06", state("Stop"), state("Initialize"), ["cannot change from Stop to Initialize"]],
  ];
  for (const [id, from, to, want] of cases)
    it(`${id}: ${from.trim() || "nothing"} → ${to.trim() || "nothing"}`, () => {
      const intent = readAll({ ...ground, "a.yaml": run("r", from) }, { ...ground, "a.yaml": run("r", to) });
      expect(intent.problems.map((it) => it.message.replace(/^[\w.]+: /, ""))).toEqual(want);
      expect(inForce(intent).filter((it) => it.includes("Run"))).toEqual([
        want.length === 0 ? "ClusterStagedUpdateRun r" : "ClusterStagedUpdateRun r (held c1 a.yaml#0)",
      ]);
    });

  it("V-UR-04 neither the placement nor the strategy", () => {
    const other = run("r").replace("web", "api").replace("ring", "rest");
    expect(errorsOf(readAll({ ...ground, "a.yaml": run("r") }, { ...ground, "a.yaml": other }))).toEqual([
      "a.yaml:5:18: error FLT1315: spec.placementName: cannot change from web to api",
      "a.yaml:6:30: error FLT1315: spec.stagedRolloutStrategyName: cannot change from ring to rest",
    ]);
  });

  it("a run that is removed and written again is another one", () => {
    const intent = readAll({ ...ground, "a.yaml": run("r", state("Run")) }, ground, { ...ground, "a.yaml": run("r") });
    expect(codesIn(intent)).toEqual([]);
    expect([...intent.runs.values()].map((it) => it.spec.state)).toEqual(["Initialize"]);
  });

  it("a run that cannot be read any more goes on as it was", () => {
    const broken = run("r", "  state: Stopp\n");
    const intent = readAll({ ...ground, "a.yaml": run("r", state("Run")) }, { ...ground, "a.yaml": broken });
    expect([...intent.runs.values()].map((it) => it.spec.state)).toEqual(["Run"]);
  });

  it("a run that lost its namespace might be any: nothing that is absent is gone (D 2)", () => {
    const before = { "a.yaml": inNamespace(run("r"), "team"), "b.yaml": configMap("web") };
    const intent = readAll(before, { "a.yaml": inNamespace(run("r"), null) });
    expect(inForce(intent)).toEqual([
      "StagedUpdateRun team/r (held c1 a.yaml#0)",
      "ConfigMap web/web (held c1 b.yaml#0)",
    ]);
  });
});

describe("a run that cannot begin is an error before the merge, and stays a run", () => {
  const pickN = external.replace("  strategy", "  policy: {placementType: PickN, numberOfClusters: 2}\n  strategy");
  const cases: readonly [id: string, files: Files, want: readonly string[]][] = [
    [
      "V-UR-07 the placement is missing",
      { ...ground, "p.yaml": configMap("x") },
      [
        "a.yaml:5:18: error FLT1314: spec.placementName: there is no placement web; add it, or remove the run when it is over",
      ],
    ],
    [
      "V-UR-07 the placement is not External",
      { ...ground, "p.yaml": placement("web") },
      [
        "a.yaml:5:18: error FLT1314: spec.placementName: placement web does not wait for runs: its strategy is RollingUpdate; set spec.strategy.type of the placement to External",
      ],
    ],
    [
      "V-UR-09 the strategy is missing",
      { ...ground, "s.yaml": everything.replace("name: ring", "name: rings") },
      ['a.yaml:6:30: error FLT1314: spec.stagedRolloutStrategyName: there is no strategy ring; did you mean "rings"?'],
    ],
    [
      "the strategy cannot be used, which its own problem says",
      { ...ground, "s.yaml": everything.replace("name: all", "name: All") },
      [expect.stringMatching(/^s.yaml:.* error FLT1309/) as unknown as string],
    ],
    [
      "V-UR-12 there are too few clusters",
      { ...ground, "p.yaml": pickN },
      [
        "a.yaml:5:18: warning FLT1314: spec.placementName: placement web wants 2 clusters and there are 1; add clusters: a run begins when all of them are found",
      ],
    ],
    [
      "a cluster that no stage selects",
      { ...ground, "s.yaml": everything.replace("labelSelector: {}", "labelSelector: {matchLabels: {ring: prod}}") },
      [
        "a.yaml:6:30: warning FLT1317: spec.stagedRolloutStrategyName: c1 is in no stage of ring, and the placement may pick it; let a stage select every cluster, or keep the placement from it: a run with such a cluster cannot begin",
      ],
    ],
    ["V-UR-12 there are enough", { ...ground, "p.yaml": pickN, "d.yaml": cluster("c2") }, []],
    [
      "V-UR-13 what ends a run that has begun is no error of its file",
      {
        ...ground,
        "p.yaml": external.replace("External", "External, applyStrategy: {type: ServerSideApply}"),
      },
      [],
    ],
  ];
  for (const [id, files, want] of cases)
    it(id, () => {
      const intent = read({ ...files, "a.yaml": run("r") });
      expect(intent.problems.map(problemText)).toEqual(want);
      expect([...intent.runs.keys()]).toEqual(["r"]);
    });
});
