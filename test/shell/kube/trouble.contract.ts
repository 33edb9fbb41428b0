import { expect, it } from "vitest";
import type { Inventory, InventoryEntry } from "../../../src/core/model/inventory.ts";
import { type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { ObjectKey } from "../../../src/core/model/manifest.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { readInventory, writeInventory } from "../../../src/shell/kube/inventory/inventory.ts";
import type { MemberAddress } from "../../../src/shell/reconcile/ports.ts";
import { eventually } from "../../kubernetes/eventually.ts";
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

/** The half of the contract in which somebody dies, may not, or interferes. */
export function troubleCases(stage: () => Stage): void {
  it("goes on after a crash between claim and write", async () => {
    const settings = configMap("crash/a", { a: "1" });
    await stage().act({ placement: "crash", apply: [namespace("crash"), settings] });
    await rewrite(stage(), "crash", (it) => ({ ...it, uid: null, fingerprint: null, outcome: { kind: "claimed" } }));
    bodyOf(await stage().client.request({ method: "DELETE", path: core("crash", "configmaps", "a") }));
    expect(outcomesOf(await stage().see(), "crash")).toEqual([
      "ConfigMap crash/a: claimed",
      "Namespace crash: claimed",
    ]);
    const apply = [namespace("crash"), settings];
    expect(await stage().act({ placement: "crash", apply })).toEqual(receipt({ created: 1 }));
    const seen = await stage().see();
    expect(outcomesOf(seen, "crash")).toEqual(["ConfigMap crash/a: applied", "Namespace crash: applied"]);
    for (const [key, { uid }] of entriesOf(seen, "crash")) expect(seen.objects.get(key)?.uid).toBe(uid);
  });

  it("knows its own after a crash between write and result, even when told never to take over", async () => {
    const settings = configMap("own/a", { a: "1" });
    await stage().act({ placement: "own", apply: [namespace("own"), settings] });
    await rewrite(stage(), "own", (it) => ({ ...it, uid: null, fingerprint: null, outcome: { kind: "claimed" } }));
    const strategy = { whenToTakeOver: "Never" } as const;
    const apply = [namespace("own"), settings];
    expect(await stage().act({ placement: "own", sequence: 2, strategy, apply })).toEqual(receipt({ configured: 2 }));
    expect([...entriesOf(await stage().see(), "own").values()].map(({ adopted }) => adopted)).toEqual([false, false]);
  });

  it("finds out the uid of a claim before it deletes, in a later pass (D 7)", async () => {
    const settings = configMap("late/a", { a: "1" });
    await stage().act({ placement: "late", apply: [namespace("late"), settings] });
    await rewrite(stage(), "late", (it) => ({ ...it, uid: null, outcome: { kind: "claimed" } }));
    const first = departure(await stage().see(), "late", settings);
    expect(first.uid).toBeNull();
    expect(await stage().act({ placement: "late", sequence: 2, remove: [first] })).toEqual(receipt({}));
    const second = departure(await stage().see(), "late", settings);
    expect(second.uid).not.toBeNull();
    expect(await stage().act({ placement: "late", sequence: 2, remove: [second] })).toEqual(receipt({ deleted: 1 }));
  });

  it("forgets a claim in a namespace that it deletes only once nothing can be created there", async () => {
    const [space, settings] = [namespace("coming"), configMap("coming/a", { a: "1" })];
    await stage().act({ placement: "coming", apply: [space, settings] });
    await rewrite(stage(), "coming", (it, key) =>
      key === rendered(settings).key ? { ...it, uid: null, outcome: { kind: "claimed" } } : it,
    );
    bodyOf(await stage().client.request({ method: "DELETE", path: core("coming", "configmaps", "a") }));
    const removeAll = async (): Promise<readonly string[]> => {
      const before = await stage().see();
      const listed = [space, settings].filter((it) => entriesOf(before, "coming").has(rendered(it).key));
      const remove = listed.map((it) => departure(before, "coming", it));
      await stage().act({ placement: "coming", sequence: 2, remove });
      return outcomesOf(await stage().see(), "coming");
    };
    expect(await removeAll()).toContain("ConfigMap coming/a: claimed");
    expect((await removeAll()).filter((it) => it.startsWith("ConfigMap"))).toEqual([]);
    const after = await get(stage().client, "/api/v1/namespaces/coming");
    expect(after.kind === "refused" || memberAt(after.body, "metadata", "deletionTimestamp") !== null).toBe(true);
  });

  it("still sees an object whose label somebody took off", async () => {
    const settings = configMap("bare/a", { a: "1" });
    await stage().act({ placement: "bare", apply: [namespace("bare"), settings] });
    const labels = { "flotilla.dev/placement": null };
    bodyOf(await merge(stage().client, core("bare", "configmaps", "a"), { metadata: { labels } }));
    const seen = await stage().see();
    const { key } = rendered(settings);
    expect(seen.objects.get(key)?.uid).toBe(entriesOf(seen, "bare").get(key)?.uid);
    expect(seen.objects.get(key)?.fingerprint).not.toBe(entriesOf(seen, "bare").get(key)?.fingerprint);
  });

  it("touches nothing while the inventory cannot be understood", async () => {
    const path = core("flotilla-system", "configmaps", "flotilla-inventory-0");
    const { data } = bodyOf(await get(stage().client, path)) as { data: JsonObject };
    bodyOf(await merge(stage().client, path, { data: { broken: "not an inventory" } }));
    expect(await stage().look()).toMatchObject({ kind: "unreachable", code: "Unintelligible" });
    const { interrupted } = await stage().act({ placement: "broken", apply: [namespace("broken")] });
    expect(interrupted).toContain("cannot be read");
    expect(await get(stage().client, "/api/v1/namespaces/broken")).toMatchObject({ status: 404 });
    bodyOf(await merge(stage().client, path, { data: { ...data, broken: null } }));
    expect((await stage().look()).kind).toBe("reached");
  });

  it("spreads an inventory that outgrows one ConfigMap, and takes it together again", async () => {
    const stored = await readInventory(stage().client);
    if (stored.kind === "refused") throw new Error(stored.message);
    const large = withPlacement(stored.inventory, "large", 5_000);
    const grown = await writeInventory(stage().client, stored, large);
    if (grown.kind !== "written") throw new Error(grown.kind);
    expect(grown.stored.shards.size).toBeGreaterThan(1);
    const read = await readInventory(stage().client);
    if (read.kind === "refused") throw new Error(read.message);
    expect(read.inventory).toEqual(large);
    const shrunk = await writeInventory(stage().client, read, stored.inventory);
    if (shrunk.kind !== "written") throw new Error(shrunk.kind);
    expect((await stage().see()).inventory).toEqual(stored.inventory);
    const late = withPlacement(stored.inventory, "late-comer", 1);
    expect(await writeInventory(stage().client, read, late)).toEqual({ kind: "conflict" });
  });

  it("says who cannot be reached, and why", async () => {
    const { fleet, cluster } = stage();
    const observe = (context: string) => fleet.observe({ name: "m1", context } as MemberAddress);
    expect(await observe("nobody")).toMatchObject({ kind: "unreachable", code: "NoConnection" });
    if (cluster.contexts.dead !== null) {
      expect(await observe(cluster.contexts.dead)).toMatchObject({ kind: "unreachable", code: "Unreachable" });
    }
    if (cluster.contexts.stranger !== null) {
      expect(await observe(cluster.contexts.stranger)).toMatchObject({ kind: "unreachable", code: "Unauthorized" });
    }
  });

  it("takes a kind that it may not list for unlisted, and goes on with the others (F-47)", async ({ skip }) => {
    const { limited } = stage().cluster.contexts;
    if (limited === null) return skip();
    const fleet = await stage().open();
    const address = { name: "m1", context: limited } as MemberAddress;
    expect(await stage().look(address, fleet)).toMatchObject({ kind: "unreachable", code: "Forbidden" });
    await allow(stage(), "limited", { namespaces: ["get"], configmaps: ["*"] });
    const asking = { ...address, namespaces: new Set(["rbac"]) };
    const namespacesSeen = async (kind: "listed" | "missing"): Promise<unknown> =>
      eventually(`its namespaces are ${kind}`, async () => {
        const told = await fleet.observe(asking);
        return told.kind === "reached" && told.namespaces?.kind === kind ? told.namespaces : null;
      });
    expect(await namespacesSeen("missing")).toMatchObject({ missing: { source: "namespaces", code: "Forbidden" } });
    await allow(stage(), "limited", { namespaces: ["*"] }, "limited-more");
    await namespacesSeen("listed");
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", namespace: "rbac" },
      data: { p: "czNjcjN0" },
    };
    const apply = [namespace("rbac"), configMap("rbac/a", {}), secret];
    await stage().act({ placement: "rbac", apply });

    const seen = await stage().look(address, fleet);
    if (seen.kind === "unreachable") throw new Error(seen.message);
    expect([...seen.unlisted]).toContain("/Secret");
    expect(seen.unlisted.has("/ConfigMap")).toBe(false);
    expect(seen.objects.has(rendered(configMap("rbac/a", {})).key)).toBe(true);

    const doing = [{ placement: "rbac", sequence: 2, apply: [configMap("rbac/b", {}), secret] }];
    const done = await fleet.act(address, actionsOf(stage().uid, doing));
    expect(done).toEqual(receipt({ created: 1, failed: 1 }));
    const entry = entriesOf(await stage().see(), "rbac").get(rendered(secret).key);
    expect(entry?.outcome).toMatchObject({ code: "ManifestApplyFailed", message: "the member refused it: Forbidden" });
    expect(entry?.uid).not.toBeNull();
    await fleet.close();
  });
}

