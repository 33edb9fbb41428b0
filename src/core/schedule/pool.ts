import { known } from "../model/assert.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { membershipOf } from "./framework/cycle.ts";
import { groupsOf } from "./framework/groups.ts";
import { fitsAll, preparedPart, scoringFailure, totalScore } from "./framework/judging.ts";
import type { Prepared, Ranked, Ranking, Score } from "./framework/plugin.ts";
import { affinityAt } from "./framework/ranking.ts";

/**
 * Candidates that may be picked, in groups that the plugins which picks change judge alike, best first by all other
 * plugins: of each group only the first can be the best of all.
 */
export interface Pool {
  readonly ranking: Ranking;
  readonly groups: readonly Group[];
  /** Whether every candidate can be scored; otherwise who fits has to be looked at one by one. */
  readonly canScore: boolean;
}

interface Group {
  /** Their places in the ranking. */
  readonly places: readonly number[];
  /** The first of them that is left. */
  next: number;
}

/** All candidates that fit as far as picks do not change it. */
export function poolOf(prepared: Prepared): Pool {
  const ranking = prepared.input.ranking();
  const { fleet, apart } = groupsOf(preparedPart(prepared, true), ranking.candidates.length);
  const otherWays = new Uint16Array(ranking.candidates.length);
  for (const [at, places] of apart.entries()) for (const place of places) otherWays[place] = at + 1;
  const groups: { readonly places: number[]; next: number }[] = [];
  for (const place of ranking.best()) {
    const number = (otherWays[place] ?? 0) * fleet.count + (fleet.of[place] ?? 0);
    const group = groups[number];
    if (group === undefined) groups[number] = { places: [place], next: 0 };
    else group.places.push(place);
  }
  // Numbers that nobody has are holes, which are passed over.
  return { ranking, groups: groups.filter(() => true), canScore: canScore(prepared) };
}

/** Whether every candidate can be scored. */
export function canScore(prepared: Prepared): boolean {
  if (prepared.plugins.every((it) => it.at.failure === undefined)) return true;
  const { candidates, fits } = prepared.input.ranking();
  const feasible = candidates.filter((_, at) => fits[at] === 1);
  return scoringFailure(feasible, prepared) === null;
}

/** Takes the one best candidate that is left, if any fits. */
export function takeBest(pool: Pool, prepared: Prepared): readonly Ranked[] {
  const best = bestOf(headsOf(pool, prepared), pool.ranking);
  if (best === null) return [];
  const ranked = rankedAt(best, pool.ranking);
  best.group.next += 1;
  return [ranked];
}

/** Takes the best candidates that are left while what was picked stays the same, at most so many. */
export function takeAll(pool: Pool, prepared: Prepared, most: number): readonly Ranked[] {
  const heads = headsOf(pool, prepared);
  const taken: Ranked[] = [];
  while (taken.length < most) {
    const best = bestOf(heads, pool.ranking);
    if (best === null) break;
    taken.push(rankedAt(best, pool.ranking));
    best.group.next += 1;
  }
  return taken;
}

/** A group that fits, with what the plugins that picks change add to the score of each in it. */
interface Head {
  readonly group: Group;
  readonly more: Score;
}

function headsOf({ ranking, groups }: Pool, prepared: Prepared): readonly Head[] {
  const changing = preparedPart(prepared, true);
  const heads: Head[] = [];
  for (const group of groups) {
    const candidate = ranking.candidates[group.places[group.next] ?? ranking.candidates.length];
    if (candidate === undefined || !fitsAll(changing, candidate)) continue;
    heads.push({ group, more: totalScore(candidate, changing) });
  }
  return heads;
}

function bestOf(heads: readonly Head[], ranking: Ranking): Head | null {
  let best: Head | null = null;
  let bestPlace = 0;
  for (const head of heads) {
    const place = head.group.places[head.group.next];
    if (place === undefined) continue;
    const difference =
      best === null
        ? 1
        : head.more.topology - best.more.topology ||
          scoreAt(head, place, ranking) - scoreAt(best, bestPlace, ranking) ||
          head.more.stickiness - best.more.stickiness ||
          place - bestPlace;
    if (difference <= 0) continue;
    best = head;
    bestPlace = place;
  }
  return best;
}

const scoreAt = ({ more }: Head, place: number, ranking: Ranking): number => affinityAt(ranking, place) + more.affinity;

function rankedAt(head: Head, ranking: Ranking): Ranked {
  const place = known(head.group.places[head.group.next], "whoever is best is there");
  const candidate = known(ranking.candidates[place], "a ranking is of its candidates");
  return { candidate, score: { ...head.more, affinity: scoreAt(head, place, ranking) } };
}

/** When time alone changes who fits of those that are not `taken`; null when there is no such moment. */
export function turnsWithout({ candidates, turnsAt }: Ranking, taken: ReadonlySet<ClusterName>): Instant | null {
  let first: Instant | null = null;
  for (const [place, at] of turnsAt) {
    const candidate = candidates[place];
    if (candidate !== undefined && !taken.has(candidate.cluster.name)) first = earliest(first, at);
  }
  return first;
}

/** When time alone changes who fits of these. */
export function turnsOf({ turnsAt, candidates }: Ranking, these: readonly Ranked[]): Instant | null {
  if (turnsAt.size === 0) return null;
  const { places } = membershipOf(candidates);
  return earliest(...these.map(({ candidate }) => turnsAt.get(places.get(candidate.cluster.name) ?? -1) ?? null));
}
