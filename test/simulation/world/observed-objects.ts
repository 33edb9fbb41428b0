import { canonicalJson, isObject, type Json, type JsonObject, memberAt, textOf } from "../../../src/core/model/json.ts";
import { wordIn } from "../people/document.ts";
import type { ObjectPlace } from "./call.ts";
import type { Site } from "./site.ts";

// What a judge sees when looking at a cluster with its own eyes: nothing here comes from the code that is judged.

/** Our mark on a live object. */
export interface Mark {
  readonly placement: string;
  readonly fleet: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** One line of an inventory. */
export interface Entry {
  readonly placement: string;
  readonly key: string;
  readonly uid: string | null;
  readonly adopted: boolean;
  readonly sequence: number;
  /** Why it was last not written, or null. */
  readonly failure: string | null;
}

/** A live object that carries a mark or stands in a namespace, with its key. */
export interface Seen {
  readonly key: string;
  readonly place: ObjectPlace;
  readonly uid: string;
  readonly mark: Mark | null;
  readonly isTerminating: boolean;
  readonly object: JsonObject;
}

/** An object's key, as inventories write it: `group/kind/namespace/name`. */
export const keyOf = ({ group, kind, namespace, name }: ObjectPlace): string =>
  [group, kind, namespace ?? "", name].join("/");

/** The uid of a live object. */
export const uidOf = (object: JsonObject): string => textOf(memberAt(object, "metadata", "uid")) ?? "";

/** The mark on a live object or on what is to become one; null where there is none. */
export function markOf(object: JsonObject): Mark | null {
  const write = textOf(memberAt(object, "metadata", "annotations", "flotilla.dev/write"));
  const [, fleet, epoch, sequence] = /^(.*)\/(\d+)\/(\d+)$/.exec(write ?? "") ?? [];
  if (fleet === undefined) return null;
  const label = textOf(memberAt(object, "metadata", "labels", "flotilla.dev/placement")) ?? "";
  // A label has no slash, and a name of a placement or namespace no dot.
  return { placement: label.replace(".", "/"), fleet, epoch: Number(epoch), sequence: Number(sequence) };
}

/** The identity of the cluster that stands at a site now. */
export const identityAt = (site: Site): string => site.handle.uid;

/** Every object of a site that somebody placed there. */
export const objectsAt = (site: Site): readonly Seen[] => seenOnce(site, seenObjects, lookAtObjects);

/** Whoever asks again before anything has changed there is told the same. */
interface Look<T> {
  readonly version: number;
  readonly seen: T;
}

function seenOnce<T>(site: Site, looks: WeakMap<Store, Look<T>>, look: (site: Site) => T): T {
  const { store } = site.cluster;
  const known = looks.get(store);
  if (known?.version === store.version) return known.seen;
  const seen = look(site);
  looks.set(store, { version: store.version, seen });
  return seen;
}

type Store = Site["cluster"]["store"];
const seenObjects = new WeakMap<Store, Look<readonly Seen[]>>();
const seenAvailable = new WeakMap<Store, Look<ReadonlyMap<string, string>>>();

function lookAtObjects(site: Site): readonly Seen[] {
  return site.objects().flatMap(({ kind, object }): readonly Seen[] => {
    const namespace = textOf(memberAt(object, "metadata", "namespace"));
    const name = textOf(memberAt(object, "metadata", "name")) ?? "";
    if (!["Namespace", "ConfigMap", "Secret", "Deployment"].includes(kind.kind)) return [];
    const place = { group: kind.group, kind: kind.kind, namespace, name };
    const isTerminating = memberAt(object, "metadata", "deletionTimestamp") !== null;
    return [{ key: keyOf(place), place, uid: uidOf(object), mark: markOf(object), isTerminating, object }];
  });
}

/** How far a placement has come on a member, by its inventory: what is older is refused. */
export interface Claim {
  readonly placement: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** What one ConfigMap of an inventory says. */
interface Shard {
  readonly claims: readonly Claim[];
  readonly entries: readonly Entry[];
}

/** What the inventory at a site lists, as it stands in its ConfigMaps. */
export const entriesAt = (site: Site): readonly Entry[] => shardsAt(site).flatMap((it) => it.entries);

/** What was claimed at a site last, for each placement. */
export const claimsAt = (site: Site): readonly Claim[] => shardsAt(site).flatMap((it) => it.claims);

const shards = new WeakMap<JsonObject, Shard>();

function shardsAt(site: Site): readonly Shard[] {
  return site.handle
    .list("", "ConfigMap", "flotilla-system")
    .filter((it) => textOf(memberAt(it, "metadata", "name"))?.startsWith("flotilla-inventory-"))
    .map((it) => {
      const known = shards.get(it) ?? shardOf(it);
      shards.set(it, known);
      return known;
    });
}

function shardOf(map: JsonObject): Shard {
  const data = map["data"];
  if (!isObject(data)) return { claims: [], entries: [] };
  const epoch = Number(memberAt(JSON.parse(String(data["_inventory"])) as Json, "epoch"));
  const parts = Object.entries(data)
    .filter(([name]) => !name.startsWith("_"))
    .map(([name, text]) => {
      const placement = name.replace(/\.\d+$/, "").replace("_", "/");
      const [head, ...lines] = String(text)
        .split("\n")
        .map((it) => JSON.parse(it) as readonly Json[]);
      return { placement, sequence: Number(head?.[0]), lines };
    });
  return {
    claims: parts.map(({ placement, sequence }) => ({ placement, epoch, sequence })),
    entries: parts.flatMap(({ placement, lines }) => lines.map((it) => entryOf(placement, it))),
  };
}

function entryOf(placement: string, line: readonly Json[]): Entry {
  const [key, , , uid, adopted, sequence, , outcome] = line;
  const [kind, code] = Array.isArray(outcome) ? (outcome as readonly Json[]) : [];
  return {
    placement,
    key: String(key),
    uid: textOf(uid ?? null),
    adopted: adopted === 1,
    sequence: Number(sequence),
    failure: kind === "failed" ? String(code) : null,
  };
}

/** What a manifest says apart from our marks, as one text: equal texts are equal content. */
export function contentOf(manifest: JsonObject): string {
  const { metadata, status: _, ...rest } = manifest;
  const { labels, annotations, name, namespace } = isObject(metadata) ? metadata : ({} as JsonObject);
  return canonicalJson({
    ...rest,
    name: name ?? null,
    namespace: namespace ?? null,
    labels: others(labels),
    annotations: others(annotations),
  });
}

function others(map: Json | undefined): JsonObject {
  if (!isObject(map)) return {};
  return Object.fromEntries(Object.entries(map).filter(([key]) => !key.startsWith("flotilla.dev/")));
}

/** What does its work at a site, under the placement whose mark it carries: `placement key` → what it says. */
export const availableAt = (site: Site): ReadonlyMap<string, string> =>
  seenOnce(site, seenAvailable, lookAtWhatIsAvailable);

function lookAtWhatIsAvailable(site: Site): ReadonlyMap<string, string> {
  const refused = new Set(entriesAt(site).flatMap((it) => (it.failure !== null ? [`${it.placement} ${it.key}`] : [])));
  const up = objectsAt(site)
    .filter(({ place, object, isTerminating }) => !isTerminating && (place.kind !== "Deployment" || isHealthy(object)))
    .flatMap(({ key, mark, object }) =>
      mark === null ? [] : [[`${mark.placement} ${key}`, wordIn(object) ?? ""] as const],
    );
  return new Map(up.filter(([at]) => !refused.has(at)));
}

/** Whether a Deployment has taken up its newest version and is available with it. */
export function isHealthy(live: JsonObject): boolean {
  const generation = Number(memberAt(live, "metadata", "generation"));
  const observed = Number(memberAt(live, "status", "observedGeneration") ?? 0);
  return observed >= generation && Number(memberAt(live, "status", "availableReplicas") ?? 0) >= 1;
}
