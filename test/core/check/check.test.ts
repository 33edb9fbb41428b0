import { describe, expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Binding, Target } from "../../../src/core/model/binding.ts";
import type { AcceptedBounds, DeletionLedger } from "../../../src/core/model/deletion.ts";
import {
  emptyInventory,
  type Inventory,
  type InventoryEntry,
  type InventoryPlacement,
  maxTombstones,
} from "../../../src/core/model/inventory.ts";
import type { Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import { objectIdOf } from "../../../src/core/model/manifest.ts";
import type { ObjectRemoval, PlacementActions, Plan, World as Seen } from "../../../src/core/model/plan.ts";
import {
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  type PlacementKey,
  type Sequence,
} from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const web = "web" as PlacementKey;
const m1 = "m1" as ClusterName;
const config = keyOf("ConfigMap", "web/config");

/** A world in which `web` stands on four clusters, available. */
function settled(...options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3", "m4"]) world.join(clusterOf(name));
    write(world, objectOf("Namespace", "web", "one"));
    write(world, objectOf("ConfigMap", "web/config", "one"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options }));
  });
  world.pass();
  world.pass();
  world.flush();
  return world;
}

type Case = readonly [seen: Seen, made: Plan];

const planned = (world: World): Case => {
  const seen = world.look();
  return [seen, plan(seen)];
};

/** A new version begins to move: m1 is written. */
function updating(): Case {
  const world = settled();
  world.commit(() => write(world, objectOf("ConfigMap", "web/config", "two")));
  return planned(world);
}

/** The placement goes from one cluster: m1 is the last to have it, and gives it up. */
function removing(...options: readonly string[]): Case {
  const world = settled(...options);
  world.commit(() => {
    for (const name of ["m2", "m3", "m4"]) world.clusters.delete(name as ClusterName);
    world.placements.delete(web);
  });
  return planned(world);
}

/** The same after somebody deleted the inventory of m1. */
function losing(): Case {
  const [before] = removing();
  const seen = reached(before, { inventory: emptyInventory });
  return [seen, plan(seen)];
}

/** The same while it waits for a confirmation. */
function holding(): Case {
  const world = settled();
  world.commit(() => world.placements.delete(web));
  return planned(world);
}

const withWork = (made: Plan, change: (it: PlacementActions) => Partial<PlacementActions>): Plan => ({
  ...made,
  actions: made.actions.map((it) => ({
    ...it,
    placements: it.placements.map((work) => ({ ...work, ...change(work) })),
  })),
});
const withRemoval = (made: Plan, key: string, change: Partial<ObjectRemoval>): Plan =>
  withWork(made, ({ remove }) => ({ remove: remove.map((it) => (it.key === key ? { ...it, ...change } : it)) }));
const withLedger = (made: Plan, change: Partial<Ledger>): Plan => ({ ...made, ledger: { ...made.ledger, ...change } });
const withRecord = (made: Plan, change: (it: PlacementRecord) => Partial<PlacementRecord>): Plan => {
  const record = made.ledger.placements.get(web) as PlacementRecord;
  return withLedger(made, { placements: new Map([[web, { ...record, ...change(record) }]]) });
};
const withBinding = (made: Plan, change: (it: Binding) => Partial<Binding>, cluster = m1): Plan =>
  withRecord(made, ({ bindings }) => {
    const binding = bindings.get(cluster) as Binding;
    return { bindings: new Map([...bindings, [cluster, { ...binding, ...change(binding) }]]) };
  });
const withDeletions = (made: Plan, change: Partial<DeletionLedger>): Plan =>
  withLedger(made, { deletions: { ...made.ledger.deletions, ...change } });
const targetOf = ({ target }: Binding): Target => target as Target;
const nine = Array.from({ length: 9 }, (_, at) => keyOf("ConfigMap", `web/more-${at}`));
const departure = (key: typeof config): ObjectRemoval => ({
  id: { ...objectIdOf(key), version: "v1" },
  key,
  uid: "m1-2",
  how: "delete",
  cascadesTo: [],
});
const reached = (seen: Seen, change: object): Seen => {
  const observation = seen.observed.get(m1) as Extract<
    NonNullable<ReturnType<Seen["observed"]["get"]>>,
    { kind: "reached" }
  >;
  return { ...seen, observed: new Map([...seen.observed, [m1, { ...observation, ...change }]]) };
};
/** The world in which the record knew something else of deletions. */
const knowing = (seen: Seen, change: Partial<DeletionLedger>): Seen => ({
  ...seen,
  ledger: { ...seen.ledger, deletions: { ...seen.ledger.deletions, ...change } },
});
/** The world in which what is about to wait is confirmed by a file, or is not. */
const confirming = (seen: Seen, isGiven: boolean): Seen => ({
  ...seen,
  intent: {
    ...seen.intent,
    confirmations: new Set(isGiven ? plan(holding()[0]).ledger.deletions.held.map((it) => it.digest) : []),
  },
});
/** Confirmations of what is about to wait, used before. */
const usedIn = (seen: Seen): DeletionLedger["confirmations"] =>
  new Map(
    plan(seen).ledger.deletions.held.map(({ digest }) => [
      digest,
      { digest, outcome: "used", commit: "c" as Commit, basis: null },
    ]),
  );
