import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Scope } from "../model/manifest.ts";
import { flotillaGroup, kubeFleetPrefix, placementGroup } from "../model/names.ts";
import type { Labels } from "../model/value.ts";
import {
  at,
  type Codec,
  type Draft,
  derived,
  type Field,
  group,
  type Members,
  orNull,
  type ReadContext,
  reportProblem,
  unlessEmpty,
} from "./codec/codec.ts";
import { embedded, jsonObject, labelsIfAny, string } from "./codec/scalars.ts";

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
  envelopes: `${kubeFleetPrefix}/number-of-enveloped-object`,
  previousState: `${kubeFleetPrefix}/previous-binding-state`,
} as const;

/** An annotation of ours, for what KubeFleet has no field for. */
export const ownKey = (name: string): string => `${flotillaGroup}/${name}`;

/** KubeFleet's kind for a scope: `ResourceBinding` is `ClusterResourceBinding` for a cluster-scoped placement. */
export const kindIn = (namespace: string | null, kind: string): string =>
  namespace === null ? `Cluster${kind}` : kind;

/** What a document says beside the members of its value; `name` and `namespace` where those are not among them. */
export interface Heading {
  readonly name?: string;
  readonly namespace?: string | null;
  /** The placement that it belongs to. */
  readonly owner?: string;
  /** Of what has no generation of its own. */
  readonly generation?: number;
  readonly labels?: Labels;
  /** Undefined ones are left out. */
  readonly annotations?: Readonly<Record<string, Json | undefined>>;
  readonly spec?: Json;
}

/** An API object that holds a value: members are found by {@link inMetadata}, {@link inSpec} and the like. */
interface DocumentCodec<T, W = T> {
  readonly write: (value: W, heading: Heading) => JsonObject;
  readonly read: (document: Json, context: ReadContext) => T;
}

/** What all documents of a kind have in common. */
interface DocumentKind {
  /** Without `Cluster`, if there is one of either scope. */
  readonly kind: string;
  /** KubeFleet's placement group and two scopes, if it is left out. */
  readonly apiVersion?: string;
  /** The order of what stands in `spec`, where that is not the order of the members. */
  readonly spec?: readonly string[];
  /** The order of what stands in `status`, which is there even if it is empty. */
  readonly status?: readonly string[];
  /** What KubeFleet has no field for stands as JSON in one annotation: these members, in this order. */
  readonly notes?: { readonly annotation: string; readonly members: readonly string[] };
}

const placementApiVersion = `${placementGroup}/v1beta1`;

export function documentOf<T extends object, W extends T = T>(
  it: DocumentKind,
  members: Members<T, W>,
): DocumentCodec<T, W> {
  const field = group(members);
  return {
    write(value, { name = "", namespace = null, owner, ...heading }) {
      const draft: Draft = {
        name,
        namespace,
        owner: owner ?? null,
        metadata: present({ generation: heading.generation }),
        labels: { ...heading.labels, ...(owner === undefined ? {} : { [fleetKey.parent]: owner }) },
        annotations: present(heading.annotations ?? {}),
        spec: blank(it.spec),
      };
      if (it.status !== undefined) draft["status"] = blank(it.status);
      if (it.notes !== undefined) draft["notes"] = blank(it.notes.members);
      field.put(draft, value, value);
      if (it.notes !== undefined)
        inAnnotations(it.notes.annotation, notesText).put(draft, present(draft["notes"] as Draft), null);
      return present({
        apiVersion: it.apiVersion ?? placementApiVersion,
        kind: it.apiVersion === undefined ? kindIn(draft["namespace"] as string | null, it.kind) : it.kind,
        metadata: metadataOf(draft),
        spec: heading.spec ?? present(draft["spec"] as Draft),
        status: draft["status"] === undefined ? undefined : present(draft["status"] as Draft),
      });
    },
    read(document, context) {
      const from = opened(document, it.kind, context);
      if (it.notes !== undefined) from["notes"] = inAnnotations(it.notes.annotation, notesText).take(from, context);
      const value = field.take(from, context);
      context.problemPath = inDocument(it, context.problemPath);
      return value;
    },
  };
}

