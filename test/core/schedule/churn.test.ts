// Whatever clusters and numbers do, held against a reading of the policies that shares nothing with the plugins: who is
// picked meets what is required, nobody who could be picked is left out, and what a policy does not look at moves nothing.
import { describe, expect, test } from "vitest";
import type { CycleBinding } from "../../../src/core/schedule/framework/cycle.ts";
import { type Profile, profiles } from "../../../src/core/schedule/profile.ts";
import type { Schedule } from "../../../src/core/schedule/schedule.ts";
import { fleet, policyOf, schedule } from "./notation.ts";
import { random } from "./random.ts";

interface Drawn {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodes: number | null;
  readonly isTainted: boolean;
  readonly isSilent: boolean;
}

/** Any of the terms has to hold; in one, all that it says. */
interface Term {
  readonly e: string | null;
  readonly least: number | null;
}

interface Asked {
  readonly count: number;
  readonly terms: readonly Term[];
  readonly spread: readonly { readonly key: string; readonly skew: number }[];
  readonly tolerates: boolean;
}

type Choices = ReturnType<typeof random>;

const anyMember = ({ below, pick }: Choices, name: string): Drawn => {
  const [e, r, z] = [pick(["", "p", "q"]), pick(["", "a", "b", "c"]), pick(["", "1", "2"])];
  return {
    name,
    labels: Object.fromEntries(Object.entries({ e, r, z }).filter(([, value]) => value !== "")),
    nodes: below(4) === 0 ? null : below(8),
    isTainted: below(5) === 0,
    isSilent: below(6) === 0,
  };
};

const membersText = (members: readonly Drawn[]): string =>
  members
    .map(({ name, labels, nodes, isTainted, isSilent }) => {
      const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      const parts = [
        pairs.length === 0 ? "" : `{${pairs.join(",")}}`,
        isTainted ? "[k=v]" : "",
        isSilent ? "(6m)" : "",
      ];
      return `${name}${parts.join("")}${nodes === null ? "" : `<np=${nodes}>`}`;
    })
    .join(" ");

const anyPolicy = ({ below, pick }: Choices, isSpread: boolean): Asked => ({
  count: below(14),
  terms: Array.from({ length: below(3) }, () => ({
    e: pick([null, "p", "q"]),
    least: below(2) === 0 ? null : below(8),
  })).filter((it) => it.e !== null || it.least !== null),
  spread: isSpread
    ? pick([["r"], ["z"], ["r", "z"]] as const as readonly [string[], ...string[][]]).map((key) => ({
        key,
        skew: pick([1, 1, 2]),
      }))
    : [],
  tolerates: below(2) === 0,
});

const policyText = ({ count, terms, spread, tolerates }: Asked, kind = String(count)): string =>
  [
    kind,
    terms
      .map(({ e, least }) =>
        [e === null ? "" : `e=${e}`, least === null ? "" : `np:Ge:${least}`].filter((it) => it !== "").join("&"),
      )
      .join("|"),
    spread.length === 0 ? "" : `spread ${spread.map((it) => `${it.key}:${it.skew}`).join(",")}`,
    tolerates ? "tolerate k" : "",
  ]
    .filter((it) => it !== "")
    .join(" ");

const fits = ({ labels, nodes, isTainted, isSilent }: Drawn, { terms, tolerates }: Asked): boolean =>
  !isSilent &&
  (tolerates || !isTainted) &&
  (terms.length === 0 ||
    terms.some(
      ({ e, least }) => (e === null || labels["e"] === e) && (least === null || (nodes !== null && nodes >= least)),
    ));

const selectedOf = ({ decisions }: Schedule): ReadonlySet<string> =>
  new Set(decisions.flatMap((it) => (it.selected ? [it.cluster] : [])));

const standing = (outcome: Schedule, isObsolete: boolean): readonly CycleBinding[] =>
  outcome.decisions.flatMap((decision) =>
    decision.selected
      ? [
          {
            name: decision.cluster,
            cluster: decision.cluster,
            state: "Bound",
            previousState: null,
            removing: false,
            obsolete: isObsolete,
            decision,
          } as const,
        ]
      : [],
  );

interface Step {
  readonly members: readonly Drawn[];
  readonly asked: Asked;
  readonly before: readonly CycleBinding[];
  readonly outcome: Schedule;
}

/** Walks through fleets that gain, lose and change clusters, and through numbers, and now and then through policies. */
function* churn(seed: number, profile: Profile, isSpread: boolean): Generator<Step> {
  const choices = random(seed);
  const { below } = choices;
  let members: readonly Drawn[] = Array.from({ length: 4 + below(9) }, (_, at) => anyMember(choices, `m${at}`));
  let asked = anyPolicy(choices, isSpread);
  let before: readonly CycleBinding[] = [];
  for (let step = 0; step < 10; step++) {
    const policy = policyOf(policyText(asked));
    const outcome = schedule({ policy, candidates: fleet(membersText(members)), cycleBindings: before }, profile);
    yield { members, asked, before, outcome };
    const isEdited = below(4) === 0;
    asked = isEdited ? anyPolicy(choices, isSpread) : { ...asked, count: below(14) };
    members = members.flatMap((it) => (below(8) === 0 ? [] : below(4) === 0 ? [anyMember(choices, it.name)] : [it]));
    if (below(2) === 0) members = [...members, anyMember(choices, `n${seed}-${step}`)];
    before = standing(outcome, isEdited);
  }
}

