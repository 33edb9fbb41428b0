import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Scope } from "../model/manifest.ts";
import { flotillaGroup, kubeFleetPrefix, placementGroup } from "../model/names.ts";
import { exactInstantText, type Instant, type Labels } from "../model/value.ts";
import { type Findings, filled, find, given, partAt, sortedLabels, textAt, textOrNull } from "./state-fields.ts";

/** KubeFleet's own labels and annotations on what it records: `intent/README.md#names-that-are-contract`. */
export const fleetKey = {
  parent: `${kubeFleetPrefix}/parent-CRP`,
  isLatest: `${kubeFleetPrefix}/is-latest-snapshot`,
  policyIndex: `${kubeFleetPrefix}/policy-index`,
  resourceIndex: `${kubeFleetPrefix}/resource-index`,
  overrideIndex: `${kubeFleetPrefix}/override-index`,
  parentOverride: `${kubeFleetPrefix}/parent-resource-override`,
  generation: `${kubeFleetPrefix}/CRP-generation`,
  numberOfClusters: `${kubeFleetPrefix}/number-of-clusters`,
  resourceHash: `${kubeFleetPrefix}/resource-hash`,
  snapshotParts: `${kubeFleetPrefix}/number-of-resource-snapshots`,
  previousState: `${kubeFleetPrefix}/previous-binding-state`,
} as const;

/** An annotation of ours, for what KubeFleet has no field for. */
export const ownKey = (name: string): string => `${flotillaGroup}/${name}`;

export const placementApiVersion = `${placementGroup}/v1beta1`;

/** KubeFleet's kind for a scope: `ResourceBinding` is `ClusterResourceBinding` for a cluster-scoped placement. */
export const kindIn = (namespace: string | null, kind: string): string =>
  namespace === null ? `Cluster${kind}` : kind;

export const scopeIn = (namespace: string | null): Scope => (namespace === null ? "Cluster" : "Namespaced");

/** Who and what: everything of an object but its spec and status. */
export interface Heading {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | null;
  readonly uid?: string;
  readonly generation?: number;
  readonly deletedAt?: Instant | null;
  readonly labels?: Labels;
  /** Null ones are left out. */
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/** apiVersion, kind and metadata of an object, in the order in which kubectl shows them. */
export const headingJson = (it: Heading): JsonObject => ({
  apiVersion: it.apiVersion,
  kind: it.kind,
  metadata: given({
    name: it.name,
    namespace: it.namespace,
    uid: it.uid,
    generation: it.generation,
    deletionTimestamp: it.deletedAt == null ? null : exactInstantText(it.deletedAt),
    labels: sortedLabels(it.labels ?? {}),
    annotations: sortedLabels(given(it.annotations ?? {}) as Labels),
  }),
});

/** A document taken apart. A document that is no object, or of another kind, is a finding. */
export interface Opened {
  readonly name: string;
  readonly namespace: string | null;
  readonly metadata: JsonObject;
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  readonly spec: JsonObject;
  readonly status: JsonObject;
}

/** Opens a document that should be of `kind`, or of `kind` for clusters when it has no namespace. */
export function open(findings: Findings, document: Json, kind: string): Opened {
  const object = isObject(document) ? document : {};
  const metadata = partAt(object, "metadata");
  const namespace = textOrNull(findings, metadata, "namespace");
  const found = textAt(findings, object, "kind");
  if (found !== kind && found !== kindIn(namespace, kind)) find(findings, "kind", `is ${found} and not ${kind}`);
  return {
    name: textAt(findings, metadata, "name"),
    namespace,
    metadata,
    labels: partAt(metadata, "labels"),
    annotations: partAt(metadata, "annotations"),
    spec: partAt(object, "spec"),
    status: partAt(object, "status"),
  };
}

/** A digest as KubeFleet's fields of type byte hold it: base64 of the hexadecimal digits. */
export const base64Of = (digest: string): string => btoa(digest);

/** The inverse of {@link base64Of}. */
export function base64At(findings: Findings, object: JsonObject, key: string): string {
  try {
    return atob(textAt(findings, object, key));
  } catch {
    find(findings, key, "is no base64");
    return "";
  }
}

/** A list as compact JSON in one text, for an annotation; null when it is empty. */
export const embedded = (list: readonly Json[]): string | null => (filled(list) === null ? null : JSON.stringify(list));
