import { known } from "../model/assert.ts";
import type { ClusterName } from "../model/value.ts";
import { type Candidate, membershipOf, placesOf } from "./framework/cycle.ts";
import { groupsOf, membersIn } from "./framework/groups.ts";
import { fitsAll, preparedPart, totalScore } from "./framework/judging.ts";
import type { Prepared, Ranked, Ranking, Score } from "./framework/plugin.ts";
import { affinityAt } from "./framework/ranking.ts";

/**
 * The best candidates that fit, at most so many, best first; `selected` are passed over. Nothing is picked by it.
 *
 * It is asked of every placement after every change that may matter to it: groups in which nobody is good enough are
 * passed over as well.
 */
export function bestLeft(
  prepared: Prepared,
  { most, selected }: { readonly most: number; readonly selected: ReadonlySet<ClusterName> },
): readonly Ranked[] {
  const ranking = prepared.input.ranking();
  const { candidates, fits } = ranking;
  const changing = preparedPart(prepared, true);
  const { fleet, apart } = groupsOf(changing, candidates.length);
  const isPassed = new Uint8Array(candidates.length);
  for (const place of placesOf(selected, membershipOf(candidates))) isPassed[place] = 1;
  const best: Listed[] = [];
  for (const places of apart)
    for (const place of places) {
      if (fits[place] !== 1 || isPassed[place] === 1) continue;
      isPassed[place] = 1;
      const more = judgedAt(place, candidates, changing);
      if (more !== null) list(best, { place, affinity: affinityAt(ranking, place) + more.affinity, more }, most);
    }
  for (const group of groupsLeft(membersIn(fits)(fleet), { isPassed, ranking, changing })) {
    const worst = best[most - 1];
    // Those that come now are worse than all that are listed.
    if (worst !== undefined && group.more.topology < worst.more.topology) break;
    listGroup(best, group, { isPassed, ranking, most });
  }
  return best.map(({ place, affinity, more }) => ({
    candidate: known(candidates[place], "a ranking is of its candidates"),
    score: { topology: more.topology, affinity, stickiness: more.stickiness },
  }));
}

/** Candidates to whose affinity the plugins that picks change add the same. */
interface JudgedGroup {
  readonly places: readonly number[];
  readonly more: Score;
}

interface Left {
  readonly isPassed: Uint8Array;
  readonly ranking: Ranking;
  readonly changing: Prepared;
}

/** Groups in which somebody is left that fits, best first by topology. */
function groupsLeft(
  members: readonly (readonly number[])[],
  { isPassed, ranking, changing }: Left,
): readonly JudgedGroup[] {
  const left: JudgedGroup[] = [];
  for (const places of members) {
    const first = places.find((it) => isPassed[it] === 0);
    const more = first === undefined ? null : judgedAt(first, ranking.candidates, changing);
    if (more !== null) left.push({ places, more });
  }
  return left.sort((a, b) => b.more.topology - a.more.topology);
}

/** What a candidate has more than its affinity; null where it is refused. */
function judgedAt(place: number, candidates: readonly Candidate[], changing: Prepared): Score | null {
  const candidate = known(candidates[place], "a ranking is of its candidates");
  return fitsAll(changing, candidate) ? totalScore(candidate, changing) : null;
}

interface Listed {
  readonly place: number;
  /** All of it. */
  readonly affinity: number;
  readonly more: Score;
}

/** Whether whoever has no more than this topology and affinity is worse than one on the list. */
const isWorse = (topology: number, affinity: number, { more, affinity: its }: Listed): boolean =>
  topology < more.topology || (topology === more.topology && affinity < its);

/** Puts those of a group on a list of the best. */
function listGroup(
  best: Listed[],
  { places, more }: JudgedGroup,
  { isPassed, ranking, most }: Pick<Left, "isPassed" | "ranking"> & { readonly most: number },
): void {
  let worst = best[most - 1];
  for (let at = places.length - 1; at >= 0; at--) {
    const place = places[at] ?? 0;
    if (isPassed[place] === 1) continue;
    const affinity = affinityAt(ranking, place) + more.affinity;
    if (worst !== undefined && isWorse(more.topology, affinity, worst)) continue;
    list(best, { place, affinity, more }, most);
    worst = best[most - 1];
  }
}

/** Puts one where it belongs in a list of the best, of which there are at most so many. */
function list(best: Listed[], it: Listed, most: number): void {
  let at = Math.min(best.length, most - 1);
  if (best.length === most && !isBetter(it, best[at] ?? it)) return;
  for (; at > 0; at--) {
    const next = best[at - 1] ?? it;
    if (!isBetter(it, next)) break;
    best[at] = next;
  }
  best[at] = it;
}

/** Of equals, the last one by name is the better. */
const isBetter = (a: Listed, b: Listed): boolean =>
  (a.more.topology - b.more.topology ||
    a.affinity - b.affinity ||
    a.more.stickiness - b.more.stickiness ||
    a.place - b.place) > 0;
