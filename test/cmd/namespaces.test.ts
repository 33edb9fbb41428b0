// What is of a namespace, as commands name and list it: like kubectl, and by `namespace/name` as well.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import type { PlacementRecord } from "../../src/core/model/ledger.ts";
import { placementKey } from "../../src/core/model/placement.ts";
import { type RunRecord, runKey, strategyKey } from "../../src/core/model/update-run.ts";
import type { Digest } from "../../src/core/model/value.ts";
import { gateOf, requested } from "../gate.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { recordStateIn } from "./record-state.ts";
import { approval, at, ledgerOf, on, planOf, progress, run, stage, web } from "./rollout-ledger.ts";

const inShop = <T extends { readonly name: string }>(it: T) =>
  ({ ...it, scope: "Namespaced", namespace: "shop" }) as const;

const ofTeam: PlacementRecord = { ...inShop(web([on("west", 2)])), key: placementKey("shop", "web") };

const asking = (digest: string): Partial<RunRecord> => ({
  plan: planOf(3, [stage("canary", ["east"], { before: [approval] })]),
  stages: [
    progress({ before: requested(gateOf({ requestedAt: at("09:00:00"), digest: digest.repeat(32) as Digest })) }),
  ],
});
const ofFleet = run("r", 1, asking("ab"));
const ofShop: RunRecord = {
  ...inShop(run("r", 2, asking("cd"))),
  key: runKey("shop", "r"),
  spec: { ...ofFleet.spec, placement: placementKey("shop", "web"), strategy: strategyKey("shop", "canary-first") },
};

const document = (kind: string, namespace: string, name: string, spec: string): string =>
  `apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {${spec}}\n`;

const clones = clonesWith({
  "fleet.yaml":
    "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {approvals: {unsigned: allow}}\n",
  "shop.yaml": [
    document("ResourcePlacement", "shop", "web", "strategy: {type: External}"),
    document("StagedUpdateStrategy", "shop", "canary-first", "stages: [{name: all}]"),
    document("StagedUpdateRun", "shop", "r", "placementName: web, stagedRolloutStrategyName: canary-first, state: Run"),
  ].join("---\n"),
});
let place: Clone;
beforeAll(() => {
  place = clones();
  recordStateIn(place, ledgerOf([web([on("east", 2)]), ofTeam], [ofFleet, ofShop]));
  place.git("fetch", "--quiet");
});
afterAll(() => place.remove());

