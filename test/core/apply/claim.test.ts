import { describe, expect, it } from "vitest";
import {
  changesStillDue,
  claimRefusal,
  contestedObjects,
  type InventoryChange,
  type InventoryChanges,
  isOutdatedAction,
  withChanges,
} from "../../../src/core/apply/claim.ts";
import type { Inventory, InventoryEntry } from "../../../src/core/model/inventory.ts";
import { type ObjectKey, objectKey } from "../../../src/core/model/manifest.ts";
import type { Digest, Epoch, Instant, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { actionsOf, doing } from "../../shell/kube/member-world.ts";

const web = "web" as PlacementKey;
const key = (name: string): ObjectKey => `/ConfigMap/shop/${name}` as ObjectKey;

const entry = (uid: string | null): InventoryEntry => ({
  version: "v1",
  digest: "d" as Digest,
  uid,
  adopted: false,
  sequence: 5 as Sequence,
  fingerprint: null,
  outcome: { kind: "applied" },
});

const claimOf = (sequence: number): InventoryEntry => ({
  ...entry(null),
  sequence: sequence as Sequence,
  outcome: { kind: "claimed" },
});

const inventory = (sequence: number, entries: Readonly<Record<string, InventoryEntry>>, epoch = 1): Inventory => ({
  fleet: "test-fleet",
  epoch: epoch as Epoch,
  placements: new Map([
    [
      web,
      {
        sequence: sequence as Sequence,
        digest: "d" as Digest,
        entries: new Map(Object.entries(entries).map(([name, it]) => [key(name), it])),
      },
    ],
  ]),
});

const change = (
  entries: Readonly<Record<string, InventoryEntry | null>>,
  digest: string | null = "d",
  leaving: readonly string[] = [],
): InventoryChange => ({
  sequence: 5 as Sequence,
  digest: digest as Digest | null,
  entries: new Map(Object.entries(entries).map(([name, it]) => [key(name), it])),
  leaving: new Set(leaving.map(key)),
});

const actions = actionsOf("uid", []);

describe("the fence", () => {
  const fence: { name: string; there: Inventory; sequence: number; outdated: boolean }[] = [
    { name: "a later sequence", there: inventory(4, {}), sequence: 5, outdated: false },
    { name: "the same again", there: inventory(5, {}), sequence: 5, outdated: false },
    { name: "an earlier one", there: inventory(6, {}), sequence: 5, outdated: true },
    { name: "an earlier one of a later epoch", there: inventory(6, {}, 0), sequence: 5, outdated: false },
    {
      name: "a placement that is not there",
      there: { ...inventory(6, {}), placements: new Map() },
      sequence: 1,
      outdated: false,
    },
  ];
  for (const { name, there, sequence, outdated } of fence) {
    it(`${outdated ? "refuses" : "lets through"} ${name}`, () => {
      expect(isOutdatedAction(doing({ placement: "web", sequence }), actions, there)).toBe(outdated);
    });
  }

  it("refuses whole actions of another fleet and of an earlier epoch", () => {
    expect(claimRefusal(actions, inventory(1, {}))).toBeNull();
    expect(claimRefusal(actions, { ...inventory(1, {}), fleet: "" })).toBeNull();
    expect(claimRefusal(actions, { ...inventory(1, {}), fleet: "other" })).toContain("another fleet");
    expect(claimRefusal(actions, inventory(1, {}, 2))).toContain("epoch 2");
  });
});

describe("changing the inventory", () => {
  it("keeps what is not named", () => {
    const next = withChanges(
      inventory(4, { a: entry("1"), b: entry("2") }),
      new Map([[web, change({ b: null, c: entry("3") })]]),
      actions,
    );
    expect(next).toEqual(inventory(5, { a: entry("1"), c: entry("3") }));
  });

  it("keeps a placement of which nothing is left as a tombstone, which still refuses older targets", () => {
    const before = inventory(4, { a: entry("1"), b: entry("2") });
    const half = withChanges(before, new Map([[web, change({ a: null }, null)]]), actions);
    expect(half).toEqual(inventory(5, { b: entry("2") }));
    expect(withChanges(half, new Map([[web, change({ b: null }, null)]]), actions)).toEqual(inventory(5, {}));
  });
});

describe("tombstones", () => {
  const gone = (from: number, count: number): ReadonlyMap<PlacementKey, InventoryChange> =>
    new Map(
      Array.from({ length: count }, (_, at): [PlacementKey, InventoryChange] => [
        `gone-${from + at}` as PlacementKey,
        { ...change({}, null), sequence: (from + at) as Sequence },
      ]),
    );

  it("are set up for what was never there, so that whoever froze before cannot create it afterwards", () => {
    const tomb = { sequence: 7, digest: "", entries: new Map() };
    expect(withChanges(inventory(4, {}), gone(7, 1), actions).placements.get("gone-7" as PlacementKey)).toEqual(tomb);
  });

  it("are kept, those of the action itself all and of earlier ones the latest two hundred", () => {
    const many = withChanges({ ...inventory(4, {}), placements: new Map() }, gone(0, 250), actions);
    expect(many.placements.size).toBe(250);
    expect(withChanges(many, gone(0, 250), actions)).toEqual(many);
    const later = withChanges(many, gone(300, 1), actions);
    expect([...later.placements.keys()]).toEqual([...gone(50, 200).keys(), "gone-300"]);
  });
});

describe("results that come late", () => {
  /** What of them counts, where a uid stands at each place or what is there cannot be looked at. */
  const stillDue = (
    results: InventoryChanges,
    there: Inventory,
    standing: Readonly<Record<string, string | null>> = {},
    claimed = there,
  ): InventoryChanges => {
    const objects = new Map(
      Object.entries(standing).map(([name, uid]) => [key(name), { uid, isMarked: uid !== null }]),
    );
    return changesStillDue(results, actions, { claimed, inventory: there, standing: objects });
  };
  const ours = new Map([[web, change({ a: entry("1"), b: entry(null), c: null })]]);

  it("are written when only other placements moved", () => {
    expect(stillDue(ours, inventory(5, {}))).toEqual(ours);
  });

  it("do not bring back what somebody else saw go or let go, who carries out the same decision", () => {
    const terminating = { kind: "lingering", code: "Terminating", message: "being removed" } as const;
    const found = { ...entry("3"), outcome: { kind: "claimed" } } as const;
    const lingering = { ...entry("2"), outcome: terminating };
    const results = new Map([[web, change({ a: entry("1"), b: lingering, c: found }, "d", ["b", "c"])]]);
    const there = inventory(5, { b: entry("2"), c: entry(null) });
    expect(stillDue(results, there)).toEqual(results);
    const due = new Map([[web, change({ a: entry("1") }, "d", ["b", "c"])]]);
    expect(stillDue(results, inventory(5, {}))).toEqual(due);
    expect(stillDue(results, inventory(6, {})).get(web)?.entries).toEqual(due.get(web)?.entries);
  });

  it("do not disown what somebody else made since, who carries out the same decision", () => {
    const refused = {
      kind: "failed",
      code: "FailedToTakeOver",
      message: "",
      attempts: 1,
      retryAt: 0 as Instant,
    } as const;
    const results = new Map([[web, change({ a: entry("1"), b: { ...entry(null), outcome: refused } })]]);
    expect(stillDue(results, inventory(5, { b: entry(null) }))).toEqual(results);
    expect(stillDue(results, inventory(5, { b: entry("2") }))).toEqual(new Map([[web, change({ a: entry("1") })]]));
  });

  const adopted = (uid: string | null): InventoryEntry => ({ ...entry(uid), adopted: true });
  interface Meeting {
    readonly name: string;
    readonly ours: InventoryEntry;
    readonly there: InventoryEntry;
    /** The uid that stands there, null for nothing; absent where nobody looked, or where it could not be looked at. */
    readonly standing?: string | null;
    /** Null: what the inventory says stays. */
    readonly due: InventoryEntry | null;
  }

  const meet = ({ ours: result, there, standing, due }: Meeting): void => {
    const seen = standing === undefined ? {} : { a: standing };
    expect(stillDue(new Map([[web, change({ a: result })]]), inventory(5, { a: there }), seen)).toEqual(
      new Map([[web, change(due === null ? {} : { a: due })]]),
    );
  };

  const origins: Meeting[] = [
    { name: "made, and recorded that", ours: adopted("2"), there: entry("2"), due: entry("2") },
    { name: "claimed to make", ours: adopted("2"), there: entry(null), due: entry("2") },
    { name: "took over, and recorded that", ours: entry("2"), there: adopted("2"), due: adopted("2") },
    { name: "claimed to take over", ours: entry("2"), there: adopted(null), due: adopted("2") },
    {
      name: "claimed to take over, where we were refused",
      ours: entry(null),
      there: adopted(null),
      due: adopted(null),
    },
    { name: "took over before we made it anew", ours: entry("2"), there: adopted("1"), standing: "2", due: entry("2") },
  ];

  it.each(origins)("leave it to the inventory where an object comes from that somebody else $name", meet);

  const standing: Meeting[] = [
    {
      name: "ours, where somebody made one before us",
      ours: entry("2"),
      there: entry("1"),
      standing: "2",
      due: entry("2"),
    },
    { name: "ours, where somebody claimed it", ours: entry("1"), there: entry(null), standing: "1", due: entry("1") },
    { name: "ours, where a claim cannot be held against it", ours: entry("1"), there: entry(null), due: entry("1") },
    { name: "what somebody made anew since", ours: entry("1"), there: entry("2"), standing: "2", due: null },
    { name: "what somebody took over since", ours: entry("1"), there: adopted("2"), standing: "2", due: null },
    { name: "what somebody made, where it cannot be looked at", ours: entry("1"), there: entry("2"), due: null },
    { name: "the claim to make anew what is gone", ours: entry("1"), there: entry(null), standing: null, due: null },
    { name: "the claim of what was just made anew", ours: entry("1"), there: entry(null), standing: "2", due: null },
    {
      name: "what somebody made, where both are gone by now",
      ours: entry("1"),
      there: entry("2"),
      standing: null,
      due: null,
    },
  ];

  it.each(standing)("count as what stands there says: $name", meet);

  it("have a look first at what we wrote and the inventory knows by another uid, or by none", () => {
    const wait = { ...entry("6"), outcome: { kind: "claimed" } } as const;
    const results = new Map([
      [web, change({ a: entry("1"), b: entry("2"), c: entry("3"), d: null, e: wait, f: entry("7") })],
    ]);
    const known = { a: entry("1"), b: entry("9"), c: claimOf(6), d: entry("9"), e: entry("9") };
    const looks = (there: Inventory): readonly string[] =>
      contestedObjects(results, actions, there).map((it) => `${it.version} ${objectKey(it)}`);
    expect(looks(inventory(5, known))).toEqual([`v1 ${key("b")}`, `v1 ${key("c")}`]);
    expect(looks(inventory(6, known))).toEqual([`v1 ${key("c")}`, `v1 ${key("f")}`]);
    expect(looks(inventory(5, known, 2))).toEqual([`v1 ${key("c")}`, `v1 ${key("f")}`]);
    expect(looks(inventory(6, { ...known, c: entry(null) }))).toEqual([`v1 ${key("f")}`]);
    expect(looks({ ...inventory(5, known), fleet: "" })).toEqual([]);
  });

  it("never overrule a later claim, and never hide what we wrote", () => {
    const due = stillDue(ours, inventory(6, { b: entry("9") }));
    expect(due).toEqual(new Map([[web, { ...change({ a: entry("1") }), sequence: 6 }]]));
    expect(stillDue(ours, inventory(6, { a: entry("9") })).size).toBe(0);
  });

  it("do not list again what a later decision has let go, whether its placement is still listed or not", () => {
    const results = new Map([[web, change({ a: entry("1") })]]);
    const tombstone = inventory(6, {});
    for (const there of [tombstone, { ...tombstone, placements: new Map() }]) {
      const due = (uid: string, isMarked: boolean): number => {
        const standing = new Map([[key("a"), { uid, isMarked }]]);
        return changesStillDue(results, actions, { claimed: there, inventory: there, standing }).size;
      };
      expect([due("1", false), due("1", true), due("2", false)]).toEqual([0, 1, 1]);
    }
  });

  it("tell a later claim of what stands there under our uid, and nothing else", () => {
    const results = new Map([[web, change({ a: entry("1") })]]);
    const later = inventory(6, { a: claimOf(6) });
    const told = new Map([[web, { ...change({ a: { ...claimOf(6), uid: "1" } }), sequence: 6 }]]);
    expect(stillDue(results, later, { a: "1" })).toEqual(told);
    for (const uid of ["2", null]) expect(stillDue(results, later, { a: uid }).size).toBe(0);
    expect(stillDue(results, later).size).toBe(0);
  });

  it("do not forget what was not there, once somebody has written down that it is", () => {
    const results = new Map([[web, change({ a: null, b: null, c: null })]]);
    const claimed = inventory(5, { a: claimOf(4), b: entry("1"), c: claimOf(4) });
    const there = inventory(5, { a: { ...claimOf(4), uid: "2" }, b: entry("1"), c: claimOf(4) });
    expect(stillDue(results, there, {}, claimed)).toEqual(new Map([[web, change({ b: null, c: null })]]));
  });

  it("are not forced upon another fleet", () => {
    expect(stillDue(ours, { ...inventory(5, {}), fleet: "other" }).size).toBe(0);
  });
});
