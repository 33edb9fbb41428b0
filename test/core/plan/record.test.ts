import { describe, expect, test } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { sameMap } from "../../../src/core/model/identity.ts";
import {
  emptyInventory,
  type InventoryEntry,
  type InventoryPlacement,
  type Outcome,
} from "../../../src/core/model/inventory.ts";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import { type ObjectKey, objectIdOf, objectText } from "../../../src/core/model/manifest.ts";
import {
  type Collected,
  type Health,
  type LiveObject,
  noProperties,
  type Observation,
} from "../../../src/core/model/observation.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import {
  type ClusterName,
  type Commit,
  type Digest,
  type Instant,
  later,
  type PlacementKey,
  type Sequence,
  seconds,
} from "../../../src/core/model/value.ts";
import { record } from "../../../src/core/plan/facts/record.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

type Reached = Extract<Observation, { kind: "reached" }>;

const web = "web" as PlacementKey;
const m1 = "m1" as ClusterName;
const config = keyOf("ConfigMap", "web/config");
const app = keyOf("Deployment", "web/app");

/** A world in which `web` was admitted to m1, applied there and heard of. */
function settled(): Seen {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1"));
    write(world, objectOf("Namespace", "web", "one"));
    write(world, objectOf("ConfigMap", "web/config", "one"));
    write(world, objectOf("Deployment", "web/app", "one"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] }));
  });
  world.member("m1").fresh = { phase: "available" };
  world.pass();
  world.pass();
  world.flush();
  world.wait(seconds(60));
  return world.look();
}

const seen = settled();
const member = seen.observed.get(m1) as Reached;
const carried = member.inventory.placements.get(web) as InventoryPlacement;
const binding = (ledger: Ledger): Binding | undefined => ledger.placements.get(web)?.bindings.get(m1);

const hearing = (change: Partial<Reached>, ledger = seen.ledger): Seen => ({
  ...seen,
  ledger,
  observed: new Map([[m1, { ...member, ...change }]]),
});
const carrying = (change: Partial<InventoryPlacement>): Pick<Reached, "inventory"> => ({
  inventory: { ...member.inventory, placements: new Map([[web, { ...carried, ...change }]]) },
});
const entry = (key: ObjectKey, change: Partial<InventoryEntry>): Pick<Reached, "inventory"> => {
  const known = carried.entries.get(key) ?? (carried.entries.get(config) as InventoryEntry);
  return carrying({ entries: new Map([...carried.entries, [key, { ...known, ...change }]]) });
};
const outcome = (key: ObjectKey, is: Outcome): Partial<Reached> => entry(key, { outcome: is });
const live = (key: ObjectKey, health: Health): Partial<Reached> => ({
  objects: new Map([...member.objects, [key, { ...(member.objects.get(key) as LiveObject), health }]]),
});
const dying = (key: ObjectKey): Partial<Reached> => ({
  objects: new Map([...member.objects, [key, { ...(member.objects.get(key) as LiveObject), terminating: true }]]),
});
const without = (...keys: readonly ObjectKey[]): ReadonlyMap<ObjectKey, LiveObject> =>
  new Map([...member.objects].filter(([key]) => !keys.includes(key)));
const failed = {
  kind: "failed",
  code: "ManifestApplyFailed",
  message: "quota",
  attempts: 1,
  retryAt: 0 as Instant,
} as const;