/** The way through the document itself. */
function inDocument({ notes }: DocumentKind, path: ReadContext["problemPath"]): ReadContext["problemPath"] {
  if (path[0] === "notes") return ["metadata", "annotations", notes?.annotation ?? ""];
  return path[0] === "labels" || path[0] === "annotations" ? ["metadata", ...path] : path;
}

const notesText: Codec<JsonObject> = embedded(unlessEmpty(jsonObject));

/** apiVersion, kind and metadata, in the order in which kubectl shows them. */
function metadataOf({ name, namespace, metadata, labels, annotations }: Draft): JsonObject {
  const { uid, generation, deletionTimestamp } = metadata as Draft;
  return present({
    name,
    namespace: namespace ?? undefined,
    uid,
    generation,
    deletionTimestamp,
    labels: labelsIfAny.write(labels as Labels),
    annotations: labelsIfAny.write(annotations as Labels),
  });
}

/** Members in their order, to be filled in. */
export const blank = (keys: readonly string[] = []): Draft =>
  Object.fromEntries(keys.map((key) => [key, undefined as unknown as Json]));

/** The members that are there. */
export function present(members: Readonly<Record<string, Json | undefined>>): Draft {
  const object: Draft = {};
  for (const key in members) if (members[key] !== undefined) object[key] = members[key];
  return object;
}

/** A document taken apart. One that is no object, or of another kind, is a problem. */
function opened(document: Json, kind: string, context: ReadContext): Draft {
  const object = isObject(document) ? document : {};
  const metadata = partIn(object, "metadata");
  const namespace =
    metadata["namespace"] === undefined ? null : string.read(metadata["namespace"], "namespace", context);
  const found = string.read(object["kind"] ?? null, "kind", context);
  if (found !== kind && found !== kindIn(namespace, kind))
    reportProblem(context, "kind", `is ${found} and not ${kind}`, null);
  const from: Draft = {
    name: string.read(metadata["name"] ?? null, "name", context),
    namespace,
    metadata,
    labels: partIn(metadata, "labels"),
    annotations: partIn(metadata, "annotations"),
    spec: partIn(object, "spec"),
  };
  if (object["status"] !== undefined) from["status"] = partIn(object, "status");
  return from;
}

const partIn = (object: JsonObject, key: string): JsonObject => {
  const part = object[key];
  return isObject(part) ? part : {};
};

export const inMetadata = <T>(key: string, codec: Codec<T>): Field<T> => at(["metadata", key], codec);
export const inLabels = <T>(key: string, codec: Codec<T>): Field<T> => at(["labels", key], codec);
export const inAnnotations = <T>(key: string, codec: Codec<T>): Field<T> => at(["annotations", key], codec);
export const inSpec = <T>(key: string, codec: Codec<T>): Field<T> => at(["spec", key], codec);
export const inStatus = <T>(key: string, codec: Codec<T>): Field<T> => at(["status", key], codec);

/** What follows from a document's namespace and name, and those. */
export const scopedName = <K extends string>(
  keyOf: (namespace: string | null, name: string) => K,
): Members<{ readonly key: K; readonly scope: Scope; readonly namespace: string | null; readonly name: string }> => ({
  key: keyFromName(keyOf),
  scope: derived((from) => (from["namespace"] === null ? "Cluster" : "Namespaced")),
  namespace: orNull(string),
  name: string,
});

export const keyFromName = <K extends string>(keyOf: (namespace: string | null, name: string) => K): Field<K> =>
  derived((from) => keyOf(from["namespace"] as string | null, from["name"] as string));

/** The name, in `spec`, of something in the document's own namespace; `keyOf` puts both together. */
export const inOwnNamespace = <T extends string>(
  key: string,
  keyOf: (namespace: string | null, name: string) => T,
): Field<T> => {
  const name = inSpec(key, string);
  return {
    put: (into, value, whole) => name.put(into, value.slice(value.indexOf("/") + 1), whole),
    take: (from, context) => keyOf(from["namespace"] as string | null, name.take(from, context)),
  };
};
