import type { Condition } from "./condition.ts";
import type { ConfirmationRecord, OthersAlong } from "./deletion.ts";
import type { EvictionRecord } from "./eviction.ts";
import type { DeletionBounds } from "./fleet.ts";
import type { Hold } from "./intent.ts";
import type { ObjectId, VersionedId } from "./manifest.ts";
import type { ContactCode } from "./observation.ts";
import type { OverrideSnapshot } from "./override.ts";
import type { ApplyStrategy, PlacementPolicy, PlacementSpec } from "./placement.ts";
import type { RunRecord } from "./run-record.ts";
import type { Scope } from "./scope.ts";
import type { AnswerRecord, Request, TrustRecord } from "./trust.ts";
import type {
  BlobId,
  ClusterName,
  Commit,
  Digest,
  Epoch,
  Instant,
  Labels,
  PlacementKey,
  RunKey,
  Sequence,
} from "./value.ts";

/**
 * Everything we have decided so far, as committed on the state branch (`src/README.md#the-state-branch`).
 *
 * Invariants: it records transitions, never heartbeats; if two passes see the same world, the second one writes
 * nothing. What did not change keeps its identity (`===`) from one ledger to the next, at every level: that is how cost
 * follows change. Maps iterate in the order of their keys.
 */
export interface Ledger {
  /** Names this fleet for good; every member's inventory repeats it. Empty before the first commit. */
  readonly fleet: string;
  readonly epoch: Epoch;
  /** Of the commit that this ledger is, or will be. */
  readonly sequence: Sequence;
  /** The source commit that was last read; null before the first. */
  readonly sourceCommit: Commit | null;
  readonly holds: readonly Hold[];
  readonly deletions: DeletionLedger;
  readonly clusters: ReadonlyMap<ClusterName, ClusterRecord>;
  /** By the UID of its `kube-system`: clusters that left the fleet, or a name, under which they were protected. */
  readonly formerNames: ReadonlyMap<string, FormerNames>;
  readonly placements: ReadonlyMap<PlacementKey, PlacementRecord>;
  readonly runs: ReadonlyMap<RunKey, RunRecord>;
  /** By name. */
  readonly evictions: ReadonlyMap<string, EvictionRecord>;
  /** A file under `trust/` was accepted once: from then on, no approval counts without a signature. */
  readonly hasTrust: boolean;
  /** Null until the first trust file is accepted. */
  readonly trust: TrustRecord | null;
  /** By path: every approval file that was judged. */
  readonly answers: ReadonlyMap<string, AnswerRecord>;
  /** The last ten snapshots of every override there is and those that a target names, by namespace, name and index. */
  readonly overrides: readonly OverrideSnapshot[];
}

/** The ledger of a fleet that has decided nothing yet. */
export const emptyLedger: Ledger = {
  fleet: "",
  epoch: 0 as Epoch,
  sequence: 0 as Sequence,
  sourceCommit: null,
  holds: [],
  deletions: { bounds: null, cause: null, permitted: new Map(), held: [], confirmations: new Map() },
  clusters: new Map(),
  formerNames: new Map(),
  placements: new Map(),
  runs: new Map(),
  evictions: new Map(),
  hasTrust: false,
  trust: null,
  answers: new Map(),
  overrides: [],
};

/** A member as we know it: what it asks for, and which cluster it turned out to be. */
export interface ClusterRecord {
  readonly name: ClusterName;
  readonly uid: string;
  /** Counts changes of the defaulted spec and labels. */
  readonly generation: number;
  /** Digest of what `generation` counts. */
  readonly specDigest: Digest;
  /** UID of the member's kube-system namespace, recorded when it was first reached; null before. */
  readonly kubeSystemUid: string | null;
  readonly kubernetesVersion: string | null;
  /**
   * Since when contact fails; null while the member answers. Eligibility counts from `since`
   * (`schedule/README.md#a-48`).
   */
  readonly trouble: Trouble | null;
  readonly conditions: readonly Condition[];
}

