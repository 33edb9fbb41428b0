import { describe, expect, it } from "vitest";
import schema from "../../../../schemas/cluster-staged-update-strategy.json" with { type: "json" };
import { updateStrategyKind } from "../../../../src/core/intent/kinds/update-strategy.ts";
import { taskKinds, taskType } from "../../../../src/core/rollout/tasks/tasks.ts";
import { problemText } from "../../../../src/core/yaml/problems.ts";
import { cluster, codesOf, problemsOf, read, updateStrategy } from "../reading.ts";

const stage = (fields: string, name = "canary"): string =>
  updateStrategy("ring", `{name: ${name}, labelSelector: {}${fields === "" ? "" : `, ${fields}`}}`);
const annotated = (value: string): string =>
  updateStrategy("ring", "{name: canary, labelSelector: {}}", "{name: prod, labelSelector: {}}").replace(
    "{name: ring}",
    `{name: ring, annotations: {flotilla.dev/max-failures: "${value}"}}`,
  );
const stagesIn = (text: string) => [...read({ "a.yaml": text }).strategies.values()].flatMap((it) => it.stages);

describe("a strategy is read with KubeFleet's defaults", () => {
  it("all of them", () => {
    expect([...read({ "a.yaml": updateStrategy("ring", "{name: canary}") }).strategies.values()]).toEqual([
      {
        key: "ring",
        scope: "Cluster",
        namespace: null,
        name: "ring",
        stages: [
          {
            name: "canary",
            selector: null,
            sortingLabelKey: null,
            maxConcurrency: { count: 1 },
            before: [],
            after: [],
            maxFailures: { count: 0 },
          },
        ],
        source: { path: "a.yaml", document: 0, line: 1, column: 1 },
      },
    ]);
  });

  it("nothing is left when everything is said", () => {
    const fields =
      "sortingLabelKey: order, maxConcurrency: 25%, beforeStageTasks: [{type: Approval}], " +
      "afterStageTasks: [{type: TimedWait, waitTime: 1h30m}, {type: Approval}]";
    const text = stage(fields).replace(
      "{name: ring}",
      "{name: ring, annotations: {flotilla.dev/max-failures: canary=10%}}",
    );
    expect(stagesIn(text)).toEqual([
      {
        name: "canary",
        selector: {},
        sortingLabelKey: "order",
        maxConcurrency: { percent: 25 },
        before: [{ kind: "Approval" }],
        after: [{ kind: "TimedWait", wait: 5_400_000 }, { kind: "Approval" }],
        maxFailures: { percent: 10 },
      },
    ]);
  });

  it("the namespaced kind has its namespace in its key", () => {
    const text = stage("").replace("Cluster", "").replace("{name: ring}", "{name: ring, namespace: team}");
    expect([...read({ "a.yaml": text }).strategies.keys()]).toEqual(["team/ring"]);
  });
});