const adoptedBy = (seen: Seen): Seen => {
  const observation = seen.observed.get(m1);
  if (observation?.kind !== "reached") return seen;
  const carried = observation.inventory.placements.get(web);
  if (carried === undefined) return seen;
  const entries = new Map([...carried.entries].map(([key, it]) => [key, { ...it, adopted: true }]));
  return reached(seen, {
    inventory: { ...observation.inventory, placements: new Map([[web, { ...carried, entries }]]) },
  });
};

describe("a plan that the planner made passes", () => {
  test.each([
    ["an update", updating()],
    ["a removal", removing()],
    ["an abandonment", removing("abandon")],
    ["a deletion that waits", holding()],
  ])("%s", (_, [seen, made]) => {
    expect(check(made, seen)).toEqual([]);
  });
});

const doctored: readonly {
  catches: string;
  of: Case;
  doctor: (made: Plan, seen: Seen) => Plan;
  seeing?: (seen: Seen) => Seen;
}[] = [
  {
    catches:
      "writes to m9, which is no member; writes to m9, which did not answer; touches web on m9 without a binding",
    of: updating(),
    doctor: (made) => ({ ...made, actions: made.actions.map((it) => ({ ...it, cluster: "m9" as ClusterName })) }),
  },
  {
    catches: "writes to m1, which did not answer",
    of: updating(),
    doctor: (made) =>
      withRecord(made, (it) => ({
        deleting: { since: it.conditions[0]?.lastTransitionTime ?? (0 as never), cause: "c" as Commit },
      })),
    seeing: (seen) => ({
      ...seen,
      observed: new Map([...seen.observed, [m1, { kind: "unreachable", code: "Unreachable", message: "" }]]),
    }),
  },
  {
    catches: "writes to m1, which is not the cluster that joined",
    of: updating(),
    doctor: (made) => made,
    seeing: (seen) => reached(seen, { clusterUid: "another" }),
  },
  {
    catches: "acts on web on m1 under a sequence nobody decided",
    of: updating(),
    doctor: (made) => withWork(made, () => ({ sequence: 1 as Sequence })),
  },
  {
    catches: "applies web to m1, where it is not admitted",
    of: updating(),
    doctor: (made) => withBinding(made, () => ({ state: "Scheduled" })),
  },
  {
    catches: "writes the reserved namespace kube-system on m1",
    of: updating(),
    doctor: (made) =>
      withWork(made, ({ apply }) => ({
        apply: apply.map((it) => ({
          ...it,
          id: { ...it.id, kind: "Namespace", namespace: null, name: "kube-system" },
        })),
      })),
  },
  {
    catches:
      "removes /Secret/web/x of web from m1, which its inventory does not list; removes /Secret/web/x of web from m1, which nobody decided",
    of: removing(),
    doctor: (made) => withWork(made, () => ({ remove: [departure(keyOf("Secret", "web/x"))] })),
  },
  {
    catches: "removes /ConfigMap/web/config of web from m1 under another uid than its inventory has",
    of: removing(),
    doctor: (made) => withRemoval(made, config, { uid: "another" }),
  },
  {
    catches:
      "removes /ConfigMap/web/config of web from m1 and applies it; removes /ConfigMap/web/config of web from m1, which nobody decided",
    of: updating(),
    doctor: (made) => withWork(made, () => ({ remove: [departure(config)] })),
  },
  {
    catches:
      "looks for /ConfigMap/web/config of web on m1, which nobody decided to take away; removes /ConfigMap/web/config of web from m1, which nobody decided",
    of: removing(),
    doctor: (made) =>
      withBinding(made, ({ leaving }) => ({ leaving: leaving.filter((it) => it.id.kind !== "ConfigMap") })),
  },
  {
    catches:
      "deletes /Namespace//web of web from m1, which was there before us; deletes /ConfigMap/web/config of web from m1, which was there before us",
    of: removing(),
    doctor: (made) => made,
    seeing: adoptedBy,
  },
  {
    catches: "deletes /ConfigMap/web/config of web from m1, which is to be abandoned",
    of: removing("abandon"),
    doctor: (made) => withRemoval(made, config, { how: "delete" }),
  },
  {
    catches: "deletes /Namespace//web of web from m1 because of an edit",
    of: removing(),
    doctor: (made) =>
      withBinding(made, (it) => ({ removal: null, target: { ...targetOf(it), sequence: made.ledger.sequence } })),
  },
  {
    catches: "permits deletions on 4 clusters for one commit, at most 3 may",
    of: removing(),
    doctor: (made) =>
      withDeletions(made, { permitted: new Map(["a", "b", "c", "d"].map((it) => [it as ClusterName, 1])) }),
  },
  {
    catches: "permits 11 deletions on m1 for one commit, at most 10 may",
    of: removing(),
    doctor: (made) => withDeletions(made, { permitted: new Map([[m1, 11]]) }),
  },
  {
    catches: "loosens the bound objectsPerCluster to 50 in the commit that asks for it",
    of: removing(),
    doctor: (made) => {
      const { declared, inForce } = made.ledger.deletions.bounds as AcceptedBounds;
      return withDeletions(made, { bounds: { declared, inForce: { ...inForce, objectsPerCluster: 50 } } });
    },
  },
  {
    catches: "takes 11 objects from m1 at once, at most 10 may go unasked",
    of: removing(),
    doctor: (made) =>
      withWork(
        withBinding(made, ({ leaving }) => ({
          leaving: [
            ...leaving,
            ...nine.map((it) => ({ id: objectIdOf(it), cause: "c" as Commit, released: false, evenAdopted: false })),
          ],
        })),
        ({ recover }) => ({ recover: [...recover, ...nine.map(objectIdOf)] }),
      ),
  },
  {
    catches: "takes objects from 4 clusters at once, at most 3 may lose any unasked",
    of: holding(),
    doctor: (made) => withDeletions(made, { held: [] }),
  },
  {
    catches: "takes DIGEST for confirmed, which nobody did",
    of: holding(),
    doctor: (made) =>
      withDeletions(made, { held: made.ledger.deletions.held.map((it) => ({ ...it, confirmed: true })) }),
  },
  {
    catches: "asks for DIGEST, which is not the digest of what waits",
    of: holding(),
    doctor: (made) =>
      withDeletions(made, { held: made.ledger.deletions.held.map((it) => ({ ...it, because: "kind" as const })) }),
  },
  {
    catches: "asks for DIGEST twice",
    of: holding(),
    doctor: (made) => withDeletions(made, { held: made.ledger.deletions.held.flatMap((it) => [it, { ...it }]) }),
  },
  {
    catches: "adds to what waits under DIGEST",
    of: holding(),
    doctor: (made) => made,
    seeing: (seen) => knowing(seen, { held: plan(seen).ledger.deletions.held.map((it) => ({ ...it, groups: [] })) }),
  },
  {
    catches:
      "asks for DIGEST, which a confirmation named before; does not judge the confirmation of DIGEST; forgets the confirmation of DIGEST",
    of: holding(),
    doctor: (made) => made,
    seeing: (seen) => confirming(knowing(seen, { confirmations: usedIn(seen) }), true),
  },
  {
    catches: "does not judge the confirmation of DIGEST",
    of: holding(),
    doctor: (made) => made,
    seeing: (seen) => confirming(seen, true),
  },
  {
    catches: "takes DIGEST for confirmed, which nobody did",
    of: holding(),
    doctor: (made) =>
      withDeletions(made, {
        confirmations: usedIn(holding()[0]),
        held: made.ledger.deletions.held.map((it) => ({ ...it, confirmed: true })),
      }),
    seeing: (seen) => confirming(seen, false),
  },
  {
    catches: "does not record that DIGEST was used; does not judge the confirmation of DIGEST",
    of: holding(),
    doctor: (made) =>
      withDeletions(made, { held: made.ledger.deletions.held.map((it) => ({ ...it, confirmed: true })) }),
    seeing: (seen) => confirming(seen, true),
  },
  {
    catches: "removes /Namespace//web from m1, which waits for confirmation DIGEST",
    of: removing(),
    doctor: (made) => withDeletions(made, { held: plan(holding()[0]).ledger.deletions.held }),
  },
  {
    catches: "disturbs 2 available clusters of web and leaves 2, at least 3 must stay",
    of: updating(),
    doctor: (made) =>
      withBinding(
        made,
        () => ({ target: made.ledger.placements.get(web)?.bindings.get(m1)?.target ?? null }),
        "m2" as ClusterName,
      ),
  },
  {
    catches: "numbers the ledger 7 after 2",
    of: updating(),
    doctor: (made) =>
      withWork(
        withBinding(withLedger(made, { sequence: 7 as Sequence }), (it) => ({
          target: { ...targetOf(it), sequence: 7 as Sequence },
        })),
        () => ({ sequence: 7 as Sequence }),
      ),
  },
  {
    catches: "dates the target of web on m1 wrongly",
    of: updating(),
    doctor: (made) =>
      withWork(
        withBinding(made, (it) => ({ target: { ...targetOf(it), sequence: 1 as Sequence } })),
        () => ({ sequence: 1 as Sequence }),
      ),
  },
  {
    catches: "dates the removal of web from m2 wrongly",
    of: holding(),
    doctor: (made) =>
      withBinding(
        made,
        ({ removal }) => ({ removal: removal === null ? null : { ...removal, sequence: 1 as Sequence } }),
        "m2" as ClusterName,
      ),
  },
  {
    catches: "decides about web on m1 silently",
    of: updating(),
    doctor: (made, { ledger: { sequence } }) => ({
      ...withWork(
        withBinding(withLedger(made, { sequence }), (it) => ({ target: { ...targetOf(it), sequence } })),
        () => ({ sequence }),
      ),
      decides: false,
    }),
  },
  {
    catches: "forgets web on m2, which may still carry it",
    of: updating(),
    doctor: (made) =>
      withRecord(made, ({ bindings }) => ({ bindings: new Map([...bindings].filter(([name]) => name !== "m2")) })),
  },
  {
    catches: "forgets web on m2, which may still carry it; forgets web on m3, which may still carry it",
    of: updating(),
    doctor: (made) =>
      withRecord(made, ({ bindings }) => ({
        bindings: new Map([...bindings].filter(([name]) => !/m[23]/.test(name))),
      })),
  },
  {
    catches: "forgets /ConfigMap/web/config of web on m1, which is still there",
    of: removing(),
    doctor: (made) => withWork(made, () => ({ remove: [], forget: [config] })),
  },
  {
    catches: "claims web on m1 without looking for everything that leaves it",
    of: losing(),
    doctor: (made) => withWork(made, ({ recover }) => ({ recover: recover.slice(1) })),
  },
  {
    catches: "looks for /ConfigMap/web/more-0 of web on m1, which nobody decided to take away",
    of: losing(),
    doctor: (made) =>
      withWork(made, ({ recover }) => ({ recover: [...recover, objectIdOf(keyOf("ConfigMap", "web/more-0"))] })),
  },
  {
    catches: "forgets web on m1, which may still carry it",
    of: losing(),
    doctor: (made) => ({ ...withLedger(made, { placements: new Map() }), actions: [] }),
  },
  {
    catches: "takes along /ConfigMap/web/config with /ConfigMap/web/config from m1, which nobody confirmed",
    of: removing(),
    doctor: (made) => withRemoval(made, config, { cascadesTo: [{ ...objectIdOf(config), uid: "their-uid" }] }),
  },
  {
    catches: "acts although the world was refused",
    of: updating(),
    doctor: (made) => ({ ...made, refusal: { code: "StateLost", message: "", fix: "" } }),
  },
];

