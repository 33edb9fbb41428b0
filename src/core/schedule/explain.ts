import type { ClusterDecision } from "../model/binding.ts";
import { rememberedPair } from "../model/identity.ts";
import type { ClusterName, Instant } from "../model/value.ts";
import { refusedDecision, surplusDecision } from "./decision.ts";
import { type Cycle, clustersIn, membershipOf } from "./framework/cycle.ts";
import {
  bestOfAll,
  filterCandidates,
  firstRefused,
  preparedAgain,
  preparePlugins,
  warningsOf,
} from "./framework/judging.ts";
import type { Prepared, Ranked, RefusedCandidate } from "./framework/plugin.ts";
import type { CycleResult } from "./pick.ts";
import { canScore, turnsOf, turnsWithout } from "./pool.ts";
import type { Profile } from "./profile.ts";
import { bestLeft } from "./surplus.ts";

/** At most so many clusters that were not selected are explained. */
export const maxExplained = 20;

/** Why clusters were not selected, when time alone changes that, and what the plugins warn of. */
interface Explanations {
  readonly decisions: readonly ClusterDecision[];
  readonly wakeAt: Instant | null;
  readonly warnings: readonly string[];
}

/**
 * Explains clusters that were not selected (`schedule/README.md#what-is-recorded`): those that fit, best first, then
 * refused ones by name. Selected clusters use none of their slots (`#a-39`).
 *
 * Explanations are made after the picks: the next cycle, which finds them made, gives the same ones, so that they
 * neither vanish nor flicker. In the profile `kubefleet` they are made before the last batch, as KubeFleet does; where
 * nothing is picked the recorded ones stay.
 */
export function explainUnselected(cycle: Cycle, result: CycleResult, profile: Profile, wanted: number): Explanations {
  const { selected, last } = result;
  const isPickAll = cycle.policy.kind === "PickAll";
  const holders = clustersIn(selected);
  if (!profile.explainsAfterPicks && last === null) return keptExplanations(cycle, holders);
  const isAfter = profile.explainsAfterPicks || isPickAll || last === null;
  const prepared = isAfter ? preparedAfter(cycle, result, profile) : last;
  const { surplus, refused, wakeAt, surplusTurnsAt } = othersThan(holders, prepared);
  const isFull = selected.length >= wanted && surplus.length === maxExplained;
  // Where all that are wanted are found, KubeFleet looks at the others no more.
  const isOver = !profile.explainsAfterPicks && !isPickAll && selected.length >= wanted;
  return {
    decisions: [...surplus.map((it) => surplusDecision(it.candidate, it.score)), ...refused.map(refusedDecision)],
    // Beyond a full list, whoever is refused from some moment on is not missed.
    wakeAt: isOver ? null : isFull ? surplusTurnsAt() : wakeAt,
    warnings: warningsOf(prepared),
  };
}

/** The clusters that were not selected: those that fit and some of the others, and when time alone changes which fit. */
interface Others {
  readonly surplus: readonly Ranked[];
  readonly refused: readonly RefusedCandidate[];
  readonly wakeAt: Instant | null;
  /** When time alone changes that one of `surplus` fits. */
  readonly surplusTurnsAt: () => Instant | null;
}

function othersThan(selected: ReadonlySet<ClusterName>, prepared: Prepared): Others {
  const { policy, candidates } = prepared.input;
  const others = () => candidates.filter((it) => !selected.has(it.cluster.name));
  if (policy.kind !== "PickN" || !canScore(prepared)) {
    const { fits, refused, wakeAt } = filterCandidates(others(), prepared, maxExplained);
    const surplus = bestOfAll(fits, prepared, maxExplained);
    const listed = surplus.map((it) => it.candidate);
    const surplusTurnsAt = (): Instant | null => filterCandidates(listed, prepared, 0).wakeAt;
    return { surplus, refused: refused.slice(0, maxExplained - surplus.length), wakeAt, surplusTurnsAt };
  }
  const surplus = bestLeft(prepared, { most: maxExplained, selected });
  const left = maxExplained - surplus.length;
  return {
    surplus,
    refused: left === 0 ? [] : firstRefused(others(), prepared, left),
    wakeAt: turnsWithout(prepared.input.ranking(), selected),
    surplusTurnsAt: () => turnsOf(prepared.input.ranking(), surplus),
  };
}

function preparedAfter(cycle: Cycle, { selected, last }: CycleResult, { plugins }: Profile): Prepared {
  const holders = clustersIn(selected);
  const obsolete: ReadonlySet<never> = new Set();
  // With PickAll the clusters that leave have been judged, and are explained like any other.
  if (cycle.policy.kind === "PickAll")
    return preparePlugins({ ...cycle, holders, obsolete, leaving: new Set() }, plugins);
  const now = { holders, obsolete, leaving: leavingAfter(cycle, holders) };
  return last === null ? preparePlugins({ ...cycle, ...now }, plugins) : preparedAgain(last, now, null);
}

/** Clusters whose removal is pending once this cycle is carried out. */
const leavingAfter = ({ cycleBindings }: Cycle, holders: ReadonlySet<ClusterName>): ReadonlySet<ClusterName> =>
  leavingIn(cycleBindings, holders);

const leavingIn = rememberedPair((cycleBindings: Cycle["cycleBindings"], holders: ReadonlySet<ClusterName>) =>
  clustersIn(cycleBindings.filter((it) => !holders.has(it.cluster) && !it.removing)),
);

function keptExplanations({ recorded, candidates }: Cycle, holders: ReadonlySet<ClusterName>): Explanations {
  const { places } = membershipOf(candidates);
  const kept = recorded.filter((it) => !it.selected && !holders.has(it.cluster) && places.has(it.cluster));
  return { decisions: kept.slice(0, maxExplained), wakeAt: null, warnings: [] };
}
