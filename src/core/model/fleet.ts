import { rememberedPair } from "./identity.ts";
import type { Json } from "./json.ts";
import type { SourcePosition } from "./manifest.ts";
import { type ClusterName, type Instant, type LabelSelector, type Labels, selectsIfAny } from "./value.ts";

/** `fleet.yaml`: kind Fleet of flotilla.dev/v1alpha1, defaulted. A repository without one has {@link defaultFleet}. */
export interface FleetSpec {
  /** Folders that are read; empty means the whole tree but dot-folders. No trailing slash. */
  readonly roots: readonly string[];
  /** KubeFleet's exact behaviour, or the same with the fixes of `schedule/README.md#where-we-differ`. */
  readonly profile: "default" | "kubefleet";
  /** Kubeconfig context per member, where it differs from the member's name. */
  readonly contexts: ReadonlyMap<ClusterName, string>;
  readonly guards: DeletionBounds;
  /** Name of the PriceList by which costs are computed; null: they are not. */
  readonly prices: string | null;
  /** Which of the properties that tell how members are reached are to be recorded (`members/README.md#access`). */
  readonly collect: readonly string[];
  /** Which folders may define what; the others are the platform's (`intent/README.md#tenants`). */
  readonly tenants: readonly TenantGrant[];
  /** Ignored for good once `trust/` exists or a trust anchor is given (`trust/README.md#what-counts`). */
  readonly unsignedApprovals: "allow" | "deny";
}

/** What a folder may define: an entry of `tenants` (`intent/README.md#tenants`). */
export interface TenantGrant {
  /** With a slash behind it: everything below it is the tenant's. */
  readonly folder: string;
  /** Names of namespaces, or prefixes with a `*` behind them. At least one. */
  readonly namespaces: readonly string[];
  /** As written: `ConfigMap`, `Certificate.cert-manager.io`. At least one. */
  readonly kinds: readonly string[];
  /** Which clusters its placements may be on; null: all. */
  readonly clusters: LabelSelector | null;
}

/** A grant that documents are held against. */
export interface Tenant extends TenantGrant {
  /** Where it stands: `fleet.yaml:12:7`. */
  readonly place: string;
}

/**
 * Whether a file is in the folder of a tenant. Another spelling of the folder is the folder itself on some systems, and
 * so no way around the grant.
 */
export const isOfTenant = (path: string, { folder }: Pick<TenantGrant, "folder">): boolean =>
  foldedPath(path).startsWith(foldedPath(folder));

/** A path as file systems see it that ignore case and the way accents are written. */
export const foldedPath = (path: string): string => path.normalize("NFC").toLowerCase();

const none: readonly never[] = [];

/** The grants that a file has to keep to, every one of them; none of a file that is the platform's. */
export const grantsOf = (path: string, tenants: readonly Tenant[]): readonly Tenant[] =>
  tenants.length === 0 ? none : tenants.filter((it) => isOfTenant(path, it));

/** Those of the file of a placement that say on which clusters it may be. The same list for the same file and grants. */
export const clusterGrantsOf = (source: SourcePosition, tenants: readonly Tenant[]): readonly Tenant[] =>
  tenants.length === 0 ? none : limitingGrants(source, tenants);

const limitingGrants = rememberedPair((source: SourcePosition, tenants: readonly Tenant[]): readonly Tenant[] => {
  const found = grantsOf(source.path, tenants).filter((it) => it.clusters !== null);
  return found.length === 0 ? none : found;
});

/**
 * The grant that keeps a placement off a cluster, by the labels in the cluster's file: what its nodes tell, whoever
 * administers it could change. Null where all of them let it there.
 */
export const exceededOn = ({ labels }: Pick<MemberCluster, "labels">, grants: readonly Tenant[]): Tenant | null =>
  grants.find((it) => !selectsIfAny(it.clusters, labels)) ?? null;

/** Deletions that one source commit may cause unasked: the larger of number and share (`plan/README.md#d-3`). */
export interface DeletionBounds {
  readonly objectsPerCluster: number;
  readonly percentPerCluster: number;
  readonly clusters: number;
  readonly percentOfClusters: number;
}

/** The fleet of a repository without `fleet.yaml`; the bounds are those of `plan/README.md#d-3`. */
export const defaultFleet: FleetSpec = {
  roots: [],
  profile: "default",
  contexts: new Map(),
  guards: { objectsPerCluster: 10, percentPerCluster: 20, clusters: 3, percentOfClusters: 30 },
  prices: null,
  collect: [],
  tenants: [],
  unsignedApprovals: "deny",
};

/** A MemberCluster as written: `intent/README.md#members`. The label `kubernetes-fleet.io/member-name` is filled in. */
export interface MemberCluster {
  readonly name: ClusterName;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** From the file's status, which is maintained by hand; scheduler plugins read them. */
  readonly properties: Readonly<Record<string, MemberProperty>>;
  readonly resourceUsage: ResourceUsage;
  /** The document's `spec` after defaults, for the record. */
  readonly spec: Json;
  readonly source: SourcePosition;
}

/** What somebody found out about a cluster. */
export interface MemberProperty {
  /** As it was written; most are quantities (`schedule/README.md#properties`). */
  readonly value: string;
  /** Null where nobody says. */
  readonly observedAt: Instant | null;
}

/** What machines cost per hour, as quantities: by type, then by region, where `*` is every other one. */
export interface PriceList {
  readonly name: string;
  readonly perHour: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly source: SourcePosition;
}

/** Keeps placements off a cluster unless they tolerate it. `NoSchedule` is the only effect KubeFleet knows. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: "NoSchedule";
}

/** Quantities as written, by resource name: `cpu`, `memory`. */
interface ResourceUsage {
  /** When it was measured; null where nobody says. */
  readonly observedAt: Instant | null;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly available: Readonly<Record<string, string>>;
}
