import { type ClusterName, compareText } from "../model/value.ts";
import { type Classes, type Cycle, clustersOf, type Standing } from "./cycle.ts";
import { fitDecision } from "./decision.ts";
import { admit, batchLimit, prepare, type Ranked, rank } from "./framework.ts";
import { crossReference, type Moves, namesOf } from "./moves.ts";
import type { Profile } from "./profile.ts";

/**
 * Brings the number of clusters to `count`: trims when there are too many, picks the best when there are too few
 * (`schedule/README.md#pickn`).
 *
 * Clusters under the present policy count and stay, whatever became of them. Once the number is reached nothing moves,
 * not even to a better cluster.
 */
export function pickN(count: number, cycle: Cycle, classes: Classes, profile: Profile): Moves {
  const present = classes.scheduled.length + classes.bound.length;
  if (present < count) {
    const picked = pickBest(count, cycle, classes, profile).map((it) => fitDecision(it.candidate, it.score));
    return { ...crossReference(picked, classes), stay: [...classes.scheduled, ...classes.bound] };
  }
  const weakest = [...weakestFirst(classes.scheduled), ...weakestFirst(classes.bound)];
  const trimmed = new Set(weakest.slice(0, present - count));
  const stay = [...classes.scheduled, ...classes.bound].filter((it) => !trimmed.has(it));
  return { create: [], keep: [], drop: namesOf([...classes.dangling, ...classes.obsolete, ...trimmed]), stay };
}

/**
 * Picks batch after batch until the number is reached or nobody is left. Without a plugin that limits the batch the
 * first batch is the only one.
 *
 * In KubeFleet every batch is a cycle of its own, and the first one drops all obsolete bindings that it did not pick:
 * they lose their stickiness to the later ones. By default they do not (`schedule/README.md#a-23`).
 */
function pickBest(count: number, cycle: Cycle, classes: Classes, profile: Profile): readonly Ranked[] {
  const picked: Ranked[] = [];
  const holders = new Set(clustersOf([...classes.scheduled, ...classes.bound]));
  let obsolete = clustersOf(classes.obsolete);
  let leaving = clustersOf(classes.unscheduled);
  while (holders.size < count) {
    const prepared = prepare({ ...cycle, holders, obsolete, leaving }, profile.plugins);
    const room = Math.min(count - holders.size, batchLimit(prepared));
    const { fits } = admit(cycle.candidates, prepared, 0);
    const batch = rank(fits, prepared).slice(0, room);
    if (batch.length === 0) return picked;
    for (const { candidate } of batch) holders.add(candidate.cluster.name);
    picked.push(...batch);
    if (!profile.staysStickyBetweenBatches) {
      leaving = new Set<ClusterName>([...leaving, ...obsolete]);
      obsolete = new Set();
    }
  }
  return picked;
}

/**
 * The order of trimming inside one state: without a recorded score first, then by topology, affinity and name. The
 * scores are those of the cycle that picked the cluster (`schedule/README.md#pickn`).
 *
 * `#a-21` puts the fullest domain first; a policy without spread constraints has a single one.
 */
const weakestFirst = (standings: readonly Standing[]): readonly Standing[] =>
  [...standings].sort((a, b) => compareRecorded(a, b) || compareText(a.cluster, b.cluster));

function compareRecorded({ decision: { score: a } }: Standing, { decision: { score: b } }: Standing): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return a.topology - b.topology || a.affinity - b.affinity;
}
