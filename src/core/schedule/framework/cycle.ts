import type { Binding, ClusterDecision } from "../../model/binding.ts";
import type { MemberCluster, Tenant } from "../../model/fleet.ts";
import { remembered, rememberedPair } from "../../model/identity.ts";
import type { ContactFailure } from "../../model/ledger.ts";
import type { PlacementPolicy } from "../../model/placement.ts";
import { type ClusterName, compareText, type Instant } from "../../model/value.ts";
import type { AgentReport } from "./agent.ts";
import { declaredFacts, factsOfMember, type MemberFacts, type RecordedMember } from "./facts.ts";

/** Everything that a scheduling cycle decides by. */
export interface Cycle {
  /** The policy in force, with the present `numberOfClusters`. */
  readonly policy: PlacementPolicy;
  /** Of the placement; null for a ClusterResourcePlacement. */
  readonly namespace: string | null;
  /** Those that limit on which clusters it may be; none for a placement of the platform's. */
  readonly grants: readonly Tenant[];
  /**
   * Every member of the fleet, eligible or not. Pass the same array for all placements: derived data is cached with it.
   */
  readonly candidates: readonly Candidate[];
  /** The bindings that the placement has. At most one per cluster, but for hubs that went wrong (`schedule/README.md#a-25`). */
  readonly cycleBindings: readonly CycleBinding[];
  /** What is on record for the policy in force; empty at first. */
  readonly recorded: readonly ClusterDecision[];
  readonly now: Instant;
}

/** A member as the scheduler sees it. A member that was never asked counts as eligible (`schedule/README.md#a-48`). */
export interface Candidate {
  readonly cluster: MemberCluster;
  readonly contactFailure: ContactFailure | null;
  readonly facts: MemberFacts;
  /** Of a member of a KubeFleet hub; null for one that Flotilla pushes to. */
  readonly agent: AgentReport | null;
}

/** A member that Flotilla pushes to, with what is recorded of it; null where nothing is. */
export const candidateOf = (cluster: MemberCluster, recorded: RecordedMember | null): Candidate => ({
  cluster,
  contactFailure: recorded?.contactFailure ?? null,
  facts: recorded === null ? declaredFacts(cluster) : factsOfMember(cluster, recorded),
  agent: null,
});

/** A binding as the scheduler sees it. */
export interface CycleBinding {
  readonly name: string;
  readonly cluster: ClusterName;
  readonly state: Binding["state"];
  readonly previousState: Binding["previousState"];
  /**
   * Removal was admitted, so the cluster may be picked again. With the state Scheduled it has been, and waits until the
   * earlier objects are gone (`rollout/README.md#b-10`).
   */
  readonly removing: boolean;
  /** Made under an earlier policy snapshot: judged again from scratch. */
  readonly obsolete: boolean;
  readonly decision: ClusterDecision;
}

/** The members that files declare, as the scheduler sees them with their records. */
export const candidatesIn = (
  members: ReadonlyMap<ClusterName, MemberCluster>,
  records: ReadonlyMap<ClusterName, RecordedMember>,
): readonly Candidate[] => [...members.values()].map((it) => candidateOf(it, records.get(it.name) ?? null));

/** A binding as the scheduler sees it, where `latest` is the index of the policy snapshot in force. */
export const cycleBindingOf = (
  { name, cluster, state, previousState, removal, policySnapshot, decision }: Binding,
  latest: number,
): CycleBinding => ({
  name,
  cluster,
  state,
  previousState,
  removing: removal !== null,
  obsolete: policySnapshot !== latest,
  decision,
});

/** The cycle with everything sorted by name, so that the order of its input does not matter. */
export const sortedCycle = (cycle: Cycle): Cycle => ({
  ...cycle,
  candidates: candidatesInOrder(cycle.candidates),
  cycleBindings: bindingsInOrder(cycle.cycleBindings),
});

const bindingsInOrder = remembered((cycleBindings: readonly CycleBinding[]) =>
  sortedBy(cycleBindings, (it) => it.name),
);

const candidatesInOrder = remembered((candidates: readonly Candidate[]) =>
  sortedBy(candidates, (it) => it.cluster.name),
);

function sortedBy<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  const isSorted = items.every((it, at) => at === 0 || nameOf(items[at - 1] as T) < nameOf(it));
  return isSorted ? items : [...items].sort((a, b) => compareText(nameOf(a), nameOf(b)));
}

/** Who is there: all of a fleet that bindings are classified by. */
export interface Membership {
  /** The places of candidates, by name. */
  readonly places: ReadonlyMap<ClusterName, number>;
  /** Those of a KubeFleet hub that leave. */
  readonly leaving: ReadonlySet<ClusterName>;
}

/** The membership of a fleet; the very same for the next fleet if nobody came or went. */
export const membershipOf = remembered((candidates: readonly Candidate[]): Membership => {
  const leaving = candidates.filter((it) => it.agent?.isLeaving === true).map((it) => it.cluster.name);
  const last = lastMembership.membership?.deref();
  if (last !== undefined && leaving.length + last.leaving.size === 0 && last.places.size === candidates.length) {
    if (candidates.every((it, at) => last.places.get(it.cluster.name) === at)) return last;
  }
  const membership = { places: new Map(candidates.map((it, at) => [it.cluster.name, at])), leaving: new Set(leaving) };
  lastMembership.membership = new WeakRef(membership);
  return membership;
});

