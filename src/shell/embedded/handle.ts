import { isObject, type Json, type JsonObject, memberAt } from "../../core/model/json.ts";
import { idOf } from "../../core/model/manifest.ts";
import type { ServedKind } from "./api/kinds.ts";
import { deleteObject } from "./registry/deletion.ts";
import { apply, create, type PatchType, patch } from "./registry/objects.ts";
import type { RequestTarget } from "./registry/preconditions.ts";
import type { Cluster } from "./storage/cluster.ts";
import { type Counters, type InjectedFaults, type LogEntry, parseFaults } from "./storage/injected-faults.ts";

/** Where an object stands, as people say it: `{ group: "apps", kind: "Deployment", namespace: "shop", name: "web" }`. */
export interface ObjectPlace {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** Direct access to a cluster for tests and demos, bypassing HTTP, faults and counters. */
export interface ClusterHandle {
  readonly name: string;
  /** The uid of `kube-system`: which cluster this is. */
  readonly uid: string;
  readonly resourceVersion: number;
  readonly faults: InjectedFaults;
  readonly counters: Counters;
  /** Null while no log is kept. */
  readonly log: readonly LogEntry[] | null;
  /** Faults, delays, counters, reset: all that the control endpoint can do. */
  control(change: ClusterChange): void;
  get(place: ObjectPlace): JsonObject | null;
  /** Objects of a kind, in order; of all namespaces when none is given. */
  list(group: string, kind: string, namespace?: string): readonly JsonObject[];
  all(): readonly JsonObject[];
  /** Server-side apply by force, as another field manager. */
  apply(manager: string, object: JsonObject): JsonObject;
  /** Creates without apply. Fails when the object exists. */
  create(manager: string, object: JsonObject): JsonObject;
  /** Patches like `kubectl patch`; a merge patch by default. */
  patch(manager: string, place: ObjectPlace, body: Json, type?: PatchType): JsonObject;
  remove(place: ObjectPlace): void;
}

export const newClusterHandle = (cluster: Cluster): ClusterHandle => ({
  name: cluster.name,
  get uid() {
    const namespace = cluster.store.get(kindIn(cluster, "", "Namespace"), null, "kube-system");
    return String(memberAt(namespace ?? {}, "metadata", "uid") ?? "");
  },
  get resourceVersion() {
    return cluster.store.version;
  },
  get faults() {
    return cluster.faults;
  },
  get counters() {
    return cluster.counters.read();
  },
  get log() {
    return cluster.log;
  },
  control: (change) => changeCluster(cluster, change),
  get: (place) => {
    const target = targetAt(cluster, place);
    return cluster.store.get(target.kind, target.namespace, target.name);
  },
  list: (group, kind, namespace) => cluster.store.list(kindIn(cluster, group, kind), namespace ?? null),
  all: () =>
    cluster.store.tables.flatMap((table) => {
      const kind = cluster.kinds.ofTable(table);
      return kind === null ? [] : cluster.store.list(kind, null);
    }),
  // What is stored is never changed in place, whatever becomes of the caller's object.
  apply: (manager, object) =>
    apply(cluster, targetOf(cluster, object), structuredClone(object), { ...asWritten(manager), force: true }).object,
  create: (manager, object) =>
    create(cluster, targetOf(cluster, object), structuredClone(object), asWritten(manager)).object,
  patch: (manager, place, body, type = "merge") =>
    patch(cluster, targetAt(cluster, place), structuredClone(body), { ...asWritten(manager), type }).object,
  remove: (place) => {
    const options = { uid: null, resourceVersion: null, propagation: "Background", dryRun: false } as const;
    deleteObject(cluster, targetAt(cluster, place), options);
  },
});

const asWritten = (manager: string) => ({ manager, force: false, dryRun: false, strict: false });

function kindIn(cluster: Cluster, group: string, kind: string): ServedKind {
  const found = cluster.kinds.byKind(group, kind);
  if (found === null) throw new Error(`${cluster.name} serves no ${kind} of group "${group}"`);
  return found;
}

const targetAt = (cluster: Cluster, { group, kind, namespace, name }: ObjectPlace): RequestTarget => ({
  kind: kindIn(cluster, group, kind),
  namespace,
  name,
  subresource: null,
});

function targetOf(cluster: Cluster, object: JsonObject): RequestTarget {
  const id = idOf(object);
  if (id === null) throw new Error("an object needs apiVersion, kind and metadata.name");
  const kind = cluster.kinds.all.find(
    (it) => it.group === id.group && it.version === id.version && it.kind === id.kind,
  );
  const target = targetAt(cluster, id);
  return { ...target, kind: kind ?? target.kind, namespace: target.kind.scope === "Cluster" ? null : id.namespace };
}

/** What can be changed about a running cluster. Absent members stay as they are. */
interface ClusterChange {
  readonly faults?: Partial<InjectedFaults>;
  readonly availableAfterMs?: number;
  /** Begins an empty request log, or ends it. */
  readonly log?: boolean;
  readonly resetCounters?: boolean;
  /** A new cluster under the same name: other uids, nothing left. */
  readonly reset?: boolean;
}

/** Changes a cluster while it runs. Controllers that are let go again do what they missed. */
export function changeCluster(cluster: Cluster, change: ClusterChange): void {
  if (change.reset === true) cluster.reset();
  if (change.resetCounters === true) cluster.counters.reset();
  if (change.log !== undefined) cluster.log = change.log ? [] : null;
  if (change.availableAfterMs !== undefined) cluster.availableAfterMs = change.availableAfterMs;
  if (change.faults === undefined) return;
  cluster.faults = { ...cluster.faults, ...change.faults };
  if (change.faults.down === true) cluster.endWatches();
  if (!cluster.faults.frozen) cluster.thaw();
}

/** A change as the control endpoint takes it, as JSON; null when it is none. */
export function parseClusterChange(value: Json): ClusterChange | null {
  if (!isObject(value)) return null;
  const faults = value["faults"] === undefined ? undefined : parseFaults(value["faults"]);
  if (faults === null) return null;
  const known = ["faults", "availableAfterMs", "log", "resetCounters", "reset"];
  const flags = ["log", "resetCounters", "reset"];
  const delay = value["availableAfterMs"];
  const wrong =
    Object.keys(value).some((key) => !known.includes(key)) ||
    flags.some((key) => value[key] !== undefined && typeof value[key] !== "boolean") ||
    (delay !== undefined && !(typeof delay === "number" && delay >= 0));
  if (wrong) return null;
  const { faults: _, ...rest } = value;
  return { ...(rest as unknown as ClusterChange), ...(faults === undefined ? {} : { faults }) };
}

/** The state of a cluster: its faults, its counters, its log if one is kept. */
export const clusterReport = (cluster: Cluster): JsonObject =>
  ({
    name: cluster.name,
    faults: cluster.faults,
    availableAfterMs: cluster.availableAfterMs,
    objects: cluster.store.size,
    resourceVersion: cluster.store.version,
    counters: cluster.counters.read(),
    log: cluster.log,
  }) as unknown as JsonObject;
