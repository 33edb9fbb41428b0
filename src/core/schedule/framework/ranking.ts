import { remembered, rememberedPair } from "../../model/memo.ts";
import { earliest, type Instant } from "../../model/value.ts";
import type { Candidate } from "./cycle.ts";
import type { Plugin, PreparedPlugin, Ranking, Situation } from "./plugin.ts";

/** Judgements of one fleet that placements share: about 50 MB of them. */
const mostRemembered = 4_000_000;

/** With more changes than this, nothing is gained by judging only those. */
const mostChanged = 32;

/** Rankings of fleets, by what they ask; and the last one of every policy, which the next fleet's is made from. */
const remembering = remembered((_: readonly Plugin[]) => ({
  ofFleets: remembered((_fleet: readonly Candidate[]) => new Map<string, Ranking>()),
  ofPolicies: new WeakMap<Situation["policy"], Ranking>(),
}));

/**
 * The ranking of a fleet, or the one that placements with an equal policy had in this pass. Where few candidates changed
 * since the policy last was asked about, only those are judged again: it comes out the same
 * (`schedule/README.md#rankings`).
 */
export function rankingOf(situation: Situation, all: readonly Plugin[], steady: readonly PreparedPlugin[]): Ranking {
  const { policy, candidates, now } = situation;
  const asked = askedBy(policy)(situation.namespace);
  const ranked = (): Ranking => rankedAnew({ candidates, asked, now }, steady);
  // One candidate is asked about for the sake of itself.
  if (candidates.length <= 1) return ranked();
  const { ofFleets, ofPolicies } = remembering(all);
  const ofFleet = ofFleets(candidates);
  const known = ofFleet.get(asked);
  const isShared = known !== undefined && holdsAt(known, now);
  const last = ofPolicies.get(policy);
  const isOfUse = last !== undefined && last.asked === asked && holdsAt(last, now);
  const found = isShared ? known : ((isOfUse ? rankedAgain(last, situation, steady) : null) ?? ranked());
  // Whoever keeps the fleet itself keeps what all others had of it.
  ofPolicies.set(policy, { ...found, candidates: copyOf(candidates) });
  if (!isShared && ofFleet.size * candidates.length < mostRemembered) ofFleet.set(asked, found);
  return found;
}

const copyOf = remembered((fleet: readonly Candidate[]): readonly Candidate[] => [...fleet]);

const holdsAt = ({ from, until }: Ranking, now: Instant): boolean => now >= from && (until === null || now < until);

/** All of a placement that a ranking rests on, as a text that no other has. */
const askedBy = remembered((policy: Situation["policy"]) => {
  const { required, preferred, tolerations } = policy.kind === "PickN" ? policy : nothing;
  const text = JSON.stringify([required, preferred, tolerations]);
  return (namespace: string | null): string => (namespace === null ? text : `${namespace} ${text}`);
});

const nothing = { required: [], preferred: [], tolerations: [] };

type Basis = Pick<Ranking, "candidates" | "asked"> & { readonly now: Instant };

function rankedAnew({ candidates, asked, now }: Basis, steady: readonly PreparedPlugin[]): Ranking {
  const judged = {
    fits: new Uint8Array(candidates.length),
    affinity: new Float64Array(candidates.length),
    turnsAt: new Map<number, Instant>(),
  };
  for (const [at, candidate] of candidates.entries()) judge(candidate, at, judged, steady);
  const best = sortedPlaces(judged, [...candidates.keys()]);
  return { ...judged, candidates, best, asked, from: now, until: firstOf(judged.turnsAt) };
}

