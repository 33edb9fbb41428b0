import { expect, it } from "vitest";
import { canonicalJson, type JsonObject } from "../../../src/core/model/json.ts";
import { readInventory, writeInventory } from "../../../src/shell/kube/inventory/inventory.ts";
import {
  actionsOf,
  bodyOf,
  configMap,
  core,
  departure,
  entriesOf,
  get,
  merge,
  namespace,
  outcomesOf,
  post,
  receipt,
  rendered,
  type Stage,
} from "./member-world.ts";

/** The part of the contract about objects that existed before we came, or that are somebody's. */
export function takeoverCases(stage: () => Stage): void {
  it("adopts what existed before, and releases it with nothing of ours left on it (A-02, A-40)", async () => {
    bodyOf(await post(stage().client, "/api/v1/namespaces", namespace("adopt")));
    const theirs = configMap("adopt/a", { a: "old", extra: "x" });
    bodyOf(await post(stage().client, "/api/v1/namespaces/adopt/configmaps", theirs));
    const ours = configMap("adopt/a", { a: "1" });
    expect(await stage().act({ placement: "adopt", apply: [ours] })).toEqual(receipt({ configured: 1 }));
    const seen = await stage().see();
    expect(entriesOf(seen, "adopt").get(rendered(ours).key)?.adopted).toBe(true);

    const leaving = departure(seen, "adopt", ours, { how: "release" });
    const left = await stage().act({ placement: "adopt", sequence: 2, remove: [leaving], leaves: true });
    expect(left).toEqual(receipt({ released: 1 }));
    const { data, metadata } = bodyOf(await get(stage().client, core("adopt", "configmaps", "a")));
    expect(data).toEqual({ a: "1", extra: "x" });
    expect(canonicalJson(metadata ?? null)).not.toContain("flotilla");
    expect(outcomesOf(await stage().see(), "adopt")).toEqual([]);
  });

  it("hands fields of client-side apply over, so that they go when they leave the manifest (C 15)", async () => {
    bodyOf(await post(stage().client, "/api/v1/namespaces", namespace("migrate")));
    const path = "/api/v1/namespaces/migrate/configmaps";
    const query = { fieldManager: "kubectl-client-side-apply" };
    bodyOf(
      await stage().client.request({ method: "POST", path, query, body: configMap("migrate/a", { a: "1", b: "2" }) }),
    );
    await stage().act({ placement: "migrate", apply: [configMap("migrate/a", { a: "1", b: "2" })] });
    await stage().act({ placement: "migrate", sequence: 2, apply: [configMap("migrate/a", { a: "1" })] });
    expect(bodyOf(await get(stage().client, `${path}/a`))["data"]).toEqual({ a: "1" });
  });

  it("leaves alone what existed before when told never to take over, and makes the rest (A-06)", async () => {
    bodyOf(await post(stage().client, "/api/v1/namespaces", namespace("never")));
    bodyOf(await post(stage().client, "/api/v1/namespaces/never/configmaps", configMap("never/a", { a: "theirs" })));
    const apply = [namespace("never"), configMap("never/a", { a: "1" }), configMap("never/b", { b: "1" })];
    const strategy = { whenToTakeOver: "Never" } as const;
    expect(await stage().act({ placement: "never", strategy, apply })).toEqual(receipt({ created: 1, failed: 2 }));
    const seen = await stage().see();
    expect(outcomesOf(seen, "never")).toEqual([
      "ConfigMap never/a: failed NotTakenOver",
      "ConfigMap never/b: applied",
      "Namespace never: failed NotTakenOver",
    ]);
    expect(bodyOf(await get(stage().client, core("never", "configmaps", "a")))["data"]).toEqual({ a: "theirs" });
    // And nothing of it goes with the placement.
    const remove = apply.map((manifest) => departure(seen, "never", manifest));
    const left = await stage().act({ placement: "never", sequence: 2, remove, leaves: true });
    expect(left).toEqual(receipt({ deleted: 1 }));
    expect(bodyOf(await get(stage().client, core("never", "configmaps", "a")))["data"]).toEqual({ a: "theirs" });
  });

  const comparisons = [
    { story: "A-03 a label differs", live: { owner: "wesker" }, full: false, want: "/metadata/labels/owner" },
    { story: "A-04 only an extra label", live: { owner: "redfield", use: "hack" }, full: false, want: null },
    {
      story: "A-05 an extra label, compared in full",
      live: { owner: "redfield", use: "hack" },
      full: true,
      want: "use",
    },
  ];
  for (const [at, { story, live, full, want }] of comparisons.entries()) {
    it(`takes over only what does not differ: ${story}`, async () => {
      const space = { ...namespace(`same-${at}`), metadata: { name: `same-${at}`, labels: { owner: "redfield" } } };
      bodyOf(
        await post(stage().client, "/api/v1/namespaces", { ...space, metadata: { ...space.metadata, labels: live } }),
      );
      const comparisonOption = full ? "FullComparison" : "PartialComparison";
      const strategy = { whenToTakeOver: "IfNoDiff", comparisonOption } as const;
      await stage().act({ placement: `same-${at}`, strategy, apply: [space] });
      const seen = await stage().see();
      const entry = entriesOf(seen, `same-${at}`).get(rendered(space).key);
      if (want === null) expect(entry).toMatchObject({ adopted: true, outcome: { kind: "applied" } });
      else expect(entry?.outcome).toMatchObject({ code: "FailedToTakeOver", message: expect.stringContaining(want) });
      expect(seen.objects.get(rendered(space).key)?.mark ?? null).toBe(want === null ? "test-fleet/1/1" : null);
    });
  }

  it("never takes an object from another placement, nor from another owner (A-07, A-09)", async () => {
    const shared = configMap("rival/a", { a: "1" });
    await stage().act({ placement: "rival", apply: [namespace("rival"), shared] });
    const owned = configMap("rival/owned", { a: "1" });
    // An owner that exists: where owners are collected, an object of one that does not is soon gone.
    const labels = { app: "r" };
    const containers = [{ name: "r", image: "nginx" }];
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "r" }, spec };
    const made = bodyOf(await post(stage().client, "/apis/apps/v1/namespaces/rival/replicasets", replicaSet));
    const { uid } = made["metadata"] as JsonObject;
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: uid as string };
    const metadata = { ...(owned["metadata"] as JsonObject), ownerReferences: [owner] };
    bodyOf(await post(stage().client, "/api/v1/namespaces/rival/configmaps", { ...owned, metadata }));
    expect(await stage().act({ placement: "other", apply: [shared, owned] })).toEqual(receipt({ failed: 2 }));
    const seen = await stage().see();
    expect([...entriesOf(seen, "other").values()].map(({ outcome }) => outcome)).toMatchObject([
      { code: "FailedToTakeOver", message: "placement rival owns it" },
      { code: "FailedToTakeOver", message: "ReplicaSet r owns it, and allowCoOwnership is false" },
    ]);
    const strategy = { allowCoOwnership: true };
    const second = await stage().act({ placement: "other", sequence: 2, strategy, apply: [owned] });
    expect(second).toEqual(receipt({ configured: 1 }));
  });

  it("takes what a placement left behind that has no say in it, unless the inventory or a later decision has it", async () => {
    const left = configMap("left/a", { a: "1" });
    await stage().act({ placement: "left", sequence: 5, apply: [namespace("left"), left] });
    const take = async (sequence: number, ...holders: readonly string[]): Promise<unknown> => {
      const { fleet, admin, uid } = stage();
      const taker = { placement: "taker", sequence, apply: [left] };
      await fleet.act(admin, actionsOf(uid, [taker], "test-fleet", holders));
      const { adopted, outcome } = entriesOf(await stage().see(), "taker").get(rendered(left).key) ?? {};
      return { adopted, outcome };
    };
    const owned = { adopted: false, outcome: { code: "FailedToTakeOver", message: "placement left owns it" } };
    expect(await take(6), "listed by the inventory").toMatchObject(owned);

    const stored = await readInventory(stage().client);
    if (stored.kind === "refused") throw new Error(stored.message);
    const placements = new Map([...stored.inventory.placements].filter(([it]) => it !== "left" && it !== "taker"));
    await writeInventory(stage().client, stored, { ...stored.inventory, placements });
    expect(await take(7, "left"), "of a placement that is to carry it").toMatchObject(owned);
    const older = await stage().fleet.act(
      stage().admin,
      actionsOf(stage().uid, [{ placement: "suspended", sequence: 4, apply: [left] }]),
    );
    expect(older, "written by a later decision").toEqual(receipt({ failed: 1 }));
    expect(await take(8), "left behind").toEqual({ adopted: true, outcome: { kind: "applied" } });
  });

  it("takes over nothing that is being deleted, and creates its own once it is gone (I-14)", async () => {
    bodyOf(await post(stage().client, "/api/v1/namespaces", namespace("going")));
    const path = core("going", "configmaps", "a");
    const theirs = configMap("going/a", { a: "theirs" });
    const metadata = { ...(theirs["metadata"] as JsonObject), finalizers: ["test.flotilla.dev/wait"] };
    bodyOf(await post(stage().client, "/api/v1/namespaces/going/configmaps", { ...theirs, metadata }));
    bodyOf(await stage().client.request({ method: "DELETE", path }));
    const ours = configMap("going/a", { a: "1" });
    for (const whenToTakeOver of ["Always", "IfNoDiff"] as const) {
      const strategy = { whenToTakeOver };
      expect(await stage().act({ placement: "going", strategy, apply: [ours] })).toEqual(receipt({ failed: 1 }));
      const entry = entriesOf(await stage().see(), "going").get(rendered(ours).key);
      const message = "it is being deleted; ours is created once it is gone";
      expect(entry).toMatchObject({ uid: null, outcome: { code: "FailedToTakeOver", message } });
    }
    expect(bodyOf(await get(stage().client, path))["data"]).toEqual({ a: "theirs" });

    bodyOf(await merge(stage().client, path, { metadata: { finalizers: null } }));
    expect(await stage().act({ placement: "going", apply: [ours] })).toEqual(receipt({ created: 1 }));
    expect(entriesOf(await stage().see(), "going").get(rendered(ours).key)?.adopted).toBe(false);
  });
}
