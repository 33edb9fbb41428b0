import { expect, it } from "vitest";
import type { InventoryEntry } from "../../../src/core/model/inventory.ts";
import { type JsonObject, memberAt, textOf } from "../../../src/core/model/json.ts";
import type { PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { readInventory, type StoredInventory, writeInventory } from "../../../src/shell/kube/inventory/inventory.ts";
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

/** The part of the contract about objects that one placement hands over to another one (D 9). */
export function handOverCases(stage: () => Stage): void {
  const live = async (at: string): Promise<JsonObject> => {
    const [space = "", name = ""] = at.split("/");
    return bodyOf(await get(stage().client, core(space, "configmaps", name)));
  };
  const uidOf = (object: JsonObject): string => textOf(memberAt(object, "metadata", "uid")) ?? "";
  const ownerOf = (object: JsonObject): string | null =>
    textOf(memberAt(object, "metadata", "labels", "flotilla.dev/placement"));
  const stored = async (): Promise<StoredInventory> => {
    const it = await readInventory(stage().client);
    if (it.kind === "refused") throw new Error(it.message);
    return it;
  };

  /** `<space>-old` has a ConfigMap `a` in a namespace of its own. */
  async function settled(
    space: string,
  ): Promise<{ readonly old: string; readonly next: string; readonly uid: string }> {
    await stage().act({
      placement: `${space}-old`,
      apply: [namespace(space), configMap(`${space}/a`, { a: "1", b: "2" })],
    });
    return { old: `${space}-old`, next: `${space}-next`, uid: uidOf(await live(`${space}/a`)) };
  }

  it("leaves what is handed over in place: the same uid, another mark, one line of the inventory", async () => {
    const { old, next, uid } = await settled("handed");
    const all = [namespace("handed"), configMap("handed/a", { a: "3" })];
    const strategy = { whenToTakeOver: "Never" } as const;
    const taken = await stage().act({ placement: next, sequence: 2, strategy, apply: all, from: [old, 1] });
    expect(taken).toEqual(receipt({ configured: 2 }));
    const after = await live("handed/a");
    expect([uidOf(after), ownerOf(after), after["data"]]).toEqual([uid, next, { a: "3" }]);
    const seen = await stage().see();
    expect(outcomesOf(seen, old)).toEqual([]);
    expect(outcomesOf(seen, next)).toEqual(["ConfigMap handed/a: applied", "Namespace handed: applied"]);
    expect([...entriesOf(seen, next).values()].map((it) => it.adopted)).toEqual([false, false]);
  });

  it("takes along that it was there before us, and whoever owns it beside us", async () => {
    bodyOf(await post(stage().client, "/api/v1/namespaces", namespace("along")));
    const theirs = configMap("along/a", { a: "old" });
    const owner = bodyOf(await post(stage().client, "/api/v1/namespaces/along/configmaps", configMap("along/o", {})));
    bodyOf(await post(stage().client, "/api/v1/namespaces/along/configmaps", theirs));
    const ours = configMap("along/a", { a: "1" });
    await stage().act({ placement: "along-old", apply: [ours] });
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: uidOf(owner) };
    const path = core("along", "configmaps", "a");
    bodyOf(await merge(stage().client, path, { metadata: { ownerReferences: [reference] } }));
    await stage().act({ placement: "along-next", sequence: 2, apply: [ours], from: ["along-old", 1] });
    const seen = await stage().see();
    expect(entriesOf(seen, "along-next").get(rendered(ours).key)).toMatchObject({
      adopted: true,
      outcome: { kind: "applied" },
    });
    expect(memberAt(await live("along/a"), "metadata", "ownerReferences")).toHaveLength(1);
  });

  it("goes on where somebody died between the write and its result, and deletes for neither", async () => {
    const { old, next, uid } = await settled("halfway");
    const before = (await stored()).inventory;
    const moved = {
      placement: next,
      sequence: 2,
      apply: [configMap("halfway/a", { a: "1" })],
      from: [old, 1] as const,
    };
    await stage().act(moved);
    const now = await stored();
    const claimed = [...(now.inventory.placements.get(next as PlacementKey)?.entries ?? [])].map(
      ([key, it]) => [key, { ...it, outcome: { kind: "claimed" } as const }] as const,
    );
    const placements = new Map([...now.inventory.placements, ...[...before.placements].filter(([key]) => key === old)]);
    const part = placements.get(next as PlacementKey);
    if (part === undefined) throw new Error("nothing was claimed");
    placements.set(next as PlacementKey, { ...part, entries: new Map(claimed) });
    expect((await writeInventory(stage().client, now, { ...now.inventory, placements })).kind).toBe("written");
    // The one before believes it to be its own still, and is told to delete it.
    const gone = departure(await stage().see(), old, configMap("halfway/a", {}));
    await stage().act({ placement: old, sequence: 2, remove: [gone], leaves: true });
    expect(uidOf(await live("halfway/a"))).toBe(uid);
    await stage().act(moved);
    const seen = await stage().see();
    expect(outcomesOf(seen, old)).toEqual(["Namespace halfway: applied"]);
    expect(outcomesOf(seen, next)).toEqual(["ConfigMap halfway/a: applied"]);
    expect(uidOf(await live("halfway/a"))).toBe(uid);
  });

  it.each([
    ["had written it", "passed-on", { outcome: { kind: "claimed" } }],
    ["had only claimed it", "claimed-on", {}],
  ] as const)("takes it from whose mark it has, where somebody died who %s", async (_, space, known) => {
    const { old, next, uid } = await settled(space);
    const before = (await stored()).inventory;
    const object = configMap(`${space}/a`, { a: "1" });
    const { key } = rendered(object);
    const hasWritten = "outcome" in known;
    if (hasWritten) await stage().act({ placement: next, sequence: 2, apply: [object], from: [old, 1] });
    const now = await stored();
    const entry = now.inventory.placements.get((hasWritten ? next : old) as PlacementKey)?.entries.get(key);
    if (entry === undefined) throw new Error("it is not listed");
    const claim = { ...entry, ...known, sequence: 2 as Sequence, outcome: { kind: "claimed" } } as const;
    const part = { sequence: 2 as Sequence, digest: entry.digest, entries: new Map([[key, claim]]) };
    const oldPart = [...before.placements].filter(([it]) => it === old);
    const placements = new Map([...now.inventory.placements, ...oldPart, [next as PlacementKey, part]]);
    expect((await writeInventory(stage().client, now, { ...now.inventory, placements })).kind).toBe("written");
    const last = `${space}-last`;
    const [first, second] = hasWritten
      ? [[old, 1] as const, [next, 2] as const]
      : [[next, 2] as const, [old, 1] as const];
    await stage().act({ placement: last, sequence: 3, apply: [object], from: first, orFrom: second });
    expect([uidOf(await live(`${space}/a`)), ownerOf(await live(`${space}/a`))]).toEqual([uid, last]);
    expect(entriesOf(await stage().see(), last).get(key)).toMatchObject({ uid, adopted: false });
  });

  it.each([
    ["has the result of", "made", {}],
    ["only has the claim of", "tried", { uid: null, fingerprint: null, outcome: { kind: "claimed" } }],
  ] as const)(
    "knows that it made what the one before only looks for, where it %s its write",
    async (_, space, known) => {
      const all = [namespace(space), configMap(`${space}/a`, { a: "1" })];
      const next = `${space}-next` as PlacementKey;
      const old = `${space}-old` as PlacementKey;
      const moved = { placement: next, sequence: 2, apply: all, from: [old, 1] as const };
      await stage().act(moved);
      const now = await stored();
      const part = now.inventory.placements.get(next);
      if (part === undefined) throw new Error("nothing was written");
      const lost = {
        uid: null,
        adopted: true,
        sequence: 0 as Sequence,
        fingerprint: null,
        outcome: { kind: "claimed" },
      } as const;
      const withEntries = (change: Partial<InventoryEntry>) => ({
        ...part,
        entries: new Map([...part.entries].map(([key, it]) => [key, { ...it, ...change }] as const)),
      });
      const placements = new Map([...now.inventory.placements, [next, withEntries(known)], [old, withEntries(lost)]]);
      expect((await writeInventory(stage().client, now, { ...now.inventory, placements })).kind).toBe("written");
      await stage().act(moved);
      const seen = await stage().see();
      expect(outcomesOf(seen, old)).toEqual([]);
      expect([...entriesOf(seen, next).values()].map((it) => it.adopted)).toEqual([false, false]);
    },
  );

  it("leaves it to whose mark it bears, where both list it after somebody died and both are to carry it", async () => {
    const { old, uid } = await settled("wanted-again");
    const then = "wanted-again-then";
    const parts = (await stored()).inventory.placements;
    const to = (a: string) => [configMap("wanted-again/a", { a })];
    await stage().act({ placement: then, sequence: 2, apply: to("2"), from: [old, 1] });
    const now = await stored();
    const placements = new Map([...now.inventory.placements, ...[...parts].filter(([key]) => key === old)]);
    expect((await writeInventory(stage().client, now, { ...now.inventory, placements })).kind).toBe("written");
    const { fleet, admin, uid: member } = stage();
    const both = [
      { placement: old, sequence: 3, apply: to("3") },
      { placement: then, sequence: 3, apply: to("4") },
    ];
    await fleet.act(admin, actionsOf(member, both, "test-fleet", [old, then]));
    const after = await live("wanted-again/a");
    expect([uidOf(after), ownerOf(after), after["data"]]).toEqual([uid, then, { a: "4" }]);
    const seen = await stage().see();
    expect(outcomesOf(seen, then)).toEqual(["ConfigMap wanted-again/a: applied"]);
    expect(outcomesOf(seen, old)).toContain("ConfigMap wanted-again/a: failed FailedToTakeOver");
  });

  it("does not take what a later decision of the one before has written", async () => {
    const { old, next } = await settled("later");
    await stage().act({ placement: old, sequence: 5, apply: [configMap("later/a", { a: "5" })] });
    const taken = { placement: next, sequence: 3, apply: [configMap("later/a", { a: "3" })], from: [old, 2] as const };
    expect(await stage().act(taken)).toEqual(receipt({ failed: 1 }));
    expect(outcomesOf(await stage().see(), next)).toEqual(["ConfigMap later/a: failed FailedToTakeOver"]);
    expect(ownerOf(await live("later/a"))).toBe(old);
  });

  it("makes what is gone when its turn comes, and leaves what somebody made in its place", async () => {
    const { old, next, uid } = await settled("remade");
    const path = core("remade", "configmaps", "a");
    bodyOf(await stage().client.request({ method: "DELETE", path }));
    await stage().act({ placement: next, sequence: 2, apply: [configMap("remade/a", { a: "2" })], from: [old, 1] });
    const made = await live("remade/a");
    expect([uidOf(made) === uid, ownerOf(made)]).toEqual([false, next]);
    bodyOf(await stage().client.request({ method: "DELETE", path }));
    bodyOf(await post(stage().client, "/api/v1/namespaces/remade/configmaps", configMap("remade/a", { a: "theirs" })));
    const strategy = { whenToTakeOver: "Never" } as const;
    const third = { placement: "remade-third", sequence: 3, strategy, apply: [configMap("remade/a", { a: "3" })] };
    await stage().act({ ...third, from: [next, 2] });
    expect(outcomesOf(await stage().see(), "remade-third")).toEqual(["ConfigMap remade/a: failed NotTakenOver"]);
    expect((await live("remade/a"))["data"]).toEqual({ a: "theirs" });
  });
}
