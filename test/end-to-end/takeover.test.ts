import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JsonObject, memberAt } from "../../src/core/model/json.ts";
import { type Stage, setStage } from "./fleet.ts";
import { type Contents, create, type Member, objectAt } from "./member.ts";

const configMaps = "/api/v1/namespaces/shop/configmaps";

/** What somebody keeps on a cluster before Flotilla comes: a namespace, a ConfigMap that the shop has too, and things of their own. */
async function settle(member: Member): Promise<void> {
  const labels = { "acme.example/owner": "somebody" };
  await create(member, "/api/v1/namespaces", { metadata: { name: "shop", labels } });
  await create(member, configMaps, { metadata: { name: "web" }, data: { BANNER: "Ours", OPEN: "always" } });
  await create(member, configMaps, { metadata: { name: "other" }, data: { a: "1" } });
  await create(member, "/api/v1/namespaces/shop/secrets", { metadata: { name: "key" }, data: { k: "czNjcjN0" } });
  await create(member, "/api/v1/namespaces", { metadata: { name: "elsewhere" } });
}

const uidOf = (object: JsonObject | null) => memberAt(object, "metadata", "uid");

describe("objects that were there before", () => {
  let stage: Stage;
  let member: Member;
  let before: Contents;
  beforeAll(async () => {
    stage = await setStage();
    member = stage.member("prod-eu-2");
    await settle(member);
    before = (await stage.contents()).get("prod-eu-2") ?? new Map();
  });
  afterAll(() => stage?.stop());

  const shared = ["configmaps shop/web", "namespaces shop"];
  const theirs = ["configmaps shop/other", "secrets shop/key", "namespaces elsewhere"];
  const untouched = (contents: Contents) => theirs.map((it) => contents.get(it));

  test("are taken over, and named in the output, in the commit and in the status", async () => {
    const run = await stage.reconcile("--wait", "5m");
    expect(run).toMatchObject({ code: 0, err: "" });
    const words = "web-shop took over on prod-eu-2: ConfigMap shop/web, Namespace shop";
    expect(run.out).toContain(words);
    expect(run.out).toContain("notice: web-shop: took over on prod-eu-2: ConfigMap shop/web, Namespace shop\n");
    expect(stage.hub.stateLog(stage.hub.stateCommits())).toContain(`${words}\n`);
    expect(stage.hub.stateFile("README.md")).toContain("took over on prod-eu-2");
    const { out } = await stage.run("explain", "web-shop", "--cluster", "prod-eu-2");
    expect(out).toContain("taken over: ConfigMap shop/web, Namespace shop\n");
  });

  test("keep who they are and what only their owner says of them", async () => {
    const [namespace, settings] = [
      await objectAt(member, "/api/v1/namespaces/shop"),
      await objectAt(member, `${configMaps}/web`),
    ];
    for (const [at, object] of [namespace, settings].entries())
      expect(before.get(shared.toReversed()[at] ?? "")).toContain(uidOf(object));
    expect(memberAt(namespace, "metadata", "labels")).toMatchObject({
      "acme.example/owner": "somebody",
      "acme.example/team": "shop",
      "acme.example/cluster": "prod-eu-2",
    });
    expect(settings?.["data"]).toEqual({ BANNER: "Autumn sale", CURRENCY: "EUR", OPEN: "always" });
  });

  test("are left alone where no placement selects them", async () => {
    const now = (await stage.contents()).get("prod-eu-2") ?? new Map();
    expect(untouched(now)).toEqual(untouched(before));
  });

  test("stay what they are on a second run", async () => {
    await stage.mutations();
    const { code, out } = await stage.reconcile();
    expect(code).toBe(0);
    expect(out).toContain("at rest after 1 pass, 0 commits\n");
    expect(await stage.mutations()).toBe(0);
  });

  test("are let go, not deleted, when their placement goes", async () => {
    const uids = [
      uidOf(await objectAt(member, "/api/v1/namespaces/shop")),
      uidOf(await objectAt(member, `${configMaps}/web`)),
    ];
    await stage.hub.remove("placements/web-shop.yaml");
    await stage.hub.remove("overrides/shop-by-cluster.yaml");
    stage.hub.push("The shop goes");
    const run = await stage.reconcile("--wait", "5m");
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toContain("  prod-eu-2: 3 deleted, 2 released\n");
    const [namespace, settings] = [
      await objectAt(member, "/api/v1/namespaces/shop"),
      await objectAt(member, `${configMaps}/web`),
    ];
    expect([uidOf(namespace), uidOf(settings)]).toEqual(uids);
    for (const object of [namespace, settings]) {
      expect(JSON.stringify(memberAt(object, "metadata", "labels") ?? {})).not.toContain("flotilla.dev");
      expect(JSON.stringify(memberAt(object, "metadata", "annotations") ?? {})).not.toContain("flotilla.dev");
      expect(JSON.stringify(memberAt(object, "metadata", "managedFields"))).not.toContain('"manager":"flotilla"');
    }
    const now = (await stage.contents()).get("prod-eu-2") ?? new Map();
    expect(untouched(now)).toEqual(untouched(before));
    expect([...now.keys()].filter((it) => it.includes(" shop/"))).toEqual([
      "configmaps shop/other",
      "configmaps shop/web",
      "secrets shop/key",
    ]);
    expect(await objectAt(stage.member("prod-eu-1"), "/api/v1/namespaces/shop")).toBeNull();
  });
});

describe("a placement that takes nothing over", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage?.stop());

  test("leaves what is there, says which object and why, and goes on elsewhere", async () => {
    const member = stage.member("prod-us-1");
    await create(member, "/api/v1/namespaces", { metadata: { name: "payments" } });
    const before = await objectAt(member, "/api/v1/namespaces/payments");
    const { code, out } = await stage.reconcile("--wait", "2s");
    expect(code).toBe(3);
    const stuck = out.split("\n").filter((it) => it.startsWith("stuck: "));
    expect(stuck[0]).toBe(
      "stuck: payments: Namespace payments failed on prod-us-1: NotTakenOver: it existed before, and whenToTakeOver is Never",
    );
    expect(await objectAt(member, "/api/v1/namespaces/payments")).toEqual(before);
    expect((await stage.run("get", "bindings", "payments")).out).toMatch(/payments +prod-eu-1 +Bound +0 +True +True/);
  });
});
