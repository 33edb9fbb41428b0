import { setMaxListeners } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimedEntry, type WriteTask } from "../../../src/core/apply/inventory-entry.ts";
import type { TakeoverDecision } from "../../../src/core/apply/takeover.ts";
import type { InventoryEntry } from "../../../src/core/model/inventory.ts";
import { type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { ObjectKey } from "../../../src/core/model/manifest.ts";
import type { PlacementActions } from "../../../src/core/model/plan.ts";
import type { PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { type ApplyContext, trackContact } from "../../../src/shell/kube/apply/apply-context.ts";
import { applyAll } from "../../../src/shell/kube/apply/apply-objects.ts";
import { lookUpObject } from "../../../src/shell/kube/apply/lookup.ts";
import { namespaceContents } from "../../../src/shell/kube/apply/namespace-contents.ts";
import { removeAll } from "../../../src/shell/kube/apply/remove-objects.ts";
import { type Discovery, newDiscovery } from "../../../src/shell/kube/client/discovery.ts";
import { httpNetwork, type Network } from "../../../src/shell/kube/client/transport.ts";
import { kubeFleet } from "../../../src/shell/kube/fleet.ts";
import { readInventory, writeInventory } from "../../../src/shell/kube/inventory/inventory.ts";
import type { Receipt } from "../../../src/shell/reconcile/ports.ts";
import { clientSide } from "../../strategy.ts";
import {
  actionsOf,
  bodyOf,
  clock,
  configMap,
  core,
  type Doing,
  departure,
  doing,
  entriesOf,
  get,
  merge,
  namespace,
  noon,
  othersOf,
  outcomesOf,
  post,
  receipt,
  rendered,
  type Stage,
  stageOn,
} from "./member-world.ts";
import { type Simulated, startSimulated } from "./simulated.ts";

// What the contract cannot arrange on a real server: answers that get lost, and others who are faster.

let simulated: Simulated;
let stage: Stage;
beforeAll(async () => {
  simulated = await startSimulated();
  stage = await stageOn(simulated);
});
afterAll(async () => {
  stage.client.close();
  await stage.fleet.close();
  await simulated.close();
});

const uidOf = (object: JsonObject): string => String(memberAt(object, "metadata", "uid"));
const configMapsIn = (space: string): string => `/api/v1/namespaces/${space}/configmaps`;

/** What is to be made: nothing stands there, as far as we saw. */
const creation = { kind: "write", uid: null, adopted: false, live: null } as const;

/** One object on its way, as a placement of its own would write it. */
function writeOf(manifest: JsonObject, takeover: TakeoverDecision): WriteTask {
  const action: PlacementActions = doing({ placement: "lone", apply: [manifest] });
  const item = rendered(manifest);
  return { id: item.id, action, item, before: null, takeover };
}

const sceneOf = (kinds: Discovery = newDiscovery()): ApplyContext => ({
  client: stage.client,
  recorder: stage.client,
  discovery: kinds,
  actions: actionsOf(stage.uid, []),
  now: noon,
  asOf: "0",
  contact: trackContact(),
});

async function entryAfter(write: WriteTask): Promise<InventoryEntry | null> {
  const results = await applyAll(sceneOf(), [write]);
  return results.get(write)?.entry ?? null;
}

describe("what existed before is never taken for ours", () => {
  const theirs = async (space: string): Promise<JsonObject> => {
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace(space)));
    return bodyOf(await post(stage.client, configMapsIn(space), configMap(`${space}/a`, { a: "theirs" })));
  };

  it("when somebody else creates it between our look and our write", async () => {
    await theirs("faster");
    const write = writeOf(configMap("faster/a", { a: "1" }), creation);
    const never: PlacementActions = { ...write.action, applyStrategy: { ...clientSide, whenToTakeOver: "Never" } };
    const untouched = { uid: null, adopted: false };
    // Taken over here, it would count as ours to delete were we cut short before it is written down as theirs.
    expect(await entryAfter(write)).toMatchObject({ ...untouched, outcome: { code: "FailedToTakeOver" } });
    const left = { ...untouched, outcome: { code: "NotTakenOver" } };
    expect(await entryAfter({ ...write, action: never })).toMatchObject(left);
    expect(bodyOf(await get(stage.client, core("faster", "configmaps", "a")))["data"]).toEqual({ a: "theirs" });
    await stage.act({ placement: "lone", apply: [configMap("faster/a", { a: "1" })] });
    const [entry] = entriesOf(await stage.see(), "lone").values();
    expect(entry).toMatchObject({ adopted: true, outcome: { kind: "applied" } });
  });

  it("but ours is, when the answer to its creation was lost (F-36)", async () => {
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace("unheard")));
    const write = writeOf(configMap("unheard/a", { a: "1" }), creation);
    const first = await entryAfter(write);
    expect(first).toMatchObject({ adopted: false, outcome: { kind: "applied" } });
    expect(await entryAfter(write)).toEqual(first);
  });

  it("and what is made anew is ours whatever becomes of the answer; what cannot be looked at keeps what was known", async () => {
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace("anew")));
    const write = writeOf(configMap("anew/a", { a: "1" }), creation);
    const before = { ...claimedEntry({ now: noon }, write), uid: "gone", sequence: 1 as Sequence };
    const control = simulated.server.cluster("admin");
    control.control({ faults: { failWith: 504, retryAfterSeconds: 0 } });
    const made = await entryAfter({ ...write, before });
    control.control({ faults: { failWith: null, retryAfterSeconds: null } });
    expect(made).toMatchObject({ uid: null, adopted: false, outcome: { kind: "failed" } });
    const unseen = { kind: "leave", failure: { code: "FailedToFindObjInMemberCluster", message: "" } } as const;
    const known = { ...before, uid: null, adopted: true };
    const left = claimedEntry({ now: noon }, { ...write, before: known, takeover: unseen });
    expect(left).toMatchObject({ uid: null, adopted: true, sequence: 1 });
  });

  it("when the answer to the write that takes it over is lost", async () => {
    const live = await theirs("lost");
    const takeOver = { kind: "write", uid: uidOf(live), adopted: true, live } as const;
    const write = writeOf(configMap("lost/a", { a: "1" }), takeOver);
    simulated.server.cluster("admin").control({ faults: { failWith: 504, retryAfterSeconds: 0 } });
    const entry = await entryAfter(write);
    simulated.server.cluster("admin").control({ faults: { failWith: null, retryAfterSeconds: null } });
    expect(entry).toMatchObject({ uid: null, adopted: true, outcome: { kind: "failed" } });
  });

  it("from the claim on, when it may be taken only if it differs in nothing", async () => {
    const live = await theirs("same");
    const way = { kind: "compare", uid: uidOf(live), live } as const;
    const write = writeOf(configMap("same/a", { a: "theirs" }), way);
    expect(claimedEntry({ now: noon }, write)).toMatchObject({ uid: null, adopted: true });
    // Once it is known to differ, it was not taken.
    const different = { ...write, item: rendered(configMap("same/a", { a: "1" })) };
    expect(await entryAfter(different)).toMatchObject({ adopted: false, outcome: { code: "FailedToTakeOver" } });
  });

  it("when the inventory has lost its entry, although our mark is on it", async () => {
    const settings = configMap("amnesia/a", { a: "1" });
    await stage.act({ placement: "amnesia", apply: [namespace("amnesia"), settings] });
    const stored = await readInventory(stage.client);
    if (stored.kind === "refused") throw new Error(stored.message);
    const placements = new Map(stored.inventory.placements);
    placements.delete("amnesia" as PlacementKey);
    expect((await writeInventory(stage.client, stored, { ...stored.inventory, placements })).kind).toBe("written");
    await stage.act({ placement: "amnesia", apply: [settings] });
    expect(entriesOf(await stage.see(), "amnesia").get(rendered(settings).key)?.adopted).toBe(true);
  });
});

