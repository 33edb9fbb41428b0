import type { ClusterName } from "../model/value.ts";
import {
  batchLimit,
  filterCandidates,
  preparedAgain,
  preparePlugins,
  rankCandidates,
  scoringFailure,
} from "./framework/judging.ts";
import type { Prepared, Ranked, Situation } from "./framework/plugin.ts";
import { type Pool, poolOf, takeAll, takeBest } from "./pool.ts";
import type { Profile } from "./profile.ts";

/** What PickN picks, batch by batch. */
interface Batches {
  /** Best first inside of a batch. The last one is empty where nobody was left. */
  readonly batches: readonly (readonly Ranked[])[];
  /** As the plugins saw things before the last batch, be it that nothing was picked in it. */
  readonly last: Prepared;
  /** Why it could not go on, if that is so. */
  readonly failure: string | null;
}

/**
 * Picks batch after batch until `wanted` more clusters count, or no candidate is left. Without a plugin that limits the
 * batch there is only one.
 *
 * In KubeFleet every batch is a cycle of its own, and the first one drops all obsolete bindings that it did not pick,
 * so they are not preferred by later ones. By default they stay preferred (`schedule/README.md#a-23`). It also counts
 * bindings and not clusters: `countOf` says how many a pick adds, and a batch that adds another number than its limit
 * is the last (`#a-25`).
 */
export function pickBatches(
  wanted: number,
  situation: Situation,
  { plugins, staysStickyBetweenBatches }: Profile,
  countOf: (cluster: ClusterName) => number,
): Batches {
  const holders = new Set(situation.holders);
  let prepared = preparePlugins({ ...situation, holders }, plugins);
  let pool: Pool | null = null;
  const batches: (readonly Ranked[])[] = [];
  for (let left = wanted; left > 0; ) {
    const limit = Math.min(left, batchLimit(prepared));
    const isLast = limit === left;
    pool ??= poolOf(prepared);
    const { batch, failure } = pool.canScore
      ? { batch: taken(pool, prepared, limit), failure: null }
      : ranked(prepared, limit);
    if (failure !== null) return { batches, last: prepared, failure };
    batches.push(batch);
    if (batch.length === 0) break;
    const added = batch.reduce((sum, it) => sum + countOf(it.candidate.cluster.name), 0);
    left -= added;
    if (isLast || (added !== limit && !staysStickyBetweenBatches)) break;
    for (const { candidate } of batch) holders.add(candidate.cluster.name);
    const { obsolete, leaving } = prepared.input;
    const isReset = !staysStickyBetweenBatches && obsolete.size > 0;
    if (isReset) pool = null;
    const now = {
      holders,
      obsolete: isReset ? new Set<ClusterName>() : obsolete,
      leaving: isReset ? new Set([...leaving, ...obsolete]) : leaving,
    };
    prepared = preparedAgain(
      prepared,
      now,
      batch.map((it) => it.candidate),
    );
  }
  return { batches, last: prepared, failure: null };
}

interface Batch {
  readonly batch: readonly Ranked[];
  readonly failure: string | null;
}

/** Of a batch of more than one, no other follows on the same pool: a plugin limits all batches to one, or none. */
const taken = (pool: Pool, prepared: Prepared, limit: number): readonly Ranked[] =>
  limit === 1 ? takeBest(pool, prepared) : takeAll(pool, prepared, limit);

/** Filters, scores and ranks every candidate. */
function ranked(prepared: Prepared, limit: number): Batch {
  const { fits } = filterCandidates(prepared.input.candidates, prepared, 0);
  const failure = scoringFailure(fits, prepared);
  return failure === null ? { batch: rankCandidates(fits, prepared).slice(0, limit), failure } : { batch: [], failure };
}
