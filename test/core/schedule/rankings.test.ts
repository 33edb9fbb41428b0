import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import type { Candidate, Cycle } from "../../../src/core/schedule/framework/cycle.ts";
import { preparePlugins } from "../../../src/core/schedule/framework/judging.ts";
import type { Plugin } from "../../../src/core/schedule/framework/plugin.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { schedule } from "../../../src/core/schedule/schedule.ts";
import { walkLength } from "../../long-walks.ts";
import { cycleBindings, fleet, now, policyOf } from "./notation.ts";
import { random } from "./random.ts";

const rounds = walkLength("ROUNDS", { short: 25, full: 60 });
const steps = 12;

const policies = [
  "3 prefer 7:@np/Asc",
  "4 prefer 30:@np/Desc,-20:e=p@cost/Asc spread r:1",
  "5 np:Ge:4|e=q prefer 20:e=q,9:@np/Asc spread r:1,z:1:any tolerate k",
  "2 e=p prefer 50:@cost/Desc",
  "6 prefer 11:e=p",
  "9 np:Ne:5 spread z:2",
] as const;

/** A fleet of which one member changes, joins or leaves with every step, and time goes on. */
function history(seed: number): readonly { readonly texts: readonly string[]; readonly minutes: number }[] {
  const { below, pick } = random(seed);
  const member = (at: number): string =>
    [
      `m${at}`,
      pick(["", "{e=p}", "{e=q,r=a}", "{e=p,r=a,z=1}", "{r=b,z=2}", "{e=q,r=c,z=1}"]),
      pick(["", "", "", "[k=v]"]),
      pick(["", "", "", "(4m)", "(6m)"]),
      pick(["", "<np=4>", "<np=5>", "<np=5000m>", "<np=9,cost=0.3>", "<np=500m,cost=1.5>", "<np=x,cost=1>"]),
      pick(["", "~x", "~x,y", "~y", "~z+"]),
    ].join("");
  let texts = Array.from({ length: 8 + below(8) }, (_, at) => member(at));
  let minutes = 0;
  return Array.from({ length: steps }, () => {
    const at = below(texts.length);
    const chance = below(10);
    if (chance === 0) texts = texts.filter((_, it) => it !== at);
    else if (chance === 1) texts = [...texts, member(texts.length + 50)];
    else if (chance < 8) texts = texts.map((it, place) => (place === at ? member(Number(/\d+/.exec(it)?.[0])) : it));
    else minutes += below(3);
    return { texts, minutes };
  });
}

/** Members that did not change are the very same, as they are from one pass to the next. */
function membersRemembered(): (texts: readonly string[]) => readonly Candidate[] {
  const known = new Map<string, readonly Candidate[]>();
  return (texts) =>
    texts.flatMap((it) => {
      const members = known.get(it) ?? fleet(it);
      known.set(it, members);
      return members;
    });
}

