import { describe, expect, test } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { PolicySnapshot } from "../../../src/core/model/ledger.ts";
import { maxExplained } from "../../../src/core/schedule/explain.ts";
import type { Candidate, Cycle } from "../../../src/core/schedule/framework/cycle.ts";
import type { Plugin } from "../../../src/core/schedule/framework/plugin.ts";
import { type Profile, profiles } from "../../../src/core/schedule/profile.ts";
import { hasSameOutcome, hasSameVerdict, isLookedPast } from "../../../src/core/schedule/same-outcome.ts";
import { anyCycle, settled } from "./any-cycle.ts";
import { fleet, now, policyOf, schedule, someGrants } from "./notation.ts";
import { random } from "./random.ts";

const rounds = 200;

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
    "~x",
    "~y",
    "~x,z+",
    "{e=p}~z",
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
      if (!hasSameVerdict(cycle, { was, is }, profiles[name])) continue;
      const changed = { ...cycle, candidates: cycle.candidates.map((it) => (it === was ? is : it)) };
      expect(schedule(changed, profiles[name]), `seed ${seed}`).toEqual(schedule(cycle, profiles[name]));
      count += 1;
    }
    expect(count).toBeGreaterThan(20);
    expect(count).toBeLessThan(alike.length - 20);
  });

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
    const all = { policy: policyOf("all"), namespace: null, grants: [], now };
    expect(hasSameVerdict(all, { was, is }, profiles.default)).toBe(true);
    expect(hasSameVerdict(all, { was, is }, spread)).toBe(false);
    expect(hasSameVerdict(all, { was, is: other }, profiles.default)).toBe(false);
  });
});

/** A fleet that is larger than what a record lists, and a placement in it that has all that it wants, or lacks some. */
function largeCycle(seed: number): Cycle {
  const { below, pick } = random(seed);
  const member = (at: number): string => `m${at}${lookOf(random(seed * 100 + at))}`;
  const policy = pick([
    "3 prefer 20:@np/Asc,7:e=p",
    "4 e=p|e=q|np:Ge:5 prefer 30:e=p@np/Desc,-20:e=q",
    "3 prefer 10:e=p spread r:1 tolerate k",
    "5 np:Ne:5 prefer 40:@np/Desc spread z:2:any,r:1",
    "2 prefer 9:e=q",
    "40 prefer 9:e=q",
  ]);
  return {
    policy: policyOf(policy),
    candidates: fleet(Array.from({ length: 26 + below(10) }, (_, at) => member(at)).join(" ")),
    cycleBindings: [],
    namespace: random(seed + 700_000).pick([null, "x", "y"]),
    grants: (seed % 16 === 0 ? someGrants[2] : null) ?? [],
    recorded: [],
    now,
  };
}

const lookOf = ({ pick }: Pick<ReturnType<typeof random>, "pick">): string =>
  [
    pick(["", "{e=p}", "{e=q}", "{e=p,r=a}", "{r=a,z=1}", "{e=q,r=b,z=2}", "{e=p,x=y,r=b}"]),
    pick(["", "", "", "", "[k=v]"]),
    pick(["", "", "", "", "(4m)", "(6m)"]),
    pick(["", "<np=4>", "<np=5>", "<np=7>", "<np=9>", "<np=900m>", "<np=x>"]),
    pick(["", "", "~x", "~x,y", "~x,z", "~z+"]),
  ].join("");

/** Everything about a candidate as it was, but for one of its looks. */
function changed(was: Candidate, seed: number): Candidate {
  const source = random(seed);
  const [other] = fleet(`${was.cluster.name}${lookOf(source)}`);
  if (other === undefined) throw new Error("one cluster");
  const { cluster, facts, contactFailure } = other;
  switch (source.below(6)) {
    case 0:
      return { ...was, contactFailure };
    case 1:
      return { ...was, facts: { ...facts, labels: was.facts.labels } };
    case 2:
      return { ...was, cluster: { ...was.cluster, taints: cluster.taints } };
    case 3:
      return {
        ...was,
        cluster: { ...was.cluster, labels: cluster.labels },
        facts: { ...was.facts, labels: cluster.labels },
      };
    case 4:
      return { ...was, facts: { ...was.facts, namespaces: facts.namespaces } };
    default:
      return other;
  }
}

