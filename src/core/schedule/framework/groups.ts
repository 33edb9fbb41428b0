import { remembered } from "../../model/identity.ts";
import type { Extensions, FleetGroups, Groups, Prepared } from "./plugin.ts";

/** One group for a whole fleet. */
export const everybodyAlike: FleetGroups = { of: [], count: 1 };

/** Nobody is judged in another way than those of the same group. */
export const nobodyApart: Groups["apart"] = [];

/** Whom all of these plugins judge alike, of so many candidates. */
export function groupsOf({ plugins }: Prepared, count: number): Groups {
  const found = plugins.flatMap((it) => groupsBy(it.at, count));
  return {
    fleet: combinedGroups(found.map((it) => it.fleet).filter((it) => it.count > 1)),
    apart: combinedApart(found.map((it) => it.apart).filter((it) => it.length > 0)),
  };
}

/** A plugin that does not say whom it judges alike may judge everybody in another way. */
function groupsBy(at: Extensions, count: number): readonly Groups[] {
  if (at.groups !== undefined) return [at.groups()];
  const isSilent = at.filter === undefined && at.score === undefined;
  const places = Array.from({ length: count }, (_, place) => place);
  return isSilent ? [] : [{ fleet: { of: places, count }, apart: nobodyApart }];
}

function combinedGroups([first = everybodyAlike, ...others]: readonly FleetGroups[]): FleetGroups {
  return others.reduce((all, { of, count }) => {
    const numbers = new Map<number, number>();
    const both = Array.from(all.of, (it, place) => {
      const number = it * count + (of[place] ?? 0);
      if (!numbers.has(number)) numbers.set(number, numbers.size);
      return numbers.get(number) ?? 0;
    });
    return { of: both, count: numbers.size };
  }, first);
}

/** Where several plugins judge some in another way, each of those is judged alone. */
const combinedApart = ([first = nobodyApart, ...others]: readonly Groups["apart"][]): Groups["apart"] =>
  others.length === 0 ? first : [first, ...others].flat(2).map((place) => [place]);

/** The places of those that fit in each group, in the order of names: the same lists for all placements that ask the same. */
export const membersIn = remembered((fits: Uint8Array) =>
  remembered(({ of, count }: FleetGroups): readonly (readonly number[])[] => {
    const members = Array.from({ length: count }, (): number[] => []);
    for (let place = 0; place < fits.length; place++) if (fits[place] === 1) members[of[place] ?? 0]?.push(place);
    return members;
  }),
);
