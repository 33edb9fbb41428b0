// In a fleet in which most members are nothing to a placement, what is remembered of it outlives their changes, and a
// plan that remembers is the plan that does not: whatever happens to whichever member.
import { expect, test } from "vitest";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import { type ClusterName, later, minutes, type PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { differenceOf } from "./same-ledger.ts";

const members = Array.from({ length: 32 }, (_, at) => `m${String(at).padStart(2, "0")}`);
const labelsOf = (at: number): string[] => [`env=${at % 3 === 0 ? "dev" : "prod"}`];

/** Four placements settled on some of 32 members; three of them have a full list of those that are not needed. */
function settled(): World {
  const world = new World();
  world.commit(() => {
    for (const [at, name] of members.entries()) world.join(clusterOf(name, labelsOf(at)));
    for (const line of ["Namespace web", "ConfigMap web/config"])
      write(world, objectOf(...(line.split(" ") as [string, string]), "one"));
    const policies = { few: ["PickN", "3"], more: ["PickN", "9"], most: ["PickN", "14"], all: ["PickAll", "env=dev"] };
    for (const [name, [kind, what]] of Object.entries(policies))
      world.placements.set(
        name as PlacementKey,
        placementOf({ name, policy: policyOf(kind as "PickN", what as string), options: [] }),
      );
  });
  for (let pass = 0; pass < 6; pass++) world.pass();
  world.wait(minutes(5));
  for (let pass = 0; pass < 3; pass++) world.pass();
  world.flush();
  world.pass();
  return world;
}

const unreachable = { kind: "unreachable", code: "Unreachable", message: "refused" } as const;

const events: readonly { readonly name: string; readonly after: (world: World, member: string, seen: Seen) => Seen }[] =
  [
    {
      name: "a label that nobody asks for",
      after: (world, member) => relabelled(world, member, [...labelsOf(members.indexOf(member)), "team=blue"]),
    },
    { name: "a label that somebody asks for", after: (world, member) => relabelled(world, member, ["env=dev"]) },
    {
      name: "a taint",
      after: (world, member) => relabelled(world, member, [...labelsOf(members.indexOf(member)), "taint:gpu"]),
    },
    { name: "silence", after: (_, member, seen) => silent(seen, member) },
    {
      name: "silence for six minutes",
      after(_, member, seen) {
        const first = silent(seen, member);
        return { ...first, ledger: plan(first).ledger, now: later(first.now, minutes(6)) };
      },
    },
    {
      name: "silence, and an answer again",
      after(_, member, seen) {
        const first = silent(seen, member);
        const second = { ...first, ledger: plan(first).ledger, now: later(first.now, minutes(7)) };
        plan(second);
        return { ...seen, ledger: plan(second).ledger, now: later(second.now, minutes(1)) };
      },
    },
  ];

function relabelled(world: World, member: string, labels: string[]): Seen {
  world.commit(() => world.join(clusterOf(member, labels)));
  return world.look();
}

const silent = (seen: Seen, member: string): Seen => ({
  ...seen,
  observed: new Map([...seen.observed, [member as ClusterName, unreachable]]),
});

test.each(events)("a plan that remembers is the plan of one that does not: $name", ({ after }) => {
  for (const member of members.filter((_, at) => at % 4 === 1)) {
    const world = settled();
    const seen = world.look();
    expect(plan(seen).ledger, "nothing moves").toBe(seen.ledger);
    const next = after(world, member, seen);
    expect(differenceOf(plan(next), plan(structuredClone(next))), member).toBeNull();
  }
});
