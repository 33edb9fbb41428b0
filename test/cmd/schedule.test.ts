// `flotilla schedule`: files and lists in, a List out; lines of a corpus in, lines out.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flotilla-schedule-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main(["schedule", "--now", "2026-11-21T12:00:00Z", ...argv], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: {},
  });
  return { code, ...said };
}

const hub = `apiVersion: v1
kind: List
items:
- apiVersion: cluster.kubernetes-fleet.io/v1beta1
  kind: MemberCluster
  metadata: {name: a}
  status: {properties: {np: {value: "4"}}}
- apiVersion: cluster.kubernetes-fleet.io/v1beta1
  kind: MemberCluster
  metadata: {name: b}
  status: {properties: {np: {value: "5"}}}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterSchedulingPolicySnapshot
metadata:
  name: web-0
  labels: {kubernetes-fleet.io/parent-CRP: web, kubernetes-fleet.io/is-latest-snapshot: "true"}
spec:
  policy:
    placementType: PickAll
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
          - propertySelector: {matchExpressions: [{name: np, operator: Ge, values: ["5"]}]}
`;

const written = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

test("prints the snapshot and its bindings, in YAML or JSON, and what it prints can be scheduled again", async () => {
  const file = await written("hub.yaml", hub);
  const yaml = await run("-f", file);
  expect(yaml).toMatchObject({ code: 0, err: "" });
  expect(yaml.out).toContain("targetCluster: b\n");
  expect(yaml.out).not.toContain("targetCluster: a\n");
  const json = await run("-f", file, "-o", "json");
  const members = await written("members.yaml", hub.split("---\n")[0] ?? "");
  const again = await run("-f", members, await written("after.json", json.out), "-o", "json");
  expect(again).toEqual({ code: 0, err: "", out: json.out });
  const fromYaml = await run("-f", members, await written("after.yaml", yaml.out), "-o", "yaml");
  expect(fromYaml).toEqual(yaml);
});

test("in the profile kubefleet, members whose agents nobody has heard of are not eligible", async () => {
  const { out } = await run("-f", await written("hub.yaml", hub), "--profile", "kubefleet");
  expect(out).toContain("its agent is not online yet");
});

test("says where in a file something is wrong", async () => {
  const bad = await written("bad.yaml", hub.replace("Ge", "Near"));
  expect(await run("-f", bad)).toEqual({
    code: 1,
    out: "",
    err: `${bad}:25:72: error: "operator" is not one of Gt, Ge, Lt, Le, Eq, Ne\n`,
  });
  const json = await written(
    "bad.json",
    JSON.stringify(JSON.parse((await run("-f", await written("hub.yaml", hub), "-o", "json")).out), null, 2).replace(
      '"Ge"',
      '"Near"',
    ),
  );
  expect((await run("-f", json)).err).toMatch(/bad\.json:\d+:\d+: error: "operator" is not one of/);
  const broken = await written("broken.yaml", "a: [\n");
  expect((await run("-f", broken)).err).toMatch(/broken\.yaml:\d+:\d+: error FLT/);
  const missing = join(folder, "missing.yaml");
  expect(await run("-f", missing)).toMatchObject({ code: 64, out: "" });
});

test.each([
  [
    "affinity: {clusterAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {}}]}}",
    "22:93: error: weight is 101; write a whole number from -100 to 100",
  ],
  [
    "topologySpreadConstraints: [{topologyKey: r, maxSkew: 0}]",
    "22:59: error: maxSkew is 0; write a whole number from 1 to 2147483647",
  ],
  [
    "topologySpreadConstraints: [{topologyKey: r, whenUnsatisfiable: Maybe}]",
    '22:69: error: "whenUnsatisfiable" is not one of DoNotSchedule, ScheduleAnyway',
  ],
  ["topologySpreadConstraints: [{maxSkew: 1}]", '22:33: error: "topologyKey" is missing'],
  ["tolerations: [{operator: Exists, effect: Sometimes}]", '22:46: error: "effect" is not one of , NoSchedule'],
  [
    "affinity: {clusterAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {propertySorter: {name: np, sortOrder: Up}}}]}}",
    '22:147: error: "sortOrder" is not one of Ascending, Descending',
  ],
])("refuses what KubeFleet's API server would not store: %s", async (field, want) => {
  const text = `${hub.split("placementType: PickAll")[0]}placementType: PickN\n    ${field}\n`;
  const file = await written(
    "hub.yaml",
    text.replace(
      "  labels: {kubernetes-fleet.io/parent",
      `  annotations: {kubernetes-fleet.io/number-of-clusters: "1"}\n  labels: {kubernetes-fleet.io/parent`,
    ),
  );
  expect(await run("-f", file)).toEqual({ code: 1, out: "", err: `${file}:${want}\n` });
});

test("replays a corpus line by line, and a line that is wrong costs itself", async () => {
  const one = JSON.parse((await run("-f", await written("hub.yaml", hub), "-o", "json")).out);
  const members = ["a", "b"].map((name) => ({
    apiVersion: "cluster.kubernetes-fleet.io/v1beta1",
    kind: "MemberCluster",
    metadata: { name },
    status: { properties: { np: { value: "5" } } },
  }));
  const line = JSON.stringify({ ...one, items: [...members, ...one.items] });
  const corpus = await written(
    "corpus.jsonl",
    [line, "{", JSON.stringify({ kind: "List", items: [] }), line].join("\n"),
  );
  const { code, out, err } = await run("--jsonl", "-f", corpus);
  const results = out
    .trim()
    .split("\n")
    .map((it) => JSON.parse(it));
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(results.map((it) => it.error ?? it.items.length)).toEqual([
    3,
    expect.stringMatching(/^it is not JSON: /),
    "there is no policy snapshot",
    3,
  ]);
});