describe.each(Object.values(profiles))("in the profile $name", (profile) => {
  test("a fleet of which one member changed is ranked as one that nobody has seen", () => {
    for (let seed = 0; seed < rounds; seed++) {
      const { pick } = random(seed);
      const text = pick(policies);
      const policy = policyOf(text);
      const bindings = pick(["", "m1:B0", "m0:B0 m2:S0 m3:B0", "m1:U(B)0 m2:B0", "m0:B1 m1:B0 m2:B0 m3:U(B)1"]);
      const latest = pick([0, 0, 1]);
      const membersOf = membersRemembered();
      // As long as nothing about them changes, bindings are the very same, too.
      const standing = cycleBindings(bindings, latest);
      const namespace = random(seed + 700_000).pick([null, "x", "y"]);
      const cycleAt = (minutes: number) => ({
        namespace,
        grants: [],
        recorded: [],
        now: (now + minutes * 60_000) as Cycle["now"],
      });
      for (const [step, { texts, minutes }] of history(seed).entries()) {
        const warm = schedule(
          { ...cycleAt(minutes), policy, candidates: membersOf(texts), cycleBindings: standing },
          profile,
        );
        const unseen = { candidates: fleet(texts.join(" ")), cycleBindings: cycleBindings(bindings, latest) };
        const cold = schedule({ ...cycleAt(minutes), policy: policyOf(text), ...unseen }, profile);
        expect(warm, `seed ${seed}, step ${step}: ${text}`).toEqual(cold);
      }
    }
  });

  test("placements that ask the same share what is said of a fleet, and nothing that they ask of it alone", () => {
    for (let seed = 0; seed < rounds; seed++) {
      const candidates = fleet((history(seed)[0]?.texts ?? []).join(" "));
      const cycle = { cycleBindings: [], recorded: [], now };
      const texts = [...policies, ...policies.map((it) => it.replace(/^\d/, "7")), "4 prefer 7:@np/Asc spread r:1"];
      for (const text of texts)
        for (const namespace of [null, "x", "y"]) {
          const asked = { ...cycle, namespace, grants: [] };
          const shared = schedule({ ...asked, policy: policyOf(text), candidates }, profile);
          const alone = schedule({ ...asked, policy: policyOf(text), candidates: [...candidates] }, profile);
          expect(shared, `seed ${seed}: ${text}`).toEqual(alone);
        }
    }
  });
});

test("a binding is known to be on a member that left, whoever was there when it was last looked at", () => {
  const standing = cycleBindings("a:B0 c:B0", 0);
  const policy = policyOf("2");
  const droppedOf = (members: string) =>
    schedule(
      { policy, candidates: fleet(members), cycleBindings: standing, namespace: null, grants: [], recorded: [], now },
      profiles.default,
    ).drop.map((it) => it.cluster);
  expect(["a b c", "a b", "a b c", "b c", "a c"].map(droppedOf)).toEqual([[], ["c"], [], ["a"], []]);
});

const nobody: ReadonlySet<never> = new Set();

const rankedBy = (plugins: readonly Plugin[], policy: PlacementPolicy, candidates: readonly Candidate[]) =>
  preparePlugins(
    { policy, candidates, namespace: null, grants: [], now, holders: nobody, obsolete: nobody, leaving: nobody },
    plugins,
  ).input.ranking();

test("of placements that ask the same, each goes on from what they shared, whoever asked first", () => {
  let judged = 0;
  const filter = () => {
    judged += 1;
    return "fits" as const;
  };
  const plugins: readonly Plugin[] = [{ name: "Counting", changesWithPicks: false, prepare: () => ({ filter }) }];
  const [one, other] = [policyOf("3"), policyOf("3")];
  const before = fleet("m0 m1 m2");
  for (const policy of [one, other]) rankedBy(plugins, policy, before);
  expect(judged).toBe(3);
  rankedBy(plugins, other, [...before.slice(0, 2), ...fleet("m2{e=p}")]);
  expect(judged).toBe(4);
});

test("a policy that nobody asks about again keeps nothing alive of what others had of its fleet", async () => {
  const { plugins } = profiles.default;
  const [quiet, busy] = [policyOf("3 np:Ge:4"), policyOf("3 prefer 5:@np/Asc")];
  const past = (): WeakRef<object> => {
    const candidates = fleet("m0<np=4> m1<np=5> m2<np=9>");
    rankedBy(plugins, quiet, candidates);
    return new WeakRef(rankedBy(plugins, busy, candidates).scores[0] ?? []);
  };
  const gone = past();
  const later = fleet("m0<np=4> m1<np=4> m2<np=9>");
  rankedBy(plugins, busy, later);
  // What was looked at through a weak reference stays until the present job is over.
  await new Promise(setImmediate);
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  expect(gone.deref()).toBeUndefined();
  expect([...rankedBy(plugins, quiet, later).fits]).toEqual([1, 1, 1]);
});