describe("what a member says of a target, in normal form", () => {
  const cases: readonly (readonly [name: string, said: Partial<Reached>, want: string])[] = [
    ["everything applied and available", {}, "applied available"],
    ["a claim of an earlier target says nothing", carrying({ sequence: 0 as Sequence }), "pending progressing"],
    ["a claim whose result is missing", outcome(app, { kind: "claimed" }), "pending progressing"],
    ["a refused object", outcome(config, failed), "failed progressing: ConfigMap web/config ManifestApplyFailed quota"],
    [
      "a refused object outweighs one that is pending",
      {
        inventory: {
          ...member.inventory,
          placements: new Map([
            [
              web,
              {
                ...carried,
                entries: new Map(
                  [...carried.entries].map(([key, it]): [ObjectKey, InventoryEntry] => [
                    key,
                    { ...it, outcome: key === config ? failed : { kind: "claimed" } },
                  ]),
                ),
              },
            ],
          ]),
        },
      },
      "failed progressing: ConfigMap web/config ManifestApplyFailed quota",
    ],
    ["an object that somebody deleted", { objects: without(config) }, "pending progressing"],
    [
      "an object that is being deleted, however well it still is",
      dying(app),
      "pending progressing: Deployment web/app Terminating is being deleted, and is made anew once it is gone",
    ],
    [
      "an object that we wanted gone, that is wanted again, and that still waits for a finalizer",
      { ...dying(app), ...outcome(app, { kind: "lingering", code: "Terminating", message: "waits for keep" }) },
      "pending progressing: Deployment web/app Terminating waits for keep",
    ],
    [
      "an object of a kind that could not be listed",
      { objects: without(app), unlisted: new Set(["apps/Deployment"]) },
      "applied untrackable",
    ],
    [
      "a workload on its way",
      live(app, { phase: "progressing", message: "0 of 1" }),
      "applied progressing: Deployment web/app ManifestNotAvailableYet 0 of 1",
    ],
    [
      "a workload that says it failed",
      live(app, { phase: "failed", message: "CrashLoopBackOff" }),
      "applied failed: Deployment web/app Failed CrashLoopBackOff",
    ],
    ["a kind that cannot be judged", live(app, { phase: "untrackable" }), "applied untrackable"],
    [
      "an entry that no decision explains, and whose object is gone (D 7)",
      entry(keyOf("Secret", "web/old"), {}),
      "applied available",
    ],
  ];
  test.each(cases)("%s", (_, said, want) => {
    const facts = binding(record(hearing(said)))?.facts;
    const objectFailures =
      facts?.objectFailures.map(({ id, code, message }) => `${objectText(id)} ${code} ${message}`) ?? [];
    const text = `${facts?.applied} ${facts?.phase}${objectFailures.length === 0 ? "" : ": "}${objectFailures.join("; ")}`;
    expect(text).toBe(want);
  });
});

describe("what others changed (I-22)", () => {
  const changed = { ...(member.objects.get(app) as LiveObject), fingerprint: "theirs" as Digest };
  const said = { objects: new Map([...member.objects, [app, changed]]) };
  const unheard = record(hearing(outcome(app, { kind: "claimed" })));

  test("does not show that ours comes up", () => {
    const facts = binding(record(hearing(said, unheard)))?.facts;
    expect([facts?.applied, facts?.phase, facts?.objectFailures.map((it) => it.message)]).toEqual([
      "applied",
      "progressing",
      ["Somebody changed it after it was applied. It is being put right."],
    ]);
  });

  test("is no news while it is well and ours was up before", () => {
    expect(record(hearing(said))).toBe(seen.ledger);
  });
});

describe("time and identity", () => {
  test("what was heard before is the same ledger, whatever the clock says", () => {
    expect(record(seen)).toBe(seen.ledger);
    expect(record({ ...seen, now: later(seen.now, seconds(3600)) })).toBe(seen.ledger);
  });

  test("a member that was not asked changes nothing", () => {
    expect(record({ ...seen, observed: new Map() })).toBe(seen.ledger);
  });

  test("`since` moves with the phase and with nothing else", () => {
    const at = (health: Health, from = seen.ledger, now = seen.now): Ledger =>
      record({ ...hearing(live(app, health), from), now });
    const first = at({ phase: "progressing", message: "0 of 2" });
    const later1 = at({ phase: "progressing", message: "1 of 2" }, first, later(seen.now, seconds(30)));
    expect(binding(first)?.facts?.since).toBe(seen.now);
    expect(binding(later1)?.facts?.since).toBe(seen.now);
    expect(binding(later1)?.facts?.objectFailures[0]?.message).toBe("1 of 2");
  });

  test("what was taken over is told", () => {
    expect(binding(record(hearing(entry(config, { adopted: true }))))?.facts?.adopted).toEqual([objectIdOf(config)]);
  });
});