describe("a plan with one thing wrong is caught, and nothing else is complained about", () => {
  test.each(doctored)("$catches", ({ catches, of: [seen, made], doctor, seeing = (it) => it }) => {
    const found = check(doctor(made, seen), seeing(seen)).map((it) => it.message.replaceAll(/[0-9a-f]{64}/g, "DIGEST"));
    expect([...found].sort(compareText).join("; ")).toBe(catches.split("; ").sort(compareText).join("; "));
  });
});

describe("a removal that its member has not heard of is forgotten only where there is no room for it", () => {
  /** The member carries nothing of the placement any more, and as many others; the plan lets go of the removal. */
  const forgetting = (others: number, change: Partial<InventoryPlacement>): Case => {
    const [before, made] = removing();
    const { ledger } = withBinding(made, () => ({ leaving: [] }));
    const { sequence } = ledger;
    const other: InventoryPlacement = { sequence, digest: "" as Digest, entries: new Map(), ...change };
    const placements = new Map(Array.from({ length: others }, (_, at) => [`other-${at}` as PlacementKey, other]));
    const inventory: Inventory = { fleet: ledger.fleet, epoch: ledger.epoch, placements };
    const seen = reached({ ...before, ledger }, { inventory });
    return [seen, { ...withLedger(plan(seen), { placements: new Map() }), actions: [] }];
  };
  const carried = new Map([[config, { outcome: { kind: "applied" } } as InventoryEntry]]);
  const forgets = ["forgets web on m1, which may still carry it"];

  test.each([
    ["as many removals as it remembers", maxTombstones, {}, []],
    ["one less", maxTombstones - 1, {}, forgets],
    ["as many older ones", maxTombstones, { sequence: 1 as Sequence }, forgets],
    ["as many that it carries", maxTombstones, { entries: carried }, forgets],
  ] as const)("%s", (_, others, change, want) => {
    const [seen, made] = forgetting(others, change);
    expect(check(made, seen).map((it) => it.message)).toEqual(want);
  });
});
