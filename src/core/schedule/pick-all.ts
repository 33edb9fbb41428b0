import { type Classes, type Cycle, clustersOf } from "./cycle.ts";
import { fitDecision } from "./decision.ts";
import { admit, prepare } from "./framework.ts";
import { crossReference, type Moves } from "./moves.ts";
import type { Profile } from "./profile.ts";

/**
 * Picks every cluster that passes the filters, by name; nothing is scored (`schedule/README.md#pickall`).
 *
 * What was picked under the present policy stays, also when it would not be picked today.
 */
export function pickAll(cycle: Cycle, classes: Classes, { plugins }: Profile): Moves {
  const stay = [...classes.scheduled, ...classes.bound];
  const situation = {
    ...cycle,
    holders: clustersOf(stay),
    obsolete: clustersOf(classes.obsolete),
    leaving: clustersOf(classes.unscheduled),
  };
  const { fits } = admit(cycle.candidates, prepare(situation, plugins), 0);
  const picked = fits.map((candidate) => fitDecision(candidate, unscored));
  return { ...crossReference(picked, classes), stay };
}

const unscored = { affinity: 0, topology: 0 };