async function flotilla(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main([...argv, "--repo", place.path], {
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

/** The first columns of a table. */
const columns = (text: string, number: number): readonly string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((it) => it.split(/ {2,}/).slice(0, number).join(" "));

describe("a list shows what is of the fleet, of one namespace, or all", () => {
  const cases: readonly [kind: string, options: readonly string[], want: readonly string[]][] = [
    ["placements", [], ["NAME TYPE", "web PickAll"]],
    ["placements", ["-n", "shop"], ["NAME TYPE", "web PickAll"]],
    ["placements", ["-A"], ["NAMESPACE NAME", "shop web", "- web"].toSorted()],
    ["runs", ["-A"], ["- r", "NAMESPACE NAME", "shop r"]],
    ["bindings", [], ["PLACEMENT CLUSTER", "web east"]],
    ["bindings", ["-n", "shop"], ["PLACEMENT CLUSTER", "web west"]],
    ["bindings", ["-A"], ["- web", "NAMESPACE PLACEMENT", "shop web"]],
    ["approvals", [], ["NAME RUN", "r-before-canary r"]],
    ["approvals", ["-n", "shop"], ["NAME RUN", "r-before-canary r"]],
    ["approvals", ["-n", "other"], ["no approvals"]],
    ["clusters", ["-A"], ["no clusters"]],
  ];
  test.each(cases)("get %s %j", async (kind, options, want) => {
    const { code, out } = await flotilla("get", kind, ...options);
    const got = columns(out, 2);
    expect([code, options[0] === "-A" ? got.toSorted() : got]).toEqual([0, want]);
  });

  test("and says that there is more", async () => {
    expect((await flotilla("get", "placements")).err).toContain("note: 1 placement in namespaces: -A lists all\n");
    for (const options of [["-A"], ["-n", "shop"], ["web"]])
      expect((await flotilla("get", "placements", ...options)).err).not.toContain("-A lists all");
  });

  test("so do programs", async () => {
    const kinds = async (...options: readonly string[]) =>
      (await flotilla("get", "runs", "-o", "name", ...options)).out.split("\n").filter((it) => it !== "");
    const [fleet, shop] = [
      "clusterstagedupdaterun.placement.kubernetes-fleet.io/r",
      "stagedupdaterun.placement.kubernetes-fleet.io/r",
    ];
    expect([await kinds(), await kinds("-n", "shop"), (await kinds("-A")).toSorted()]).toEqual([
      [fleet],
      [shop],
      [fleet, shop],
    ]);
  });

  test("a run's placement and strategy are named as in its file", async () => {
    const { out } = await flotilla("get", "runs", "-n", "shop", "-o", "wide");
    expect(out).toMatch(/^NAME .*\nr +web +3 .*canary-first /);
  });
});

describe("one object is named by its name, its namespace, or both", () => {
  const shown: readonly [argv: readonly string[], want: RegExp][] = [
    [["get", "placement", "web", "-n", "shop"], /\nshop\/web /],
    [["get", "placement", "shop/web"], /\nshop\/web /],
    [["get", "placement", "shop/web", "-n", "shop"], /\nshop\/web /],
    [["get", "placement", "web"], /\nweb /],
    [["get", "approval", "r-before-canary", "-n", "shop"], /cdcdcd/],
    [["describe", "run", "r", "-n", "shop"], /^shop\/r: Waiting/],
    [["describe", "run", "r"], /^r: Waiting/],
    [["explain", "web", "-n", "shop"], /^shop\/web: /],
    [["run", "stop", "r", "-n", "shop", "--dry-run"], /state: Stop/],
    [
      ["rollback", "web", "-n", "shop", "--to", "1", "--strategy", "canary-first", "--dry-run"],
      /kind: StagedUpdateRun\n/,
    ],
    [
      ["run", "create", "shop/next", "--placement", "web", "--strategy", "shop/canary-first", "--dry-run"],
      /namespace: shop\n[\s\S]*placementName: web\n[\s\S]*stagedRolloutStrategyName: canary-first\n/,
    ],
    [
      ["run", "create", "next", "--placement", "shop/web", "--strategy", "canary-first", "--dry-run"],
      /namespace: shop\n[\s\S]*placementName: web\n[\s\S]*stagedRolloutStrategyName: canary-first\n/,
    ],
  ];
  test.each(shown)("flotilla %j", async (argv, want) => {
    const { code, out, err } = await flotilla(...argv);
    expect([code, err.replaceAll(/^(?:note|warning): .*\n/gm, "")]).toEqual([0, ""]);
    expect(out).toMatch(want);
  });

  const refused: readonly [argv: readonly string[], want: string][] = [
    [["get", "placement", "web", "-n", "other"], 'there is no record of placement other/web; did you mean "shop/web"?'],
    [["explain", "shop/web", "-n", "other"], "shop/web is not in the namespace other; leave out one of the two"],
    [["get", "placement", "web", "-A"], "-A lists what there is, and a name is that of one"],
    [["get", "placements", "-A", "-n", "shop"], "cannot be used with"],
    [["get", "placements", "-n", "Shop!"], '"Shop!" is not the name of a namespace'],
    [["approve", "r", "-n", "shop", "--dry-run"], "the request's digest does not match what the record shows"],
    [["approve", "r", "-n", "shpo", "--dry-run"], "there is no record of run shpo/r"],
    [
      ["run", "create", "other/next", "--placement", "shop/web", "--strategy", "canary-first", "--dry-run"],
      '"shop/web" is not a valid name',
    ],
    [["evict", "shop/web", "west"], "only a ClusterResourcePlacement can be evicted"],
  ];
  test.each(refused)("flotilla %j is refused", async (argv, want) => {
    const { code, err } = await flotilla(...argv);
    expect([code, err]).toEqual([64, expect.stringContaining(want)]);
  });
});