/** Names that protect a cluster although it is no member under them any more (`trust/README.md#t-33`). */
export interface FormerNames {
  /** UID of its kube-system namespace. */
  readonly uid: string;
  /** In their order; at least one. */
  readonly names: readonly ClusterName[];
  /** The sequence in which it left the last of them. */
  readonly since: Sequence;
}

/** The most clusters of which former names are kept; those that left first go first. */
export const mostFormerNames = 5000;

/** Why nothing can be done with a member at present. */
export interface Trouble {
  /** `IdentityChanged`: the address answers for another cluster than the one that joined. Nothing is written there. */
  readonly code: ContactCode | "IdentityChanged";
  readonly message: string;
  readonly since: Instant;
}

/** Everything decided about one placement. */
export interface PlacementRecord {
  readonly key: PlacementKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  readonly uid: string;
  /** Counts changes of the defaulted spec. */
  readonly generation: number;
  readonly specDigest: Digest;
  /** The spec that was last accepted: what decides once the file is gone. */
  readonly spec: PlacementSpec;
  /** Set when the file was removed; the record goes when every member has confirmed. */
  readonly deleting: { readonly since: Instant; readonly cause: Commit } | null;
  /** Ascending by index; the last one is the latest. At most `revisionHistoryLimit`, and those a binding names. */
  readonly policySnapshots: readonly PolicySnapshot[];
  readonly resourceSnapshots: readonly ResourceSnapshot[];
  /** Ordered by cluster name. At most one per cluster. */
  readonly bindings: ReadonlyMap<ClusterName, Binding>;
  /** What waits, or had to wait, for an approval because it changes what is protected; null when nothing does. */
  readonly change: ChangeRequest | null;
  /**
   * Why nothing could be selected, or null: KubeFleet's InvalidResourceSelectors
   * (`status/README.md#the-conditions-of-a-placement`).
   */
  readonly selectionError: string | null;
  /**
   * Of an External placement: the hash of what is selected now, where no cluster carries it and no unfinished run brings it,
   * so that only a run that is created or started will. Null otherwise, and for RollingUpdate always.
   */
  readonly unrolled: Digest | null;
  /** Placement-level conditions; per-cluster rows are derived from the bindings. */
  readonly conditions: readonly Condition[];
}

/**
 * Changes of protected clusters and namespaces that no gate of a run covers: a rolling update, a removal, an eviction,
 * a deletion (`trust/README.md#d-17`). Its request stands in `approvals/`, see `changeRequestName`. It stays until all
 * of it is done; what is asked for beyond it makes another request.
 */
export interface ChangeRequest {
  /** By cluster: what it would carry, over the manifests and how they are applied; null where the placement leaves it. */
  readonly clusters: ReadonlyMap<ClusterName, Digest | null>;
  /**
   * By cluster: what becomes of each object that it carries and is to lose, by key, as it was when this was asked. What left
   * before is not among them. Clusters that lose nothing have no entry.
   */
  readonly leaves: ReadonlyMap<ClusterName, readonly Leave[]>;
  /** Who changed it since these commits must not approve it alone: that is looked up before anybody is asked. */
  readonly since: readonly Commit[];
  /** Null until it is asked for, one pass later. */
  readonly request: Request | null;
}

/** What becomes of an object that leaves a cluster: it is deleted, or let go and left in place. */
export type Fate = "delete" | "release";

/** An object that leaves a cluster, and what becomes of it (`plan/README.md#d-11`). */
export interface Leave {
  readonly object: ObjectId;
  readonly fate: Fate;
}

/** One version of a placement's policy, with what the scheduler made of it. */
export interface PolicySnapshot {
  /** From 0, never reused. The name is `<placement>-<index>`. */
  readonly index: number;
  /** Of the policy without `numberOfClusters` (`schedule/README.md#policy-snapshots`). */
  readonly hash: Digest;
  readonly policy: PlacementPolicy;
  /** What the scheduler said last; null before the first cycle. */
  readonly verdict: SchedulingVerdict | null;
}

/** What the scheduler said under one policy snapshot (`schedule/README.md#what-is-recorded`). */
export interface SchedulingVerdict {
  readonly observedGeneration: number;
  readonly condition: Condition;
  /** Selected clusters first, then up to 20 that were not, with the reason; at most 1000. */
  readonly decisions: readonly ClusterDecision[];
}