describe("what had to go", () => {
  const leaving = [config, app].map((it) => ({
    id: objectIdOf(it),
    cause: "c2" as Commit,
    released: false,
    evenAdopted: false,
  }));
  const withBinding = (change: Partial<Binding>): Ledger => {
    const before = seen.ledger.placements.get(web);
    if (before === undefined) throw new Error("web has no record");
    const bindings = new Map([[m1, { ...(before.bindings.get(m1) as Binding), ...change }]]);
    return { ...seen.ledger, placements: new Map([[web, { ...before, bindings }]]) };
  };
  const removal = { sequence: 2 as Sequence, since: seen.now, cause: "c2" as Commit, propagation: "Delete" } as const;
  const nothing = carrying({ entries: new Map(), sequence: removal.sequence });

  test("is confirmed gone when the inventory lists it no more", () => {
    const entries = new Map([...carried.entries].filter(([key]) => key !== config));
    const heard = record(hearing(carrying({ entries }), withBinding({ leaving })));
    expect(binding(heard)?.leaving).toEqual(leaving.slice(1));
  });

  test("is not gone because an inventory that somebody deleted does not list it (F-43)", () => {
    const before = withBinding({ leaving, removal });
    expect(binding(record(hearing({ inventory: emptyInventory }, before)))).toBe(binding(before));
  });

  test("is let go once it turns out that it may have been there before us", () => {
    const heard = binding(record(hearing(entry(config, { adopted: true }), withBinding({ leaving }))));
    expect(heard?.leaving.map((it) => it.released)).toEqual([true, false]);
  });

  test("says nothing about the target", () => {
    const heard = record(hearing(outcome(config, failed), withBinding({ leaving })));
    expect(binding(heard)?.facts?.applied).toBe("applied");
  });

  test("ends its binding when all of it is gone", () => {
    expect(binding(record(hearing(nothing, withBinding({ leaving, removal }))))).toBeUndefined();
    expect(binding(record(hearing({}, withBinding({ leaving, removal }))))?.leaving).toEqual(leaving);
  });

  test("keeps its binding until the member has heard of the removal: an older decision could still come through", () => {
    const unheard = carrying({ entries: new Map() });
    expect(binding(record(hearing(unheard, withBinding({ leaving, removal }))))).toMatchObject({
      leaving: [],
      removal,
    });
  });

  test("leaves a cluster that was picked again with a clean slate", () => {
    const before = withBinding({ leaving, removal, state: "Scheduled" });
    const known = binding(before) as Binding;
    expect(binding(record(hearing(nothing, before)))).toEqual({
      ...known,
      // Without its target it is another spec.
      generation: known.generation + 1,
      target: null,
      removal: null,
      leaving: [],
      facts: null,
    });
  });

  test("proves nothing while the member is silent or another one", () => {
    const before = withBinding({ leaving, removal });
    const silent: Observation = { kind: "unreachable", code: "Unreachable", message: "" };
    expect(binding(record({ ...seen, ledger: before, observed: new Map([[m1, silent]]) }))).toBe(binding(before));
    expect(binding(record(hearing({ ...nothing, clusterUid: "another" }, before)))).toBe(binding(before));
  });
});

describe("members", () => {
  const troubleOf = (world: Seen): string | null => record(world).clusters.get(m1)?.contactFailure?.code ?? null;
  const silent = (message: string): Observation => ({ kind: "unreachable", code: "Unreachable", message });

  test.each<readonly [string, Seen, string | null]>([
    ["answers", seen, null],
    ["is silent", { ...seen, observed: new Map([[m1, silent("timeout")]]) }, "Unreachable"],
    ["answers as another cluster (D 8)", hearing({ clusterUid: "another" }), "IdentityChanged"],
    ["belongs to another fleet", hearing({ inventory: { ...member.inventory, fleet: "theirs" } }), "IdentityChanged"],
  ])("one that %s", (_, world, want) => {
    expect(troubleOf(world)).toBe(want);
  });

  test("trouble keeps its first words and its moment, and ends when the member answers", () => {
    const first = record({ ...seen, observed: new Map([[m1, silent("port 1")]]) });
    const next = {
      ...seen,
      ledger: first,
      now: later(seen.now, seconds(30)),
      observed: new Map([[m1, silent("port 2")]]),
    };
    expect(record(next)).toBe(first);
    expect(record({ ...seen, ledger: first }).clusters.get(m1)?.contactFailure).toBeNull();
  });

  test("another kind of trouble goes on from the same moment", () => {
    const first = record({ ...seen, observed: new Map([[m1, silent("timeout")]]) });
    const other: Observation = { kind: "unreachable", code: "Forbidden", message: "no" };
    const then = record({
      ...seen,
      ledger: first,
      now: later(seen.now, seconds(30)),
      observed: new Map([[m1, other]]),
    });
    expect(then.clusters.get(m1)?.contactFailure).toEqual({ code: "Forbidden", message: "no", since: seen.now });
  });

  test("the uid that joined stays on record while another cluster answers", () => {
    expect(record(hearing({ clusterUid: "another" })).clusters.get(m1)?.kubeSystemUid).toBe("uid-of-m1");
  });

  test("what another cluster tells of itself does not change what is said of collecting", () => {
    const told: Collected = {
      properties: noProperties,
      provided: noProperties,
      machines: [],
      labels: new Map(),
      missing: [{ source: "nodes", code: "Forbidden", message: "nodes may not be listed" }],
    };
    const collecting = (ledger: Ledger) =>
      ledger.clusters.get(m1)?.conditions.find((it) => it.type === "ClusterPropertyCollectionSucceeded");
    expect(collecting(record(hearing({ clusterUid: "another", collected: told })))).toBeUndefined();
    const before = record(hearing({ collected: told }));
    expect(collecting(before)?.status).toBe("False");
    const another = hearing({ clusterUid: "another", collected: { ...told, missing: [] } }, before);
    expect(collecting(record(another))).toBe(collecting(before));
  });
});

