import { known } from "../model/assert.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { type Candidate, placesOf, rollOf } from "./framework/cycle.ts";
import { compareScores, fitsAll, preparedPart, scoringFailure, totalScore } from "./framework/judging.ts";
import type { Extensions, Groups, Prepared, Ranked, Ranking, Score } from "./framework/plugin.ts";

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
  const numberOf = groupNumbers(preparedPart(prepared, true), ranking.candidates);
  const groups: { readonly places: number[]; next: number }[] = [];
  for (const place of ranking.best()) {
    const number = numberOf(place);
    const group = groups[number];
    if (group === undefined) groups[number] = { places: [place], next: 0 };
    else group.places.push(place);
  }
  // Numbers that nobody has are holes, which are passed over.
  return { ranking, groups: groups.filter(() => true), canScore: canScore(prepared) };
}

/** The number of the group that a candidate is in, by its place: those in one are judged alike by all of these plugins. */
function groupNumbers({ plugins }: Prepared, candidates: readonly Candidate[]): (place: number) => number {
  const [first, second, ...rest] = plugins.flatMap(({ at }) => groupsOf(at, candidates));
  if (first === undefined) return () => 0;
  const { of } = first;
  if (second === undefined) return (place) => of[place] ?? 0;
  const { of: otherOf, count } = second;
  return (place) => {
    let number = (of[place] ?? 0) * count + (otherOf[place] ?? 0);
    for (const it of rest) number = number * it.count + (it.of[place] ?? 0);
    return number;
  };
}

/** A plugin that does not say whom it judges alike may judge everybody in another way. */
function groupsOf(at: Extensions, candidates: readonly Candidate[]): readonly Groups[] {
  if (at.groups !== undefined) return [at.groups()];
  const isSilent = at.filter === undefined && at.score === undefined;
  return isSilent ? [] : [{ of: candidates.map((_, at) => at), count: candidates.length }];
}

/** Whether every candidate can be scored. */
export function canScore(prepared: Prepared): boolean {
  if (prepared.plugins.every((it) => it.at.failure === undefined)) return true;
  const { candidates, fits } = prepared.input.ranking();
  const feasible = candidates.filter((_, at) => fits[at] === 1);
  return scoringFailure(feasible, prepared) === null;
}

/** The best candidates, at most so many; `selected` are passed over. Nothing is picked by it. */
export function bestLeft(
  prepared: Prepared,
  { most, selected }: { readonly most: number; readonly selected: ReadonlySet<ClusterName> },
): readonly Ranked[] {
  const { candidates, fits, affinity } = prepared.input.ranking();
  const changing = preparedPart(prepared, true);
  const numberOf = groupNumbers(changing, candidates);
  const left = fits.slice();
  for (const place of placesOf(selected, rollOf(candidates))) left[place] = 0;
  /** By the number of a group, what its candidates have more than their affinity; null where they are refused. */
  const more: (Score | null)[] = [];
  const judged = (place: number, number: number): Score | null => {
    const candidate = known(candidates[place], "a ranking is of its candidates");
    const added = fitsAll(changing, candidate) ? totalScore(candidate, changing) : null;
    more[number] = added;
    return added;
  };
  const best: Listed[] = [];
  /** Of the last one, once the list is full. */
  let worst: Score | null = null;
  // Of equals, the last one is the best: whoever comes now has to be better than those before.
  for (let place = left.length - 1; place >= 0; place--) {
    if (left[place] !== 1) continue;
    const number = numberOf(place);
    let added = more[number];
    if (added === undefined) added = judged(place, number);
    if (added === null) continue;
    // Nearly all end here: it is asked of every member, for every placement.
    if (worst !== null && added.topology < worst.topology) continue;
    const total = (affinity[place] ?? 0) + added.affinity;
    if (worst !== null && added.topology === worst.topology && total < worst.affinity) continue;
    list(best, { place, score: { ...added, affinity: total } }, most);
    if (best.length === most) worst = best[most - 1]?.score ?? null;
  }
  return best.map(({ place, score }) => ({
    candidate: known(candidates[place], "a ranking is of its candidates"),
    score,
  }));
}

interface Listed {
  readonly place: number;
  readonly score: Score;
}

/** Puts one where it belongs in a list of the best, of which there are at most so many; behind its equals. */
function list(best: Listed[], it: Listed, most: number): void {
  let at = best.length;
  while (at > 0 && compareScores(it.score, best[at - 1]?.score ?? it.score) > 0) at -= 1;
  if (at >= most) return;
  if (best.length === most) best.pop();
  best.splice(at, 0, it);
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

function bestOf(heads: readonly Head[], { affinity }: Ranking): Head | null {
  let best: Head | null = null;
  let bestPlace = 0;
  for (const head of heads) {
    const place = head.group.places[head.group.next];
    if (place === undefined) continue;
    const difference =
      best === null
        ? 1
        : head.more.topology - best.more.topology ||
          scoreAt(head, place, affinity) - scoreAt(best, bestPlace, affinity) ||
          head.more.stickiness - best.more.stickiness ||
          place - bestPlace;
    if (difference <= 0) continue;
    best = head;
    bestPlace = place;
  }
  return best;
}

const scoreAt = ({ more }: Head, place: number, affinity: Ranking["affinity"]): number =>
  (affinity[place] ?? 0) + more.affinity;

function rankedAt(head: Head, { candidates, affinity }: Ranking): Ranked {
  const place = known(head.group.places[head.group.next], "whoever is best is there");
  const candidate = known(candidates[place], "a ranking is of its candidates");
  return { candidate, score: { ...head.more, affinity: scoreAt(head, place, affinity) } };
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
  const { places } = rollOf(candidates);
  return earliest(...these.map(({ candidate }) => turnsAt.get(places.get(candidate.cluster.name) ?? -1) ?? null));
}