/** Null where what changed may have changed what is said of others. */
function rankedAgain(
  last: Ranking,
  { candidates, policy, now }: Situation,
  steady: readonly PreparedPlugin[],
): Ranking | null {
  const changed = changedPlaces(last.candidates, candidates);
  if (changed === null || changed.length > mostChanged) return null;
  const isAlone = changed.every((at) => {
    const [was, is] = [last.candidates[at], candidates[at]];
    return (
      was !== undefined &&
      is !== undefined &&
      !steady.some((it) => it.plugin.concernsOthers?.({ was, is }, policy, candidates))
    );
  });
  if (!isAlone) return null;
  if (changed.length === 0) return { ...last, candidates };
  const judged = { fits: last.fits.slice(), affinity: last.affinity.slice(), turnsAt: new Map(last.turnsAt) };
  for (const at of changed) {
    judged.turnsAt.delete(at);
    const candidate = candidates[at];
    if (candidate !== undefined) judge(candidate, at, judged, steady);
  }
  const best = reordered(last, sortedPlaces(judged, changed), changed, judged.affinity);
  return { ...judged, candidates, best, asked: last.asked, from: now, until: firstOf(judged.turnsAt) };
}

const firstOf = (turnsAt: ReadonlyMap<number, Instant>): Instant | null => {
  let first: Instant | null = null;
  for (const it of turnsAt.values()) first = earliest(first, it);
  return first;
};

interface Judged {
  readonly fits: Uint8Array;
  readonly affinity: Float64Array;
  readonly turnsAt: Map<number, Instant>;
}

function judge(
  candidate: Candidate,
  place: number,
  { fits, affinity, turnsAt }: Judged,
  steady: readonly PreparedPlugin[],
): void {
  let turns: Instant | null = null;
  let isFit = true;
  for (const { at } of steady) {
    if (at.turnsAt !== undefined) turns = earliest(turns, at.turnsAt(candidate));
    isFit = at.filter === undefined || at.filter(candidate) === "fits";
    if (!isFit) break;
  }
  if (turns !== null) turnsAt.set(place, turns);
  let sum = 0;
  if (isFit) for (const { at } of steady) sum += at.score?.(candidate).affinity ?? 0;
  fits[place] = isFit ? 1 : 0;
  affinity[place] = sum;
}

/** More members than a fleet has: an affinity and a place in one number. */
const placesCount = 2 ** 21;

/** Those of the places that fit, best first. */
function sortedPlaces({ fits, affinity }: Judged, places: readonly number[]): Uint32Array {
  const keys = new Float64Array(places.length);
  let count = 0;
  for (const it of places) {
    if (fits[it] !== 1) continue;
    keys[count] = (affinity[it] ?? 0) * placesCount + it;
    count += 1;
  }
  // Numbers are sorted much faster without a comparison of one's own.
  const sorted = keys.subarray(0, count).sort().reverse();
  return Uint32Array.from(sorted, (it) => it - Math.floor(it / placesCount) * placesCount);
}

/** The order as it was, but for the places that changed: of those, the ones in `more` fit. */
function reordered(
  { best: before }: Ranking,
  more: Uint32Array,
  changed: readonly number[],
  affinity: Float64Array,
): Uint32Array {
  const best = new Uint32Array(before.length + more.length);
  best.set(before);
  let count = before.length;
  for (const place of changed) {
    // What stands beyond `count` is left over from moving.
    const at = best.subarray(0, count).indexOf(place);
    if (at < 0) continue;
    best.copyWithin(at, at + 1, count);
    count -= 1;
  }
  const key = (place: number): number => (affinity[place] ?? 0) * placesCount + place;
  for (const place of more) {
    let [from, to] = [0, count];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (key(best[middle] ?? 0) > key(place)) from = middle + 1;
      else to = middle;
    }
    best.copyWithin(from + 1, from, count);
    best[from] = place;
    count += 1;
  }
  return best.subarray(0, count);
}

/** The places at which two fleets differ; null where somebody joined or left. */
const changedPlaces = rememberedPair(
  (before: readonly Candidate[], after: readonly Candidate[]): readonly number[] | null => {
    if (before.length !== after.length) return null;
    const changed: number[] = [];
    for (const [at, is] of after.entries()) {
      const was = before[at];
      if (was?.cluster.name !== is.cluster.name) return null;
      if (!isSame(was, is)) changed.push(at);
    }
    return changed;
  },
);

const isSame = (a: Candidate, b: Candidate): boolean =>
  a === b ||
  (a.cluster === b.cluster && a.facts === b.facts && a.contactFailure === b.contactFailure && a.agent === b.agent);