const lastMembership: { membership: WeakRef<Membership> | null } = { membership: null };

/** The places of these clusters; those that are not there have none. */
export function placesOf(clusters: ReadonlySet<ClusterName>, membership: Membership): readonly number[] {
  const known = placesIn(clusters);
  // Batches add what they picked to one and the same set.
  if (known.membership === membership && known.size === clusters.size) return known.found;
  const found: number[] = [];
  for (const it of clusters) {
    const place = membership.places.get(it);
    if (place !== undefined) found.push(place);
  }
  Object.assign(known, { membership, size: clusters.size, found });
  return found;
}

const placesIn = remembered(
  (_: ReadonlySet<ClusterName>): { membership: Membership | null; size: number; found: readonly number[] } => ({
    membership: null,
    size: 0,
    found: [],
  }),
);

/** Candidates by name. */
export const candidatesByName = remembered(
  (candidates: readonly Candidate[]): ReadonlyMap<ClusterName, Candidate> =>
    new Map(candidates.map((it) => [it.cluster.name, it])),
);

/** Every binding in exactly one class; those that are being removed are in none. */
export interface Classes {
  readonly unscheduled: readonly CycleBinding[];
  /** The cluster is no longer a member. */
  readonly dangling: readonly CycleBinding[];
  readonly obsolete: readonly CycleBinding[];
  readonly scheduled: readonly CycleBinding[];
  readonly bound: readonly CycleBinding[];
}

/**
 * Classifies the bindings; the first rule that matches wins (`schedule/README.md#one-cycle`).
 *
 * Health plays no part: a binding on an unreachable member is bound like any other.
 */
export const classify = ({ candidates, cycleBindings }: Cycle): Classes =>
  classesOf(cycleBindings, membershipOf(candidates));

const classesOf = rememberedPair((cycleBindings: readonly CycleBinding[], membership: Membership): Classes => {
  const classes: Record<keyof Classes, CycleBinding[]> = {
    unscheduled: [],
    dangling: [],
    obsolete: [],
    scheduled: [],
    bound: [],
  };
  for (const standing of cycleBindings) {
    const kind = classOf(standing, membership);
    if (kind !== null) classes[kind].push(standing);
  }
  return classes;
});

function classOf(standing: CycleBinding, { places, leaving }: Membership): keyof Classes | null {
  if (standing.removing && standing.state !== "Scheduled") return null;
  if (standing.state === "Unscheduled") return "unscheduled";
  if (!places.has(standing.cluster) || leaving.has(standing.cluster)) return "dangling";
  if (standing.obsolete) return "obsolete";
  return standing.state === "Scheduled" ? "scheduled" : "bound";
}

/**
 * The state of a binding that is wanted again. An unknown previous state counts as Scheduled
 * (`schedule/README.md#a-45`).
 */
export const wantedState = ({ state, previousState }: CycleBinding): "Scheduled" | "Bound" =>
  state === "Unscheduled" ? (previousState ?? "Scheduled") : state;

/** The clusters of these bindings or decisions, as a set: the same one for the same list. */
export const clustersIn = remembered(
  (them: readonly { readonly cluster: ClusterName }[]): ReadonlySet<ClusterName> =>
    them.length === 0 ? nobody : new Set(them.map((it) => it.cluster)),
);

const nobody: ReadonlySet<ClusterName> = new Set();

/** What one cycle changes about the bindings of a placement. */
export interface BindingChanges {
  /**
   * Clusters newly picked, best first: they get bindings in the state Scheduled. Where an earlier binding is still
   * being removed, the new one waits for that (`rollout/README.md#b-10`).
   */
  readonly create: readonly ClusterDecision[];
  /** Bindings that were judged again and stay: under the latest snapshot, with a new decision. */
  readonly keep: readonly Kept[];
  /** Bindings to mark Unscheduled: not picked again, trimmed, or on a cluster that left. Ordered by cluster. */
  readonly drop: readonly CycleBinding[];
}

/** An obsolete binding that is kept, or an Unscheduled one that is wanted again. */
interface Kept {
  readonly binding: CycleBinding;
  readonly decision: ClusterDecision;
  /** Its present state, or the one before it was marked Unscheduled. */
  readonly state: "Scheduled" | "Bound";
}

/** What picking these clusters means for the existing bindings (`schedule/README.md#bindings`). */
export function crossReference(picked: readonly ClusterDecision[], classes: Classes): BindingChanges {
  const decisions = new Map(picked.map((it) => [it.cluster, it]));
  const judged = [...classes.obsolete, ...classes.unscheduled];
  const known = new Set(judged.map((it) => it.cluster));
  return {
    create: picked.filter((it) => !known.has(it.cluster)),
    keep: judged.flatMap((standing) => {
      const decision = decisions.get(standing.cluster);
      return decision === undefined ? [] : [{ binding: standing, decision, state: wantedState(standing) }];
    }),
    drop: byCluster([...classes.dangling, ...classes.obsolete.filter((it) => !decisions.has(it.cluster))]),
  };
}

/** Bindings in the order of their clusters. */
export const byCluster = (cycleBindings: readonly CycleBinding[]): readonly CycleBinding[] =>
  sortedBy(cycleBindings, (it) => it.cluster);
