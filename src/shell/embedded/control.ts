import { isObject, type Json, type JsonObject } from "../../core/model/json.ts";
import type { Cluster } from "./storage/cluster.ts";
import { type Trouble, troubleOf } from "./storage/injected-faults.ts";

/** What can be changed about a running cluster. Absent members stay as they are. */
export interface Change {
  readonly trouble?: Partial<Trouble>;
  readonly availableAfterMs?: number;
  /** Begins an empty request log, or ends it. */
  readonly log?: boolean;
  readonly resetCounters?: boolean;
  /** A new cluster under the same name: other uids, nothing left. */
  readonly reset?: boolean;
}

/** Changes a cluster while it runs. Controllers that are let go again do what they missed. */
export function control(cluster: Cluster, change: Change): void {
  if (change.reset === true) cluster.reset();
  if (change.resetCounters === true) cluster.tally.reset();
  if (change.log !== undefined) cluster.log = change.log ? [] : null;
  if (change.availableAfterMs !== undefined) cluster.availableAfterMs = change.availableAfterMs;
  if (change.trouble === undefined) return;
  cluster.trouble = { ...cluster.trouble, ...change.trouble };
  if (change.trouble.down === true) cluster.cut();
  if (!cluster.trouble.frozen) cluster.thaw();
}

/** A change as the control endpoint takes it, as JSON; null when it is none. */
export function changeOf(value: Json): Change | null {
  if (!isObject(value)) return null;
  const trouble = value["trouble"] === undefined ? undefined : troubleOf(value["trouble"]);
  if (trouble === null) return null;
  const known = ["trouble", "availableAfterMs", "log", "resetCounters", "reset"];
  const flags = ["log", "resetCounters", "reset"];
  const delay = value["availableAfterMs"];
  const wrong =
    Object.keys(value).some((key) => !known.includes(key)) ||
    flags.some((key) => value[key] !== undefined && typeof value[key] !== "boolean") ||
    (delay !== undefined && !(typeof delay === "number" && delay >= 0));
  if (wrong) return null;
  const { trouble: _, ...rest } = value;
  return { ...(rest as unknown as Change), ...(trouble === undefined ? {} : { trouble }) };
}

/** What a cluster tells about itself: its troubles, its counters, its log if one is kept. */
export const report = (cluster: Cluster): JsonObject =>
  ({
    name: cluster.name,
    trouble: cluster.trouble,
    availableAfterMs: cluster.availableAfterMs,
    objects: cluster.store.size,
    resourceVersion: cluster.store.version,
    counters: cluster.tally.read(),
    log: cluster.log,
  }) as unknown as JsonObject;
