import type { Binding, ClusterDecision } from "./binding.ts";
import type { Condition } from "./condition.ts";
import type { CascadedDeletion, DeletionLedger, ObjectFate } from "./deletion.ts";
import type { Hold } from "./intent.ts";
import type { EnvelopeRef, Scope, VersionedId } from "./manifest.ts";
import type { ContactCode, MemberProperties } from "./observation.ts";
import type { OverrideSnapshot } from "./override.ts";
import type { EvictionRecord, PlacementPolicy, PlacementSpec } from "./placement.ts";
import type { Quarantine } from "./plan-defect.ts";
import type { AnswerRecord, Request, TrustRecord } from "./trust.ts";
import type { RunRecord } from "./update-run.ts";
import type { BlobId, ClusterName, Commit, Digest, Epoch, Instant, PlacementKey, RunKey, Sequence } from "./value.ts";

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
  /** Placements that stay as recorded; some have no record, as nothing of them was ever planned soundly. */
  readonly quarantines: ReadonlyMap<PlacementKey, Quarantine>;
  readonly runs: ReadonlyMap<RunKey, RunRecord>;
  readonly evictions: ReadonlyMap<string, EvictionRecord>;
  /** A file under `trust/` was accepted once: from then on, no approval counts without a signature. */
  readonly hasTrust: boolean;
  /** Null until the first trust file is accepted. */
  readonly trust: TrustRecord | null;
  /** By path: every approval file that was judged. */
  readonly answers: ReadonlyMap<string, AnswerRecord>;
  /**
   * What stood under `approvals/` and was taken away, in the order of its ids, as long as anything is asked for; but not
   * what was judged and answers nothing that still is. At most {@link maxTakenAway}; with as many, there may have been
   * more.
   */
  readonly takenAway: ReadonlySet<BlobId>;
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
  quarantines: new Map(),
  runs: new Map(),
  evictions: new Map(),
  hasTrust: false,
  trust: null,
  answers: new Map(),
  takenAway: new Set(),
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
  /** What was observed of it; what hardly changed since stays as it was (`core/members`). */
  readonly properties: MemberProperties;
  readonly collection: CollectionRecord;
  /** Null where no placement asks about them, and where they were never listed: NamespaceAffinity asks nothing then. */
  readonly namespaces: NamespacesRecord | null;
  /** Since when contact fails; null while it answers. Eligibility counts from it (`schedule/README.md#a-48`). */
  readonly contactFailure: ContactFailure | null;
  readonly conditions: readonly Condition[];
}

/** What is recorded beside properties that were collected. */
export interface CollectionRecord {
  /** Which properties the cluster does not have from itself. */
  readonly origins: ReadonlyMap<string, PropertyOrigin>;
  /** What its nodes tell of where it is: affinity matches that, and nothing else does (`members/README.md#labels`). */
  readonly labels: MemberProperties;
  /** When its resources were last recorded; null where none are. */
  readonly measuredAt: Instant | null;
}

/** Who says a property that the cluster does not have from itself (`members/README.md#precedence`). */
export type PropertyOrigin = "provider" | "price";

/** Of a member about which nothing was collected. */
export const nothingCollected: CollectionRecord = { origins: new Map(), labels: new Map(), measuredAt: null };

/** The namespaces of a member as decisions see them (`members/README.md#namespaces`). */
export interface NamespacesRecord {
  /** In the order of their names, each with the label of our mark; empty where it has none. */
  readonly names: ReadonlyMap<string, string>;
  /** It has more than are recorded. */
  readonly isCut: boolean;
  readonly recordedAt: Instant;
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

/** How much that was taken away under `approvals/` is remembered. */
export const maxTakenAway = 1000;

/** The most clusters of which former names are kept; those that left first go first. */
export const maxFormerNames = 5000;

/** Why nothing can be done with a member at present. */
export interface ContactFailure {
  /** `IdentityChanged`: the address answers for another cluster than the one that joined. Nothing is written there. */
  readonly code: ContactCode | "IdentityChanged";
  readonly message: string;
  readonly since: Instant;
}

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
  /** Why nothing could be selected, or null: KubeFleet's InvalidResourceSelectors. */
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
  readonly leaves: ReadonlyMap<ClusterName, readonly ObjectFate[]>;
  /**
   * What of others is deleted with what leaves already, on clusters where nothing else would change. Ordered by cluster and
   * object; mostly empty.
   */
  readonly others: readonly CascadedDeletion[];
  /** Who changed it since these commits must not approve it alone: that is looked up before anybody is asked. */
  readonly since: readonly Commit[];
  /** Null until it is asked for, one pass later. */
  readonly request: Request | null;
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
  /** The envelope that it was in, whose text stands there. */
  readonly envelope?: EnvelopeRef;
  readonly digest: Digest;
  readonly path: string;
  readonly document: number;
  readonly blob: BlobId;
}
