import type { ClusterDecision } from "../model/binding.ts";
import { remembered } from "../model/identity.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../model/value.ts";
import { fitDecision, namedDecision, refusedDecision } from "./decision.ts";
import {
  type BindingChanges,
  byCluster,
  type Candidate,
  type Classes,
  type Cycle,
  type CycleBinding,
  candidatesByName,
  clustersIn,
  crossReference,
} from "./framework/cycle.ts";
import { filterCandidates, preparePlugins } from "./framework/judging.ts";
import type { Prepared, Ranked, Situation } from "./framework/plugin.ts";
import { pickBatches } from "./pick-batches.ts";
import { clusterEligibility, ineligibility, turnsIneligibleAt } from "./plugins/cluster-eligibility.ts";
import { namespaceMissing, namespaceUnsure } from "./plugins/namespace-affinity.ts";
import { notGranted, tenantClusters } from "./plugins/tenant-clusters.ts";
import type { Profile } from "./profile.ts";
import { trim } from "./trim.ts";

/** What one cycle changes, what is selected after it, and how it came to that. */
export interface CycleResult extends BindingChanges {
  /** The decisions on all selected clusters, in the order in which they are recorded. */
  readonly selected: readonly ClusterDecision[];
  /** As the plugins saw things before the last batch; null where nothing had to be picked. */
  readonly last: Prepared | null;
  /** Why it could not go on, if that is so. */
  readonly failure: string | null;
}

/**
 * Brings the number of clusters to `count`: trims when there are too many, picks the best when there are too few
 * (`schedule/README.md#pickn`).
 *
 * Clusters picked under the present policy count and stay, whatever their state. Once the number is reached nothing
 * moves, not even to a better cluster.
 */
export function pickN(count: number, cycle: Cycle, classes: Classes, profile: Profile): CycleResult {
  const { clusters, selected, size } = standingIn(classes);
  const present = profile.countsClusters ? clusters.size : size;
  if (present < count) return pickMore(count - present, cycle, classes, profile);
  if (present === count && classes.obsolete.length === 0) {
    return { create: [], keep: [], drop: byCluster(classes.dangling), selected, last: null, failure: null };
  }
  const { stay, trimmed } = trim(present - count, cycle, classes, profile);
  const drop = byCluster([...classes.dangling, ...classes.obsolete, ...trimmed]);
  return { create: [], keep: [], drop, selected: decisionsOf(stay), last: null, failure: null };
}

/** What stands under the policy in force. */
const standingIn = remembered(({ bound, scheduled }: Classes) => {
  const standing = [...bound, ...scheduled];
  return { selected: decisionsOf(standing), clusters: clustersIn(standing), size: standing.length };
});

const decisionsOf = (cycleBindings: readonly CycleBinding[]): readonly ClusterDecision[] =>
  cycleBindings.map((it) => it.decision);

function pickMore(wanted: number, cycle: Cycle, classes: Classes, profile: Profile): CycleResult {
  const judged = [...classes.obsolete, ...classes.unscheduled];
  const countOf = (cluster: ClusterName): number =>
    profile.countsClusters ? 1 : Math.max(1, judged.filter((it) => it.cluster === cluster).length);
  const { batches, last, failure } = pickBatches(wanted, situationOf(cycle, classes), profile, countOf);
  const isNothingDone = failure !== null && batches.length === 0;
  const changes = isNothingDone
    ? { create: [], keep: [], drop: byCluster(classes.dangling) }
    : crossReference(batches.flat().map(decided), classes);
  // In KubeFleet every batch is a cycle: what earlier ones picked stands by now.
  const isLast = profile.staysStickyBetweenBatches
    ? () => true
    : ({ cluster }: ClusterDecision): boolean => last.input.holders.has(cluster) === false;
  return { ...changes, selected: selectedAfter(changes, classes, isLast), last, failure };
}

const decided = ({ candidate, score }: Ranked): ClusterDecision => fitDecision(candidate, score);

/** New ones, those kept, those that are Scheduled, and those that are Bound. */
function selectedAfter(
  { create, keep }: BindingChanges,
  { scheduled, bound }: Pick<Classes, "scheduled" | "bound">,
  isLast: (decision: ClusterDecision) => boolean,
): readonly ClusterDecision[] {
  const earlier = keep.filter((it) => !isLast(it.decision));
  const standing = (state: "Scheduled" | "Bound") =>
    earlier.filter((it) => it.state === state).map((it) => it.decision);
  return [
    ...create.filter(isLast),
    ...keep.filter((it) => isLast(it.decision)).map((it) => it.decision),
    ...merged(decisionsOf(scheduled), [...create.filter((it) => !isLast(it)), ...standing("Scheduled")]),
    ...merged(decisionsOf(bound), standing("Bound")),
  ];
}

