import type { ClusterName } from "../model/value.ts";
import {
  batchLimit,
  compareRanked,
  filterCandidates,
  fitsAll,
  type Prepared,
  preparedAgain,
  preparedPart,
  preparePlugins,
  type Ranked,
  rankCandidates,
  type Situation,
  scoringFailure,
  withScore,
} from "./framework/plugin.ts";
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
    if (limit === 1 && !isLast) pool ??= poolOf(prepared);
    const { batch, failure } = limit > 1 || pool?.canScore !== true ? ranked(prepared, limit) : bestOf(pool, prepared);
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

/** Filters, scores and ranks every candidate. */
function ranked(prepared: Prepared, limit: number): Batch {
  const { fits } = filterCandidates(prepared.input.candidates, prepared, 0);
  const failure = scoringFailure(fits, prepared);
  return failure === null ? { batch: rankCandidates(fits, prepared).slice(0, limit), failure } : { batch: [], failure };
}

/** Candidates that the plugins which picks change judge alike, best first by all other plugins. */
interface Pool {
  readonly groups: readonly { readonly members: readonly Ranked[]; next: number }[];
  /** Whether every candidate can be scored; otherwise who fits has to be looked at in every batch. */
  readonly canScore: boolean;
}

function poolOf(prepared: Prepared): Pool {
  const changing = preparedPart(prepared, true);
  const feasible = prepared.input.feasible();
  const groups = new Map<string, { members: Ranked[]; next: number }>();
  for (const it of rankCandidates(feasible, preparedPart(prepared, false))) {
    const key = changing.plugins.map(({ at }) => at.groupOf?.(it.candidate) ?? it.candidate.cluster.name).join("\n");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { members: [it], next: 0 });
    else group.members.push(it);
  }
  return { groups: [...groups.values()], canScore: scoringFailure(feasible, prepared) === null };
}

/** The one best candidate, if any fits. Of each group only the first can be it. */
function bestOf({ groups }: Pool, prepared: Prepared): Batch {
  const changing = preparedPart(prepared, true);
  let best: Ranked | null = null;
  let from: Pool["groups"][number] | null = null;
  for (const group of groups) {
    const head = group.members[group.next];
    if (head === undefined || !fitsAll(changing, head.candidate)) continue;
    const other = withScore(head, changing);
    if (best !== null && compareRanked(best, other) <= 0) continue;
    best = other;
    from = group;
  }
  if (from !== null) from.next += 1;
  return { batch: best === null ? [] : [best], failure: null };
}