describe("a member that became another cluster after it was looked at", () => {
  it("is asked who it is once more, and gets nothing written", async () => {
    const own = await startSimulated();
    const { act, see, fleet, client } = await stageOn(own);
    const cluster = own.server.cluster("admin");
    const seen = await see();
    cluster.control({ reset: true, resetCounters: true });
    const before = cluster.all();
    const { interrupted, ...counts } = await act({ placement: "swap", apply: [namespace("swap")] });
    expect(interrupted).toBe(`it is another cluster now (kube-system ${cluster.uid}, not ${seen.clusterUid})`);
    expect({ ...counts, interrupted: null }).toEqual(receipt({}));
    expect(cluster.counters.mutating).toBe(0);
    expect(cluster.all()).toEqual(before);
    client.close();
    await fleet.close();
    await own.close();
  });
});

describe("an executor that froze after its claim", () => {
  it("deletes and releases nothing that a later decision has written since", async () => {
    const settings = configMap("frozen/a", { a: "1" });
    const { key } = rendered(settings);
    const apply = [namespace("frozen"), settings];
    await stage.act({ placement: "frozen", sequence: 1, apply });
    const seen = await stage.see();
    // The later decision wrote the object; its claim is taken back, as if ours had been made before it.
    const annotations = { "flotilla.dev/write": "test-fleet/1/9" };
    bodyOf(await merge(stage.client, core("frozen", "configmaps", "a"), { metadata: { annotations } }));
    const late = departure(seen, "frozen", settings);
    expect(await stage.act({ placement: "frozen", sequence: 2, remove: [late] })).toEqual(receipt({ failed: 1 }));
    expect(entriesOf(await stage.see(), "frozen").get(key)?.outcome).toMatchObject({ code: "DeletionRefused" });
    await stage.act({ placement: "frozen", sequence: 2, remove: [{ ...late, how: "release" }] });
    const left = bodyOf(await get(stage.client, core("frozen", "configmaps", "a")));
    expect(memberAt(left, "metadata", "annotations", "flotilla.dev/write")).toBe("test-fleet/1/9");
  });
});