/** Puts a placement's entries back to what a crash would have left of them. */
async function rewrite(
  stage: Stage,
  placement: string,
  edit: (entry: InventoryEntry, object: ObjectKey) => InventoryEntry,
): Promise<void> {
  const stored = await readInventory(stage.client);
  if (stored.kind === "refused") throw new Error(stored.message);
  const key = placement as PlacementKey;
  const before = stored.inventory.placements.get(key);
  if (before === undefined) throw new Error(`no placement ${placement}`);
  const entries = new Map([...before.entries].map(([object, entry]) => [object, edit(entry, object)]));
  const placements = new Map([...stored.inventory.placements, [key, { ...before, entries }]]);
  const written = await writeInventory(stage.client, stored, { ...stored.inventory, placements });
  expect(written.kind).toBe("written");
}

function withPlacement(inventory: Inventory, placement: string, objects: number): Inventory {
  const entries = Array.from({ length: objects }, (_, at) => {
    const { key, digest } = rendered(configMap(`large/object-${at}`, {}));
    const entry = { version: "v1", digest, uid: null, adopted: false, sequence: 1, fingerprint: null } as const;
    return [key, { ...entry, outcome: { kind: "claimed" } }] as unknown as [typeof key, InventoryEntry];
  });
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  const { digest } = rendered(namespace("large"));
  const added = { sequence: 1, digest, entries: new Map(entries) };
  const all = [...inventory.placements, [placement, added]] as [PlacementKey, typeof added][];
  return { ...inventory, placements: new Map(all) } as unknown as Inventory;
}

/** Grants these verbs on core kinds, everywhere. */
async function allow(
  { client }: Stage,
  user: string,
  verbs: Readonly<Record<string, readonly string[]>>,
  name = user,
): Promise<void> {
  const rules = Object.entries(verbs).map(([kind, allowed]) => ({
    apiGroups: [""],
    resources: [kind],
    verbs: [...allowed],
  }));
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name };
  bodyOf(await post(client, `${rbac}/clusterroles`, { apiVersion, kind: "ClusterRole", metadata, rules }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
  const binding = { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects };
  const made = bodyOf(await post(client, `${rbac}/clusterrolebindings`, binding));
  expect(memberAt(made, "metadata", "name")).toBe(name);
}