/** Whether the scheduler picked a cluster, and why or why not. No score where nothing was scored. */
export interface ClusterDecision {
  readonly cluster: ClusterName;
  readonly selected: boolean;
  readonly score: { readonly affinity: number; readonly topology: number } | null;
  readonly reason: string;
}

/** One version of what a placement selects: which objects, each with its content and where that stands. */
export interface ResourceSnapshot {
  /** From 0, never reused. The name is `<placement>-<index>-snapshot`. */
  readonly index: number;
  /** Of the ordered list of manifest digests and ids. */
  readonly hash: Digest;
  readonly commit: Commit;
  /** In KubeFleet's order of selection (`render/README.md#the-order-of-what-is-selected`). */
  readonly resources: readonly SnapshotResource[];
}

/** One selected object: which, and where its text stands. The blob stays reachable from the state branch. */
export interface SnapshotResource {
  readonly id: VersionedId;
  readonly digest: Digest;
  readonly path: string;
  readonly document: number;
  readonly blob: BlobId;
}

/**
 * One placement on one cluster: KubeFleet's binding (`rollout/README.md#the-binding`), with what the member last told
 * us.
 */
export interface Binding {
  readonly cluster: ClusterName;
  /** `<placement ≤ 26>-<cluster ≤ 27>-<8 hex of a hash of both>` (`schedule/README.md#a-40`). */
  readonly name: string;
  readonly uid: string;
  /**
   * Counts changes of what KubeFleet keeps in the spec: state, policy snapshot, decision, target; one more for
   * deletion.
   */
  readonly generation: number;
  readonly state: "Scheduled" | "Bound" | "Unscheduled";
  /** The state an Unscheduled binding returns to when its cluster is picked again. */
  readonly previousState: "Scheduled" | "Bound" | null;
  readonly policySnapshot: number;
  readonly decision: ClusterDecision;
  /** What the member is to carry; null until rollout first admits it. */
  readonly target: Target | null;
  /** Removal was admitted: everything goes; the binding goes when the member has confirmed. */
  readonly removal: Removal | null;
  /**
   * Objects that earlier targets had and this one has not, until the member has confirmed that they are gone.
   * When everything goes, the target's own objects stand here too.
   */
  readonly leaving: readonly Leaving[];
  /** What the member said of the current target; null until it said anything. */
  readonly facts: BindingFacts | null;
  readonly conditions: readonly Condition[];
}

/**
 * Everything that determines what a cluster carries, frozen when rollout admits it (`render/README.md#c-21`, `#c-22`,
 * `#c-28`).
 */
export interface Target {
  readonly resourceIndex: number;
  /** Names of cluster-scoped override snapshots, sorted. */
  readonly clusterOverrides: readonly string[];
  /** `namespace/name` of namespaced override snapshots, sorted by namespace then name. */
  readonly resourceOverrides: readonly string[];
  /** The labels of the member that those overrides look at, as they were. */
  readonly labels: Labels;
  readonly applyStrategy: ApplyStrategy;
  /** Of the rendered manifests, in order. */
  readonly digest: Digest;
  /** The sequence in which this target was decided: fences the member against older decisions. */
  readonly sequence: Sequence;
  readonly startedAt: Instant;
}

/** The decision that a placement leaves a cluster. */
export interface Removal {
  /** The sequence in which it was decided: fences the member against older targets. */
  readonly sequence: Sequence;
  readonly since: Instant;
  readonly cause: Commit;
  readonly propagation: "Delete" | "Abandon";
}

/** An object that is to go from a member, and the source commit that took it away. */
export interface Leaving {
  readonly id: ObjectId;
  readonly cause: Commit;
  /**
   * It was there before us, by what was known when this was decided: it is let go, and was not counted as a deletion.
   * Whatever is learned of it later, nothing that nobody counted is deleted.
   */
  readonly released: boolean;
  /**
   * Whether it is deleted even if it turns out to have been there before us, as the placement said when this was decided:
   * whatever is edited later, it is carried out as it was asked for.
   */
  readonly evenAdopted: boolean;
}

