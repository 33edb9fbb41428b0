import { clusterGrantsOf, type Tenant } from "../../model/fleet.ts";
import type { Intent } from "../../model/intent.ts";
import { digestOf } from "../../model/json.ts";
import type { Ledger } from "../../model/ledger.ts";
import type { Manifest, ObjectId, ObjectKey } from "../../model/manifest.ts";
import type { OverrideSnapshot } from "../../model/override.ts";
import type { World } from "../../model/plan.ts";
import type { Denial, TrustRecord } from "../../model/trust.ts";
import type { ClusterName, Digest, PlacementKey, Sequence } from "../../model/value.ts";
import type { Rendering } from "../../render/render.ts";
import type { Candidate } from "../../schedule/framework/cycle.ts";
import type { ConditionsOf } from "../../status/conditions-at.ts";
import type { FleetView, Reached } from "../facts/members.ts";

/** What all placements of one plan share. */
export interface PlanContext {
  readonly world: World;
  /** The ledger with everything that was observed of the members. */
  readonly ledger: Ledger;
  readonly fleetView: FleetView;
  readonly trustedObservations: ReadonlyMap<ClusterName, Reached>;
  /** Every member as the scheduler sees it, in order of names. */
  readonly candidates: readonly Candidate[];
  /** Of the commit in which new decisions will stand. */
  readonly sequence: Sequence;
  readonly content: Content;
  /** All override snapshots, those of earlier targets included. */
  readonly overrides: readonly OverrideSnapshot[];
  /** The newest snapshot of every override. */
  readonly latestOverrides: readonly OverrideSnapshot[];
  /** The intent is another one than that of the last decision: what it takes away has not been counted yet. */
  readonly isNewCommit: boolean;
  readonly consent: Consent;
  /** Whether an object waits for a confirmation, by the guard's ledger as it was before this pass. */
  readonly isHeld: (cluster: ClusterName, placement: PlacementKey, id: ObjectId) => boolean;
  /** Whether anything of a placement stands in a set that waits for a confirmation, or had to. */
  readonly isNamed: (placement: PlacementKey) => boolean;
  readonly conditionsOf: ConditionsOf;
  readonly wants: Wants;
}

/** Manifests by digest: this commit's and those of earlier ones that are still in force. */
export type Content = (digest: Digest) => Manifest | null;

/** What placements want on clusters, by their targets and their next versions: the same throughout a pass. */
export interface Wants {
  /** Every placement that wants the object there, in the order of their names. */
  readonly wantersOf: (cluster: ClusterName, key: ObjectKey) => readonly PlacementKey[];
  /**
   * Whether another placement goes on wanting the object there once all that a ledger's placements are to get has come: what
   * it only still carries, and is to lose as well, it does not.
   */
  readonly isWantedForGood: (ledger: Ledger, owner: Owner, key: ObjectKey) => boolean;
  /** Whether one placement goes on wanting it there, by the same rule. */
  readonly goesOnWanting: (ledger: Ledger, owner: Owner, key: ObjectKey) => boolean;
  /** Whether one placement does: cheaper to tell than all of them. */
  readonly isWantedBy: (placement: PlacementKey, cluster: ClusterName, key: ObjectKey) => boolean;
  /** Objects that more than one placement selects or carries, anywhere, in the order of their keys. */
  readonly sharedObjects: () => ReadonlyMap<ObjectKey, readonly PlacementKey[]>;
  /**
   * Whether any placement wants anything there that would go along with a Namespace or a definition of an owner. One that is
   * taken away as a whole, by the ledger as it is decided, comes back only once all of it is gone.
   */
  readonly isAnythingWantedIn: (owner: Owner, holder: ObjectId, isGoing: boolean) => boolean;
}

/** Who has an object, and where. */
export interface Owner {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
}

/** Whether a rendering failed, and why. */
export type FailedRendering = Extract<Rendering, { kind: "failed" }>;

/** By whose word anything opens in this pass. */
export interface Consent {
  /** Null where nobody ever set up who may approve. */
  readonly record: TrustRecord | null;
  /** Why every gate is closed; null when they are not. */
  readonly closed: Denial | null;
}

/**
 * Whether nothing of what a placement's moves take away was counted under this commit: nothing was decided about it, since the
 * commit is new or since it was in quarantine until now (`plan/README.md#d-3`, `#d-10`).
 */
export const isUncounted = (placement: PlacementKey, { isNewCommit, world }: PlanContext): boolean =>
  isNewCommit || world.ledger.quarantines.has(placement);

/** Whether a placement was in quarantine until now, and is planned again: nobody wrote down who wanted meanwhile what leaves it. */
export const isOutOfQuarantine = (placement: PlacementKey, { ledger, world }: PlanContext): boolean =>
  world.ledger.quarantines.has(placement) && !ledger.quarantines.has(placement);

/** The grants that limit on which clusters a placement may be; none without a file, and for a placement of the platform's. */
export function grantsAt(placement: PlacementKey, { placements, tenants }: Intent): readonly Tenant[] {
  const source = placements.get(placement)?.source;
  return source === undefined ? none : clusterGrantsOf(source, tenants);
}

const none: readonly never[] = [];

/** A uid for something the ledger knows for the first time: the same world gives the same one. */
export const uidOf = (ledger: Ledger, kind: string, name: string): string => {
  const hex = digestOf([ledger.fleet, kind, name, nextSequence(ledger)]);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
};

/** The sequence of the commit in which whatever is decided now will stand. */
export const nextSequence = ({ sequence }: Ledger): Sequence => (sequence + 1) as Sequence;
