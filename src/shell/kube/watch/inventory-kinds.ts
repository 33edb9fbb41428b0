import type { Inventory, InventoryEntry } from "../../../core/model/inventory.ts";
import { kindKey, type ObjectKey, objectIdOf, type VersionedId } from "../../../core/model/manifest.ts";
import type { Observation } from "../../../core/model/observation.ts";
import { compareText } from "../../../core/model/value.ts";
import type { LiveObjects } from "./live-objects.ts";

/** The objects of one kind, in one version, that an inventory names. */
export interface KindShare {
  readonly kind: Pick<VersionedId, "group" | "kind" | "version">;
  readonly keys: ReadonlySet<ObjectKey>;
}

/**
 * An inventory's objects by `group/version/Kind`. Fingerprints speak in the paths of one version, so a kind is listed in
 * the version in which it was written.
 */
export function sharesOf({ placements }: Inventory): ReadonlyMap<string, KindShare> {
  const versions = new Map<ObjectKey, InventoryEntry>();
  for (const { entries } of placements.values()) {
    for (const [key, entry] of entries) if (!versions.has(key) || entry.uid !== null) versions.set(key, entry);
  }
  const shares = new Map<string, { kind: KindShare["kind"]; keys: Set<ObjectKey> }>();
  for (const [key, { version }] of versions) {
    const { group, kind } = objectIdOf(key);
    const name = `${group}/${version}/${kind}`;
    const share = shares.get(name) ?? { kind: { group, kind, version }, keys: new Set() };
    shares.set(name, share);
    share.keys.add(key);
  }
  return shares;
}

/** What was found of one share; null when the member would not tell. */
export interface FoundShare {
  readonly share: KindShare;
  readonly found: LiveObjects | null;
}

/** The part of an observation that tells of objects. */
export type ObjectsSeen = Pick<Extract<Observation, { kind: "reached" }>, "objects" | "unlisted">;

/** Puts shares together. A list in one version holds the objects of all versions; each is taken from the list in its own. */
export function objectsOf(seen: readonly FoundShare[]): ObjectsSeen {
  const unlisted = seen.filter(({ found }) => found === null).map(({ share }) => kindKey(share.kind));
  const named = new Set(seen.flatMap(({ share }) => [...share.keys]));
  const found = seen
    .flatMap(({ share, found: all }) => [...(all ?? [])].filter(([key]) => share.keys.has(key) || !named.has(key)))
    .sort(([a], [b]) => compareText(a, b));
  return { objects: new Map(found), unlisted: new Set(unlisted.sort(compareText)) };
}
