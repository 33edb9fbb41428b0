import type { Binding } from "../model/binding.ts";
import type { MemberCluster } from "../model/fleet.ts";
import type { ClusterDecision, Trouble } from "../model/ledger.ts";
import { remembered } from "../model/memo.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { type ClusterName, compareText, type Instant } from "../model/value.ts";

/** What one scheduling cycle may look at. What is not in here cannot influence where a placement goes. */
export interface Cycle {
  /** The policy in force, with the present `numberOfClusters`. */
  readonly policy: PlacementPolicy;
  /** Every member of the fleet, eligible or not. Give the same array to all placements: what it says is looked up once. */
  readonly candidates: readonly Candidate[];
  /** Where the placement already is. At most one per cluster. */
  readonly standings: readonly CycleBinding[];
  readonly now: Instant;
}

/**
 * A member as the scheduler sees it. One never asked has no trouble and counts as eligible (`schedule/README.md#a-48`).
 */
export interface Candidate {
  readonly cluster: MemberCluster;
  readonly trouble: Trouble | null;
}

/** A binding as the scheduler sees it. */
export interface CycleBinding {
  readonly cluster: ClusterName;
  readonly state: Binding["state"];
  readonly previousState: Binding["previousState"];
  /**
   * Removal was admitted, so the cluster is free to be picked anew. Together with the state Scheduled it means that
   * this has happened: picked again, and waiting until what was there before is gone (`rollout/README.md#b-10`).
   */
  readonly removing: boolean;
  /** Made under an earlier policy snapshot: judged again from scratch. */
  readonly obsolete: boolean;
  readonly decision: ClusterDecision;
}

/** The cycle with everything in order of names, so that the order in which it was gathered cannot matter. */
export const sortedCycle = (cycle: Cycle): Cycle => ({
  ...cycle,
  candidates: candidatesInOrder(cycle.candidates),
  standings: sortedBy(cycle.standings, (it) => it.cluster),
});

const candidatesInOrder = remembered((candidates: readonly Candidate[]) =>
  sortedBy(candidates, (it) => it.cluster.name),
);

function sortedBy<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  const isSorted = items.every((it, at) => at === 0 || nameOf(items[at - 1] as T) < nameOf(it));
  return isSorted ? items : [...items].sort((a, b) => compareText(nameOf(a), nameOf(b)));
}

/** Candidates by name. */
export const candidatesByName = remembered(
  (candidates: readonly Candidate[]): ReadonlyMap<ClusterName, Candidate> =>
    new Map(candidates.map((it) => [it.cluster.name, it])),
);

/** Every standing in exactly one class; those that are being removed are in none. */
export interface Classes {
  readonly unscheduled: readonly CycleBinding[];
  /** The cluster is no member any more. */
  readonly dangling: readonly CycleBinding[];
  readonly obsolete: readonly CycleBinding[];
  readonly scheduled: readonly CycleBinding[];
  readonly bound: readonly CycleBinding[];
}

/**
 * Sorts the standings into classes; the first rule that matches wins (`schedule/README.md#one-cycle`).
 *
 * Health plays no part: a binding on a silent member is bound like any other.
 */
export function classify({ candidates, standings }: Cycle): Classes {
  const members = candidatesByName(candidates);
  const classes: Record<keyof Classes, CycleBinding[]> = {
    unscheduled: [],
    dangling: [],
    obsolete: [],
    scheduled: [],
    bound: [],
  };
  for (const standing of standings) {
    const kind = classOf(standing, members);
    if (kind !== null) classes[kind].push(standing);
  }
  return classes;
}

function classOf(standing: CycleBinding, members: ReadonlyMap<ClusterName, unknown>): keyof Classes | null {
  if (standing.removing && standing.state !== "Scheduled") return null;
  if (standing.state === "Unscheduled") return "unscheduled";
  if (!members.has(standing.cluster)) return "dangling";
  if (standing.obsolete) return "obsolete";
  return standing.state === "Scheduled" ? "scheduled" : "bound";
}

/**
 * The state in which a standing is wanted again. An unknown previous state counts as Scheduled
 * (`schedule/README.md#a-45`).
 */
export const wantedState = ({ state, previousState }: CycleBinding): "Scheduled" | "Bound" =>
  state === "Unscheduled" ? (previousState ?? "Scheduled") : state;

/** The clusters of these standings, to look names up in. */
export const clusterSetOf = (standings: readonly CycleBinding[]): ReadonlySet<ClusterName> =>
  new Set(standings.map((it) => it.cluster));

/** What one cycle changes about the bindings of a placement. */
export interface BindingChanges {
  /**
   * Clusters newly picked, best first: bindings in the state Scheduled. Where an earlier binding is still being
   * removed, the new one has to wait for that (`rollout/README.md#b-10`).
   */
  readonly create: readonly ClusterDecision[];
  /** Bindings judged again and wanted: under the latest snapshot, with a fresh decision. */
  readonly keep: readonly Kept[];
  /** Bindings to mark Unscheduled: not picked again, trimmed, or on a cluster that left. Ordered by name. */
  readonly drop: readonly ClusterName[];
}

/** What one cycle changes, and what it leaves alone. */
export interface CycleResult extends BindingChanges {
  /** Selected and untouched: Scheduled ones, then Bound ones. */
  readonly stay: readonly CycleBinding[];
}

/** An obsolete binding that is kept, or an Unscheduled one that is wanted again. */
interface Kept {
  readonly decision: ClusterDecision;
  /** What its state is to be: the one it has, or the one it had before it was marked Unscheduled. */
  readonly state: "Scheduled" | "Bound";
}

/**
 * Tells what picking these clusters means for the bindings there are (`schedule/README.md#bindings`).
 *
 * Obsolete bindings are kept if picked and dropped otherwise; Unscheduled ones are revived if picked and left alone
 * otherwise; everything else that was picked is new. Dangling bindings always go.
 */
export function crossReference(picked: readonly ClusterDecision[], classes: Classes): BindingChanges {
  const decisions = new Map(picked.map((it) => [it.cluster, it]));
  const judged = [...classes.obsolete, ...classes.unscheduled];
  const known = new Set(judged.map((it) => it.cluster));
  return {
    create: picked.filter((it) => !known.has(it.cluster)),
    keep: judged.flatMap((standing) => {
      const decision = decisions.get(standing.cluster);
      return decision === undefined ? [] : [{ decision, state: wantedState(standing) }];
    }),
    drop: sortedNamesOf([...classes.dangling, ...classes.obsolete.filter((it) => !decisions.has(it.cluster))]),
  };
}

/** The clusters of these standings, ordered by name. */
export const sortedNamesOf = (standings: readonly CycleBinding[]): readonly ClusterName[] =>
  standings.map((it) => it.cluster).sort();