const merged = (standing: readonly ClusterDecision[], more: readonly ClusterDecision[]): readonly ClusterDecision[] =>
  more.length === 0 ? standing : [...standing, ...more].sort((a, b) => compareText(a.cluster, b.cluster));

/**
 * Picks every cluster that passes the filters, by name; nothing is scored (`schedule/README.md#pickall`).
 *
 * What was picked under the present policy stays, even if it would not be picked now.
 */
export function pickAll(cycle: Cycle, classes: Classes, { plugins }: Profile): CycleResult {
  const prepared = preparePlugins(situationOf(cycle, classes), plugins);
  const { fits } = filterCandidates(cycle.candidates, prepared, 0);
  const changes = crossReference(
    fits.map((candidate) => fitDecision(candidate, unscored)),
    classes,
  );
  return { ...changes, selected: selectedAfter(changes, classes, () => true), last: prepared, failure: null };
}

const unscored = { affinity: 0, topology: 0 };

const situationOf = (cycle: Cycle, classes: Classes): Situation => ({
  ...cycle,
  holders: clustersIn([...classes.scheduled, ...classes.bound]),
  obsolete: clustersIn(classes.obsolete),
  leaving: clustersIn(classes.unscheduled),
});

/** The result of PickFixed: it explains every name, in the order of the list. */
export interface FixedPick {
  readonly changes: BindingChanges;
  readonly decisions: readonly ClusterDecision[];
  readonly warnings: readonly string[];
  readonly wakeAt: Instant | null;
}

/**
 * Picks the named clusters that exist and are eligible; affinity and taints play no part
 * (`schedule/README.md#pickfixed`), nor do namespaces, but a cluster without that of the placement is warned of (`#a-56`).
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
  const holders = clustersIn(stay);
  const resident = clustersIn(
    profile.keepsIneligibleTargets ? [...stay, ...classes.obsolete, ...classes.unscheduled] : [],
  );
  const members = candidatesByName(cycle.candidates);
  // In both profiles: a grant that became tighter takes nothing away (`intent/README.md#clusters-of-tenants`).
  const carried = clustersIn([...stay, ...classes.obsolete]);
  const judge = (name: ClusterName): Target =>
    judgeTarget(name, members.get(name) ?? null, {
      isResident: resident.has(name),
      isCarried: carried.has(name),
      ...cycle,
    });
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
  changes: { create: [], keep: [], drop: byCluster(dangling) },
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

interface Residence {
  readonly isResident: boolean;
  /** Of the present policy, or of the one before. */
  readonly isCarried: boolean;
}

function judgeTarget(
  name: ClusterName,
  candidate: Candidate | null,
  { isResident, isCarried, namespace, grants, now }: Residence & Pick<Cycle, "namespace" | "grants" | "now">,
): Target {
  if (candidate === null) {
    const because = "no member cluster has this name";
    const decision = refusedDecision({ cluster: name, plugin: "PickFixed", because });
    return { kind: "unknown", decision, warning: null, turnsAt: null };
  }
  const beyond = isCarried ? null : notGranted(candidate.cluster, grants);
  if (beyond !== null) {
    const decision = refusedDecision({ cluster: name, plugin: tenantClusters.name, because: beyond });
    return { kind: "ineligible", decision, warning: null, turnsAt: null };
  }
  const because = ineligibility(candidate, now);
  const turnsAt = turnsIneligibleAt(candidate, now);
  if (because === null) return { kind: "valid", ...namedThere(candidate, namespace), turnsAt };
  if (isResident) {
    const warning = `${name} stays selected although it is not eligible: ${because}`;
    return { kind: "valid", decision: namedDecision(name, `it is not eligible: ${because}`), warning, turnsAt };
  }
  const decision = refusedDecision({ cluster: name, plugin: clusterEligibility.name, because });
  return { kind: "ineligible", decision, warning: null, turnsAt };
}

function namedThere(candidate: Candidate, namespace: string | null): Pick<Target, "decision" | "warning"> {
  const { name } = candidate.cluster;
  const missing = namespace === null ? null : namespaceMissing(candidate, namespace);
  const unsure = namespace === null ? null : namespaceUnsure(candidate, namespace);
  return {
    decision: namedDecision(name, missing),
    warning: missing === null ? unsure : `${name} is named, and ${missing}`,
  };
}