const cycles = Array.from({ length: rounds }, (_, seed) => [anyCycle(seed), largeCycle(seed)]).flat();

/** Every cycle once it is carried out, with one candidate that changed, where `claims` says that this changes nothing. */
function claimed(
  profile: Profile,
  claims: (cycle: Cycle, change: { readonly was: Candidate; readonly is: Candidate }) => boolean,
): number {
  let count = 0;
  for (const [seed, unsettled] of cycles.entries()) {
    const cycle = settled(unsettled, profile);
    const before = schedule(cycle, profile);
    for (const [at, was] of cycle.candidates.entries()) {
      const is = changed(was, seed * 50 + at);
      const candidates = cycle.candidates.map((it) => (it === was ? is : it));
      if (!claims({ ...cycle, candidates }, { was, is })) continue;
      expect(schedule({ ...cycle, candidates }, profile), `cycle ${seed}, member ${at}`).toEqual(before);
      count += 1;
    }
  }
  return count;
}

/** What is recorded of a cycle that was carried out. */
function recordedOf(cycle: Cycle, profile: Profile): PolicySnapshot["verdict"] {
  const { decisions, fulfilled } = schedule(cycle, profile);
  const status = fulfilled ? "True" : "False";
  return { observedGeneration: 1, condition: { status } as never, decisions };
}

describe.each(Object.values(profiles))("in the profile $name, nothing changes in any cycle", (profile) => {
  test("by what is looked past", () => {
    const count = claimed(profile, (cycle, change) => isLookedPast(cycle, change, profile));
    expect(count).toBeGreaterThan(500);
  });

  test("by a candidate that is not missed", () => {
    const verdicts = new Map<readonly unknown[], PolicySnapshot["verdict"]>();
    const holders = { count: 0 };
    const count = claimed(profile, (cycle, change) => {
      const { cycleBindings, candidates } = cycle;
      const before = { ...cycle, candidates: candidates.map((it) => (it === change.is ? change.was : it)) };
      const verdict = verdicts.get(cycleBindings) ?? recordedOf(before, profile);
      verdicts.set(cycleBindings, verdict);
      const placed = cycleBindings.find((it) => it.cluster === change.is.cluster.name);
      const binding =
        placed === undefined
          ? null
          : {
              state: placed.state,
              removal: placed.removing ? ({} as Binding["removal"]) : null,
              policySnapshot: placed.obsolete ? 0 : 1,
            };
      const isClaimed = hasSameOutcome(cycle, change, { binding, latest: { index: 1, verdict } }, profile);
      if (isClaimed && binding !== null) holders.count += 1;
      return isClaimed;
    });
    expect(holders.count).toBeGreaterThan(100);
    expect(count - holders.count).toBeGreaterThan(100);
  });
});

test("a plugin that does not say what it looks at may look at anything", () => {
  const [was] = fleet("a");
  const [is] = fleet("a{e=p}");
  if (was === undefined || is === undefined) throw new Error("one cluster");
  const silent: Plugin = { name: "Silent", changesWithPicks: false, prepare: () => ({}) };
  const asked = { policy: policyOf("3 r=a"), namespace: null, grants: [] };
  expect(isLookedPast(asked, { was, is }, profiles.default)).toBe(true);
  expect(
    isLookedPast(asked, { was, is }, { ...profiles.default, plugins: [...profiles.default.plugins, silent] }),
  ).toBe(false);
});

test("who fits at last in a better domain is listed, whatever the policy prefers", () => {
  const profile = profiles.default;
  const others = Array.from({ length: maxExplained + 4 }, (_, at) => `m${at}{e=p,r=a}`).join(" ");
  const start = { ...largeCycle(0), policy: policyOf("1 prefer 10:e=p spread r:1"), namespace: null, grants: [] };
  const cycle = settled({ ...start, candidates: fleet(`${others} late{r=b}[k=v]`) }, profile);
  const was = cycle.candidates.at(-1);
  const [is] = fleet("late{r=b}");
  if (was === undefined || is === undefined) throw new Error("one cluster");
  const after = { ...cycle, candidates: [...cycle.candidates.slice(0, -1), is] };
  expect(schedule(after, profile)).not.toEqual(schedule(cycle, profile));
  const latest = { index: 1, verdict: recordedOf(cycle, profile) };
  expect(hasSameOutcome(after, { was, is }, { binding: null, latest }, profile)).toBe(false);
});
