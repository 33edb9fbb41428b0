import type { ClusterDecision } from "../model/binding.ts";
import type { MemberCluster } from "../model/fleet.ts";
import { remembered } from "../model/identity.ts";
import type { ClusterName } from "../model/value.ts";
import type { Candidate } from "./framework/cycle.ts";
import type { RefusedCandidate } from "./framework/plugin.ts";

type RecordedScore = NonNullable<ClusterDecision["score"]>;

/**
 * A cluster picked because it fits. Both scores are recorded, 0 if nothing was scored
 * (`schedule/README.md#the-order-of-candidates`). Decisions without a score are shared by all placements.
 */
export const fitDecision = ({ cluster }: Candidate, score: RecordedScore): ClusterDecision =>
  score.affinity === 0 && score.topology === 0 ? plainFit(cluster) : scoredFit(cluster, score);

const scoredFit = (cluster: MemberCluster, score: RecordedScore): ClusterDecision => ({
  cluster: cluster.name,
  selected: true,
  score: { affinity: score.affinity, topology: score.topology },
  reason: `picked ${cluster.name}: ${scoreText(score)}`,
});

const plainFit = remembered((cluster: MemberCluster) => scoredFit(cluster, { affinity: 0, topology: 0 }));

/** A cluster that fits and was not needed. */
export const surplusDecision = ({ cluster }: Candidate, score: RecordedScore): ClusterDecision => ({
  cluster: cluster.name,
  selected: false,
  score: { affinity: score.affinity, topology: score.topology },
  reason: `${cluster.name} fits and is not needed: ${scoreText(score)}`,
});

/** A cluster that a plugin refused, with the reason. */
export const refusedDecision = ({ cluster, plugin, because }: RefusedCandidate): ClusterDecision => ({
  cluster,
  selected: false,
  score: null,
  reason: `${plugin}: ${because}`,
});

/** A cluster that the policy names. It has no score; a warning may say what is wrong with it. */
export const namedDecision = (cluster: ClusterName, warning: string | null): ClusterDecision => ({
  cluster,
  selected: true,
  score: null,
  reason: warning === null ? `picked ${cluster} by name` : `picked ${cluster} by name; ${warning}`,
});

const scoreText = ({ affinity, topology }: RecordedScore): string =>
  `affinity score ${affinity}, topology score ${topology}`;
