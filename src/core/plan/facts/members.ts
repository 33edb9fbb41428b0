import type { MemberCluster } from "../../model/fleet.ts";
import type { ContactFailure, Ledger } from "../../model/ledger.ts";
import { remembered, rememberedPair } from "../../model/memo.ts";
import type { Observation } from "../../model/observation.ts";
import type { World } from "../../model/plan.ts";
import type { ClusterName } from "../../model/value.ts";

/**
 * Every member as one plan sees it: all that a placement's decision can depend on, to be compared by identity.
 *
 * It holds tokens of observations and not the observations: whoever remembers a roster keeps no world alive.
 */
export type FleetView = ReadonlyMap<ClusterName, MemberView>;

interface MemberView {
  /** Null when the member's document cannot be used at present. */
  readonly cluster: MemberCluster | null;
  readonly contactFailure: ContactFailure | null;
  /** Null when the member was not asked. */
  readonly observation: object | null;
}

/** A member that answered. */
export type Reached = Extract<Observation, { kind: "reached" }>;

/** Members that answered and are who they are taken for: only they are believed, and only to them anything is written. */
export function trustedObservationsOf(
  { observed }: World,
  { clusters }: Pick<Ledger, "clusters">,
): ReadonlyMap<ClusterName, Reached> {
  const trustedObservations = new Map<ClusterName, Reached>();
  for (const [name, { contactFailure }] of clusters) {
    const seen = observed.get(name);
    if (seen?.kind === "reached" && contactFailure === null) trustedObservations.set(name, seen);
  }
  return trustedObservations;
}

/** What became of members between two rosters. */
export interface Changes {
  /** Joined, left, were relabelled, came into trouble or out of it, began or ceased to be asked. */
  readonly moved: ReadonlySet<ClusterName>;
  /** These, and those that say something else. */
  readonly all: ReadonlySet<ClusterName>;
}

const tokenOf = remembered((_: Observation): object => ({}));

/** The roster of a world, its members' troubles as the ledger has them by now. The last one itself if it says the same. */
export function fleetViewOf(world: World, { clusters }: Pick<Ledger, "clusters">): FleetView {
  const next = viewsOf(world, clusters);
  const last = lastOf(clusters);
  if (last.fleetView === null || changesSince(last.fleetView, next).all.size > 0) last.fleetView = next;
  return last.fleetView;
}

const lastOf = remembered((_: Ledger["clusters"]): { fleetView: FleetView | null } => ({ fleetView: null }));

function viewsOf({ intent, observed }: World, clusters: Ledger["clusters"]): FleetView {
  const views = new Map<ClusterName, MemberView>();
  for (const [name, { contactFailure }] of clusters) {
    const seen = observed.get(name);
    views.set(name, {
      cluster: intent.clusters.get(name) ?? null,
      contactFailure,
      observation: seen === undefined ? null : tokenOf(seen),
    });
  }
  return views;
}

/** What changed since an earlier roster. Every placement of a plan asks, and nearly all of them about the same one. */
export const changesSince: (before: FleetView, after: FleetView) => Changes = rememberedPair((before, after) => {
  const moved = new Set<ClusterName>();
  const all = new Set<ClusterName>();
  for (const [name, is] of after) {
    const was = before.get(name);
    const stays = was !== undefined && was.cluster === is.cluster && was.contactFailure === is.contactFailure;
    if (!stays || (was.observation === null) !== (is.observation === null)) moved.add(name);
    else if (was.observation !== is.observation) all.add(name);
  }
  for (const name of before.keys()) if (!after.has(name)) moved.add(name);
  for (const name of moved) all.add(name);
  return { moved, all };
});