describe("what a hub would refuse, now or when a run begins, is refused", () => {
  const afterwards = (...tasks: readonly string[]): string => stage(`afterStageTasks: [${tasks.join(", ")}]`);
  const beforehand = (...tasks: readonly string[]): string => stage(`beforeStageTasks: [${tasks.join(", ")}]`);
  const wait = (time: string): string => afterwards(`{type: TimedWait, waitTime: ${time}}`);
  const many = (count: number): string =>
    updateStrategy("ring", ...Array.from({ length: count }, (_, i) => `{name: s${i}, labelSelector: {}}`));
  const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
    ["V-US-01", "31 stages", many(31), []],
    ["V-US-01", "32 stages", many(32), ["error FLT1302"]],
    ["V-US-01", "no stages at all", stage("").replace(/spec:[\s\S]*/, "spec: {}\n"), ["error FLT1300"]],
    ["V-US-01", "an empty list, with which every run fails", updateStrategy("ring"), ["warning FLT1317"]],
    ["V-US-02", "letters and digits", stage("", "ring1"), []],
    ["V-US-02", "a hyphen", stage("", "ring-1"), ["error FLT1309"]],
    ["V-US-02", "64 characters", stage("", "a".repeat(64)), ["error FLT1309"]],
    ["V-US-02", "no name", updateStrategy("ring", "{labelSelector: {}}"), ["error FLT1300"]],
    [
      "V-US-03, B 19",
      "two names",
      updateStrategy("ring", "{name: a, labelSelector: {}}", "{name: b, labelSelector: {}}"),
      [],
    ],
    [
      "V-US-03, B 19, U42",
      "one name",
      updateStrategy("ring", "{name: a, labelSelector: {}}", "{name: a, labelSelector: {}}"),
      ["error FLT1308"],
    ],
    ["V-US-04", "500 at once", stage("maxConcurrency: 500"), []],
    ["V-US-04", "none at once", stage("maxConcurrency: 0"), ["error FLT1303"]],
    ["V-US-05", "half of them", stage("maxConcurrency: 50%"), []],
    ["V-US-05", "digits in quotes", stage("maxConcurrency: '50'"), ["error FLT1303"]],
    ["V-US-05", "0 %", stage("maxConcurrency: 0%"), ["error FLT1303"]],
    ["V-US-05", "101 %", stage("maxConcurrency: 101%"), ["error FLT1303"]],
    ["V-US-06", "two tasks", afterwards("{type: Approval}", "{type: TimedWait, waitTime: 1h}"), []],
    [
      "V-US-06",
      "three tasks",
      afterwards("{type: Approval}", "{type: TimedWait, waitTime: 1h}", "{type: Approval}"),
      ["error FLT1302"],
    ],
    ["V-US-07", "a type that does not exist", afterwards("{type: Webhook}"), ["error FLT1302"]],
    ["V-US-07", "no type", afterwards("{}"), ["error FLT1300"]],
    ["V-US-08", "an Approval that waits", afterwards("{type: Approval, waitTime: 1h}"), ["error FLT1313"]],
    ["V-US-09", "a TimedWait without a time", afterwards("{type: TimedWait}"), ["error FLT1300"]],
    ["V-US-10", "one before", beforehand("{type: Approval}"), []],
    ["V-US-10", "two before", beforehand("{type: Approval}", "{type: Approval}"), ["error FLT1302"]],
    ["V-US-11", "a TimedWait before", beforehand("{type: TimedWait, waitTime: 1h}"), ["error FLT1313"]],
    ["V-US-12", "an Approval before that waits", beforehand("{type: Approval, waitTime: 1h}"), ["error FLT1313"]],
    ["V-US-13", "an hour and a half", wait("1.5h"), []],
    ["V-US-13", "days", wait("1d"), ["error FLT1312"]],
    ["V-US-13", "milliseconds", wait("500ms"), ["error FLT1312"]],
    ["V-US-13", "a leading zero", wait("01h"), ["error FLT1312"]],
    ["B-78", "a negative time", wait("-1h"), ["error FLT1312"]],
    ["B-78", "an exponent", wait("1e9h"), ["error FLT1312"]],
    ["B-78", "nothing", wait("''"), ["error FLT1312"]],
    ["B-78", "more than Go can hold", wait("2562048h"), ["error FLT1312"]],
    ["V-US-14", "two of one type", afterwards("{type: Approval}", "{type: Approval}"), ["error FLT1313"]],
    ["V-US-15, B 20", "a second", wait("1s"), []],
    ["V-US-15, B 20", "no time at all", wait("0s"), ["error FLT1312"]],
    [
      "V-US-16",
      "In without values",
      updateStrategy("ring", "{name: a, labelSelector: {matchExpressions: [{key: r, operator: In}]}}"),
      ["error FLT1305"],
    ],
    ["V-US-16", "no selector, so that nothing is selected", updateStrategy("ring", "{name: a}"), ["warning FLT1317"]],
    ["V-UR-11", "a sorting label that is none", stage("sortingLabelKey: 'a b'"), ["error FLT1305"]],
    [
      "other versions",
      "v1alpha1 is read as v1beta1",
      stage("maxConcurrency: 2").replace("v1beta1", "v1alpha1"),
      ["warning FLT1910"],
    ],
    ["", "an upper-case name", stage("").replace("{name: ring}", "{name: Ring}"), ["error FLT1309"]],
    ["", "a namespaced strategy without a namespace", stage("").replace("Cluster", ""), ["error FLT1412"]],
  ];
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(codesOf(text).map((it) => it.replace(/^\S+ /, ""))).toEqual(want);
      expect(stagesIn(text).length > 0 || text.includes("stages: []")).toBe(
        want.every((it) => it.startsWith("warning")),
      );
    });
});

