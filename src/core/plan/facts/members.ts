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
export type Roster = ReadonlyMap<ClusterName, Seat>;

interface Seat {
  /** Null when the member's document cannot be used at present. */
  readonly cluster: MemberCluster | null;
  readonly contactFailure: ContactFailure | null;
  /** Null when the member was not asked. */
  readonly said: object | null;
}

/** A member that answered. */
export type Reached = Extract<Observation, { kind: "reached" }>;

/** Members that answered and are who they are taken for: only they are believed, and only to them anything is written. */
export function voicesOf(
  { observed }: World,
  { clusters }: Pick<Ledger, "clusters">,
): ReadonlyMap<ClusterName, Reached> {
  const voices = new Map<ClusterName, Reached>();
  for (const [name, { contactFailure }] of clusters) {
    const seen = observed.get(name);
    if (seen?.kind === "reached" && contactFailure === null) voices.set(name, seen);
  }
  return voices;
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
export function rosterOf(world: World, { clusters }: Pick<Ledger, "clusters">): Roster {
  const next = seatsOf(world, clusters);
  const last = lastOf(clusters);
  if (last.roster === null || changesSince(last.roster, next).all.size > 0) last.roster = next;
  return last.roster;
}

const lastOf = remembered((_: Ledger["clusters"]): { roster: Roster | null } => ({ roster: null }));

function seatsOf({ intent, observed }: World, clusters: Ledger["clusters"]): Roster {
  const seats = new Map<ClusterName, Seat>();
  for (const [name, { contactFailure }] of clusters) {
    const seen = observed.get(name);
    seats.set(name, {
      cluster: intent.clusters.get(name) ?? null,
      contactFailure,
      said: seen === undefined ? null : tokenOf(seen),
    });
  }
  return seats;
}

/** What changed since an earlier roster. Every placement of a plan asks, and nearly all of them about the same one. */
export const changesSince: (before: Roster, after: Roster) => Changes = rememberedPair((before, after) => {
  const moved = new Set<ClusterName>();
  const all = new Set<ClusterName>();
  for (const [name, is] of after) {
    const was = before.get(name);
    const stays = was !== undefined && was.cluster === is.cluster && was.contactFailure === is.contactFailure;
    if (!stays || (was.said === null) !== (is.said === null)) moved.add(name);
    else if (was.said !== is.said) all.add(name);
  }
  for (const name of before.keys()) if (!after.has(name)) moved.add(name);
  for (const name of moved) all.add(name);
  return { moved, all };
});