describe("an executor that froze before its claim", () => {
  it("claims no part of what somebody deleted from the inventory by then (F-43)", async () => {
    const [first, second] = [configMap("partly/a", { a: "1" }), configMap("partly/b", { b: "1" })];
    const more: Doing = { placement: "partly", sequence: 2, apply: [second] };
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace("partly")));
    await stage.act({ placement: "partly", apply: [first] });
    const listed = await readInventory(stage.client);
    if (listed.kind === "refused") throw new Error(listed.message);
    const placements = new Map([...listed.inventory.placements].filter(([key]) => key !== "partly"));
    await writeInventory(stage.client, listed, { ...listed.inventory, placements });
    const late = await stage.act({ ...more, isListed: true });
    const why = "the inventory no longer lists placement partly";
    expect(late).toEqual(receipt({ interrupted: why }));
    // Another one comes too late for another reason.
    await stage.act({ placement: "newer", sequence: 5, apply: [configMap("partly/newer", {})] });
    expect(await stage.act({ ...more, isListed: true }, { placement: "newer", sequence: 4 })).toEqual(
      receipt({ interrupted: `${why}; superseded by a later action for placement newer` }),
    );
    expect([...entriesOf(await stage.see(), "partly")]).toEqual([]);
    await stage.act({ ...more, apply: [first, second] });
    expect([...entriesOf(await stage.see(), "partly").keys()]).toEqual([first, second].map((it) => rendered(it).key));
  });

  it("does not write again what is being deleted by then (I-14)", async () => {
    const settings = configMap("going/a", { a: "1" });
    const path = core("going", "configmaps", "a");
    const wanted: Doing = { placement: "going", apply: [namespace("going"), settings] };
    await stage.act(wanted);
    bodyOf(await merge(stage.client, path, { metadata: { finalizers: ["example.com/keep"] } }));
    bodyOf(await stage.client.request({ method: "DELETE", path }));
    const before = bodyOf(await get(stage.client, path));
    expect(await stage.act(wanted)).toEqual(receipt({}));
    expect(bodyOf(await get(stage.client, path))).toEqual(before);
    const known = { uid: uidOf(before), adopted: false, outcome: { kind: "claimed" } };
    expect(entriesOf(await stage.see(), "going").get(rendered(settings).key)).toMatchObject(known);
    bodyOf(await merge(stage.client, path, { metadata: { finalizers: null } }));
    // The first one finds it gone, and the second makes it anew.
    for (let turn = 0; turn < 2; turn++) await stage.act(wanted);
    expect(outcomesOf(await stage.see(), "going")).toContain("ConfigMap going/a: applied");
  });
});