/** What a member said about a binding's target, in normal form: decisions read this and nothing else. */
export interface BindingFacts {
  /** The target's sequence these facts are about. Facts about another one are stale and count as absent. */
  readonly sequence: Sequence;
  readonly applied: "pending" | "applied" | "failed";
  /**
   * Of all objects together: failed beats progressing beats untrackable beats available. Progressing while not applied.
   */
  readonly phase: "available" | "untrackable" | "progressing" | "failed";
  /** When `applied` and `phase` became what they are. */
  readonly since: Instant;
  /** Objects that failed to apply or are not available: the first 100 by key, and how many there are. */
  readonly troubles: readonly ObjectTrouble[];
  readonly troubleCount: number;
  /** Objects that existed before us and were taken over. */
  readonly adopted: readonly ObjectId[];
  /** Objects that others keep changing back, the first 100 by key; absent where there are none. */
  readonly contests?: readonly Contest[];
}

/** An object that somebody else changes whenever we have put it right (`apply/README.md#f-41`). */
export interface Contest {
  readonly id: ObjectId;
  /** The field manager that was first seen to do so; null where the member names none. */
  readonly by: string | null;
  /** How often it was put right at least: 3, 6, 12 … so that a long fight is news ever more rarely. */
  readonly repairs: number;
  readonly since: Instant;
}

/** What is wrong with one object on one member. */
export interface ObjectTrouble {
  readonly id: VersionedId;
  /** Which of the two conditions fails. */
  readonly type: "Applied" | "Available";
  readonly code: string;
  readonly message: string;
}

/**
 * The guard on deletions (`plan/README.md#d-3`, `#d-4`): what one source commit may delete without asking, and what
 * waits. An object that stands in no unconfirmed set may go.
 */
export interface DeletionLedger {
  /** Null before the first commit was accepted. */
  readonly bounds: AcceptedBounds | null;
  /** The source commit whose deletions `permitted` counts. */
  readonly cause: Commit | null;
  /** Objects permitted so far under `cause`, by cluster. */
  readonly permitted: ReadonlyMap<ClusterName, number>;
  /** Sets that wait for a confirmation, or had to, in the order in which they arose. */
  readonly held: readonly HeldDeletion[];
  /** Confirmations that were judged, by digest. */
  readonly confirmations: ReadonlyMap<Digest, ConfirmationRecord>;
}

/** A bound that loosens counts from the next accepted commit, so that no commit permits itself what it deletes. */
export interface AcceptedBounds {
  /** What `fleet.yaml` says at the commit that was accepted last. */
  readonly declared: DeletionBounds;
  /** What counts for that commit: the stricter of what it says and what was said before. */
  readonly inForce: DeletionBounds;
}

/** Deletions that one source commit caused and that were too many, or too precious, to pass unasked. */
export interface HeldDeletion {
  /**
   * Why it waits: the commit takes away more than the bounds allow; or kinds that carry others' data with them, by an edit;
   * or namespaces that turned out to hold objects of others.
   */
  readonly because: "bounds" | "kind" | "foreign";
  readonly cause: Commit;
  /**
   * What a confirmation names (`plan/README.md#d-3`): over the objects with their clusters, why they wait, what of
   * others goes along, and the binding and the target's sequence of every placement and cluster, as all of that was
   * when the set arose. It stays while the set shrinks. No two sets ever have the same one.
   */
  readonly digest: Digest;
  /** A confirmation named the digest: what stands here may go. The set stays until all of it is gone. */
  readonly confirmed: boolean;
  /** Objects that the same clusters lose by the same placement, grouped. */
  readonly groups: readonly DeletionGroup[];
  /** Of a set that waits because of others' objects: which may go along, for everything in `groups`. Otherwise empty. */
  readonly others: readonly OthersAlong[];
}

/** Every one of `objects` is to go from every one of `clusters`. */
export interface DeletionGroup {
  readonly placement: PlacementKey;
  readonly clusters: readonly ClusterName[];
  readonly objects: readonly ObjectId[];
}
