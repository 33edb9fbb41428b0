import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import { objectText } from "../../../src/core/model/manifest.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { inventoryListing } from "../../../src/shell/kube/inventory/inventory.ts";
import { handOverCases } from "./hand-over.contract.ts";
import {
  actionsOf,
  bodyOf,
  clock,
  configMap,
  core,
  departure,
  deployment,
  entriesOf,
  get,
  impose,
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
  type TestCluster,
} from "./member-world.ts";
import { namespaceCases } from "./namespaces.contract.ts";
import { othersCases } from "./others.contract.ts";
import { scopeCases } from "./scopes.contract.ts";
import { takeoverCases } from "./takeover.contract.ts";
import { troubleCases } from "./trouble.contract.ts";

/** What the Fleet port promises, whatever API server stands behind it. */
export function fleetContract(
  name: string,
  start: () => Promise<TestCluster>,
  look: "lists" | "watches" = "lists",
): void {
  describe(`fleet on ${name}`, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await stageOn(await start(), look);
    });
    afterAll(async () => {
      stage.client.close();
      await stage.fleet.close();
      await stage.cluster.close();
    });

    it("places a namespace, a ConfigMap and a Deployment on an empty member, and then has nothing to do (A-01)", async () => {
      const apply = [deployment("first/web"), configMap("first/settings", { a: "1" }), namespace("first")];
      expect(await stage.act({ placement: "first", apply })).toEqual(receipt({ created: 3 }));
      expect(await stage.act({ placement: "first", apply })).toEqual(receipt({}));
      const seen = await stage.see();
      expect(outcomesOf(seen, "first")).toEqual([
        "ConfigMap first/settings: applied",
        "Namespace first: applied",
        "Deployment first/web: applied",
      ]);
      for (const [key, entry] of entriesOf(seen, "first")) {
        const live = seen.objects.get(key);
        expect(live).toMatchObject({ uid: entry.uid, fingerprint: entry.fingerprint, mark: "test-fleet/1/1" });
      }
      const settings = bodyOf(await get(stage.client, core("first", "configmaps", "settings")));
      expect(memberAt(settings, "metadata", "labels")).toEqual({ "flotilla.dev/placement": "first" });
      expect(memberAt(settings, "metadata", "ownerReferences")).toBeNull();
    });

    it("writes only what an action names", async () => {
      const web = deployment("only/web");
      await stage.act({ placement: "only", apply: [namespace("only"), configMap("only/a", { a: "1" }), web] });
      const before = bodyOf(await get(stage.client, "/apis/apps/v1/namespaces/only/deployments/web"));
      const change = { placement: "only", sequence: 2, apply: [configMap("only/a", { b: "2" })] };
      expect(await stage.act(change)).toEqual(receipt({ configured: 1 }));
      expect(bodyOf(await get(stage.client, core("only", "configmaps", "a")))["data"]).toEqual({ b: "2" });
      const after = bodyOf(await get(stage.client, "/apis/apps/v1/namespaces/only/deployments/web"));
      expect(memberAt(after, "metadata", "annotations")).toEqual(memberAt(before, "metadata", "annotations"));
    });

    it("sees drift by its fingerprint and repairs it; what others add is no drift (A-10)", async () => {
      const settings = configMap("drift/a", { a: "1" });
      const { key } = rendered(settings);
      await stage.act({ placement: "drift", apply: [namespace("drift"), settings] });
      const path = core("drift", "configmaps", "a");
      const isClean = async (): Promise<boolean> => {
        const seen = await stage.see();
        return seen.objects.get(key)?.fingerprint === entriesOf(seen, "drift").get(key)?.fingerprint;
      };
      bodyOf(await merge(stage.client, path, { data: { theirs: "x" }, metadata: { labels: { team: "them" } } }));
      expect(await isClean()).toBe(true);
      bodyOf(await merge(stage.client, path, { data: { a: "drifted" } }));
      expect(await isClean()).toBe(false);
      expect(await stage.act({ placement: "drift", apply: [settings] })).toEqual(receipt({ configured: 1 }));
      expect(bodyOf(await get(stage.client, path))["data"]).toEqual({ a: "1", theirs: "x" });
      expect(await isClean()).toBe(true);
    });

    it("counts how often an object was put right, and tells who wrote it last beside us", async () => {
      const settings = configMap("fight/a", { a: "1" });
      const { key } = rendered(settings);
      const repairs = async () => entriesOf(await stage.see(), "fight").get(key)?.repairs;
      await stage.act({ placement: "fight", apply: [namespace("fight"), settings] });
      expect([await repairs(), (await stage.see()).objects.get(key)?.rival]).toEqual([undefined, undefined]);
      for (const count of [1, 2]) {
        bodyOf(await impose(stage.client, core("fight", "configmaps", "a"), configMap("fight/a", { a: "2" })));
        expect((await stage.see()).objects.get(key)?.rival).toBe("somebody");
        await stage.act({ placement: "fight", apply: [settings] });
        expect(await repairs()).toEqual({ count, since: noon, last: noon });
      }
      // What turns out to be as it should is no repair, and another version is none either.
      await stage.act({ placement: "fight", apply: [settings] });
      await stage.act({ placement: "fight", sequence: 2, apply: [configMap("fight/a", { a: "3" })] });
      expect(await repairs()).toEqual({ count: 2, since: noon, last: noon });
    });

    it("does not take defaults, other spellings of a quantity or large integers for drift", async () => {
      const web = deployment("spell/web", "1000m") as { [key: string]: unknown } & JsonObject;
      const grown = { ...web, spec: { ...(web["spec"] as JsonObject), progressDeadlineSeconds: 2_147_483_000n } };
      await stage.act({ placement: "spell", apply: [namespace("spell"), grown] });
      const seen = await stage.see();
      const { key } = rendered(grown);
      expect(seen.objects.get(key)?.fingerprint).toBe(entriesOf(seen, "spell").get(key)?.fingerprint);
      expect(await stage.act({ placement: "spell", apply: [grown] })).toEqual(receipt({}));
    });

    it("makes an object anew that was deleted by hand (A-19)", async () => {
      const settings = configMap("again/a", { a: "1" });
      await stage.act({ placement: "again", apply: [namespace("again"), settings] });
      const path = core("again", "configmaps", "a");
      bodyOf(await stage.client.request({ method: "DELETE", path }));
      expect((await stage.see()).objects.has(rendered(settings).key)).toBe(false);
      expect(await stage.act({ placement: "again", apply: [settings] })).toEqual(receipt({ created: 1 }));
    });

    othersCases(() => stage);
    takeoverCases(() => stage);
    handOverCases(() => stage);

    it("deletes only the object that it made: one of the same name with another uid stays (A-33)", async () => {
      const settings = configMap("uid/a", { a: "1" });
      await stage.act({ placement: "uid", apply: [namespace("uid"), settings, configMap("uid/b", {})] });
      const path = core("uid", "configmaps", "a");
      bodyOf(await stage.client.request({ method: "DELETE", path }));
      bodyOf(await post(stage.client, "/api/v1/namespaces/uid/configmaps", settings));
      const seen = await stage.see();
      const remove = [departure(seen, "uid", settings), departure(seen, "uid", configMap("uid/b", {}))];
      expect(await stage.act({ placement: "uid", sequence: 2, remove })).toEqual(receipt({ deleted: 1, failed: 1 }));
      expect((await get(stage.client, path)).kind).toBe("done");
      expect(outcomesOf(await stage.see(), "uid")).toEqual([
        "ConfigMap uid/a: lingering IdentityChanged",
        "Namespace uid: applied",
      ]);
    });

    it("deletes nothing that the inventory does not list, and nothing that lost our mark (F-31)", async () => {
      const settings = configMap("mark/a", { a: "1" });
      await stage.act({ placement: "mark", apply: [namespace("mark"), settings] });
      const foreign = configMap("mark/foreign", {});
      bodyOf(await post(stage.client, "/api/v1/namespaces/mark/configmaps", foreign));
      const annotations = { "flotilla.dev/write": null };
      bodyOf(await merge(stage.client, core("mark", "configmaps", "a"), { metadata: { annotations } }));
      const seen = await stage.see();
      const remove = [departure(seen, "mark", settings), departure(seen, "mark", foreign, { uid: "some-uid" })];
      expect(await stage.act({ placement: "mark", sequence: 2, remove })).toEqual(receipt({ failed: 1 }));
      expect((await get(stage.client, core("mark", "configmaps", "a"))).kind).toBe("done");
      expect((await get(stage.client, core("mark", "configmaps", "foreign"))).kind).toBe("done");
    });

    it("finds by their marks again what a deleted inventory listed, as adopted, and takes nothing else for ours (F-43)", async () => {
      const [mine, gone, edited] = [
        configMap("lost/mine", {}),
        configMap("lost/gone", {}),
        configMap("lost/edited", {}),
      ];
      const never = { whenToTakeOver: "Never" } as const;
      const apply = [namespace("lost"), mine, gone, edited];
      await stage.act({ placement: "lost", sequence: 2, apply, strategy: never });
      bodyOf(await stage.client.request({ method: "DELETE", path: core("lost", "configmaps", "gone") }));
      const metadata = { labels: { "flotilla.dev/placement": "another" } };
      bodyOf(await merge(stage.client, core("lost", "configmaps", "edited"), { metadata }));
      bodyOf(await post(stage.client, "/api/v1/namespaces/lost/configmaps", configMap("lost/theirs", {})));
      const shards = await stage.client.list(inventoryListing);
      if (shards.kind === "refused") throw new Error(shards.message);
      for (const shard of shards.items)
        await stage.client.request({
          method: "DELETE",
          path: core("flotilla-system", "configmaps", String(memberAt(shard, "metadata", "name"))),
        });
      const theirs = configMap("lost/theirs", {});
      const recover = [mine, gone, edited, theirs].map((it) => rendered(it).id);
      const again = { placement: "lost", sequence: 3, strategy: never, apply: [namespace("lost")], recover };
      expect(await stage.act(again)).toMatchObject({ created: 0, deleted: 0, released: 0, failed: 0 });
      const seen = await stage.see();
      const entries = [...entriesOf(seen, "lost")].map(([key, it]) => [key, it.adopted, it.uid === null]);
      expect(entries.sort()).toEqual([
        ["/ConfigMap/lost/mine", true, false],
        ["/Namespace//lost", true, false],
      ]);
      const remove = [departure(seen, "lost", mine, { how: "release" })];
      const left = await stage.act({ placement: "lost", sequence: 4, remove, leaves: true });
      expect(left).toEqual(receipt({ released: 1 }));
      expect((await get(stage.client, core("lost", "configmaps", "mine"))).kind).toBe("done");
    });

    it("keeps a namespace that holds what is not ours, until somebody confirms", async () => {
      const space = namespace("keep");
      const apply = [space, configMap("keep/a", { a: "1" })];
      await stage.act({ placement: "keep", apply });
      bodyOf(await post(stage.client, "/api/v1/namespaces/keep/configmaps", configMap("keep/theirs", { a: "1" })));
      const seen = await stage.see();
      const remove = apply.map((manifest) => departure(seen, "keep", manifest));
      const left = await stage.act({ placement: "keep", sequence: 2, remove, leaves: true });
      expect(left).toEqual(receipt({ deleted: 1, failed: 1 }));
      const after = await stage.see();
      expect(entriesOf(after, "keep").get(rendered(space).key)?.outcome).toEqual({
        kind: "lingering",
        code: "NamespaceNotEmpty",
        message: "it holds what is not ours to delete: ConfigMap keep/theirs",
        others: {
          count: 1,
          objects: [{ group: "", kind: "ConfigMap", namespace: "keep", name: "theirs", uid: expect.any(String) }],
        },
      });
      const confirmed = [departure(after, "keep", space, { cascadesTo: othersOf(after, "keep", space) })];
      // Another one came since, and goes again: what was confirmed lets nothing else go along.
      bodyOf(await post(stage.client, "/api/v1/namespaces/keep/configmaps", configMap("keep/more", {})));
      const more = await stage.act({ placement: "keep", sequence: 3, remove: confirmed });
      expect(more).toEqual(receipt({ failed: 1 }));
      expect(othersOf(await stage.see(), "keep", space).map(objectText)).toEqual([
        "ConfigMap keep/more",
        "ConfigMap keep/theirs",
      ]);
      bodyOf(await stage.client.request({ method: "DELETE", path: core("keep", "configmaps", "more") }));
      const gone = await stage.act({ placement: "keep", sequence: 3, remove: confirmed, leaves: true });
      expect(gone).toEqual(receipt({ deleted: 1 }));
    });

    it("deletes a namespace once only its own objects and Kubernetes' are in it", async () => {
      const web = deployment("whole/web");
      const apply = [namespace("whole"), configMap("whole/a", { a: "1" }), web];
      await stage.act({ placement: "whole", apply });
      const seen = await stage.see();
      // What a Deployment makes goes with it, at any depth; events and leases are nobody's reason to stay.
      const dependent = async (name: string, kind: string, owner: string, uid: unknown): Promise<unknown> => {
        const reference = { apiVersion: "v1", kind, name: owner, uid: uid as string };
        const metadata = { name, namespace: "whole", ownerReferences: [reference] };
        const path = "/api/v1/namespaces/whole/configmaps";
        return memberAt(
          bodyOf(await post(stage.client, path, { ...configMap("whole/x", {}), metadata })),
          "metadata",
          "uid",
        );
      };
      const child = await dependent("child", "Deployment", "web", entriesOf(seen, "whole").get(rendered(web).key)?.uid);
      await dependent("grandchild", "ConfigMap", "child", child);
      const lease = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l", namespace: "whole" },
      };
      bodyOf(await post(stage.client, "/apis/coordination.k8s.io/v1/namespaces/whole/leases", lease));
      const remove = apply.map((manifest) => departure(seen, "whole", manifest));
      const left = await stage.act({ placement: "whole", sequence: 2, remove, leaves: true });
      expect(left).toEqual(receipt({ deleted: 3 }));
      const answer = await get(stage.client, "/api/v1/namespaces/whole");
      const isGoing = answer.kind === "refused" || memberAt(answer.body, "metadata", "deletionTimestamp") !== null;
      expect(isGoing).toBe(true);
    });

    it("keeps what waits for a finalizer in the inventory until it is gone (F-40)", async () => {
      const settings = configMap("final/a", { a: "1" });
      const { key } = rendered(settings);
      await stage.act({ placement: "final", apply: [namespace("final"), settings] });
      const path = core("final", "configmaps", "a");
      bodyOf(await merge(stage.client, path, { metadata: { finalizers: ["test.flotilla.dev/wait"] } }));
      const remove = [departure(await stage.see(), "final", settings)];
      expect(await stage.act({ placement: "final", sequence: 2, remove })).toEqual(receipt({ deleted: 1 }));
      const seen = await stage.see();
      expect(seen.objects.get(key)?.terminating).toBe(true);
      expect(entriesOf(seen, "final").get(key)?.outcome).toMatchObject({ kind: "lingering", code: "Terminating" });
      bodyOf(await merge(stage.client, path, { metadata: { finalizers: null } }));
      expect((await stage.see()).objects.has(key)).toBe(false);
      await stage.act({ placement: "final", sequence: 2, forget: [key] });
      expect(outcomesOf(await stage.see(), "final")).toEqual(["Namespace final: applied"]);
    });

    it("refuses what is older than the inventory, another fleet's, or meant for another cluster", async () => {
      const apply = [namespace("fence")];
      await stage.act({ placement: "fence", sequence: 5, apply });
      const older = await stage.act({ placement: "fence", sequence: 4, apply: [...apply, configMap("fence/a", {})] });
      expect(older).toEqual(receipt({ interrupted: "superseded by a later action for placement fence" }));
      const doing = [{ placement: "fence", sequence: 9, apply: [configMap("fence/a", {})] }];
      const refused = [
        { ...actionsOf(stage.uid, doing), fleet: "another" },
        { ...actionsOf(stage.uid, doing), epoch: 0 as never },
        actionsOf("another-uid", doing),
      ];
      for (const actions of refused) {
        const { interrupted, ...counts } = await stage.fleet.act(stage.admin, actions);
        expect(interrupted).toMatch(/another fleet|epoch 1|another cluster/);
        expect({ ...counts, interrupted: null }).toEqual(receipt({}));
      }
      expect(await get(stage.client, core("fence", "configmaps", "a"))).toMatchObject({ status: 404 });
    });

    it("applies a definition and its resources in one action (A-29)", async () => {
      const group = "contract.flotilla.dev";
      const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const definition = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `gadgets.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      };
      const gadget = {
        apiVersion: `${group}/v1`,
        kind: "Gadget",
        metadata: { name: "g", namespace: "crd" },
        spec: { n: 1 },
      };
      const apply = [gadget, definition, namespace("crd")];
      expect(await stage.act({ placement: "crd", apply })).toEqual(receipt({ created: 3 }));
      const seen = await stage.see();
      expect(seen.objects.get(rendered(gadget).key)?.health).toEqual({ phase: "untrackable" });
      // Large integers arrive exactly, as far as the server itself keeps them.
      const large = { ...gadget, spec: { n: 9_007_199_254_740_993n } };
      await stage.act({ placement: "crd", sequence: 2, apply: [large] });
      const path = `/apis/${group}/v1/namespaces/crd/gadgets/g`;
      const whole = await stage.client.request({ method: "GET", path });
      expect(memberAt(bodyOf(whole), "spec", "n")).toBe(Number(9_007_199_254_740_993n));
      expect(await stage.act({ placement: "crd", sequence: 2, apply: [large] })).toEqual(receipt({}));

      const remove = [gadget, definition].map((it) => departure(seen, "crd", it));
      const left = await stage.act({ placement: "crd", sequence: 3, remove });
      expect(left).toMatchObject({ deleted: 2, failed: 0, interrupted: null });
    });

    it("says what is missing: a namespace, a kind, a valid manifest; the rest goes on (A-28)", async () => {
      const apply = [
        namespace("gaps"),
        configMap("gaps/a", {}),
        configMap("nowhere/a", {}),
        { apiVersion: "nobody.example/v1", kind: "Thing", metadata: { name: "t", namespace: "gaps" } },
        { ...deployment("gaps/web"), spec: { replicas: 1 } },
      ];
      expect(await stage.act({ placement: "gaps", apply })).toEqual(receipt({ created: 2, failed: 3 }));
      const seen = await stage.see();
      expect(outcomesOf(seen, "gaps")).toEqual([
        "ConfigMap gaps/a: applied",
        "ConfigMap nowhere/a: failed NamespaceMissing",
        "Namespace gaps: applied",
        "Deployment gaps/web: failed ManifestApplyFailed",
        "Thing gaps/t: failed KindUnknown",
      ]);
      const first = [...entriesOf(seen, "gaps").values()][1]?.outcome;
      expect(first).toMatchObject({ attempts: 1, retryAt: clock.now() + 5_000 });
      await stage.act({ placement: "gaps", apply: [configMap("nowhere/a", {})] });
      const second = [...entriesOf(await stage.see(), "gaps").values()][1]?.outcome;
      expect(second).toMatchObject({ attempts: 2, retryAt: clock.now() + 10_000 });
    });

    it("server-side apply without force leaves a conflict to people (A-27)", async () => {
      const settings = configMap("force/a", { a: "1" });
      const strategy = { type: "ServerSideApply" } as const;
      await stage.act({ placement: "force", strategy, apply: [namespace("force"), settings] });
      bodyOf(await impose(stage.client, core("force", "configmaps", "a"), configMap("force/a", { a: "2" })));
      expect(await stage.act({ placement: "force", strategy, apply: [settings] })).toEqual(receipt({ failed: 1 }));
      const forced = { ...strategy, forceConflicts: true };
      const second = await stage.act({ placement: "force", strategy: forced, apply: [settings] });
      expect(second).toEqual(receipt({ configured: 1 }));
    });

    it("writes nothing when differences are only to be reported (C 1)", async () => {
      const strategy = { type: "ReportDiff" } as const;
      expect(await stage.act({ placement: "report", strategy, apply: [namespace("report")] })).toEqual(receipt({}));
      expect(await get(stage.client, "/api/v1/namespaces/report")).toMatchObject({ status: 404 });
    });

    it("tells by how much our clock is ahead of a member's, and sees it jump although nobody is asked (I-06)", async () => {
      let ahead = 90;
      const fleet = await stage.open({ ...clock, now: () => (Date.now() + 1000 * ahead) as Instant });
      expect(fleet.clockOffsets()).toEqual([]);
      await fleet.observe(stage.admin);
      if (stage.cluster.contexts.dead !== null)
        await fleet.observe({ ...stage.admin, context: stage.cluster.contexts.dead });
      for (const it of [90, 0, -3600]) {
        ahead = it;
        const offsets = fleet.clockOffsets();
        expect(offsets).toEqual([expect.any(Number)]);
        // The header names a second, and answers take a moment.
        expect(Math.abs((offsets[0] ?? 0) / 1000 - it)).toBeLessThanOrEqual(2);
      }
      await fleet.close();
      expect(fleet.clockOffsets()).toEqual([]);
    });

    scopeCases(() => stage);
    namespaceCases(() => stage);
    troubleCases(() => stage);

    it("writes three hundred objects in one action and sees them all", async () => {
      const settings = Array.from({ length: 300 }, (_, at) => configMap(`many/c-${at}`, { at: String(at) }));
      expect(await stage.act({ placement: "many", apply: [namespace("many"), ...settings] })).toEqual(
        receipt({ created: 301 }),
      );
      const seen = await stage.see();
      expect(settings.every((it) => seen.objects.get(rendered(it).key)?.health.phase === "available")).toBe(true);
      const remove = settings.map((it) => departure(seen, "many", it));
      expect(await stage.act({ placement: "many", sequence: 2, remove })).toEqual(receipt({ deleted: 300 }));
    });
  });
}
