import { type JsonList, type JsonObject, member, memberAt, textOf } from "../../../core/model/json.ts";
import type { ServedKind, TableKey } from "../api/kinds.ts";

/** One write, as watchers learn of it. A deletion carries the object as it last was, under the version of the deletion. */
export interface StoreChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly table: TableKey;
  readonly version: number;
  readonly object: JsonObject;
  /** What stood there before; null for a creation. */
  readonly before: JsonObject | null;
}

/** Learns of writes, inside the write. */
type Listener = (change: StoreChange) => void;

interface Table {
  readonly objects: Map<string, JsonObject>;
  /** Keys in order; null after a creation or deletion, until somebody asks. */
  sorted: readonly string[] | null;
}

/** Changes that a late watcher can still catch up on, per cluster: enough for a reconnect, little enough for a thousand clusters. */
const maxPastChanges = 256;

const keyOf = (namespace: string | null, name: string): string => (namespace === null ? name : `${namespace}/${name}`);

/** `metadata.name`, empty when it has none. */
export const objectName = (object: JsonObject): string => textOf(memberAt(object, "metadata", "name")) ?? "";
/** `metadata.namespace`, null outside of namespaces. */
export const objectNamespace = (object: JsonObject): string | null => textOf(memberAt(object, "metadata", "namespace"));
/** `metadata.uid`, empty before it is stored. */
export const objectUid = (object: JsonObject): string => textOf(memberAt(object, "metadata", "uid")) ?? "";

/** One cluster's objects in memory. Every write gets the next resourceVersion; objects are never changed in place. */
export class Store {
  readonly #tables = new Map<TableKey, Table>();
  readonly #listeners = new Map<TableKey, Set<Listener>>();
  readonly #observer: Listener;
  readonly #past: StoreChange[] = [];
  /** Who names whom as owner: owner's uid → table and key of the dependents. */
  readonly #dependents = new Map<string, Map<string, { readonly table: TableKey; readonly key: string }>>();
  #version = 1;
  /** The last version that is not remembered any more. */
  #forgotten = 1;
  #size = 0;

  /** `observer` learns of every write after the watchers, inside the write: it must not write itself. */
  constructor(observer: Listener) {
    this.#observer = observer;
  }

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#size;
  }

  get(kind: ServedKind, namespace: string | null, name: string): JsonObject | null {
    return this.#tables.get(kind.table)?.objects.get(keyOf(namespace, name)) ?? null;
  }

  /** Objects of a kind in etcd's order, all of them or those of one namespace; only those after the key `after`, if given. */
  list(kind: ServedKind, namespace: string | null, after: string | null = null): readonly JsonObject[] {
    const table = this.#tables.get(kind.table);
    if (table === undefined) return [];
    table.sorted ??= [...table.objects.keys()].sort();
    const prefix = namespace === null ? "" : `${namespace}/`;
    return table.sorted
      .filter((key) => key.startsWith(prefix) && (after === null || key > after))
      .map((key) => table.objects.get(key) as JsonObject);
  }

  /** The tables that hold something. */
  get tables(): readonly TableKey[] {
    return [...this.#tables].filter(([, it]) => it.objects.size > 0).map(([key]) => key);
  }

  /** Objects that name this uid among their owners. */
  dependentsOf(uid: string): readonly { readonly table: TableKey; readonly object: JsonObject }[] {
    const places = [...(this.#dependents.get(uid)?.values() ?? [])];
    return places.flatMap(({ table, key }) => {
      const object = this.#tables.get(table)?.objects.get(key);
      return object === undefined ? [] : [{ table, object }];
    });
  }

  /** Stores an object under the next version and gives it as stored. */
  put(kind: ServedKind, object: JsonObject): JsonObject {
    const table = this.#table(kind.table);
    const key = keyOf(objectNamespace(object), objectName(object));
    const before = table.objects.get(key) ?? null;
    const stored = versioned(object, ++this.#version);
    table.objects.set(key, stored);
    if (before === null) {
      table.sorted = null;
      this.#size++;
    }
    this.#index(kind.table, key, before, stored);
    this.#tell({
      type: before === null ? "ADDED" : "MODIFIED",
      table: kind.table,
      version: this.#version,
      object: stored,
      before,
    });
    return stored;
  }

  delete(kind: ServedKind, object: JsonObject): void {
    const table = this.#table(kind.table);
    const key = keyOf(objectNamespace(object), objectName(object));
    const before = table.objects.get(key);
    if (before === undefined) return;
    table.objects.delete(key);
    table.sorted = null;
    this.#size--;
    this.#index(kind.table, key, before, null);
    const last = versioned(object, ++this.#version);
    this.#tell({ type: "DELETED", table: kind.table, version: this.#version, object: last, before });
  }

  /** The changes of a kind since a version; null when some of them are forgotten. */
  since(kind: ServedKind, version: number): readonly StoreChange[] | null {
    if (version < this.#forgotten) return null;
    const table = kind.table;
    return this.#past.filter((it) => it.version > version && it.table === table);
  }

  /** Whether everything after this version is still known. */
  remembers(version: number): boolean {
    return version >= this.#forgotten;
  }

  /** Tells `listener` of every later change of a kind, until the returned function is called. */
  watch(kind: ServedKind, listener: Listener): () => void {
    const key = kind.table;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  #table(key: TableKey): Table {
    const table = this.#tables.get(key) ?? { objects: new Map(), sorted: null };
    this.#tables.set(key, table);
    return table;
  }

  #index(table: TableKey, key: string, before: JsonObject | null, after: JsonObject | null): void {
    const place = `${table} ${key}`;
    for (const uid of ownersIn(before)) {
      const places = this.#dependents.get(uid);
      places?.delete(place);
      if (places?.size === 0) this.#dependents.delete(uid);
    }
    for (const uid of ownersIn(after)) {
      const places = this.#dependents.get(uid) ?? new Map();
      this.#dependents.set(uid, places.set(place, { table, key }));
    }
  }

  #tell(change: StoreChange): void {
    this.#past.push(change);
    if (this.#past.length > 2 * maxPastChanges) {
      const dropped = this.#past.splice(0, this.#past.length - maxPastChanges);
      this.#forgotten = dropped.at(-1)?.version ?? this.#forgotten;
    }
    for (const listener of this.#listeners.get(change.table) ?? []) listener(change);
    this.#observer(change);
  }
}

function ownersIn(object: JsonObject | null): readonly string[] {
  const references = object === null ? null : memberAt(object, "metadata", "ownerReferences");
  if (!Array.isArray(references)) return [];
  return (references as JsonList).map((it) => textOf(member(it, "uid")) ?? "");
}

const versioned = (object: JsonObject, version: number): JsonObject => ({
  ...object,
  metadata: { ...(object["metadata"] as JsonObject), resourceVersion: String(version) },
});