describe("what two processes make that carry out the same decision", () => {
  const settings = (space: string, name = "a"): JsonObject => configMap(`${space}/${name}`, { a: "1" });
  const pathIn = (space: string): string => core(space, "configmaps", "a");
  const keyIn = (space: string): ObjectKey => rendered(settings(space)).key;

  /** Another process, through a network of its own. */
  async function acting(exchange: Network["exchange"], ...doings: readonly Doing[]): Promise<Receipt> {
    const fleet = await kubeFleet({ kubeconfig: simulated.kubeconfig, clock, network: { ...httpNetwork, exchange } });
    const ended = await fleet.act(stage.admin, actionsOf(stage.uid, doings));
    await fleet.close();
    return ended;
  }

  /** Our process, at whose side something happens before or after it makes the ConfigMap. */
  async function beside(when: "before" | "after", doings: Doing, happens: () => Promise<void>): Promise<void> {
    let isOver = false;
    const ours = await acting(async (outgoing) => {
      const isDue = !isOver && outgoing.method === "PATCH" && outgoing.url.pathname.endsWith("/configmaps/a");
      if (isDue) isOver = true;
      if (isDue && when === "before") await happens();
      const answer = await httpNetwork.exchange(outgoing);
      if (isDue && when === "after") await happens();
      return answer;
    }, doings);
    expect(isOver).toBe(true);
    expect(ours.interrupted).toBeNull();
  }

  /** Another process that claims, and dies before it writes anything. */
  async function theyClaim(doings: Doing): Promise<void> {
    let isDead = false;
    const ended = await acting(async (outgoing) => {
      isDead ||= outgoing.method === "PATCH";
      if (isDead) throw new Error("it is dead");
      return httpNetwork.exchange(outgoing);
    }, doings);
    expect(ended.interrupted).not.toBeNull();
  }

  const remove = async (path: string): Promise<void> => {
    bodyOf(await stage.client.request({ method: "DELETE", path }));
  };
  const wanted = (space: string): Doing => ({ placement: space, apply: [settings(space)] });
  const theyMakeIt = async (space: string): Promise<void> => {
    await stage.act(wanted(space));
  };

  const stories = [
    {
      name: "what others deleted once we had made it, and the other process made anew",
      space: "anew-by-them",
      story: (space: string) =>
        beside("after", wanted(space), async () => {
          await remove(pathIn(space));
          await theyMakeIt(space);
        }),
    },
    {
      name: "what the other process made, others deleted, and we made anew",
      space: "anew-by-us",
      story: (space: string) =>
        beside("before", wanted(space), async () => {
          await theyMakeIt(space);
          await remove(pathIn(space));
        }),
    },
  ];

  it.each(stories)("stands in the inventory as made by us: $name", async ({ space, story }) => {
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace(space)));
    await story(space);
    const uid = uidOf(bodyOf(await get(stage.client, pathIn(space))));
    const made = { uid, adopted: false, outcome: { kind: "applied" } };
    expect(entriesOf(await stage.see(), space).get(keyIn(space))).toMatchObject(made);
  });

  it("stands there as claimed, while the other process is about to make anew what is gone", async () => {
    const space = "anew-by-nobody";
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace(space)));
    await beside("after", wanted(space), async () => {
      await remove(pathIn(space));
      await theyClaim({ placement: space, apply: [settings(space), settings(space, "b")] });
    });
    const claimed = { uid: null, adopted: false, outcome: { kind: "claimed" } };
    expect(entriesOf(await stage.see(), space).get(keyIn(space))).toMatchObject(claimed);
    await theyMakeIt(space);
    const uid = uidOf(bodyOf(await get(stage.client, pathIn(space))));
    expect(entriesOf(await stage.see(), space).get(keyIn(space))).toMatchObject({ uid, adopted: false });
  });

  it("stands there as claimed as well where we had left it to another placement, which hands it over by now", async () => {
    const space = "left-to-another";
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace(space)));
    const object = settings(space, "b");
    await stage.act({ placement: "another", apply: [object] });
    const both: Doing = { placement: space, apply: [settings(space), object] };
    await beside("after", both, async () => {
      await remove(core(space, "configmaps", "b"));
      await theyClaim({ placement: space, apply: [object], from: ["another", 1] });
    });
    const claimed = { uid: null, adopted: false, outcome: { kind: "claimed" } };
    expect(entriesOf(await stage.see(), space).get(rendered(object).key)).toMatchObject(claimed);
  });
});

