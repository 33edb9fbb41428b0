import type { CommitFact, SignatureFact } from "./commit.ts";
import type { FleetSpec, MemberCluster, PriceList } from "./fleet.ts";
import { type Manifest, type ObjectId, type ObjectKey, objectKey, type Scope, type VersionedId } from "./manifest.ts";
import { clusterGroup, flotillaGroup, placementGroup } from "./names.ts";
import type { Override } from "./override.ts";
import type { DisruptionBudget, Eviction, Placement } from "./placement.ts";
import type { DetachedSignature } from "./trust.ts";
import type { UpdateRun, UpdateStrategy } from "./update-run.ts";
import type { BlobId, ClusterName, Commit, Digest, Instant } from "./value.ts";

/**
 * Verified facts about the source's commits (`trust/README.md#what-counts`), by `shell/signature`, judged by
 * `core/trust`: all between the head and any commit that a decision looks back to. What is missing never counts.
 */
export interface History {
  /** The newest of `commits`. */
  readonly head: Commit;
  /** Commits since the one accepted last, parents first: only these bring anything new. */
  readonly news: readonly Commit[];
  readonly commits: ReadonlyMap<Commit, CommitFact>;
  /** `commits` is complete back to each of these; null: back to the beginning. */
  readonly beyond: ReadonlySet<Commit | null>;
  /** The documents in changed files, by blob; none where a file cannot be parsed: anything may have changed there. */
  readonly documents: ReadonlyMap<BlobId, readonly PastDocument[]>;
  /** Why commits are missing, in words; null when none is. */
  readonly gap: string | null;
  /** The signatures under `trust/root.yaml` of the head, by path, each over its exact bytes. */
  readonly trustSignatures: readonly DetachedSignature[];
  /** The signatures inside approval files, by blob. */
  readonly detached: ReadonlyMap<BlobId, SignatureFact>;
  /** The forge's answers about approval files that are not judged yet, by path; none where it was not asked. */
  readonly reviews: ReadonlyMap<string, ForgeFinding>;
  /** When to ask an unavailable forge again; null when there is nothing to wait for. */
  readonly reviewsAt: Instant | null;
}

/** Without a trust file no history is read. */
export const noHistory = (head: Commit): History => ({
  head,
  news: [],
  commits: new Map(),
  beyond: new Set(),
  documents: new Map(),
  gap: null,
  trustSignatures: [],
  detached: new Map(),
  reviews: new Map(),
  reviewsAt: null,
});

/** A question to the forge about an approval file without a record. */
export interface ReviewQuestion {
  readonly path: string;
  readonly blob: BlobId;
  /** The commit that added the file. */
  readonly introducer: Commit;
  /** The commit on the source branch that brought it: a merge, or the introducer after squash and rebase. */
  readonly arrival: Commit;
}

/**
 * A review on a forge that meets all of `trust/README.md#merged-pull-requests`: of the pull request that brought the
 * file, of the merged head, before the merge, not dismissed, not by whoever opened it or is named by its last commit,
 * under rules that require just that. The adapter that makes it vouches for it.
 */
export interface ForgeReview {
  /** As trust files name it: `github`, or `gitea`. */
  readonly forge: string;
  /** The number of the account that reviewed. */
  readonly account: string;
  /** The file as it was reviewed. */
  readonly blob: BlobId;
  /** Where to find it: `review 123 of pull request 45 on git.example/team/fleet`. */
  readonly source: string;
}

/** The forge's answer about an approval file. */
export type ForgeFinding =
  /** At least one: the last of everybody, ordered by account as the forge lists them. */
  | { readonly kind: "reviewed"; readonly reviews: readonly ForgeReview[] }
  /** Why no review counts, and what to do about it. */
  | { readonly kind: "none"; readonly because: string }
  /** It could not be asked: that decides nothing, and it is asked again. */
  | { readonly kind: "unavailable"; readonly because: string };

/** One document of a file in some commit. */
export interface PastDocument {
  readonly key: ObjectKey;
  readonly said: PastContent;
}

/** The contents of a document. */
export type PastContent =
  | { readonly kind: "manifest"; readonly id: VersionedId; readonly manifest: Manifest; readonly digest: Digest }
  | { readonly kind: "cluster"; readonly cluster: Omit<MemberCluster, "source"> }
  | { readonly kind: "placement"; readonly placement: Omit<Placement, "source"> }
  | { readonly kind: "override"; readonly override: Omit<Override, "source"> }
  | { readonly kind: "run"; readonly run: Omit<UpdateRun, "source"> }
  | { readonly kind: "strategy"; readonly strategy: Omit<UpdateStrategy, "source"> }
  | { readonly kind: "eviction"; readonly eviction: Omit<Eviction, "source"> }
  | { readonly kind: "budget"; readonly budget: Omit<DisruptionBudget, "source"> }
  | { readonly kind: "prices"; readonly prices: Omit<PriceList, "source"> }
  | { readonly kind: "fleet"; readonly fleet: FleetSpec }
  /** The object is known, but the document cannot be used. */
  | { readonly kind: "unusable" };

/** The key of `fleet.yaml`, whatever name it contains. */
export const fleetDocumentKey = objectKey({ group: flotillaGroup, kind: "Fleet", namespace: null, name: "" });

/** Keys of the documents of our own kinds. */
export const clusterDocumentKey = (name: ClusterName): ObjectKey =>
  objectKey({ group: clusterGroup, kind: "MemberCluster", namespace: null, name });

/** The key of a kind that has two scopes. */
const scoped = (kind: string, { scope, namespace, name }: Scoped): ObjectKey =>
  objectKey({ group: placementGroup, kind: scope === "Cluster" ? `Cluster${kind}` : kind, namespace, name });

type Scoped = Pick<ObjectId, "namespace" | "name"> & { readonly scope: Scope };

export const placementDocumentKey = (it: Scoped): ObjectKey => scoped("ResourcePlacement", it);
export const overrideDocumentKey = (it: Pick<ObjectId, "namespace" | "name">): ObjectKey =>
  scoped("ResourceOverride", { ...it, scope: it.namespace === null ? "Cluster" : "Namespaced" });
export const runDocumentKey = (it: Scoped): ObjectKey => scoped("StagedUpdateRun", it);
export const strategyDocumentKey = (it: Scoped): ObjectKey => scoped("StagedUpdateStrategy", it);
