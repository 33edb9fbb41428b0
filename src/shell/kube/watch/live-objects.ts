import { liveFingerprint } from "../../../core/apply/fingerprint.ts";
import { healthOf } from "../../../core/health/health.ts";
import type { Inventory, InventoryEntry } from "../../../core/model/inventory.ts";
import { type Json, type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import {
  apiVersionOf,
  idOf,
  kindKey,
  type ObjectKey,
  objectIdOf,
  objectKey,
  type VersionedId,
} from "../../../core/model/manifest.ts";
import { fieldManager, writeAnnotation } from "../../../core/model/names.ts";
import type { Health, LiveObject, Observation } from "../../../core/model/observation.ts";
import { compareText } from "../../../core/model/value.ts";
import type { ApiResource } from "../client/discovery.ts";
import { MemberUnreachable } from "../client/member-unreachable.ts";

/** Live objects, each reduced to what decisions need. */
export type LiveObjects = ReadonlyMap<ObjectKey, LiveObject>;

/** The items of a list, reduced; of these keys only, when some are given. */
export function reduceAll(
  items: readonly JsonObject[],
  resource: ApiResource,
  only?: ReadonlySet<ObjectKey>,
): LiveObjects {
  const found = new Map<ObjectKey, LiveObject>();
  for (const item of items) {
    const [key, live] = reduceOne(item, resource);
    if (only === undefined || only.has(key)) found.set(key, live());
  }
  return found;
}

/** One object of a list or a watch: its key, and its reduction on demand. Items of lists have no kind, which health needs. */
export function reduceOne(item: JsonObject, resource: ApiResource): readonly [ObjectKey, () => LiveObject] {
  const live = { ...item, apiVersion: apiVersionOf(resource), kind: resource.kind };
  const id = idOf(live);
  if (id === null)
    throw new MemberUnreachable("Unintelligible", `its list of ${resource.plural} holds an object without a name`);
  return [objectKey(id), () => reduced(live)];
}

/** Whether two reductions are equal: a heartbeat in the status is no change, nor is the last writer. */
export const isSameLiveObject = (a: LiveObject, b: LiveObject): boolean =>
  a.uid === b.uid &&
  a.generation === b.generation &&
  a.fingerprint === b.fingerprint &&
  a.terminating === b.terminating &&
  a.mark === b.mark &&
  sameHealth(a.health, b.health);

const sameHealth = (a: Health, b: Health): boolean =>
  a.phase === b.phase && ("message" in a ? a.message : null) === ("message" in b ? b.message : null);

function reduced(live: JsonObject): LiveObject {
  const metadata: Json = live["metadata"] ?? null;
  const generation = memberAt(metadata, "generation");
  const rival = rivalIn(memberAt(metadata, "managedFields"));
  return {
    uid: textOf(memberAt(metadata, "uid")) ?? "",
    generation: typeof generation === "number" ? generation : 0,
    fingerprint: liveFingerprint(live, fieldManager),
    health: healthOf(live),
    terminating: memberAt(metadata, "deletionTimestamp") !== null,
    mark: textOf(memberAt(metadata, "annotations", writeAnnotation)),
    ...(rival === null ? {} : { rival }),
  };
}

/** The field manager other than us that wrote last, not counting writers of subresources. */
function rivalIn(managedFields: Json): string | null {
  let last: { readonly time: string; readonly name: string } | null = null;
  for (const it of listAt(managedFields)) {
    const [name, time] = [textOf(memberAt(it, "manager")), textOf(memberAt(it, "time")) ?? ""];
    if (name === null || name === fieldManager || (memberAt(it, "subresource") ?? "") !== "") continue;
    if (last === null || time >= last.time) last = { time, name: name.slice(0, 128) };
  }
  return last?.name ?? null;
}

/** The objects of one kind, in one version, that an inventory names. */
export interface InventoryKind {
  readonly kind: Pick<VersionedId, "group" | "kind" | "version">;
  readonly keys: ReadonlySet<ObjectKey>;
}

/** An inventory's objects by `group/version/Kind`: fingerprints speak in the paths of the version last written. */
export function inventoryKinds({ placements }: Inventory): ReadonlyMap<string, InventoryKind> {
  const versions = new Map<ObjectKey, InventoryEntry>();
  for (const { entries } of placements.values()) {
    for (const [key, entry] of entries) if (!versions.has(key) || entry.uid !== null) versions.set(key, entry);
  }
  const kinds = new Map<string, { kind: InventoryKind["kind"]; keys: Set<ObjectKey> }>();
  for (const [key, { version }] of versions) {
    const { group, kind } = objectIdOf(key);
    const name = `${group}/${version}/${kind}`;
    const known = kinds.get(name) ?? { kind: { group, kind, version }, keys: new Set() };
    kinds.set(name, known);
    known.keys.add(key);
  }
  return kinds;
}

/** What was found of one kind; null when the member would not list it. */
interface ObservedKind {
  readonly kind: InventoryKind;
  readonly found: LiveObjects | null;
}

type ObjectsSeen = Pick<Extract<Observation, { kind: "reached" }>, "objects" | "unlisted">;

/** Merges the kinds. A list in one version has the objects of all versions; each is taken from the list in its own. */
export function observedObjects(seen: readonly ObservedKind[]): ObjectsSeen {
  const unlisted = seen.filter(({ found }) => found === null).map(({ kind }) => kindKey(kind.kind));
  const named = new Set(seen.flatMap(({ kind }) => [...kind.keys]));
  const found = seen
    .flatMap(({ kind, found: all }) => [...(all ?? [])].filter(([key]) => kind.keys.has(key) || !named.has(key)))
    .sort(([a], [b]) => compareText(a, b));
  return { objects: new Map(found), unlisted: new Set(unlisted.sort(compareText)) };
}