describe("what nobody expected", () => {
  it("is the trouble of one object; the others are written and recorded, and no message quotes it", async () => {
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace("odd")));
    const odd = writeOf(configMap("odd/a", { a: "1" }), creation);
    const data = Object.defineProperty({}, "password", {
      enumerable: true,
      get: () => {
        throw new TypeError("cannot read hunter2");
      },
    });
    const item = { ...odd.item, manifest: { ...odd.item.manifest, data } };
    const even = writeOf(configMap("odd/b", { b: "1" }), creation);
    const results = await applyAll(sceneOf(), [{ ...odd, item }, even]);
    const outcomes = [...results.values()].map(({ entry }) => entry?.outcome);
    const message = "internal error in Flotilla: TypeError";
    expect(outcomes).toMatchObject([{ kind: "failed", code: "ManifestApplyFailed", message }, { kind: "applied" }]);
  });
});

describe("deleting", () => {
  it("asks first for a definition of which others have something, and for whatever goes with it not at all", async () => {
    const group = "company.example";
    const plan = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: plan,
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    const thing = (name: string): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name, namespace: "company" },
    });
    await stage.act({ placement: "company", apply: [namespace("company"), definition, thing("ours")] });
    const things = `/apis/${group}/v1/namespaces/company/things`;
    bodyOf(await post(stage.client, things, thing("theirs")));
    const seen = await stage.see();
    const remove = [thing("ours"), definition].map((it) => departure(seen, "company", it));
    const kept = await stage.act({ placement: "company", sequence: 2, remove });
    expect(kept).toEqual(receipt({ deleted: 1, failed: 1 }));
    expect(entriesOf(await stage.see(), "company").get(rendered(definition).key)?.outcome).toEqual({
      kind: "lingering",
      code: "NamespaceNotEmpty",
      message: "it holds what is not ours to delete: Thing.company.example company/theirs",
      others: {
        count: 1,
        objects: [{ group, kind: "Thing", namespace: "company", name: "theirs", uid: expect.any(String) }],
      },
    });
    const cascadesTo = othersOf(await stage.see(), "company", definition);
    const confirmed = departure(await stage.see(), "company", definition, { cascadesTo });
    expect(await stage.act({ placement: "company", sequence: 2, remove: [confirmed] })).toMatchObject({ deleted: 1 });
  });

  it("leaves alone, and in the inventory, what lost our label", async () => {
    const settings = configMap("label/a", { a: "1" });
    await stage.act({ placement: "label", apply: [namespace("label"), settings] });
    const labels = { "flotilla.dev/placement": null };
    bodyOf(await merge(stage.client, core("label", "configmaps", "a"), { metadata: { labels } }));
    const remove = [departure(await stage.see(), "label", settings)];
    expect(await stage.act({ placement: "label", sequence: 2, remove })).toEqual(receipt({ failed: 1 }));
    expect(outcomesOf(await stage.see(), "label")).toContain("ConfigMap label/a: lingering DeletionRefused");
  });

  it("takes a path that is not served for no proof that an object is gone", async () => {
    const kind = { group: "apps", version: "v1beta9", kind: "Deployment", plural: "deployments" };
    const resource = { ...kind, namespaced: true, verbs: ["list"] };
    const id = { group: "apps", kind: "Deployment", namespace: "default", name: "web" };
    expect((await lookUpObject(stage.client, resource, id)).kind).toBe("unknown");
    expect((await lookUpObject(stage.client, { ...resource, version: "v1" }, id)).kind).toBe("absent");
  });

  it("nor for one that it let go", async () => {
    const settings = configMap("unserved/a", { a: "1" });
    await stage.act({ placement: "unserved", apply: [namespace("unserved"), settings] });
    const seen = await stage.see();
    const entry = entriesOf(seen, "unserved").get(rendered(settings).key);
    if (entry === undefined) throw new Error("it was not placed");
    // Discovery is older than the member: the kind moved to another version since.
    const old = { group: "", version: "v0", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs: [] };
    const served = async () => ({ resources: [old], uncertainGroups: new Set<string>() });
    const action = doing({ placement: "unserved", sequence: 2, leaves: true });
    const away = departure(seen, "unserved", settings, { how: "release" });
    const removal = { id: away.id, action, item: away, entry };
    const left = await removeAll(sceneOf({ served, refresh: served }), [removal]);
    expect(left.get(removal)).toMatchObject({ effect: "failed", entry: { uid: entry.uid } });
  });
});

