import type { Condition } from "./condition.ts";
import type { ObjectId, VersionedId } from "./manifest.ts";
import type { ApplyStrategy } from "./placement.ts";
import type { ClusterName, Commit, Digest, Instant, Labels, PlacementKey, Sequence } from "./value.ts";

/** One placement on one cluster: KubeFleet's binding (`rollout/README.md#the-binding`), and what the member told us. */
export interface Binding {
  readonly cluster: ClusterName;
  /** `<placement ≤ 26>-<cluster ≤ 27>-<8 hex of a hash of both>` (`schedule/README.md#a-40`). */
  readonly name: string;
  readonly uid: string;
  /** Counts changes of state, policy snapshot, decision and target (KubeFleet's spec); one more for deletion. */
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
  /** Objects of earlier targets until the member confirms they are gone; when everything goes, the target's too. */
  readonly leaving: readonly PendingRemoval[];
  /** What the member said of the current target; null until it said anything. */
  readonly facts: BindingFacts | null;
  readonly conditions: readonly Condition[];
}

/** Whether the scheduler picked a cluster, and why or why not. No score where nothing was scored. */
export interface ClusterDecision {
  readonly cluster: ClusterName;
  readonly selected: boolean;
  readonly score: { readonly affinity: number; readonly topology: number } | null;
  readonly reason: string;
}

/** What a cluster carries, frozen when rollout admits it (`render/README.md#c-21`, `#c-22`, `#c-28`). */
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
export interface PendingRemoval {
  readonly id: ObjectId;
  readonly cause: Commit;
  /** It was there before us, as known then: it is let go, and never deleted, since nobody counted it as a deletion. */
  readonly released: boolean;
  /** Deleted even if it was there before us, as the placement said then: later edits change nothing of that. */
  readonly evenAdopted: boolean;
  /** Absent where nobody else wants it on this cluster. Otherwise it does not go: it is kept until it is taken. */
  readonly handOver?: HandOver;
}

/**
 * What another placement wants where it is: the one that had it keeps it and puts it right until the turn of the other
 * one comes there, which then takes it as it is (`plan/README.md#d-9`). It is no deletion unless that want ends.
 */
export interface HandOver {
  /** Who takes it. */
  readonly to: PlacementKey;
  /** By what the cluster carried it; null: by what the binding's target is made of, if that has it. */
  readonly by: CarriedVersion | null;
}

/** What the objects of a target are made of. */
export type CarriedVersion = Pick<Target, "resourceIndex" | "clusterOverrides" | "resourceOverrides" | "labels">;

/** Everything that a binding is made from: its target, and what is kept for others until they take it. */
export function versionsNamed({ target, leaving }: Binding): readonly CarriedVersion[] {
  const named = target === null ? [] : [target];
  return leaving.length === 0 ? named : [...named, ...leaving.flatMap((it) => it.handOver?.by ?? [])];
}

/** What a member said about a binding's target, in normal form: decisions read this and nothing else. */
export interface BindingFacts {
  /** The target's sequence these facts are about. Facts about another one are stale and count as absent. */
  readonly sequence: Sequence;
  readonly applied: "pending" | "applied" | "failed";
  /** Of all objects: failed beats progressing beats untrackable beats available. Progressing while not applied. */
  readonly phase: "available" | "untrackable" | "progressing" | "failed";
  /** When `applied` and `phase` became what they are. */
  readonly since: Instant;
  /** Objects that failed to apply or are not available: the first 100 by key, and how many there are. */
  readonly objectFailures: readonly ObjectFailure[];
  readonly objectFailureCount: number;
  /** Objects that existed before us and were taken over. */
  readonly adopted: readonly ObjectId[];
  /** Objects that others keep changing back, the first 100 by key; absent where there are none. */
  readonly contested?: readonly ContestedObject[];
}

/** An object that somebody else changes whenever we have put it right (`apply/README.md#f-41`). */
export interface ContestedObject {
  readonly id: ObjectId;
  /** The field manager that was first seen to do so; null where the member names none. */
  readonly by: string | null;
  /** How often it was put right at least: 3, 6, 12 … so that a long fight is news ever more rarely. */
  readonly repairs: number;
  readonly since: Instant;
}

/** What is wrong with one object on one member. */
export interface ObjectFailure {
  readonly id: VersionedId;
  /** Which of the two conditions fails. */
  readonly type: "Applied" | "Available";
  readonly code: string;
  readonly message: string;
}
