// A rollout that its budget holds back shows the numbers, once for the placement, and they are no reason to write anything.
import { expect, test } from "vitest";
import { type ClusterName, minutes, type PlacementKey } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";

const web = "web" as PlacementKey;
const all = ["m1", "m2", "m3", "m4"];

/** A first version available on all that the policy picks of four clusters. */
function settled(policy = policyOf("PickAll", "env=prod")): World {
  const world = new World();
  world.commit(() => {
    for (const name of all) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "web", "one"));
    world.placements.set(web, placementOf({ name: "web", policy, options: ["unavailable=1"] }));
  });
  rest(world);
  return world;
}

function rest(world: World): void {
  for (let pass = 0; pass < 12; pass++) {
    world.pass();
    world.wait(minutes(1));
  }
  world.flush();
  expect(plan(world.look()).ledger).toBe(world.head);
}

const bring = (world: World, value: string): void =>
  world.commit(() => write(world, objectOf("Namespace", "web", value)));

const recordIn = (world: World) => world.head.placements.get(web) ?? expect.fail("no placement");

const said = (world: World, type: string): string => {
  const found = recordIn(world).conditions.find((it) => it.type === `ClusterResourcePlacement${type}`);
  return found === undefined ? "nothing" : `${found.status} ${found.message}`;
};

/** Commits what is decided and touches no member: nothing happens until the next pass. */
const decide = (world: World): void => void world.pass({ diesAfterCommit: true });

test("the placement says who waits for the budget: ready, needed and what is left, once what may start has started", () => {
  const world = settled();
  bring(world, "two");
  decide(world);
  expect(said(world, "RolloutStarted")).toMatch(
    /; m2, m3, m4 held back: ready 3, needed 3 \(4 targeted - maxUnavailable 1\), budget 0, starting now 0$/,
  );
});

test("the numbers stay as they are to the last byte while nothing changes, and are no news", () => {
  const world = settled();
  bring(world, "two");
  decide(world);
  const { conditions } = recordIn(world);
  const next = plan(world.look()).ledger.placements.get(web);
  expect(next?.conditions).toBe(conditions);
  decide(world);
  world.flush();
  for (let pass = 0; pass < 3; pass++) expect(plan(world.look()).ledger).toBe(world.head);
  world.restart();
  expect(plan(world.look()).ledger).toBe(world.head);
  expect(recordIn(world).conditions).toEqual(conditions);
});

test("bindings that go on waiting are not written anew when a number changes", () => {
  const world = settled();
  bring(world, "two");
  decide(world);
  const [before, numbers] = [recordIn(world), said(world, "RolloutStarted")];
  world.pass();
  world.pass();
  expect(said(world, "RolloutStarted")).not.toBe(numbers);
  const last = "m4" as ClusterName;
  expect(recordIn(world).bindings.get(last)).toBe(before.bindings.get(last));
});

test("a number that changes is news, and no decision", () => {
  const world = settled();
  bring(world, "two");
  decide(world);
  const conditions = recordIn(world).conditions.map((it) => ({
    ...it,
    message: it.message.replace("ready 3", "ready 2"),
  }));
  const placements = new Map([...world.head.placements, [web, { ...recordIn(world), conditions }] as const]);
  const { ledger, decides } = plan({ ...world.look(), ledger: { ...world.head, placements } });
  expect(ledger.placements.get(web)?.conditions).toEqual(recordIn(world).conditions);
  expect(decides).toBe(false);
});

test("removals that wait are named with their own numbers", () => {
  const world = settled(policyOf("PickN", "3"));
  const { bindings } = recordIn(world);
  expect(bindings.size).toBe(3);
  world.commit(() => {
    for (const name of all) world.join(clusterOf(name, ["env=prod"]));
    world.placements.set(
      web,
      placementOf({ name: "web", policy: policyOf("PickFixed", "m4,m5,m6"), options: ["unavailable=1"] }),
    );
  });
  decide(world);
  expect(`${said(world, "Scheduled")} | ${said(world, "RolloutStarted")}`).toMatch(
    /removal from .* held back: ready 2, needed 2 \(3 wanted - maxUnavailable 1\), budget 0/,
  );
});

test("a placement that leaves all its clusters says it where it says how it is scheduled", () => {
  const world = settled(policyOf("PickN", "2"));
  world.commit(() =>
    world.placements.set(
      web,
      placementOf({ name: "web", policy: policyOf("PickFixed", "m8,m9"), options: ["unavailable=1"] }),
    ),
  );
  decide(world);
  expect(said(world, "RolloutStarted")).toBe("nothing");
  expect(said(world, "Scheduled")).toMatch(/; removal from m\d held back: ready 1, needed 1 \(2 wanted /);
});

test("nobody is said to be held back once everybody has the version", () => {
  const world = settled();
  bring(world, "two");
  decide(world);
  rest(world);
  expect(said(world, "RolloutStarted")).toBe("True the newest version has started on 4 of 4 clusters");
});