describe("a namespace", () => {
  const owner = (kind: string, name: string, uid: string): JsonObject => ({ apiVersion: "v1", kind, name, uid });

  /** Asks with controllers that stand still, so that nothing is collected before it is looked at. */
  async function contents(space: string, owners: readonly JsonObject[], going: readonly string[]): Promise<unknown> {
    const cluster = simulated.server.cluster("admin");
    bodyOf(await post(stage.client, "/api/v1/namespaces", namespace(space)));
    cluster.control({ faults: { frozen: true } });
    const child = configMap(`${space}/child`, {});
    const metadata = { ...(child["metadata"] as JsonObject), ownerReferences: owners };
    bodyOf(await post(stage.client, configMapsIn(space), { ...child, metadata }));
    const found = await namespaceContents({ client: stage.client, discovery: newDiscovery() }, space, new Set(going));
    cluster.control({ faults: { frozen: false } });
    return found;
  }

  const cases: { name: string; owners: readonly JsonObject[]; going: readonly string[]; want: string }[] = [
    { name: "owned by what goes", owners: [owner("Service", "s", "1")], going: ["1"], want: "empty" },
    { name: "whose owner went a moment ago", owners: [owner("Service", "s", "1")], going: [], want: "empty" },
    { name: "owned by something of the cluster", owners: [owner("Node", "n", "1")], going: [], want: "holds" },
    {
      name: "owned by something of the cluster too",
      owners: [owner("Service", "s", "1"), owner("Node", "n", "2")],
      going: ["1"],
      want: "holds",
    },
    { name: "owned by nobody", owners: [], going: ["1"], want: "holds" },
  ];
  for (const [at, { name, owners, going, want }] of cases.entries()) {
    it(`${want === "empty" ? "may go with" : "stays for"} an object ${name}`, async () => {
      expect(await contents(`space-${at}`, owners, going)).toMatchObject({ kind: want });
    });
  }
});

describe("what looks like Kubernetes' own in a namespace", () => {
  const named = (name: string, more: JsonObject = {}): JsonObject => ({ name, namespace: "looks", ...more });
  const account = { annotations: { "kubernetes.io/service-account.name": "default" } };
  const endpoints = { apiVersion: "v1", kind: "Endpoints", metadata: named("web", { labels: { app: "web" } }) };
  const slice = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: named("web"),
    addressType: "IPv4",
    endpoints: [],
  };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: named("mine", account) };
  const token = { apiVersion: "v1", kind: "Secret", metadata: named("default-token-x7k2p", account) };
  const cases: readonly (readonly [name: string, path: string, object: JsonObject, manager: string, want: string])[] = [
    ["endpoints that somebody wrote", "/api/v1/namespaces/looks/endpoints", endpoints, "somebody", "holds"],
    [
      "endpoints of the controller",
      "/api/v1/namespaces/looks/endpoints",
      endpoints,
      "kube-controller-manager",
      "empty",
    ],
    [
      "a slice that somebody wrote",
      "/apis/discovery.k8s.io/v1/namespaces/looks/endpointslices",
      slice,
      "somebody",
      "holds",
    ],
    [
      "a slice of the controller",
      "/apis/discovery.k8s.io/v1/namespaces/looks/endpointslices",
      slice,
      "kube-controller-manager",
      "empty",
    ],
    ["a token that somebody asked for", "/api/v1/namespaces/looks/secrets", secret, "somebody", "holds"],
    ["the token of old versions", "/api/v1/namespaces/looks/secrets", token, "kube-controller-manager", "empty"],
  ];
  it.each(cases)("%s (D 4)", async (_, path, object, manager, want) => {
    await post(stage.client, "/api/v1/namespaces", namespace("looks"));
    const query = { fieldManager: manager };
    bodyOf(await stage.client.request({ method: "POST", path, query, body: object }));
    const found = await namespaceContents({ client: stage.client, discovery: newDiscovery() }, "looks", new Set());
    const at = `${path}/${String(memberAt(object, "metadata", "name"))}`;
    bodyOf(await stage.client.request({ method: "DELETE", path: at }));
    expect(found).toMatchObject({ kind: want });
  });
});

