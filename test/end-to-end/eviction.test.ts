// Evictions as files, on API servers: within a disruption budget, against one, and all that a cluster carries.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type JsonObject, memberAt } from "../../src/core/model/json.ts";
import { startApiServer } from "../kubernetes/api-server.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { walksAreFull } from "../long-walks.ts";
import { contentsOf, type FleetContents, objectsIn } from "./member.ts";
import { endNamespaces } from "./namespace-end.ts";
import { condition, conditionsAt, disruptionBudget, eviction, type SmallStage, setSmallStage } from "./rollouts.ts";
import { configMap, file, memberCluster, namespace, openFleet, placement } from "./small-fleet.ts";

const names = ["east", "north", "west"] as const;
/** The short way has one of each kind that is evicted from: an API server, and an embedded one. */
const realNames: readonly string[] = walksAreFull ? names : ["west"];
const apps = ["billing", "shop"] as const;

const tainted = (name: string): JsonObject => {
  const cluster = memberCluster(name, { region: name });
  const taints = [{ key: "drained", value: "maintenance", effect: "NoSchedule" }];
  return { ...cluster, spec: { ...(memberAt(cluster, "spec") as JsonObject), taints } };
};

const files = {
  "fleet.yaml": file(openFleet),
  ...Object.fromEntries(names.map((it) => [`clusters/${it}.yaml`, file(memberCluster(it, { region: it }))])),
  ...Object.fromEntries(apps.map((it) => [`placements/${it}.yaml`, file(placement(it))])),
  ...Object.fromEntries(
    apps.map((it) => [`resources/${it}.yaml`, file(namespace(it), configMap(`${it}/web`, { it }))]),
  ),
  "budgets/shop.yaml": file(disruptionBudget("shop", { minAvailable: 2 })),
};

const recordOf = (name: string): string => `evictions/${name}.yaml`;

await describeKubernetes("evictions on API servers", "API servers", () => {
  let stage: SmallStage;
  let ends: readonly ReturnType<typeof endNamespaces>[] = [];
  beforeAll(async () => {
    const servers = await Promise.all(realNames.map((name) => startApiServer({ name })));
    ends = servers.map(endNamespaces);
    stage = await setSmallStage(files, { servers, embedded: names.filter((it) => !realNames.includes(it)) });
    expect(await settle()).toMatchObject({ code: 0, err: "" });
  }, 400_000);
  afterAll(async () => {
    for (const it of ends) it.stop();
    await stage?.stop();
  });

  const settle = () => stage.reconcile("--wait", "5m");
  const held = async (app: string): Promise<FleetContents> =>
    new Map(await Promise.all(names.map(async (it) => [it, await contentsOf(stage.member(it), app)] as const)));
  const everywhere = (app: string) =>
    Object.fromEntries(names.map((it) => [it, [`configmaps ${app}/web`, `namespaces ${app}`]]));

  test("within its budget a placement leaves the cluster, and comes back, since its policy still picks it", async () => {
    const before = await held("shop");
    await stage.hub.write("evictions/one.yaml", file(eviction("one", "shop", "west")));
    stage.hub.push("Evict shop from west");
    expect(await settle()).toMatchObject({ code: 0, err: "" });
    expect(await condition(stage.hub, recordOf("one"), "Executed")).toMatchObject({ status: "True" });
    const after = await held("shop");
    expect(objectsIn(after)).toEqual(everywhere("shop"));
    const isKept = (name: string): boolean =>
      after.get(name)?.get("namespaces shop") === before.get(name)?.get("namespaces shop");
    expect(names.filter((it) => !isKept(it))).toEqual(["west"]);
  });

  test("against its budget nothing moves, the record has the arithmetic, and what was refused stays refused", async () => {
    const before = await held("shop");
    await stage.hub.write("budgets/shop.yaml", file(disruptionBudget("shop", { minAvailable: 3 })));
    await stage.hub.write("evictions/two.yaml", file(eviction("two", "shop", "north")));
    stage.hub.push("Evict shop from north");
    await settle();
    const refused = await condition(stage.hub, recordOf("two"), "Executed");
    expect(refused).toMatchObject({ status: "False", message: expect.stringContaining("available 3 of 3, needed 3") });
    await stage.hub.write("budgets/shop.yaml", file(disruptionBudget("shop", { minAvailable: 2 })));
    stage.hub.push("Let one be missing");
    await settle();
    expect(await condition(stage.hub, recordOf("two"), "Executed")).toEqual(refused);
    expect(await held("shop")).toEqual(before);
    await stage.hub.remove("evictions");
    stage.hub.push("Tidy up");
    await settle();
    expect(stage.hub.stateFile(recordOf("two"))).toBe(null);
  });

  test("two clusters are drained at once: everything leaves them but what the budget keeps", async () => {
    const before = new Map(await Promise.all(apps.map(async (it) => [it, await held(it)] as const)));
    for (const cluster of ["north", "west"]) {
      await stage.hub.write(`clusters/${cluster}.yaml`, file(tainted(cluster)));
      for (const app of apps) {
        const name = `drain-${cluster}-${app}`;
        await stage.hub.write(`evictions/${name}.yaml`, file(eviction(name, app, cluster)));
      }
    }
    stage.hub.push("Drain north and west");
    await settle();
    const verdicts = ["north-billing", "north-shop", "west-billing", "west-shop"].map((it) => [
      it,
      conditionsAt(stage.hub, recordOf(`drain-${it}`)).find(({ type }) => type === "Executed")?.status,
    ]);
    expect(Object.fromEntries(verdicts)).toEqual({
      "north-billing": "True",
      "north-shop": "True",
      "west-billing": "True",
      "west-shop": "False",
    });
    const left = (app: (typeof apps)[number], clusters: readonly string[]) =>
      new Map([...(before.get(app) ?? [])].map(([it, objects]) => [it, clusters.includes(it) ? new Map() : objects]));
    expect(await held("billing")).toEqual(left("billing", ["north", "west"]));
    expect(await held("shop")).toEqual(left("shop", ["north"]));
  });

  test("without the taints everything comes back", async () => {
    for (const it of ["north", "west"])
      await stage.hub.write(`clusters/${it}.yaml`, file(memberCluster(it, { region: it })));
    await stage.hub.remove("evictions");
    stage.hub.push("North and west are back");
    expect(await settle()).toMatchObject({ code: 0, err: "" });
    for (const app of apps) expect(objectsIn(await held(app)), app).toEqual(everywhere(app));
  });
});
