import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { ChangeRequest } from "../model/ledger.ts";
import type { Request } from "../model/trust.ts";
import { type ClusterName, type Commit, compareText, type Digest, exactInstantText } from "../model/value.ts";
import {
  embeddedAt,
  type Findings,
  filled,
  find,
  given,
  instantAt,
  instantOrNull,
  partAt,
  textOrNull,
  textsAt,
} from "./state-fields.ts";
import { keptMembers, replaced } from "./state-kept.ts";
import { leavesAt, leavesJson } from "./state-leaves.ts";
import { requestNotesJson, requestOf } from "./state-request.ts";

/** A placement's change that waits for an approval, as compact JSON: KubeFleet's placement has no field for it. */
export const changeText = ({ clusters, leaves, since, request }: ChangeRequest): string =>
  JSON.stringify(
    given({
      clusters: clustersJson(clusters),
      leaves: filled(leavesJson(leaves)),
      since: filled(since),
      request: request === null ? null : requestJson(request),
    }),
  );

/** By cluster, the digest of what it would carry; null where the placement leaves it. */
export const clustersJson = (clusters: ChangeRequest["clusters"]): JsonObject => Object.fromEntries(clusters);

const requestJson = (request: Request): JsonObject =>
  given({
    requestedAt: exactInstantText(request.requestedAt),
    approvedAt: request.approval === null ? null : exactInstantText(request.approval.at),
    ...requestNotesJson(request),
  });

/** The inverse of {@link changeText}: the annotation `key`, null where there is none. */
export function changeOf(findings: Findings, annotations: JsonObject, key: string): ChangeRequest | null {
  const json: Json = embeddedAt(findings, annotations, key);
  if (json === null) return null;
  if (!isObject(json)) find(findings, key, "holds no object");
  const object = isObject(json) ? json : {};
  const clusters = partAt(object, "clusters");
  const names = Object.keys(clusters).sort(compareText) as ClusterName[];
  return {
    clusters: new Map(names.map((it) => [it, textOrNull(findings, clusters, it) as Digest | null])),
    leaves: leavesAt(findings, object),
    since: textsAt(findings, object, "since") as Commit[],
    request: member(object, "request") === null ? null : readRequest(findings, partAt(object, "request")),
  };
}

const readRequest = (findings: Findings, object: JsonObject): Request =>
  requestOf(findings, object, {
    requestedAt: instantAt(findings, object, "requestedAt"),
    approvedAt: instantOrNull(findings, object, "approvedAt"),
  });

/** The change with what stays of the one before; that itself when all of it stays. */
export function keptChange(before: ChangeRequest | null, after: ChangeRequest | null): ChangeRequest | null {
  if (before === null || after === null) return after;
  const clusters = replaced(before.clusters, [...after.clusters]);
  const leaves = replaced(before.leaves, [...after.leaves]);
  return keptMembers(before, { ...after, clusters, leaves }, ["clusters", "leaves"]);
}