test.each([
  [[["a", 1]], [["a", 1]], true],
  [[["a", 1]], [["a", 2]], false],
  [[["a", undefined]], [["b", undefined]], false],
  [[["a", 1]], [], false],
] as const)("sameMap %j %j", (a, b, want) => {
  expect(sameMap(new Map<string, unknown>(a), new Map<string, unknown>(b))).toBe(want);
});

describe("an object that others keep changing back", () => {
  const { now } = seen;
  const repairs = (count: number, ago = 0) => ({
    count,
    since: later(now, seconds(-60 - ago)),
    last: later(now, seconds(-ago)),
  });
  const other = "other" as Digest;
  const drifted = (rival?: string): Partial<Reached> => {
    const live = { ...(member.objects.get(config) as LiveObject), fingerprint: other };
    return { objects: new Map([...member.objects, [config, rival === undefined ? live : { ...live, rival }]]) };
  };
  const contests = (world: Seen) => binding(record(world))?.facts?.contested;
  const id = objectIdOf(config);

  const cases: readonly (readonly [name: string, said: Partial<Reached>, want: unknown])[] = [
    ["is no news after two repairs", { ...entry(config, { repairs: repairs(2) }), ...drifted("hpa") }, undefined],
    [
      "is told after three, with who did it",
      { ...entry(config, { repairs: repairs(3) }), ...drifted("hpa") },
      [{ id, by: "hpa", repairs: 3, since: later(now, seconds(-60)) }],
    ],
    [
      "is told by a count that is no news each time",
      { ...entry(config, { repairs: repairs(11) }), ...drifted() },
      [{ id, by: null, repairs: 6, since: later(now, seconds(-60)) }],
    ],
    ["is told no more once a repair held for ten minutes", entry(config, { repairs: repairs(11, 600) }), undefined],
  ];
  test.each(cases)("%s", (_, said, want) => expect(contests(hearing(said))).toEqual(want));

  test("keeps its first name, also while it is put right, and the workload stays up", () => {
    const first = record(hearing({ ...entry(config, { repairs: repairs(3) }), ...drifted("hpa") }));
    const again = record(hearing({ ...entry(config, { repairs: repairs(5) }), ...drifted("keda") }, first));
    expect(again).toBe(first);
    const later = record(hearing(entry(config, { repairs: repairs(6) }), first));
    expect(binding(later)?.facts).toMatchObject({
      applied: "applied",
      phase: "available",
      contested: [{ by: "hpa", repairs: 6 }],
    });
  });

  test("is forgotten when the time has come, although its member says nothing new", () => {
    const world = hearing({ ...entry(config, { repairs: repairs(3) }), ...drifted("hpa") });
    const fought = record(world);
    const same = { ...world, ledger: fought };
    expect(record({ ...same, now: later(now, seconds(599)) })).toBe(fought);
    expect(contests({ ...same, now: later(now, seconds(600)) })).toBeUndefined();
  });

  test("that others delete again and again is not on its way", () => {
    const world = hearing({ ...entry(config, { repairs: repairs(4) }), objects: without(config) });
    const facts = binding(record(world))?.facts;
    expect([facts?.applied, facts?.objectFailures[0]?.code]).toEqual(["failed", "FieldFight"]);
  });
});
