import { isObject, type Json, type JsonObject, memberAt, textOf } from "../model/json.ts";
import { clusterGroup, kubeFleetPrefix, placementGroup } from "../model/names.ts";

/** An object among those that were given: which one of them, and where it stands in it. */
export interface HubObject {
  readonly value: JsonObject;
  readonly document: number;
  readonly path: readonly (string | number)[];
}

/** Why objects cannot be scheduled, and where that stands. */
export interface HubProblem {
  readonly message: string;
  readonly document: number;
  readonly path: readonly (string | number)[];
}

/** The objects of a hub that one scheduling cycle is about. */
interface HubObjects {
  readonly members: readonly HubObject[];
  readonly snapshot: HubObject;
  /** Of the snapshot's placement. */
  readonly bindings: readonly HubObject[];
}

/** A problem at a path of an object. */
export const problemAt = (
  { document, path }: HubObject,
  below: readonly (string | number)[],
  message: string,
): HubProblem => ({ message, document, path: [...path, ...below] });

const parentLabel = `${kubeFleetPrefix}/parent-CRP`;
const latestLabel = `${kubeFleetPrefix}/is-latest-snapshot`;

/** A label of an object, or null. */
const labelOf = (value: JsonObject, key: string): string | null => textOf(memberAt(value, "metadata", "labels", key));

/** An annotation of an object, or null. */
export const annotationOf = (value: JsonObject, key: string): string | null =>
  textOf(memberAt(value, "metadata", "annotations", key));

/** The name of an object; empty where it has none. */
export const nameOf = (value: JsonObject): string => textOf(memberAt(value, "metadata", "name")) ?? "";

/** The namespace of an object, or null. */
export const hubNamespaceOf = (value: JsonObject): string | null => {
  const namespace = textOf(memberAt(value, "metadata", "namespace"));
  return namespace === "" ? null : namespace;
};

/** The placement that a snapshot belongs to: by its label or, without one, by its name. */
export const placementOf = (snapshot: JsonObject): string =>
  labelOf(snapshot, parentLabel) ?? nameOf(snapshot).replace(/-\d+$/, "");

/**
 * Finds what one cycle is about in documents and in lists, as `kubectl get` gives them: all MemberClusters, the latest
 * policy snapshot, and its bindings. Objects of other kinds and of other placements are passed over
 * (`schedule/README.md#the-scheduler-alone`).
 */
export function hubObjects(documents: readonly Json[]): HubObjects | HubProblem {
  const all = documents.flatMap((it, document) => objectsIn(it, document, []));
  const snapshots = all.filter((it) => isKind(it, placementGroup, /^(?:Cluster)?SchedulingPolicySnapshot$/));
  const latest =
    snapshots.length === 1 ? snapshots : snapshots.filter((it) => labelOf(it.value, latestLabel) === "true");
  const [snapshot, other] = latest;
  const nowhere = { document: 0, path: [] };
  if (snapshot === undefined)
    return {
      ...(snapshots[0] ?? nowhere),
      message: snapshots.length === 0 ? "there is no policy snapshot" : "none of the policy snapshots is the latest",
    };
  if (other !== undefined)
    return problemAt(
      other,
      [],
      `${nameOf(other.value)} is another latest policy snapshot beside ${nameOf(snapshot.value)}`,
    );
  const members = all.filter((it) => isKind(it, clusterGroup, /^MemberCluster$/));
  const names = new Set<string>();
  for (const it of members) {
    const name = nameOf(it.value);
    if (name === "") return problemAt(it, ["metadata"], "a MemberCluster has no name");
    if (names.has(name)) return problemAt(it, ["metadata", "name"], `there are two MemberClusters ${name}`);
    names.add(name);
  }
  const namespace = hubNamespaceOf(snapshot.value);
  const kind = namespace === null ? /^ClusterResourceBinding$/ : /^ResourceBinding$/;
  const bindings = all.filter(
    (it) =>
      isKind(it, placementGroup, kind) &&
      hubNamespaceOf(it.value) === namespace &&
      labelOf(it.value, parentLabel) === placementOf(snapshot.value),
  );
  return { members, snapshot, bindings };
}

function objectsIn(value: Json, document: number, path: readonly (string | number)[]): readonly HubObject[] {
  if (!isObject(value)) return [];
  const items = value["items"];
  if (Array.isArray(items) && textOf(value["kind"])?.endsWith("List") === true)
    return (items as readonly Json[]).flatMap((it, at) => objectsIn(it, document, [...path, "items", at]));
  return [{ value, document, path }];
}

const isKind = ({ value }: HubObject, group: string, kind: RegExp): boolean =>
  textOf(value["apiVersion"])?.startsWith(`${group}/`) === true && kind.test(textOf(value["kind"]) ?? "");
