import { remembered } from "../../model/identity.ts";
import { earliest, type Instant } from "../../model/value.ts";
import { type Column, columnsOf } from "./columns.ts";
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
  const fits = fitsIn(fitting, candidates.length);
  const affinity = sumOf(scoring, candidates.length);
  let best: Uint32Array | null = null;
  return {
    candidates,
    fits,
    affinity,
    best() {
      best ??= sortedPlaces(fits, affinity);
      return best;
    },
    turnsAt: turnsIn(fitting),
  };
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

function fitsIn(columns: readonly Column[], count: number): Uint8Array {
  const fits = new Uint8Array(count).fill(1);
  for (const { values, isOne } of columns)
    if (!isOne) for (let place = 0; place < count; place++) if (values[place] !== 1) fits[place] = 0;
  return fits;
}

function sumOf([first, ...more]: readonly Column[], count: number): Float64Array {
  if (first === undefined) return new Float64Array(count);
  if (more.length === 0) return first.values;
  const sum = first.values.slice();
  for (const { values } of more)
    for (let place = 0; place < count; place++) sum[place] = (sum[place] ?? 0) + (values[place] ?? 0);
  return sum;
}

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
function sortedPlaces(fits: Uint8Array, affinity: Float64Array): Uint32Array {
  const keys = new Float64Array(fits.length);
  let count = 0;
  for (let place = 0; place < fits.length; place++) {
    if (fits[place] !== 1) continue;
    keys[count] = (affinity[place] ?? 0) * placesCount + place;
    count += 1;
  }
  // Numbers are sorted much faster without a comparison of one's own.
  const sorted = keys.subarray(0, count).sort().reverse();
  return Uint32Array.from(sorted, (it) => it - Math.floor(it / placesCount) * placesCount);
}
