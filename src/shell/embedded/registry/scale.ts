import { type Json, type JsonObject, memberAt } from "../../../core/model/json.ts";
import { statusError } from "../api/status.ts";
import { mergePatch } from "../apply/patch.ts";
import type { Cluster } from "../storage/cluster.ts";
import { patch, read, type WriteOptions, type WriteOutcome } from "./objects.ts";
import type { RequestTarget } from "./preconditions.ts";

/** The `scale` view of a workload: what `kubectl scale` and autoscalers read and write. */
export function scaleOf(object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = (object["metadata"] ?? {}) as JsonObject;
  const labels = memberAt(object, "spec", "selector", "matchLabels") ?? {};
  const selector = Object.entries(labels as JsonObject).map(([key, value]) => `${key}=${String(value)}`);
  const identity = { name, namespace, uid, resourceVersion, creationTimestamp };
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: Object.fromEntries(Object.entries(identity).filter((it): it is [string, Json] => it[1] !== undefined)),
    spec: { replicas: memberAt(object, "spec", "replicas") ?? 0 },
    status: { replicas: memberAt(object, "status", "replicas") ?? 0, selector: selector.join(",") },
  };
}

/** Writes the number of replicas, for which the writer then answers as owner. */
export function writeScale(cluster: Cluster, target: RequestTarget, body: Json, options: WriteOptions): WriteOutcome {
  const main: RequestTarget = { ...target, subresource: null };
  const wanted = mergePatch(scaleOf(read(cluster, main)), body);
  const replicas = memberAt(wanted, "spec", "replicas");
  if (!Number.isInteger(replicas) || Number(replicas) < 0)
    throw statusError("Invalid", "spec.replicas must be a number from 0");
  const version = memberAt(body, "metadata", "resourceVersion");
  const condition = version === null ? {} : { metadata: { resourceVersion: version } };
  const change: JsonObject = { ...condition, spec: { replicas } };
  const { code, object } = patch(cluster, { ...target, subresource: "scale" }, change, { ...options, type: "merge" });
  return { code, object: scaleOf(object) };
}

/** Kinds that can be scaled here. */
export const isScalable = ({ kind }: RequestTarget): boolean =>
  kind.custom === null && kind.subresources.includes("scale");