describe("a task of a type that a stage has already is refused on both sides of it", () => {
  const twice = (side: "before" | "after"): string => stage(`${side}StageTasks: [{type: Approval}, {type: Approval}]`);

  it("in a file, where it stands there", () => {
    expect([...problemsOf(twice("before")), ...problemsOf(twice("after"))]).toEqual([
      "5:64: error FLT1302: spec.stages[0].beforeStageTasks: must have at most one entry; correct it",
      "5:82: error FLT1313: spec.stages[0].afterStageTasks[1]: another task has this type; keep one Approval, one TimedWait",
    ]);
  });

  it("by the rules of the kind too, whatever the schema allows", () => {
    const tasks = [{ type: "Approval" as const }, { type: "Approval" as const }];
    const written = {
      apiVersion: "placement.kubernetes-fleet.io/v1" as const,
      kind: "ClusterStagedUpdateStrategy" as const,
      metadata: { name: "ring" },
      spec: { stages: [{ name: "canary", labelSelector: {}, beforeStageTasks: tasks, afterStageTasks: tasks }] },
    };
    expect(updateStrategyKind.rules(written)).toMatchObject([
      {
        code: "FLT1313",
        at: ["spec", "stages", 0, "beforeStageTasks", 1],
        message: "another task has this type",
        fix: "keep one Approval",
      },
      {
        code: "FLT1313",
        at: ["spec", "stages", 0, "afterStageTasks", 1],
        message: "another task has this type",
        fix: "keep one Approval, one TimedWait",
      },
    ]);
  });

  it("the schema allows as many tasks as there are types for that side", () => {
    const { beforeStageTasks, afterStageTasks } = schema.definitions.stage.properties;
    const most = (side: "before" | "after"): number =>
      taskKinds.filter((it) => taskType(it).sides.includes(side)).length;
    expect([beforeStageTasks.maxItems, afterStageTasks.maxItems]).toEqual([most("before"), most("after")]);
  });
});

describe("how many clusters of a stage may fail (B 13)", () => {
  const cases: readonly [text: string, want: readonly unknown[]][] = [
    ["", [{ count: 0 }, { count: 0 }]],
    ["canary=0,prod=10%", [{ count: 0 }, { percent: 10 }]],
    [" prod = 3 ", [{ count: 0 }, { count: 3 }]],
  ];
  for (const [text, want] of cases)
    it(JSON.stringify(text), () => {
      expect(stagesIn(annotated(text)).map((it) => it.maxFailures)).toEqual(want);
      expect(problemsOf(annotated(text))).toEqual([]);
    });

  const refused: readonly [text: string, want: string][] = [
    ["canray=1", 'there is no stage "canray"; did you mean "canary"?'],
    ["qa=1", 'there is no stage "qa"; name one of the stages'],
    [
      "canary",
      "canary: how many clusters may fail must be a whole number, or a percentage from 0% to 100%; write canary=0,prod=10%",
    ],
    [
      "canary=-1",
      "canary: how many clusters may fail must be a whole number, or a percentage from 0% to 100%; write canary=0,prod=10%",
    ],
    [
      "canary=",
      "canary: how many clusters may fail must be a whole number, or a percentage from 0% to 100%; write canary=0,prod=10%",
    ],
    [
      "canary=101%",
      "canary: how many clusters may fail must be a whole number, or a percentage from 0% to 100%; write canary=0,prod=10%",
    ],
    ["canary=1,canary=2", 'stage "canary" occurs twice; keep one of the two'],
  ];
  for (const [text, want] of refused)
    it(`${JSON.stringify(text)} is refused, and not read as no failure`, () => {
      expect(problemsOf(annotated(text))).toEqual([
        `3:65: error FLT1310: metadata.annotations["flotilla.dev/max-failures"]: ${want}`,
      ]);
    });
});

describe("stages that do not suit the clusters are warned of: not every placement picks them (B 20)", () => {
  const canary = "{name: canary, labelSelector: {matchLabels: {ring: canary}}, sortingLabelKey: order}";
  const rest = "{name: rest, labelSelector: {}}";
  const files = (ring: string, ...clusters: readonly string[]) => ({
    "s.yaml": ring,
    "c.yaml": clusters.join("---\n"),
  });
  const member = (name: string, order: string): string => cluster(name, `ring: canary, order: '${order}'`);

  it("V-UR-10 and V-UR-11 at once", () => {
    const members = ["1", "02", "3", "x", ""].map((order, i) => member(`c${i}`, order));
    const { problems, strategies } = read(files(updateStrategy("ring", canary, rest), ...members));
    expect(problems.map(problemText)).toEqual([
      "s.yaml:5:90: warning FLT1317: spec.stages[0].sortingLabelKey: c3, c4 are without a whole number in label order; correct the stages or the labels: a run with such a cluster cannot begin",
      "s.yaml:5:126: warning FLT1317: spec.stages[1].labelSelector: c0, c1, c2 and 2 more are in an earlier stage too; correct the stages or the labels: a run with such a cluster cannot begin",
    ]);
    expect(strategies.size).toBe(1);
  });

  it("nothing is said of stages that fit", () => {
    expect(read(files(updateStrategy("ring", canary), member("c1", "1"), cluster("c2"))).problems).toEqual([]);
  });
});
