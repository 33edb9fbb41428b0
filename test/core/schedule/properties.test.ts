import { describe, expect, test } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { assessClusters } from "../../../src/core/schedule/assessment.ts";
import {
  type Candidate,
  type Cycle,
  type CycleBinding,
  wantedState,
} from "../../../src/core/schedule/framework/cycle.ts";
import { type Profile, profiles } from "../../../src/core/schedule/profile.ts";
import { hasSameVerdict, type Schedule, staysInTouchOrNot } from "../../../src/core/schedule/schedule.ts";
import { cycleBindings, fleet, now, policyOf, schedule } from "./notation.ts";
import { random } from "./random.ts";

const rounds = 200;

const labels = ["", "{e=p}", "{e=q}", "{e=p,r=a}", "{e=p,r=b}", "{r=a,z=1}", "{r=b,z=2}", "{e=q,r=c,z=1}"] as const;
const properties = ["", "", "<np=4>", "<np=5>", "<np=500m,cost=1.5>", "<np=x>", "<cost=0.3,total-cpu=8>"] as const;

/** A fleet of up to 12 members with labels, taints and troubles, bindings of every kind, and any policy. */
function anyCycle(seed: number): Cycle {
  const { below, pick } = random(seed);
  const members = Array.from({ length: below(13) }, (_, at) => `m${at}`);
  const fleetText = members.map((it) =>
    [it, pick(labels), pick(["", "", "[k=v]"]), pick(["", "", "(4m)", "(6m)"]), pick(properties)].join(""),
  );
  const standing = [...members, "gone"].flatMap((it) =>
    below(2) === 0
      ? []
      : [`${it}:${pick(["S0", "B0", "B1", "U(B)0", "U(S)1", "B0x", "S0x", "U(B)0x"])}[0,${below(9)}]`],
  );
  const policy = pick([
    "all",
    "all e=p",
    `${below(8)}`,
    `${below(8)} e=p|e=q prefer 3:e=q tolerate k`,
    "all np:Ge:5|e=q&total-cpu:Gt:4",
    `${below(8)} np:Ne:4|e=q prefer 30:@np/Desc,-20:e=p@cost/Asc`,
    `${below(8)} prefer 7:@np/Asc spread r:1`,
    `${below(8)} spread r:2,z:1:any tolerate k`,
    `${below(8)} e=p spread z:1,r:1 tolerate k`,
    "fixed m1,m2,m9",
  ]);
  return {
    policy: policyOf(policy),
    candidates: fleet(fleetText.join(" ")),
    cycleBindings: cycleBindings(standing.join(" "), 1),
    namespace: null,
    recorded: [],
    now,
  };
}

/** The bindings once the schedule is carried out and removals that were under way have ended. */
function carriedOut(before: readonly CycleBinding[], { create, keep, drop }: Schedule): readonly CycleBinding[] {
  const decided = new Map([...create, ...keep.map((it) => it.decision)].map((it) => [it.cluster, it]));
  const old = before.flatMap((it): readonly CycleBinding[] => {
    const decision = decided.get(it.cluster);
    if (decision === undefined && drop.some(({ cluster }) => cluster === it.cluster)) {
      return [{ ...it, state: "Unscheduled", previousState: wantedState(it), removing: false }];
    }
    if (decision === undefined) return it.removing && it.state !== "Scheduled" ? [] : [{ ...it, removing: false }];
    const isNew = create.includes(decision);
    const state = isNew ? "Scheduled" : wantedState(it);
    return [{ ...it, state, previousState: null, obsolete: false, removing: false, decision }];
  });
  const known = new Set(old.map((it) => it.cluster));
  const added = create
    .filter((it) => !known.has(it.cluster))
    .map(
      (decision): CycleBinding => ({
        name: decision.cluster,
        cluster: decision.cluster,
        state: "Scheduled",
        previousState: null,
        removing: false,
        obsolete: false,
        decision,
      }),
    );
  return [...old, ...added];
}

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

