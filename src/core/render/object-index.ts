import { remembered, sameList } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import { kindKey, type ObjectKey, type Scope, type SourcedManifest } from "../model/manifest.ts";

/** The objects of one commit, by key, kind and namespace. */
export interface ObjectIndex {
  readonly objects: Lookup<ObjectKey, SourcedManifest>;
  /** Under `group/Kind`, whatever the version. */
  readonly byKind: Lookup<string, readonly SourcedManifest[]>;
  readonly byNamespace: Lookup<string, readonly SourcedManifest[]>;
}

/** A map that can only be read by key. */
type Lookup<K, V> = Pick<ReadonlyMap<K, V>, "get">;

/** The index of `objects`, built once per map, so that a placement costs what it selects. */
export const objectIndexOf: (objects: Intent["objects"]) => ObjectIndex = remembered((objects) => ({
  objects,
  byKind: groupBy(objects, (it) => kindKey(it.id)),
  byNamespace: groupBy(objects, (it) => it.id.namespace),
}));

function groupBy(
  objects: Intent["objects"],
  keyOf: (object: SourcedManifest) => string | null,
): ReadonlyMap<string, readonly SourcedManifest[]> {
  const groups = new Map<string, SourcedManifest[]>();
  for (const object of objects.values()) {
    const key = keyOf(object);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [object]);
    else group.push(object);
  }
  return groups;
}

export interface SelectionIndex extends ObjectIndex {
  readonly scopes: Lookup<string, Scope>;
}

export interface RecordedLookup {
  readonly shelf: keyof SelectionIndex;
  readonly key: string;
  readonly found: unknown;
}

/** The same shelves; what is looked up is recorded in `looks`. */
export function recordingLookups(shelves: SelectionIndex, looks: RecordedLookup[]): SelectionIndex {
  const noting = <K extends string, V>(shelf: keyof SelectionIndex, it: Lookup<K, V>): Lookup<K, V> => ({
    get: (key) => {
      const found = it.get(key);
      looks.push({ shelf, key, found });
      return found;
    },
  });
  return {
    objects: noting("objects", shelves.objects),
    byKind: noting("byKind", shelves.byKind),
    byNamespace: noting("byNamespace", shelves.byNamespace),
    scopes: noting("scopes", shelves.scopes),
  };
}

/** Whether every lookup gives the same again: then so does whatever was computed from them. */
export const findsTheSame = (shelves: SelectionIndex, looks: readonly RecordedLookup[]): boolean =>
  looks.every(({ shelf, key, found }) => {
    const now: unknown = (shelves[shelf] as Lookup<string, unknown>).get(key);
    return now === found || (Array.isArray(now) && Array.isArray(found) && sameList(now, found));
  });
