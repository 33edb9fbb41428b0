import { describe, expect, test } from "vitest";
import { assessClusters } from "../../../src/core/schedule/assessment.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import type { Schedule } from "../../../src/core/schedule/schedule.ts";
import { anyCycle, carriedOut, settled } from "./any-cycle.ts";
import { now, policyOf, schedule } from "./notation.ts";
import { random } from "./random.ts";

const rounds = 200;

const seeds = Array.from({ length: rounds }, (_, seed) => seed);

describe.each(Object.values(profiles))("whatever the fleet, the profile $name", (profile) => {
  test("gives the same schedule in whatever order the fleet is read", () => {
    for (const seed of seeds) {
      const cycle = anyCycle(seed);
      const { shuffled } = random(seed);
      const other = { ...cycle, candidates: shuffled(cycle.candidates), cycleBindings: shuffled(cycle.cycleBindings) };
      expect(schedule(other, profile), `seed ${seed}`).toEqual(schedule(cycle, profile));
    }
  });

  test("has nothing left to do, and says the same, once its schedule is carried out", () => {
    for (const seed of seeds) {
      const cycle = anyCycle(seed);
      const first = schedule(cycle, profile);
      const again = schedule(
        { ...cycle, cycleBindings: carriedOut(cycle.cycleBindings, first), recorded: first.decisions },
        profile,
      );
      expect([again.create, again.keep, again.drop], `seed ${seed}`).toEqual([[], [], []]);
      expect(byCluster(again), `seed ${seed}`).toEqual(byCluster(first));
    }
  });

  test("never moves what stands under the present policy, unless its cluster left or fewer are wanted", () => {
    for (const seed of seeds) {
      const cycle = anyCycle(seed);
      const { drop, wanted } = schedule(cycle, profile);
      const members = new Set(cycle.candidates.map((it) => it.cluster.name));
      const present = cycle.cycleBindings.filter(
        (it) =>
          members.has(it.cluster) &&
          !it.obsolete &&
          it.state !== "Unscheduled" &&
          (!it.removing || it.state === "Scheduled"),
      );
      const dropped = present.filter((it) => drop.some(({ cluster }) => cluster === it.cluster));
      const surplus = cycle.policy.kind === "PickN" ? Math.max(0, present.length - wanted) : 0;
      expect(dropped, `seed ${seed}`).toHaveLength(surplus);
    }
  });

  test("PickN on a fresh fleet picks exactly the smaller of the number and what is feasible", () => {
    for (const seed of seeds) {
      const { candidates } = anyCycle(seed);
      const count = random(seed).below(15);
      const feasible = candidates.filter(
        ({ cluster, contactFailure }) =>
          cluster.labels["e"] === "p" &&
          cluster.taints.length === 0 &&
          (contactFailure === null || now - contactFailure.since <= 300_000),
      );
      const cycle = { policy: policyOf(`${count} e=p`), candidates, cycleBindings: [], now };
      expect(schedule(cycle, profile).create, `seed ${seed}`).toHaveLength(Math.min(count, feasible.length));
    }
  });

  test("ranks first what one more cluster would be", () => {
    for (const seed of seeds) {
      const cycle = settled(anyCycle(seed), profile);
      const first = assessClusters(cycle, profile).find((it) => it.rank === 1);
      if (cycle.policy.kind !== "PickN") continue;
      const more = { ...cycle.policy, numberOfClusters: schedule(cycle, profile).found + 1 };
      const { create, keep } = schedule({ ...cycle, policy: more }, profile);
      const picked = [...create.map((it) => it.cluster), ...keep.map((it) => it.decision.cluster)];
      expect(picked, `seed ${seed}`).toEqual(first === undefined ? [] : [first.cluster]);
    }
  });

  test("stays where it is when a change of policy makes no difference", () => {
    for (const seed of seeds) {
      const { candidates } = anyCycle(seed);
      const cycle = { policy: policyOf("4 tolerate k prefer 2:e=p"), candidates, cycleBindings: [], now };
      const placed = carriedOut(cycle.cycleBindings, schedule(cycle, profile)).map((it) => ({ ...it, obsolete: true }));
      const { create, drop } = schedule({ ...cycle, cycleBindings: placed }, profile);
      expect([create, drop], `seed ${seed}`).toEqual([[], []]);
    }
  });
});

const byCluster = ({ decisions }: Schedule): ReadonlyMap<string, unknown> =>
  new Map(decisions.map((it) => [it.cluster, it]));