const seeds = Array.from({ length: 80 }, (_, seed) => seed);

describe.each(Object.values(profiles))("through any churn, the profile $name", (profile) => {
  test.each([false, true])("picks no cluster newly, or again, that fails what is required (spread: %s)", (isSpread) => {
    let picks = 0;
    for (const seed of seeds)
      for (const { members, asked, before, outcome } of churn(seed, profile, isSpread)) {
        const obsolete = new Set(before.filter((it) => it.obsolete).map((it) => it.cluster));
        const again = outcome.keep.map((it) => it.decision.cluster).filter((it) => obsolete.has(it));
        for (const name of [...outcome.create.map((it) => it.cluster), ...again]) {
          const member = members.find((it) => it.name === name);
          expect(member !== undefined && fits(member, asked), `seed ${seed}: ${name}`).toBe(true);
          picks += 1;
        }
      }
    expect(picks).toBeGreaterThan(500);
  });

  test("PickN picks as many as are wanted, or as there are, whatever is required", () => {
    for (const seed of seeds)
      for (const { members, asked, before, outcome } of churn(seed, profile, false)) {
        const stays = new Set(before.filter((it) => !it.obsolete).map((it) => it.cluster as string));
        const possible = members.filter((it) => stays.has(it.name) || fits(it, asked));
        expect(selectedOf(outcome).size, `seed ${seed}`).toBe(Math.min(asked.count, possible.length));
      }
  });

  test("moves nothing for what its policy does not look at", () => {
    let compared = 0;
    for (const seed of seeds.slice(0, 40)) {
      for (const { members, asked, before, outcome } of churn(seed, profile, true)) {
        const looksAt = new Set(asked.spread.map((it) => it.key));
        const other = members.map((it) => ({
          ...it,
          labels: {
            ...Object.fromEntries(
              ["e", "r", "z"].flatMap((key) =>
                looksAt.has(key) || (key === "e" && asked.terms.some((term) => term.e !== null))
                  ? it.labels[key] === undefined
                    ? []
                    : [[key, it.labels[key]]]
                  : [[key, "other"]],
              ),
            ),
            x: "y",
          },
          nodes: asked.terms.some((term) => term.least !== null) ? it.nodes : 99,
        }));
        const policy = policyOf(policyText(asked));
        const is = schedule({ policy, candidates: fleet(membersText(other)), cycleBindings: before }, profile);
        expect([is.create, is.keep, is.drop], `seed ${seed}`).toEqual([outcome.create, outcome.keep, outcome.drop]);
        expect(selectedOf(is), `seed ${seed}`).toEqual(selectedOf(outcome));
        compared += 1;
      }
    }
    expect(compared).toBe(400);
  });
});

/** Who is left out, whether or not they would break a spread: found too few, those that fit. */
function leftOut(profile: Profile): { readonly stuck: readonly string[]; readonly broken: number } {
  const stuck: string[] = [];
  let broken = 0;
  for (const seed of seeds)
    for (const { members, asked, outcome } of churn(seed, profile, true)) {
      const selected = selectedOf(outcome);
      if (selected.size >= asked.count) continue;
      const counted = members.filter((it) => selected.has(it.name) || fits(it, asked));
      for (const it of counted.filter(({ name }) => !selected.has(name)))
        if (asked.spread.some((spread) => wouldBreak(spread, it, counted, selected))) broken += 1;
        else stuck.push(`seed ${seed}: ${it.name}`);
    }
  return { stuck, broken };
}

function wouldBreak(
  { key, skew }: Asked["spread"][number],
  { labels }: Drawn,
  counted: readonly Drawn[],
  selected: ReadonlySet<string>,
): boolean {
  const domain = labels[key];
  if (domain === undefined) return false;
  const counts = new Map<string, number>();
  for (const it of counted) {
    const of = it.labels[key];
    if (of !== undefined) counts.set(of, (counts.get(of) ?? 0) + (selected.has(it.name) ? 1 : 0));
  }
  return (counts.get(domain) ?? 0) + 1 - Math.min(...counts.values()) > skew;
}

test("A 20: by default no state that churn leads to is stuck, whoever is left out would break a spread; in KubeFleet some are", () => {
  const { stuck, broken } = leftOut(profiles.default);
  expect(stuck).toEqual([]);
  expect(broken).toBeGreaterThan(20);
  expect(leftOut(profiles.kubefleet).stuck.length).toBeGreaterThan(0);
});
