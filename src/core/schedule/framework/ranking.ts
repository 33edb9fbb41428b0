import { remembered } from "../../model/identity.ts";
import { earliest, type Instant } from "../../model/value.ts";
import { type Column, columnsOf } from "./columns.ts";
import type { Candidate } from "./cycle.ts";
import type { Part, PreparedPlugin, Ranking, Situation } from "./plugin.ts";

/**
 * What the plugins that picks do not change say of a fleet: the sum of their parts, which placements share and which are
 * remembered (`schedule/README.md#rankings`).
 */
export function rankingOf(situation: Situation, steady: readonly PreparedPlugin[]): Ranking {
  const { candidates } = situation;
  const fitting: Column[] = [];
  const scoring: Column[] = [];
  for (const it of steady) {
    const { fits, scores } = it.at.parts ?? wholeParts(it, situation);
    const columns = columnsOf(it, [...fits, ...scores], situation);
    fitting.push(...columns.slice(0, fits.length));
    scoring.push(...columns.slice(fits.length));
  }
  const fits = fitsIn(fitting, candidates);
  const scores = scoring.map((it) => it.values);
  let best: Uint32Array | null = null;
  return {
    candidates,
    fits,
    scores,
    best() {
      best ??= sortedPlaces(fits, scores);
      return best;
    },
    turnsAt: turnsIn(fitting),
  };
}

/** How good the candidate at a place is by all that picks do not change. */
export function affinityAt({ scores }: Pick<Ranking, "scores">, place: number): number {
  let sum = 0;
  for (let at = 0; at < scores.length; at++) sum += scores[at]?.[place] ?? 0;
  return sum;
}

/** A plugin that tells no parts of itself has one that rests on all that a placement asks. */
function wholeParts({ at }: PreparedPlugin, { policy, namespace }: Situation): { fits: Part[]; scores: Part[] } {
  const asked = askedBy(policy)(namespace);
  const { filter, turnsAt, score } = at;
  return {
    fits: [
      {
        asked: `fits ${asked}`,
        of: (it) => (filter === undefined || filter(it) === "fits" ? 1 : 0),
        turnsAt: (it) => turnsAt?.(it) ?? null,
      },
    ],
    scores: score === undefined ? [] : [{ asked: `scores ${asked}`, of: (it) => score(it).affinity ?? 0 }],
  };
}

const askedBy = remembered((policy: Situation["policy"]) => {
  const text = JSON.stringify(policy);
  return (namespace: string | null): string => (namespace === null ? text : `${namespace} ${text}`);
});

/** Who has a 1 in all columns: one and the same list for all placements that have the same columns. */
const fitsIn = (columns: readonly Column[], candidates: readonly Candidate[]): Uint8Array =>
  columns.reduce((fits, it) => (it.isOne ? fits : fitsAlso(fits)(it)), everybody(candidates));

const everybody = remembered((candidates: readonly Candidate[]) => new Uint8Array(candidates.length).fill(1));

const fitsAlso = remembered((fits: Uint8Array) =>
  remembered(({ values }: Column) => fits.map((it, place) => (values[place] === 1 ? it : 0))),
);

/** Whoever is refused by one is not asked by the next. */
function turnsIn(columns: readonly Column[]): ReadonlyMap<number, Instant> {
  const turning = columns.filter((it) => it.turnsAt.size > 0);
  if (turning.length === 0) return never;
  const found = new Map<number, Instant>();
  for (const column of turning) {
    const before = columns.slice(0, columns.indexOf(column));
    for (const [place, at] of column.turnsAt)
      if (before.every((it) => it.values[place] === 1)) found.set(place, earliest(found.get(place) ?? null, at) ?? at);
  }
  return found;
}

const never: ReadonlyMap<number, Instant> = new Map();

/** More members than a fleet has: an affinity and a place in one number. */
const placesCount = 2 ** 21;

/** The places of those that fit, best first. */
function sortedPlaces(fits: Uint8Array, scores: Ranking["scores"]): Uint32Array {
  const keys = new Float64Array(fits.length);
  let count = 0;
  for (let place = 0; place < fits.length; place++) {
    if (fits[place] !== 1) continue;
    keys[count] = affinityAt({ scores }, place) * placesCount + place;
    count += 1;
  }
  // Numbers are sorted much faster without a comparison of one's own.
  const sorted = keys.subarray(0, count).sort().reverse();
  return Uint32Array.from(sorted, (it) => it - Math.floor(it / placesCount) * placesCount);
}
