// Where properties and spread decide, a plan with warm memories is the plan of cold ones after whatever a cluster's file
// says anew; and where that is asked about, the placement moves.
import { beforeEach, expect, test } from "vitest";
import type { MemberCluster } from "../../../src/core/model/fleet.ts";
import type { Collected, MissingFacts } from "../../../src/core/model/observation.ts";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { policyOf } from "../schedule/notation.ts";
import { differenceOf } from "./same-ledger.ts";

let world: World;
let seen: Seen;

const having = (name: string, labels: string, np: string | null, observedAt = 0): MemberCluster => ({
  ...clusterOf(name, labels.split(" ")),
  properties: np === null ? {} : { np: { value: np, observedAt: observedAt as never } },
});

const policies: Readonly<Record<string, PlacementPolicy>> = {
  roomy: policyOf("all np:Ge:5"),
  ranked: policyOf("1 e=p|e=q prefer 100:e=p@np/Desc"),
  spread: policyOf("2 prefer 10:e=p spread r:1"),
};

beforeEach(() => {
  world = new World();
  world.commit(() => {
    world.join(having("m1", "e=p r=a", "9"));
    world.join(having("m2", "e=p r=a", "4"));
    world.join(having("m3", "e=q r=b", "7"));
    world.join(having("m4", "e=p r=b", "4"));
    world.join(having("m5", "e=q", null));
    for (const [name, policy] of Object.entries(policies)) {
      write(world, objectOf("Namespace", name, "one"));
      world.placements.set(name as PlacementKey, placementOf({ name, policy, options: [] }));
    }
  });
  for (let pass = 0; pass < 8; pass++) world.pass();
  world.flush();
  world.pass();
  seen = world.look();
  expect(plan(seen).ledger).toBe(seen.ledger);
});

const on = (ledger: Seen["ledger"], name: string): string =>
  [...(ledger.placements.get(name as PlacementKey)?.bindings.values() ?? [])]
    .filter((it) => it.state !== "Unscheduled")
    .map((it) => it.cluster)
    .join(" ");

test("properties and spread decide where placements are at first", () => {
  expect(Object.keys(policies).map((it) => on(seen.ledger, it))).toEqual(["m1 m3", "m1", "m4 m5"]);
});

const changes: readonly { name: string; is: MemberCluster; moved: readonly string[] }[] = [
  { name: "a property that crosses a boundary", is: having("m2", "e=p r=a", "5"), moved: ["m1 m2 m3", "m1", "m4 m5"] },
  { name: "one that does not", is: having("m2", "e=p r=a", "4.5"), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "one that leaves", is: having("m1", "e=p r=a", "1"), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "the end of a range", is: having("m4", "e=p r=b", "90"), moved: ["m1 m3 m4", "m1", "m4 m5"] },
  { name: "the same by another word", is: having("m3", "e=q r=b", "7000m"), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "a later observation", is: having("m3", "e=q r=b", "7", 1), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "a value that is no quantity", is: having("m4", "e=p r=b", "v1"), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "another domain", is: having("m1", "e=p r=c", "9"), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "a domain at last", is: having("m5", "e=q r=c", null), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "a label that a sorter is about", is: having("m3", "e=p r=b", "7"), moved: ["m1 m3", "m1", "m4 m5"] },
];

test.each(changes)("$name", ({ is, moved }) => {
  world.commit(() => world.join(is));
  const next = world.look();
  const warm = plan(next);
  expect(differenceOf(warm, plan(structuredClone(next)))).toBeNull();
  expect(differenceOf(plan(seen), plan(structuredClone(seen)))).toBeNull();
  expect(differenceOf(plan(next), warm)).toBeNull();
  expect(Object.keys(policies).map((it) => on(warm.ledger, it))).toEqual(moved);
});

test("what stands moves by the policy alone, and the scores of what is not needed are those of today", () => {
  world.commit(() => world.join(having("m2", "e=p r=a", "6")));
  const { ledger } = plan(world.look());
  const decisions = ledger.placements.get("ranked" as PlacementKey)?.policySnapshots.at(-1)?.verdict?.decisions ?? [];
  expect(decisions.map((it) => `${it.cluster} ${it.score?.affinity}`)).toEqual([
    "m1 100",
    "m2 40",
    "m5 0",
    "m4 0",
    "m3 0",
  ]);
});

const told = (np: string, labels: readonly string[] = []): Collected => ({
  properties: new Map([["np", np]]),
  provided: new Map(),
  machines: [],
  labels: new Map(labels.map((it) => it.split("=") as [string, string])),
  missing: [],
});

const collections: readonly { name: string; on: string; told: Collected; moved: readonly string[] }[] = [
  { name: "a value that crosses a boundary", on: "m2", told: told("5"), moved: ["m1 m2 m3", "m1", "m4 m5"] },
  { name: "one of which the file says nothing", on: "m5", told: told("5"), moved: ["m1 m3 m5", "m1", "m4 m5"] },
  { name: "one that is less than the file says", on: "m3", told: told("1"), moved: ["m1 m3", "m1", "m4 m5"] },
  { name: "the end of a range", on: "m4", told: told("90"), moved: ["m1 m3 m4", "m1", "m4 m5"] },
  { name: "what is no quantity", on: "m4", told: told("v1"), moved: ["m1 m3", "m1", "m4 m5"] },
  {
    name: "a label that the file does not have",
    on: "m5",
    told: told("1", ["e=p", "r=c"]),
    moved: ["m1 m3", "m1", "m4 m5"],
  },
];