/** The cycle that runs again once all is carried out. */
function settled(cycle: Cycle, profile: Profile): Cycle {
  let last = cycle;
  for (let round = 0; round < 2; round++) {
    const result = schedule(last, profile);
    last = { ...last, cycleBindings: carriedOut(last.cycleBindings, result), recorded: result.decisions };
  }
  return last;
}

describe("a candidate that is judged alike", () => {
  const looks = [
    "",
    "{e=p}",
    "{e=q}",
    "[k=v]",
    "(4m)",
    "(6m)",
    "{e=p}(4m)",
    "{x=y}",
    "{e=p,x=y}",
    "<np=4>",
    "<np=9>",
    "{r=a}<np=4>",
    "{r=b}",
  ];
  const alike = Array.from({ length: rounds }, (_, seed) => seed).map((seed) => {
    const cycle = anyCycle(seed);
    const { below } = random(seed + rounds);
    const free = cycle.candidates.filter(
      (it) => !cycle.cycleBindings.some(({ cluster }) => cluster === it.cluster.name),
    );
    const was = free[below(Math.max(1, free.length))];
    const [is] = fleet(`${was?.cluster.name ?? "none"}${looks[below(looks.length)]}`);
    return { seed, cycle, was, is };
  });

  test.each(["default", "kubefleet"] as const)("changes nothing in any cycle: %s", (name) => {
    let count = 0;
    for (const { seed, cycle, was, is } of alike) {
      if (was === undefined || is === undefined) continue;
      if (!hasSameVerdict(cycle.policy, { was, is }, profiles[name], cycle.now)) continue;
      const changed = { ...cycle, candidates: cycle.candidates.map((it) => (it === was ? is : it)) };
      expect(schedule(changed, profiles[name]), `seed ${seed}`).toEqual(schedule(cycle, profiles[name]));
      count += 1;
    }
    expect(count).toBeGreaterThan(20);
    expect(count).toBeLessThan(alike.length - 20);
  });

  test.each(["default", "kubefleet"] as const)(
    "changes nothing in any cycle by falling silent, where the placement is on it for good: %s",
    (name) => {
      let count = 0;
      for (const { seed, cycle: unsettled } of alike) {
        const cycle = settled(unsettled, profiles[name]);
        const contact = random(seed).pick(["", "(4m)", "(6m)", "(1s)"]);
        for (const { cluster, state, removing, obsolete } of cycle.cycleBindings) {
          const was = cycle.candidates.find((it) => it.cluster.name === cluster);
          if (was === undefined) continue;
          const [other] = fleet(`${cluster}${contact}`);
          const is = { ...was, contactFailure: other?.contactFailure ?? null };
          const binding = { state, removal: removing ? ({} as Binding["removal"]) : null, policySnapshot: 1 };
          const placed = { ...binding, latest: obsolete ? 2 : 1 };
          if (!staysInTouchOrNot(cycle.policy, { was, is }, placed, profiles[name])) continue;
          const changed = { ...cycle, candidates: cycle.candidates.map((it) => (it === was ? is : it)) };
          expect(schedule(changed, profiles[name]), `seed ${seed}`).toEqual(schedule(cycle, profiles[name]));
          count += 1;
        }
      }
      expect(count).toBeGreaterThan(20);
    },
  );

  test("is not believed of a profile with a plugin that looks at others, nor of another cluster", () => {
    const [was, other] = fleet("a b");
    if (was === undefined || other === undefined) throw new Error("two clusters");
    const [plugin] = profiles.default.plugins;
    const spread = {
      ...profiles.default,
      plugins:
        plugin === undefined ? [] : [{ ...plugin, othersSee: ({ cluster }: Candidate) => cluster.labels["e"] ?? "" }],
    };
    const [is] = fleet("a{e=p}");
    if (is === undefined) throw new Error("one cluster");
    expect(hasSameVerdict(policyOf("all"), { was, is }, profiles.default, now)).toBe(true);
    expect(hasSameVerdict(policyOf("all"), { was, is }, spread, now)).toBe(false);
    expect(hasSameVerdict(policyOf("all"), { was, is: other }, profiles.default, now)).toBe(false);
  });
});
