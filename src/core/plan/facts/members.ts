import type { MemberCluster } from "../../model/fleet.ts";
import { remembered, rememberedPair } from "../../model/identity.ts";
import type { ClusterRecord, ContactFailure, Ledger } from "../../model/ledger.ts";
import type { Observation } from "../../model/observation.ts";
import type { World } from "../../model/plan.ts";
import type { ClusterName } from "../../model/value.ts";

/**
 * Every member as one plan sees it: all that a placement's decision can depend on, to be compared by identity.
 *
 * It holds tokens of observations, not the observations: a cache that keeps a view does not keep a world in memory.
 */
export type FleetView = ReadonlyMap<ClusterName, MemberView>;

interface MemberView {
  /** Null when the member's document cannot be used at present. */
  readonly cluster: MemberCluster | null;
  readonly contactFailure: ContactFailure | null;
  readonly properties: ClusterRecord["properties"];
  readonly collection: ClusterRecord["collection"];
  readonly namespaces: ClusterRecord["namespaces"];
  /** Stands for the observation; null when the member was not asked. */
  readonly observation: object | null;
}

/** A member that answered. */
export type Reached = Extract<Observation, { kind: "reached" }>;

/** Observations of members that answered and are the clusters that joined: nothing else is believed, and only they are written to. */
export function trustedObservationsOf(
  { observed }: World,
  { clusters }: Pick<Ledger, "clusters">,
): ReadonlyMap<ClusterName, Reached> {
  const trusted = new Map<ClusterName, Reached>();
  for (const [name, { contactFailure }] of clusters) {
    const seen = observed.get(name);
    if (seen?.kind === "reached" && contactFailure === null) trusted.set(name, seen);
  }
  return trusted;
}

/** Which members changed between two views. */
interface Changes {
  /** Joined, left, were relabelled, have other facts, came into trouble or out of it, began or ceased to be asked. */
  readonly moved: ReadonlySet<ClusterName>;
  /** These, and those with another observation. */
  readonly all: ReadonlySet<ClusterName>;
}

const tokenOf = remembered((_: Observation): object => ({}));

/** The view of a world, with contact failures as the ledger has them by now. The last view itself if nothing differs. */
export function fleetViewOf(world: World, { clusters }: Pick<Ledger, "clusters">): FleetView {
  const next = viewsOf(world, clusters);
  const last = lastOf(clusters);
  if (last.fleetView === null || changesSince(last.fleetView, next).all.size > 0) last.fleetView = next;
  return last.fleetView;
}

const lastOf = remembered((_: Ledger["clusters"]): { fleetView: FleetView | null } => ({ fleetView: null }));

function viewsOf({ intent, observed }: World, clusters: Ledger["clusters"]): FleetView {
  const views = new Map<ClusterName, MemberView>();
  for (const [name, { contactFailure, properties, collection, namespaces }] of clusters) {
    const seen = observed.get(name);
    views.set(name, {
      cluster: intent.clusters.get(name) ?? null,
      contactFailure,
      properties,
      collection,
      namespaces,
      observation: seen === undefined ? null : tokenOf(seen),
    });
  }
  return views;
}

/** The same to whoever decides where placements go. */
const isSeenAlike = (was: MemberView, is: MemberView): boolean =>
  was.cluster === is.cluster &&
  was.contactFailure === is.contactFailure &&
  was.properties === is.properties &&
  was.collection.labels === is.collection.labels &&
  was.namespaces === is.namespaces;

/** What changed since an earlier view. Every placement of a plan asks, nearly always about the same one. */
export const changesSince: (before: FleetView, after: FleetView) => Changes = rememberedPair((before, after) => {
  const moved = new Set<ClusterName>();
  const all = new Set<ClusterName>();
  for (const [name, is] of after) {
    const was = before.get(name);
    const stays = was !== undefined && isSeenAlike(was, is);
    if (!stays || (was.observation === null) !== (is.observation === null)) moved.add(name);
    else if (was.observation !== is.observation) all.add(name);
  }
  for (const name of before.keys()) if (!after.has(name)) moved.add(name);
  for (const name of moved) all.add(name);
  return { moved, all };
});