describe("one object under two keys", () => {
  const older = "extensions/ConfigMap/twin/a" as ObjectKey;
  const settings = configMap("twin/a", { a: "1" });

  /** What was placed when its kind was in another group. */
  async function placed(): Promise<void> {
    await stage.act({ placement: "twin", apply: [namespace("twin"), settings] });
    const stored = await readInventory(stage.client);
    if (stored.kind === "refused") throw new Error(stored.message);
    const placement = "twin" as PlacementKey;
    const carried = stored.inventory.placements.get(placement);
    const entry = carried?.entries.get(rendered(settings).key);
    if (carried === undefined || entry === undefined) throw new Error("it was not placed");
    const entries = new Map([...carried.entries].filter(([key]) => key !== rendered(settings).key));
    const placements = new Map(stored.inventory.placements).set(placement, {
      ...carried,
      entries: entries.set(older, entry),
    });
    await writeInventory(stage.client, stored, { ...stored.inventory, placements });
  }

  it("stays ours when its API group changes, and is not deleted under the one that goes (A-42, D 9)", async () => {
    await placed();
    const strategy = { whenToTakeOver: "Never" } as const;
    await stage.act({ placement: "twin", sequence: 5, strategy, apply: [settings] });
    const seen = await stage.see();
    const now = entriesOf(seen, "twin").get(rendered(settings).key);
    expect(now).toMatchObject({ adopted: false, outcome: { kind: "applied" } });
    const away = { ...departure(seen, "twin", settings), key: older };
    const left = await stage.act({ placement: "twin", sequence: 5, remove: [away] });
    expect(left).toMatchObject({ deleted: 0, failed: 0 });
    expect((await get(stage.client, core("twin", "configmaps", "a"))).kind).toBe("done");
    expect([...entriesOf(await stage.see(), "twin").keys()]).not.toContain(older);
  });
});

describe("an action that runs out of time", () => {
  it("still writes down what it did, so that the next one goes on from there", async () => {
    const actDeadlineMs = 300_000;
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    let written = 0;
    // Its time is over once a few are written.
    const network: Network = {
      ...httpNetwork,
      deadline: (ms) => (ms === actDeadlineMs ? over.signal : httpNetwork.deadline(ms)),
      exchange: async (outgoing) => {
        const answer = await httpNetwork.exchange(outgoing);
        if (outgoing.method === "PATCH" && outgoing.url.pathname.includes("/slow/configmaps/")) written += 1;
        if (written === 20) over.abort();
        return answer;
      },
    };
    const fleet = await kubeFleet({ kubeconfig: simulated.kubeconfig, clock, actDeadlineMs, network });
    const settings = Array.from({ length: 400 }, (_, at) => configMap(`slow/c-${at}`, { at: String(at) }));
    const actions = actionsOf(stage.uid, [{ placement: "slow", apply: [namespace("slow"), ...settings] }]);
    const { interrupted, created, failed } = await fleet.act(stage.admin, actions);
    expect(interrupted).toBe("timed out");
    expect(created).toBeGreaterThanOrEqual(20);
    expect(created + failed).toBe(401);
    const applied = outcomesOf(await stage.see(), "slow").filter((it) => it.endsWith(": applied"));
    expect(applied.length).toBe(created);
    await fleet.close();
  });
});

describe("a kubeconfig that breaks while we run", () => {
  it("is said to be what is wrong, and is read again once it is mended (F-54)", async () => {
    const text = await readFile(simulated.kubeconfig, "utf8");
    expect((await stage.fleet.observe(stage.admin)).kind).toBe("reached");
    await writeFile(simulated.kubeconfig, "{");
    const message = expect.stringMatching(/^the kubeconfig .* cannot be read/);
    expect(await stage.fleet.observe(stage.admin)).toEqual({ kind: "unreachable", code: "NoConnection", message });
    await writeFile(simulated.kubeconfig, text);
    expect((await stage.fleet.observe(stage.admin)).kind).toBe("reached");
  });
});
