import { describe, expect, it } from "vitest";
import {
  emptyInventory,
  type Inventory,
  type InventoryEntry,
  type Outcome,
} from "../../../src/core/model/inventory.ts";
import { type ObjectKey, objectKey } from "../../../src/core/model/manifest.ts";
import type { Digest, Epoch, Instant, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import {
  decodeInventory,
  encodeInventory,
  placementTexts,
  type Shard,
} from "../../../src/shell/kube/inventory/inventory-text.ts";

const digest = "d".repeat(64) as Digest;

const outcomes: readonly Outcome[] = [
  { kind: "applied" },
  { kind: "claimed" },
  {
    kind: "failed",
    code: "ManifestApplyFailed",
    message: "line one\nline “two”",
    attempts: 3,
    retryAt: 1_000 as Instant,
  },
  // As an earlier release wrote it.
  { kind: "lingering", code: "NamespaceNotEmpty", message: "it holds others" },
  {
    kind: "lingering",
    code: "NamespaceNotEmpty",
    message: "it holds others",
    others: {
      count: 51,
      objects: [{ group: "apps", kind: "Deployment", namespace: "shop", name: "theirs", uid: "their-uid" }],
    },
  },
];

function entries(count: number, namespace: string): ReadonlyMap<ObjectKey, InventoryEntry> {
  const all = Array.from({ length: count }, (_, at): [ObjectKey, InventoryEntry] => [
    objectKey({ group: "apps", kind: "Deployment", namespace, name: `web-${String(at).padStart(5, "0")}` }),
    {
      version: "v1",
      digest,
      uid: at % 2 === 0 ? `uid-${at}` : null,
      adopted: at % 3 === 0,
      sequence: at as Sequence,
      fingerprint: at % 2 === 0 ? digest : null,
      outcome: outcomes[at % outcomes.length] as Outcome,
      ...(at % 3 === 0 ? {} : { repairs: { count: at, since: 1_000 as Instant, last: 2_000 as Instant } }),
    },
  ]);
  return new Map(all);
}

function inventory(counts: Readonly<Record<string, number>>): Inventory {
  const placements = Object.entries(counts).map(
    ([key, count]) =>
      [key as PlacementKey, { sequence: 5 as Sequence, digest, entries: entries(count, "shop") }] as const,
  );
  return { fleet: "f1", epoch: 2 as Epoch, placements: new Map(placements) };
}

const numbered = (shards: readonly Shard[]): ReadonlyMap<number, Shard> => new Map(shards.map((it, at) => [at, it]));
const sizeOf = (shard: Shard): number => Object.values(shard).reduce((sum, it) => sum + it.length, 0);
const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`placement-${at}`, 5]));

