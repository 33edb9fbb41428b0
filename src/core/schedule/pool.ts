import { known } from "../model/assert.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import type { Candidate } from "./framework/cycle.ts";
import { fitsAll, preparedPart, scoringFailure, totalScore } from "./framework/judging.ts";
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
  const groupings = preparedPart(prepared, true).plugins.flatMap(({ at }) => groupsOf(at, ranking.candidates));
  const of = groupings.length === 0 ? [] : groupings.reduce(together).of;
  const groups: { readonly places: number[]; next: number }[] = [];
  for (let at = 0; at < ranking.best.length; at++) {
    const place = ranking.best[at] ?? 0;
    const number = of[place] ?? 0;
    const group = groups[number];
    if (group === undefined) groups[number] = { places: [place], next: 0 };
    else group.places.push(place);
  }
  // Numbers that nobody has are holes, which are passed over.
  return { ranking, groups: groups.filter(() => true), canScore: canScore(ranking, prepared) };
}

/** Candidates that are in the same group of both. */
const together = (a: Groups, b: Groups): Groups => ({
  of: a.of.map((it, place) => it * b.count + (b.of[place] ?? 0)),
  count: a.count * b.count,
});

/** A plugin that does not say whom it judges alike may judge everybody in another way. */
function groupsOf(at: Extensions, candidates: readonly Candidate[]): readonly Groups[] {
  if (at.groups !== undefined) return [at.groups()];
  const isSilent = at.filter === undefined && at.score === undefined;
  return isSilent ? [] : [{ of: candidates.map((_, at) => at), count: candidates.length }];
}

function canScore({ candidates, fits }: Ranking, prepared: Prepared): boolean {
  if (prepared.plugins.every((it) => it.at.failure === undefined)) return true;
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

/** Takes the best candidates that are left while what was picked stays the same, at most so many; `selected` are passed over. */
export function takeAll(
  pool: Pool,
  prepared: Prepared,
  { most, selected }: { readonly most: number; readonly selected: ReadonlySet<ClusterName> },
): readonly Ranked[] {
  const { candidates } = pool.ranking;
  const isSelected = (place: number | undefined): boolean => {
    const candidate = place === undefined ? undefined : candidates[place];
    return candidate !== undefined && selected.has(candidate.cluster.name);
  };
  const heads = headsOf(pool, prepared);
  const taken: Ranked[] = [];
  const pass = (group: Group): void => {
    while (isSelected(group.places[group.next])) group.next += 1;
  };
  for (const { group } of heads) pass(group);
  while (taken.length < most) {
    const best = bestOf(heads, pool.ranking);
    if (best === null) break;
    taken.push(rankedAt(best, pool.ranking));
    best.group.next += 1;
    pass(best.group);
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
