import type { Intent } from "../model/intent.ts";
import type { SourcedManifest } from "../model/manifest.ts";
import { kindKey } from "../model/scope.ts";

/** The objects of one commit by what selection asks for: their kind, and the namespace they live in. */
export interface ObjectIndex {
  readonly objects: Intent["objects"];
  /** Under `group/Kind`, whatever the version. */
  readonly byKind: ReadonlyMap<string, readonly SourcedManifest[]>;
  readonly byNamespace: ReadonlyMap<string, readonly SourcedManifest[]>;
}

const indexes = new WeakMap<Intent["objects"], ObjectIndex>();

/**
 * The index of `objects`, built once per map: a thousand placements then cost what they select, not what the fleet
 * holds.
 */
export function objectIndexOf(objects: Intent["objects"]): ObjectIndex {
  const built = indexes.get(objects);
  if (built !== undefined) return built;
  const index: ObjectIndex = {
    objects,
    byKind: groupBy(objects, (it) => kindKey(it.id)),
    byNamespace: groupBy(objects, (it) => it.id.namespace),
  };
  indexes.set(objects, index);
  return index;
}

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
