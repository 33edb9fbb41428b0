import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { restoreStage, type Stage, setPlacedStage } from "./fleet.ts";
import type { Hub } from "./hub.ts";
import { type Difference, noDifference } from "./member.ts";
import { flotilla } from "./program.ts";

const payments = "placements/payments.yaml";
const config = "resources/payments/config.yaml";

const nothingSelected = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: void
spec:
  resourceSelectors:
    - group: ""
      version: v1
      kind: Namespace
      name: nowhere
  policy:
    placementType: PickFixed
    clusterNames: [prod-eu-1]
`;

/** What somebody breaks, and what they are told. `says` is the whole of stderr, or the only line of stdout that speaks of it. */
interface Case {
  readonly name: string;
  readonly breaks: (hub: Hub) => Promise<void>;
  readonly code: number;
  readonly says: RegExp;
}

const files: readonly Case[] = [
  {
    name: "broken YAML",
    breaks: (hub) => hub.edit(config, "kind: NetworkPolicy", "kind: [NetworkPolicy"),
    code: 1,
    says: /^resources\/payments\/config\.yaml:\d+:\d+: error FLT1022: .+; .+\n$/,
  },
  {
    name: "an unknown kind",
    breaks: (hub) => hub.edit(payments, "kind: ClusterResourcePlacement", "kind: ClusterResourcePlacemint"),
    code: 1,
    says: /^placements\/payments\.yaml:3:7: error FLT1301: .*did you mean "ClusterResourcePlacement"\?\n$/,
  },
  {
    name: "an unknown kind of plain object",
    breaks: (hub) => hub.edit("resources/payments/ledger.yaml", "kind: Deployment", "kind: Deploymnt"),
    code: 1,
    says: /^resources\/payments\/ledger\.yaml:2:7: error FLT1301: .*\n$/,
  },
  {
    name: "an unknown field",
    breaks: (hub) => hub.edit(payments, "placementType:", "placementTyp:"),
    code: 1,
    says: /^placements\/payments\.yaml:13:5: error FLT1301: .*did you mean "placementType"\?\n$/,
  },
  {
    name: "a key that stands there twice",
    breaks: (hub) => hub.edit(config, "SETTLEMENT: daily", "SETTLEMENT: daily\n  SETTLEMENT: weekly"),
    code: 1,
    says: /^resources\/payments\/config\.yaml:8:3: error FLT1005: .+\n$/,
  },
  {
    name: "an object that two files define",
    breaks: async (hub) => hub.write("resources/payments/again.yaml", (await hub.read(config)).split("---")[0] ?? ""),
    code: 1,
    says: /^resources\/payments\/again\.yaml:4:9: error FLT1316: .*config\.yaml:1.*\nresources\/payments\/config\.yaml:4:9: error FLT1316: .*again\.yaml:1.*\n$/,
  },
  {
    name: "a placement that selects nothing",
    breaks: (hub) => hub.write("placements/void.yaml", nothingSelected),
    code: 0,
    says: /^notice: void: the selector Namespace nowhere matches nothing$/,
  },
];

/** How somebody calls it wrongly, and what they are told. */
const calls: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
}[] = [
  { name: "an unknown command", args: ["reconsile"], code: 64, says: /unknown command 'reconsile'/ },
  { name: "an unknown option", args: ["reconcile", "--wach"], code: 64, says: /unknown option '--wach'.*--watch/s },
  { name: "a malformed duration", args: ["reconcile", "--wait", "soon"], code: 64, says: /duration such as/ },
  {
    name: "an unknown output format",
    args: ["get", "placements", "-o", "xml"],
    code: 64,
    says: /text, wide, name, json, yaml/,
  },
  { name: "no kind", args: ["get"], code: 64, says: /missing required argument 'kind'/ },
  {
    name: "an unknown kind",
    args: ["get", "pods"],
    code: 64,
    says: /^error: unknown kind pods; choose one of placements, /,
  },
  { name: "no repository", args: ["get", "placements", "--repo", "no"], code: 69, says: /^error: .*\bno\b.*\n {2}\S/ },
  { name: "a folder that is none", args: ["plan", "--repo", "empty"], code: 69, says: /^error: .*empty.*\n {2}\S/ },
  {
    name: "a branch that is missing",
    args: ["plan", "--repo", "REPO", "--branch", "trunk"],
    code: 69,
    says: /source branch trunk does not exist\n {2}the repository has main: give --branch main\n$/,
  },
  {
    name: "a kubeconfig that is missing",
    args: ["reconcile", "--repo", "REPO", "--kubeconfig", "no"],
    code: 69,
    says: /^error: reading the kubeconfig .*no.*\n {2}\S/,
  },
  {
    name: "a placement that nobody knows",
    args: ["explain", "nobody", "--repo", "REPO"],
    code: 64,
    says: /^error: there is no record of placement nobody; recorded are: cluster-policy, /,
  },
  { name: "a folder that is missing", args: ["validate", "nowhere"], code: 69, says: /^error: .*nowhere/ },
];

const theirs = "resources/shop/config.yaml";
const others: Readonly<Record<string, Difference>> = Object.fromEntries(
  ["prod-eu-1", "prod-eu-2", "prod-us-2"].map((it) => [it, { ...noDifference, changed: ["configmaps shop/web"] }]),
);

describe("on a fleet where everything stands", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setPlacedStage();
    await mkdir(join(stage.folder, "empty"));
  });
  afterAll(() => stage?.stop());

  test.each(calls)("$name ends with $code and says why", async ({ args, code, says }) => {
    const given = args.map((it) => (it === "REPO" ? stage.hub.repo : it));
    const run = await flotilla(given, { cwd: stage.folder });
    expect(run.err).toMatch(says);
    expect(run).toMatchObject({ code, out: "" });
  });

  // What is broken in one case is mended by the next.
  test.each(files)("$name is said once, deletes nothing, and holds up nobody else", async (row) => {
    const before = await stage.contents();
    await restoreStage(stage);
    await row.breaks(stage.hub);
    await stage.hub.edit(theirs, "Autumn sale", row.name);
    stage.hub.push("A mistake, and a change of somebody else");
    const run = await stage.reconcile();
    expect(run.code, run.out + run.err).toBe(row.code);
    const about = run.out.split("\n").filter((it) => it.includes(": void: "));
    expect(row.code === 0 ? about.join("\n") : run.err).toMatch(row.says);
    expect(await stage.differences(before)).toEqual(others);
    const checked = await flotilla(["validate"], { cwd: stage.hub.clone });
    expect({ code: checked.code, err: checked.err }).toEqual({ code: row.code, err: run.err });
  });

  test("a mistake in a file that nobody ever accepted costs only that file", async () => {
    const before = await stage.contents();
    await restoreStage(stage);
    await stage.hub.edit(theirs, "Autumn sale", "meanwhile");
    await stage.hub.write("placements/fresh.yaml", "apiVersion: v1\nkind: {\n");
    stage.hub.push("A file that cannot be read");
    const run = await stage.reconcile();
    expect(run.code).toBe(1);
    expect(run.err).toMatch(/^placements\/fresh\.yaml:\d+:\d+: error FLT\d{4}: .+\n$/);
    expect(await stage.differences(before)).toEqual(others);
    const { problems } = JSON.parse((await flotilla(["validate", "-o", "json"], { cwd: stage.hub.clone })).out);
    expect(problems).toEqual([expect.objectContaining({ path: "placements/fresh.yaml", severity: "error" })]);
  });

  test("while a file cannot be read, what is absent may have moved there", async () => {
    const before = await stage.contents();
    await stage.hub.remove(payments);
    stage.hub.push("Payments go");
    expect((await stage.reconcile()).code).toBe(1);
    expect(await stage.differences(before)).toEqual({});
    await stage.hub.remove("placements/fresh.yaml");
    stage.hub.push("So does the file that could not be read");
    expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
    expect(Object.keys(await stage.differences(before))).toEqual(["prod-eu-1", "prod-us-1"]);
  });

  test("an empty branch deletes nothing", async () => {
    const before = await stage.contents();
    await stage.mutations();
    const all = (await readdir(stage.hub.clone)).filter((it) => !it.startsWith("."));
    for (const path of all) await stage.hub.remove(path);
    stage.hub.push("Nothing left");
    const run = await stage.reconcile();
    expect(run.code).toBe(3);
    expect(run.out).toMatch(/^stuck: SourceEmpty at [0-9a-f]{7}: .*stays in force$/m);
    expect(await stage.differences(before)).toEqual({});
    expect(await stage.mutations()).toBe(0);
  });
});
