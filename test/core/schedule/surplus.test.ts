import { expect, test } from "vitest";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import { type ClusterName, compareText } from "../../../src/core/model/value.ts";
import {
  bestOfAll,
  filterCandidates,
  preparePlugins,
  rankCandidates,
} from "../../../src/core/schedule/framework/judging.ts";
import type { Plugin } from "../../../src/core/schedule/framework/plugin.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { bestLeft } from "../../../src/core/schedule/surplus.ts";
import { fleet, now, policyOf } from "./notation.ts";
import { random } from "./random.ts";

const looks = [
  "{e=p,r=a,z=1}",
  "{e=q,r=b,z=1}",
  "{e=p,r=b,z=2}",
  "{r=c,z=2}",
  "{e=q}",
  "",
  "{e=p,r=c,z=3}[k=v]",
] as const;

const policies = [
  "9 prefer 20:@np/Asc,7:e=p",
  "9 prefer 10:e=p spread r:1",
  "9 np:Ne:5 prefer 40:@np/Desc spread z:2:any,r:1",
  "9 spread r:1:any",
  "9 e=p|e=q|np:Ge:5 prefer 30:e=p@np/Desc,-20:e=q spread r:2,z:1:any",
] as const;

/** Some of the candidates, each once. */
const someOf = <T>(all: readonly T[], { below }: ReturnType<typeof random>, most: number): ReadonlySet<T> =>
  new Set(Array.from({ length: below(most + 1) }, () => all[below(all.length)] as T));

function situationAt(seed: number) {
  const drawn = random(seed);
  const { below, pick } = drawn;
  const text = Array.from({ length: 25 + below(40) }, (_, at) => `m${at}${pick(looks)}<np=${1 + below(12)}>`).join(" ");
  const candidates = [...fleet(text)].sort((a, b) => compareText(a.cluster.name, b.cluster.name));
  const names = candidates.map((it) => it.cluster.name);
  const selected: ReadonlySet<ClusterName> = someOf(names, drawn, 9);
  const policy: PlacementPolicy = policyOf(pick(policies));
  const rest = names.filter((it) => !selected.has(it));
  const [obsolete, leaving] = [someOf(rest, drawn, 3), someOf(rest, drawn, 3)];
  return { policy, namespace: null, grants: [], candidates, now, holders: selected, obsolete, leaving };
}

/** Judges nobody like another, and says so to nobody. */
const silent: Plugin = {
  name: "Silent",
  changesWithPicks: true,
  prepare: () => ({ score: ({ cluster }) => ({ affinity: cluster.name.length, stickiness: cluster.name.length % 2 }) }),
};

test.each(Object.values(profiles))("lists the best that fit as if everybody were looked at: $name", ({ plugins }) => {
  for (let seed = 0; seed < 120; seed++) {
    const situation = situationAt(seed);
    const { holders: selected } = situation;
    for (const all of [plugins, [...plugins, silent]]) {
      const prepared = preparePlugins(situation, all);
      const { fits } = filterCandidates(situation.candidates, prepared, 0);
      for (const most of [1, 5, 20]) {
        const found = bestLeft(prepared, { most, selected });
        expect(found, `seed ${seed}, ${most}`).toEqual(bestOfAll(fits, prepared, most));
        expect(found, `seed ${seed}, ${most}`).toEqual(rankCandidates(fits, prepared).slice(0, most));
      }
    }
  }
});
