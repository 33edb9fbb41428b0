import type { CommitFact, SignatureFact } from "./commit.ts";
import type { FleetSpec, MemberCluster } from "./fleet.ts";
import { type Manifest, type ObjectId, type ObjectKey, objectKey, type Scope, type VersionedId } from "./manifest.ts";
import { clusterGroup, flotillaGroup, placementGroup } from "./names.ts";
import type { Override } from "./override.ts";
import type { DisruptionBudget, Eviction, Placement } from "./placement.ts";
import type { DetachedSignature } from "./trust.ts";
import type { UpdateRun, UpdateStrategy } from "./update-run.ts";
import type { BlobId, ClusterName, Commit, Digest, Instant } from "./value.ts";

/**
 * Verified facts about the source's commits (`trust/README.md#what-counts`): made by
 * `shell/signature`, judged by `core/trust`.
 *
 * The commits are all that the head has beyond any of the commits that a decision looks back to. What is not here is
 * not known, and never counts.
 */
export interface History {
  /** What `commits` leads to. */
  readonly head: Commit;
  /** Beyond what was accepted last: among these, somebody may have brought something new. Parents first. */
  readonly news: readonly Commit[];
  readonly commits: ReadonlyMap<Commit, CommitFact>;
  /** All that the head has beyond any of these is among `commits`; null: all that it has. */
  readonly beyond: ReadonlySet<Commit | null>;
  /**
   * What stood in files that those commits changed, by blob. A file that cannot be taken apart has nothing here: whoever
   * changed it may have changed anything that stands at its path.
   */
  readonly documents: ReadonlyMap<BlobId, readonly PastDocument[]>;
  /** Why some that should be here are not, in words; null when none is missing. */
  readonly gap: string | null;
  /** Under `trust/root.yaml` as the head has it, by path; each over its exact bytes. */
  readonly trustSignatures: readonly DetachedSignature[];
  /** The signatures inside of approval files, by the file's blob; a file without one has none here. */
  readonly detached: ReadonlyMap<BlobId, SignatureFact>;
  /** What a forge says about approval files that are not judged yet, by path; one about which nobody asked has none. */
  readonly reviews: ReadonlyMap<string, ForgeFinding>;
  /** When a forge that could not be asked is worth another try; null when none is waited for. */
  readonly reviewsAt: Instant | null;
}

/** Where nobody set up who may approve: nothing is looked at. */
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

/** What a forge is asked about one approval file that is in nobody's record yet. */
export interface ReviewQuestion {
  readonly path: string;
  readonly blob: BlobId;
  /** The commit that added the file. */
  readonly introducer: Commit;
  /** The commit of the source branch itself that brought it there: a merge, or the introducer after squash and rebase. */
  readonly arrival: Commit;
}

/**
 * A review on a forge that is all of `trust/README.md#merged-pull-requests`: of the pull request that brought the file,
 * of the head that was merged, before it was, not dismissed, by neither who opened it nor whom its last commit names,
 * under rules that ask for just that. Whoever makes the fact vouches for it.
 */
export interface ForgeReview {
  /** As trust files name it: `github`, or `gitea`. */
  readonly forge: string;
  /** The number of the account that reviewed. */
  readonly account: string;
  /** The file as it was reviewed. */
  readonly blob: BlobId;
  /** Where it can be looked up: `review 123 of pull request 45 on git.example/team/fleet`. */
  readonly source: string;
}

/** What a forge says about an approval file. */
export type ForgeFinding =
  /** At least one, everybody's last, in the order of the accounts as the forge lists them. */
  | { readonly kind: "reviewed"; readonly reviews: readonly ForgeReview[] }
  /** Why no review counts, and what to do about it. */
  | { readonly kind: "none"; readonly because: string }
  /** It could not be asked: nothing follows from that, and it is asked again. */
  | { readonly kind: "unavailable"; readonly because: string };

/** One document of a file as some commit had it: which object, and what it said of it. */
export interface PastDocument {
  readonly key: ObjectKey;
  readonly said: Said;
}

/** What a document said. */
export type Said =
  | { readonly kind: "manifest"; readonly id: VersionedId; readonly manifest: Manifest; readonly digest: Digest }
  | { readonly kind: "cluster"; readonly cluster: Omit<MemberCluster, "source"> }
  | { readonly kind: "placement"; readonly placement: Omit<Placement, "source"> }
  | { readonly kind: "override"; readonly override: Omit<Override, "source"> }
  | { readonly kind: "run"; readonly run: Omit<UpdateRun, "source"> }
  | { readonly kind: "strategy"; readonly strategy: Omit<UpdateStrategy, "source"> }
  | { readonly kind: "eviction"; readonly eviction: Omit<Eviction, "source"> }
  | { readonly kind: "budget"; readonly budget: Omit<DisruptionBudget, "source"> }
  | { readonly kind: "fleet"; readonly fleet: FleetSpec }
  /** Which object is known, and not what it says of it: it could not be used. */
  | { readonly kind: "unusable" };

/** `fleet.yaml` stands in one place, whatever it is called inside. */
export const fleetDocument = objectKey({ group: flotillaGroup, kind: "Fleet", namespace: null, name: "" });

/** Where the documents of our own kinds are found among all others. */
export const clusterDocument = (name: ClusterName): ObjectKey =>
  objectKey({ group: clusterGroup, kind: "MemberCluster", namespace: null, name });

/** What a kind that comes in both scopes is called. */
const scoped = (kind: string, { scope, namespace, name }: Scoped): ObjectKey =>
  objectKey({ group: placementGroup, kind: scope === "Cluster" ? `Cluster${kind}` : kind, namespace, name });

type Scoped = Pick<ObjectId, "namespace" | "name"> & { readonly scope: Scope };

export const placementDocument = (it: Scoped): ObjectKey => scoped("ResourcePlacement", it);
export const overrideDocument = (it: Pick<ObjectId, "namespace" | "name">): ObjectKey =>
  scoped("ResourceOverride", { ...it, scope: it.namespace === null ? "Cluster" : "Namespaced" });
export const runDocument = (it: Scoped): ObjectKey => scoped("StagedUpdateRun", it);
export const strategyDocument = (it: Scoped): ObjectKey => scoped("StagedUpdateStrategy", it);
