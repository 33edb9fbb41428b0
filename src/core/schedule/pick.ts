import type { ClusterDecision } from "../model/ledger.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../model/value.ts";
import { fitDecision, namedDecision, refusedDecision } from "./decision.ts";
import {
  type BindingChanges,
  type Candidate,
  type Classes,
  type Cycle,
  type CycleBinding,
  type CycleResult,
  candidatesByName,
  clusterSetOf,
  crossReference,
  sortedNamesOf,
} from "./framework/cycle.ts";
import { batchLimit, filterCandidates, preparePlugins, type Ranked, rankCandidates } from "./framework/plugin.ts";
import { clusterEligibility, ineligibility, turnsIneligibleAt } from "./plugins/cluster-eligibility.ts";
import type { Profile } from "./profile.ts";

/**
 * Brings the number of clusters to `count`: trims when there are too many, picks the best when there are too few
 * (`schedule/README.md#pickn`).
 *
 * Clusters picked under the present policy count and stay, whatever their state. Once the number is reached nothing
 * moves, not even to a better cluster.
 */
export function pickN(count: number, cycle: Cycle, classes: Classes, profile: Profile): CycleResult {
  const present = classes.scheduled.length + classes.bound.length;
  if (present < count) {
    const picked = pickBest(count, cycle, classes, profile).map((it) => fitDecision(it.candidate, it.score));
    return { ...crossReference(picked, classes), stay: [...classes.scheduled, ...classes.bound] };
  }
  const weakest = [...weakestFirst(classes.scheduled), ...weakestFirst(classes.bound)];
  const trimmed = new Set(weakest.slice(0, present - count));
  const stay = [...classes.scheduled, ...classes.bound].filter((it) => !trimmed.has(it));
  return { create: [], keep: [], drop: sortedNamesOf([...classes.dangling, ...classes.obsolete, ...trimmed]), stay };
}

/**
 * Picks batch after batch until the number is reached or no candidate is left. Without a plugin that limits the batch
 * there is only one.
 *
 * In KubeFleet every batch is a cycle of its own, and the first one drops all obsolete bindings that it did not pick,
 * so they are not preferred by later ones. By default they stay preferred (`schedule/README.md#a-23`).
 */
function pickBest(count: number, cycle: Cycle, classes: Classes, profile: Profile): readonly Ranked[] {
  const picked: Ranked[] = [];
  const holders = new Set(clusterSetOf([...classes.scheduled, ...classes.bound]));
  let obsolete = clusterSetOf(classes.obsolete);
  let leaving = clusterSetOf(classes.unscheduled);
  while (holders.size < count) {
    const prepared = preparePlugins({ ...cycle, holders, obsolete, leaving }, profile.plugins);
    const room = Math.min(count - holders.size, batchLimit(prepared));
    const { fits } = filterCandidates(cycle.candidates, prepared, 0);
    const batch = rankCandidates(fits, prepared).slice(0, room);
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
const weakestFirst = (cycleBindings: readonly CycleBinding[]): readonly CycleBinding[] =>
  [...cycleBindings].sort((a, b) => compareRecorded(a, b) || compareText(a.cluster, b.cluster));

function compareRecorded({ decision: { score: a } }: CycleBinding, { decision: { score: b } }: CycleBinding): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return a.topology - b.topology || a.affinity - b.affinity;
}

/**
 * Picks every cluster that passes the filters, by name; nothing is scored (`schedule/README.md#pickall`).
 *
 * What was picked under the present policy stays, even if it would not be picked now.
 */
export function pickAll(cycle: Cycle, classes: Classes, { plugins }: Profile): CycleResult {
  const stay = [...classes.scheduled, ...classes.bound];
  const situation = {
    ...cycle,
    holders: clusterSetOf(stay),
    obsolete: clusterSetOf(classes.obsolete),
    leaving: clusterSetOf(classes.unscheduled),
  };
  const { fits } = filterCandidates(cycle.candidates, preparePlugins(situation, plugins), 0);
  const picked = fits.map((candidate) => fitDecision(candidate, unscored));
  return { ...crossReference(picked, classes), stay };
}

const unscored = { affinity: 0, topology: 0 };

/** The result of PickFixed: it explains every name, in the order of the list. */
export interface FixedPick {
  readonly changes: BindingChanges;
  readonly decisions: readonly ClusterDecision[];
  readonly warnings: readonly string[];
  readonly wakeAt: Instant | null;
}

/**
 * Picks the named clusters that exist and are eligible; affinity and taints play no part
 * (`schedule/README.md#pickfixed`).
 *
 * Bindings of the present policy are never dropped. By default, a named cluster that holds the placement stays selected
 * when it becomes ineligible, with a warning (`#a-36`, cases `#f3` and `#f4`).
 */
export function pickFixed(
  cycle: Cycle,
  { clusterNames }: Extract<PlacementPolicy, { readonly kind: "PickFixed" }>,
  classes: Classes,
  profile: Profile,
): FixedPick {
  const stay = [...classes.scheduled, ...classes.bound];
  const holders = clusterSetOf(stay);
  const resident = clusterSetOf(
    profile.keepsIneligibleTargets ? [...stay, ...classes.obsolete, ...classes.unscheduled] : [],
  );
  const members = candidatesByName(cycle.candidates);
  const judge = (name: ClusterName): Target =>
    judgeTarget(name, members.get(name) ?? null, { isResident: resident.has(name), now: cycle.now });
  const targets = [...new Set(clusterNames)].map(judge);
  const valid = targets.filter((it) => it.kind === "valid");
  const picked = valid.filter((it) => !holders.has(it.decision.cluster)).map((it) => it.decision);
  return {
    changes: crossReference(picked, classes),
    decisions: [
      ...valid.map((it) => it.decision),
      ...targets.filter((it) => it.kind === "ineligible").map((it) => it.decision),
      ...targets.filter((it) => it.kind === "unknown").map((it) => it.decision),
    ],
    warnings: valid.flatMap((it) => it.warning ?? []),
    wakeAt: earliest(...targets.map((it) => it.turnsAt)),
  };
}

/**
 * As KubeFleet treats an emptied list: only clusters that left are cleaned up, and nothing is recorded (case
 * `schedule/README.md#f6`).
 */
export const pickNothing = ({ dangling }: Classes): FixedPick => ({
  changes: { create: [], keep: [], drop: sortedNamesOf(dangling) },
  decisions: [],
  warnings: [],
  wakeAt: null,
});

interface Target {
  readonly kind: "valid" | "ineligible" | "unknown";
  readonly decision: ClusterDecision;
  readonly warning: string | null;
  readonly turnsAt: Instant | null;
}

function judgeTarget(
  name: ClusterName,
  candidate: Candidate | null,
  { isResident, now }: { readonly isResident: boolean; readonly now: Instant },
): Target {
  if (candidate === null) {
    const because = "no member cluster has this name";
    const decision = refusedDecision({ cluster: name, plugin: "PickFixed", because });
    return { kind: "unknown", decision, warning: null, turnsAt: null };
  }
  const because = ineligibility(candidate, now);
  const turnsAt = turnsIneligibleAt(candidate, now);
  if (because === null) return { kind: "valid", decision: namedDecision(name, null), warning: null, turnsAt };
  if (isResident) {
    const warning = `${name} stays selected although it is not eligible: ${because}`;
    return { kind: "valid", decision: namedDecision(name, because), warning, turnsAt };
  }
  const decision = refusedDecision({ cluster: name, plugin: clusterEligibility.name, because });
  return { kind: "ineligible", decision, warning: null, turnsAt };
}