test.each(collections)("collected of a member: $name", ({ on: member, told: collected, moved }) => {
  world.member(member).collected = collected;
  const next = world.look();
  const warm = plan(next);
  expect(differenceOf(warm, plan(structuredClone(next)))).toBeNull();
  expect(differenceOf(plan(seen), plan(structuredClone(seen)))).toBeNull();
  expect(differenceOf(plan(next), warm)).toBeNull();
  expect(Object.keys(policies).map((it) => on(warm.ledger, it))).toEqual(moved);
});

test("what was collected decides at first, stays where it cannot be read, and is written once", () => {
  const member = world.member("m2");
  member.collected = told("5");
  for (let pass = 0; pass < 8; pass++) world.pass();
  world.flush();
  expect(on(world.look().ledger, "roomy")).toBe("m1 m2 m3");
  const { ledger } = world.look();
  member.collected = told("5");
  expect(plan(world.look()).ledger).toBe(ledger);
  member.collected = { ...told("5"), properties: new Map(), missing: [unread] };
  const record = plan(world.look()).ledger.clusters.get("m2" as ClusterName);
  expect(record?.properties.get("np")).toBe("5");
  const condition = record?.conditions.find((it) => it.type === "ClusterPropertyCollectionSucceeded");
  expect([condition?.status, condition?.reason, condition?.message]).toEqual(["False", "Forbidden", unread.message]);
});

test("T-33: a label that nodes tell matches affinity alone, and no override acts by it", () => {
  world.member("m5").collected = told("5", ["r=c"]);
  world.commit(() => {
    world.join(having("m2", "e=p r=c", "9"));
    write(world, objectOf("ConfigMap", "roomy/config", "0"));
    world.overrides.set("loud", overrideOf("loud", keyOf("ConfigMap", "roomy/config"), "r=c", "1"));
    world.placements.set(
      "told" as PlacementKey,
      placementOf({ name: "told", policy: policyOf("all r=c"), options: ["ns=told"] }),
    );
  });
  for (let pass = 0; pass < 8; pass++) world.pass();
  world.flush();
  const { ledger } = world.look();
  expect(on(ledger, "told")).toBe("m2 m5");
  const overrides = (cluster: string) =>
    ledger.placements.get("roomy" as PlacementKey)?.bindings.get(cluster as ClusterName)?.target?.resourceOverrides;
  expect(overrides("m2")).toHaveLength(1);
  expect(overrides("m5")).toEqual([]);
});

test("what a cluster costs follows from its machines and the prices of the repository, and is said to be unknown without", () => {
  const total = ["resources.kubernetes-fleet.io/total-cpu", "resources.kubernetes-fleet.io/total-memory"] as const;
  const properties = new Map([[total[0], "8"] as const, [total[1], "32Gi"] as const]);
  const source = { path: "prices.yaml", document: 0, line: 1, column: 1 };
  world.member("m2").collected = { ...told("4"), properties, machines: [{ type: "D4", region: "eu", count: 2 }] };
  const recorded = () => {
    const { ledger } = plan(world.look());
    const cluster = ledger.clusters.get("m2" as ClusterName);
    const message = cluster?.conditions.find((it) => it.type === "ClusterPropertyCollectionSucceeded")?.message;
    const cost = "kubernetes.azure.com/per-cpu-core-cost";
    return [cluster?.properties.get(cost), cluster?.collection.origins.get(cost), message];
  };
  expect(recorded()).toEqual([undefined, undefined, "nodes and pods were read"]);
  world.commit(() => {
    world.prices = { name: "azure", perHour: { D4: { eu: "0.2" } }, source };
  });
  expect(recorded()).toEqual(["0.050", "price", "nodes and pods were read"]);
  world.commit(() => {
    world.prices = { name: "azure", perHour: {}, source };
  });
  const unknown = "costs are unknown: PriceList azure has no price of D4 in eu";
  expect(recorded()).toEqual([undefined, undefined, `nodes and pods were read; ${unknown}`]);
});

test("where a file declares something else than was collected, the condition names both values", () => {
  world.member("m2").collected = told("5");
  world.member("m1").collected = told("9000m");
  const { ledger } = plan(world.look());
  const said = ["m1", "m2"].map((it) =>
    ledger.clusters
      .get(it as ClusterName)
      ?.conditions.find(({ type }) => type === "ClusterPropertyCollectionSucceeded"),
  );
  expect(said.map((it) => it?.message)).toEqual([
    "nodes and pods were read",
    "nodes and pods were read; the file declares np as 4 where it is 5, which does not count",
  ]);
});

const unread: MissingFacts = { source: "nodes", code: "Forbidden", message: "nodes may not be listed" };