describe("the inventory as text", () => {
  const round: { name: string; of: Inventory; shards: number | "several" }[] = [
    { name: "nothing", of: { ...emptyInventory, fleet: "f1", epoch: 2 as Epoch }, shards: 1 },
    { name: "placements of both scopes", of: inventory({ "team/web": 4, web: 4 }), shards: 1 },
    { name: "a placement without objects", of: inventory({ web: 0 }), shards: 1 },
    { name: "more than one shard holds", of: inventory(many), shards: "several" },
    { name: "one placement larger than a shard", of: inventory({ "team/large": 400, web: 1 }), shards: "several" },
  ];
  for (const { name, of, shards } of round) {
    it(`says the same when read back: ${name}`, () => {
      const texts = encodeInventory(of, 10_000);
      if (shards === "several") expect(texts.length).toBeGreaterThan(1);
      else expect(texts.length).toBe(shards);
      expect(Math.max(...texts.map(sizeOf))).toBeLessThanOrEqual(10_000);
      expect(decodeInventory(numbered(texts))).toEqual(of);
    });
  }

  it("reads what the release before wrote, and is written so that it refuses it", () => {
    const of = inventory({ web: 3 });
    const [shard = {}] = encodeInventory(of);
    const header = JSON.parse(shard["_inventory"] ?? "") as { readonly format: number };
    // That release read format 1, and nothing else.
    expect(header.format).toBeGreaterThan(1);
    const formatted = (format: number): Shard => ({ ...shard, _inventory: JSON.stringify({ ...header, format }) });
    expect(decodeInventory(numbered([formatted(1)]))).toEqual(of);
    expect(decodeInventory(numbered([formatted(header.format + 1)]))).toBe(null);
  });

  it("depends on what it says and not on the order in which it was built", () => {
    const forth = inventory(many);
    const back = { ...forth, placements: new Map([...forth.placements].reverse()) };
    expect(encodeInventory(back, 10_000)).toEqual(encodeInventory(forth, 10_000));
  });

  it("changes one shard when one placement changes", () => {
    const before = encodeInventory(inventory(many), 10_000);
    const after = encodeInventory(inventory({ ...many, "placement-7": 6 }), 10_000);
    expect(after.filter((it, at) => JSON.stringify(it) !== JSON.stringify(before[at])).length).toBe(1);
  });

  it("puts into words again what changed, and nothing else", () => {
    const before = inventory({ ...many, "team/large": 400 });
    const shards = encodeInventory(before, 10_000);
    const placements = new Map(before.placements).set("placement-7" as PlacementKey, {
      sequence: 6 as Sequence,
      digest,
      entries: entries(2, "shop"),
    });
    const after = { ...before, placements };
    const known = placementTexts(shards, before);
    const spoken = [...placements].filter(([key, it]) => known(key, it) === null).map(([key]) => key);
    expect(spoken).toEqual(["placement-7", "team/large"]);
    expect(encodeInventory(after, 10_000, known)).toEqual(encodeInventory(after, 10_000));
  });

  it("is complete at every step of growing and of shrinking", () => {
    const small = encodeInventory(inventory(many), 20_000);
    const large = encodeInventory(inventory(many), 10_000);
    expect(large.length).toBeGreaterThan(small.length);
    const state = new Map(numbered(small));
    for (const at of [...large.keys()].reverse()) {
      state.set(at, large[at] as Shard);
      expect(decodeInventory(state)).toEqual(inventory(many));
    }
    for (const at of small.keys()) {
      state.set(at, small[at] as Shard);
      expect(decodeInventory(state)).toEqual(inventory(many));
    }
    for (const at of [...large.keys()].slice(small.length)) {
      state.delete(at);
      expect(decodeInventory(state)).toEqual(inventory(many));
    }
  });

  it("says of one claim what was written last, when its shards were halved or doubled and somebody died in between", () => {
    const was = inventory(many);
    const adopted = new Map(
      [...was.placements].map(([key, it]) => [
        key,
        {
          ...it,
          entries: new Map([...it.entries].map(([at, entry]) => [at, { ...entry, uid: "new", adopted: true }])),
        },
      ]),
    );
    const is: Inventory = { ...was, placements: adopted };
    for (const [before, after] of [
      [encodeInventory(was, 10_000), encodeInventory(is, 20_000)],
      [encodeInventory(was, 20_000), encodeInventory(is, 10_000)],
    ] as const) {
      const state = new Map(numbered(before));
      const order = after.length > before.length ? [...after.keys()].reverse() : [...after.keys()];
      const age = [...state.keys()];
      const known = new Set<string>();
      for (const at of order) {
        state.set(at, after[at] as Shard);
        age.splice(0, age.length, ...age.filter((it) => it !== at), at);
        for (const name of Object.keys(after[at] as Shard)) known.add(name.replace(/\.\d+$/, "").replace("_", "/"));
        const read = decodeInventory(state, age);
        for (const [key, { entries }] of read?.placements ?? [])
          if (known.has(key))
            expect(
              [...entries.values()].some((it) => it.adopted),
              key,
            ).toBe(true);
        for (const key of [...(read?.placements.keys() ?? [])].filter(
          (it) => known.has(it) && many[it] !== undefined && many[it] < 50,
        ))
          expect(
            [...(read?.placements.get(key)?.entries.values() ?? [])].every((it) => it.adopted),
            key,
          ).toBe(true);
      }
      expect(state.size).toBe(Math.max(before.length, after.length));
    }
  });

  it("is never guessed: what is missing or odd makes all of it unreadable", () => {
    const shards = encodeInventory(inventory(many), 10_000);
    for (const at of shards.keys()) {
      const missing = new Map(numbered(shards));
      missing.delete(at);
      expect(decodeInventory(missing)).toBeNull();
    }
    const [only = {}] = encodeInventory(inventory({ web: 5 }));
    const odd: readonly Shard[] = [
      { ...only, _inventory: "{}" },
      { ...only, web: "" },
      { ...only, web: (only["web"] ?? "").replace('"v1"', "1") },
      { ...only, web: `${only["web"]}\n` },
      { ...only, web: (only["web"] ?? "").replace("claimed", "dreamt") },
      { ...only, web: (only["web"] ?? "").replace(',"their-uid"', ",7") },
      { ...only, web: (only["web"] ?? "").replace(",51,", ',"51",') },
      { ...only, extra: "text" },
    ];
    for (const shard of odd) expect(decodeInventory(new Map([[0, shard]]))).toBeNull();
  });
});
