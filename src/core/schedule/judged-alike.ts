import type { PlacementPolicy } from "../model/placement.ts";
import type { Instant } from "../model/value.ts";
import type { Candidate } from "./cycle.ts";
import { admit, prepare, rank } from "./framework.ts";
import type { Profile } from "./profile.ts";

/** A candidate as it was and as it is. */
export interface Change {
  readonly was: Candidate;
  readonly is: Candidate;
}

/**
 * Whether a cycle comes out as it did although a candidate changed that the placement is not on: every plugin says of it
 * what it said before, to the word. So a cluster that is relabelled costs the placements that look at the label.
 *
 * False only means that the cycle has to be run. True needs plugins that judge every candidate for itself.
 */
export function judgedAlike(policy: PlacementPolicy, { was, is }: Change, profile: Profile, now: Instant): boolean {
  if (was.cluster.name !== is.cluster.name) return false;
  if (policy.kind === "PickFixed") return !policy.clusterNames.includes(is.cluster.name);
  if (!profile.plugins.every((it) => it.judgesAlone)) return false;
  const nobody: ReadonlySet<never> = new Set();
  const situation = { policy, candidates: [is], now, holders: nobody, obsolete: nobody, leaving: nobody };
  const prepared = prepare(situation, profile.plugins);
  const [before, after] = [was, is].map((candidate) => {
    const { fits, refused, wakeAt } = admit([candidate], prepared, 1);
    return { score: rank(fits, prepared)[0]?.score, refused: refused[0], wakeAt };
  });
  return (
    before?.wakeAt === after?.wakeAt &&
    before?.refused?.plugin === after?.refused?.plugin &&
    before?.refused?.because === after?.refused?.because &&
    before?.score?.topology === after?.score?.topology &&
    before?.score?.affinity === after?.score?.affinity &&
    before?.score?.stickiness === after?.score?.stickiness
  );
}
