import type { Inventory, InventoryEntry, InventoryPlacement } from "../../../core/model/inventory.ts";
import { canonicalJson, digestOfText, isObject, type JsonObject } from "../../../core/model/json.ts";
import type { ObjectKey } from "../../../core/model/manifest.ts";
import { compareText, type Digest, type Epoch, type PlacementKey, type Sequence } from "../../../core/model/value.ts";
import { parseBoundedJson } from "../client/bounded-json.ts";
import { entryOf, isCount, lineOf } from "./entry-line.ts";

/** What one ConfigMap of the inventory holds: names of data keys and their texts. */
export type Shard = Readonly<Record<string, string>>;

/** Bytes of text that a shard holds at most: etcd takes 1.5 MB, managed fields and names included. */
const shardLimit = 500_000;

/**
 * The inventory as texts, one set per shard, in the order of the shards.
 *
 * A function of the inventory alone: the same inventory gives the same bytes, and a changed placement changes the shard
 * that holds it and no other, because placements are dealt out by a hash of their names. A placement too large for a
 * shard is cut into parts by hashes of its objects' keys. Shards and parts double in number when they do not suffice.
 */
export function encodeInventory(
  inventory: Inventory,
  limit = shardLimit,
  knownText: KnownText = () => null,
): readonly Shard[] {
  const units = [...inventory.placements.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([key, placement]) => {
      const text = knownText(key, placement);
      return text === null ? unitsOf(key, placement, limit / 4) : [[unitName(key, 0), text] as const];
    });
  for (let count = 1; ; count *= 2) {
    const shards: Record<string, string>[] = Array.from({ length: count }, () => ({}));
    for (const [name, text] of units) (shards[bucketOf(name, count)] as Record<string, string>)[name] = text;
    if (count < maxShards && shards.some((it) => sizeOf(it) > limit)) continue;
    const header = canonicalJson({ format, fleet: inventory.fleet, epoch: inventory.epoch, shards: count });
    return shards.map((it) => ({ [headerKey]: header, ...it }));
  }
}

/** The text of a placement that stands in one piece, if somebody has it already. */
type KnownText = (key: PlacementKey, placement: InventoryPlacement) => string | null;

/**
 * The texts of an inventory as its shards have them. Who changes one placement of a thousand puts one into words again.
 * A placement in several parts, or twice, as a crash may leave it, is put into words anew.
 */
export function placementTexts(shards: Iterable<Shard>, { placements }: Inventory): KnownText {
  const texts = new Map<PlacementKey, string | null>();
  for (const shard of shards) {
    for (const [name, text] of Object.entries(shard)) texts.set(keyOf(name), texts.has(keyOf(name)) ? null : text);
  }
  return (key, placement) => (placements.get(key) === placement ? (texts.get(key) ?? null) : null);
}

/**
 * The inventory that shards hold, by their number; null when they are incomplete or not ours to understand. `oldestFirst`
 * gives their numbers in the order in which they were written: what two of them say, as after a crash, the later one knows.
 */
export function decodeInventory(
  shards: ReadonlyMap<number, Shard>,
  oldestFirst: readonly number[] = [...shards.keys()].sort((a, b) => a - b),
): Inventory | null {
  const headers = new Map<number, Header>();
  for (const [at, shard] of shards) {
    const header = headerOf(shard[headerKey]);
    if (header === null) return null;
    headers.set(at, header);
  }
  if (!isComplete(headers)) return null;
  const all = [...headers.values()];
  if (new Set(all.map((it) => it.fleet)).size !== 1) return null;
  const parts = new Map<PlacementKey, { readonly part: InventoryPlacement; readonly age: number }[]>();
  for (const [at, shard] of [...shards].sort(([a], [b]) => a - b)) {
    for (const [name, text] of Object.entries(shard)) {
      if (name === headerKey) continue;
      const part = placementOf(text);
      if (part === null) return null;
      const list = parts.get(keyOf(name)) ?? [];
      list.push({ part, age: oldestFirst.indexOf(at) });
      parts.set(keyOf(name), list);
    }
  }
  const placements = new Map<PlacementKey, InventoryPlacement>();
  for (const [key, list] of parts) {
    for (const { part } of list.sort((a, b) => a.age - b.age)) placements.set(key, joined(placements.get(key), part));
  }
  return { fleet: all[0]?.fleet ?? "", epoch: Math.max(...all.map((it) => it.epoch)) as Epoch, placements };
}

/**
 * Counts changes that an older flotilla must not act upon. From 2 on, an object that one placement hands over to another one
 * may stand in the parts of both, and is deleted for the sake of neither (`plan/README.md#d-9`). What was written as 1 is read
 * as it is.
 */
const format = 2;
const oldestFormat = 1;
/** Placement names begin with a letter or digit, so this one is free. */
const headerKey = "_inventory";
const maxShards = 256;
const maxParts = 256;

interface Header {
  readonly fleet: string;
  readonly epoch: number;
  readonly shards: number;
}

/**
 * Whether nothing is missing. While shards are being doubled or halved, old and new ones stand side by side: either all of
 * the smaller number are there and say so, or all of the larger number are there. Writers keep to that order.
 */
function isComplete(headers: ReadonlyMap<number, Header>): boolean {
  const counts = [...headers.values()].map((it) => it.shards);
  const has = (count: number, saying: number | null): boolean =>
    Array.from({ length: count }, (_, at) => headers.get(at)).every(
      (it) => it !== undefined && (saying === null || it.shards === saying),
    );
  const smallest = Math.min(...counts);
  return has(smallest, smallest) || has(Math.max(...counts), null);
}

function headerOf(text: string | undefined): Header | null {
  const header = parseBoundedJson(text ?? "");
  if (!isObject(header)) return null;
  const { format: version, fleet, epoch, shards } = header;
  if (!isCount(version) || version < oldestFormat || version > format) return null;
  if (typeof fleet !== "string" || !isCount(epoch) || !isCount(shards) || shards < 1 || shards > maxShards) return null;
  return { fleet, epoch, shards };
}

/** A placement as named texts: usually one, of at most `limit` bytes. */
function unitsOf(
  key: PlacementKey,
  placement: InventoryPlacement,
  limit: number,
): readonly (readonly [string, string])[] {
  const head = canonicalJson([placement.sequence, placement.digest]);
  const lines = [...placement.entries.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([object, entry]) => ({ object, line: lineOf(object, entry) }));
  for (let count = 1; ; count *= 2) {
    const parts = Array.from({ length: count }, () => [head]);
    for (const { object, line } of lines) (parts[bucketOf(object, count)] as string[]).push(line);
    const texts = parts.map((it) => it.join("\n"));
    if (count < maxParts && texts.some((it) => Buffer.byteLength(it) > limit)) continue;
    return texts.map((text, at): readonly [string, string] => [unitName(key, at), text]);
  }
}

/** `team/web` is `team_web`, its second part `team_web.1`: neither sign occurs in names of placements or namespaces. */
const unitName = (key: PlacementKey, part: number): string => key.replace("/", "_") + (part === 0 ? "" : `.${part}`);
const keyOf = (name: string): PlacementKey => name.replace(/\.\d+$/, "").replace("_", "/") as PlacementKey;

const bucketOf = (text: string, count: number): number =>
  count === 1 ? 0 : Number.parseInt(digestOfText(text).slice(0, 8), 16) % count;

const sizeOf = (shard: Shard): number =>
  Object.entries(shard).reduce((sum, [name, text]) => sum + name.length + Buffer.byteLength(text), 0);

function placementOf(text: string): InventoryPlacement | null {
  const [head = "", ...lines] = text.split("\n");
  const read = parseBoundedJson(head);
  if (!Array.isArray(read) || !isCount(read[0]) || typeof read[1] !== "string") return null;
  const entries = new Map<ObjectKey, InventoryEntry>();
  for (const line of lines) {
    const entry = entryOf(parseBoundedJson(line));
    if (entry === null) return null;
    entries.set(...entry);
  }
  return { sequence: read[0] as Sequence, digest: read[1] as Digest, entries };
}

/** Parts of one placement, or after a crash two states of it: the later claim wins, then what was written later. */
function joined(a: InventoryPlacement | undefined, b: InventoryPlacement): InventoryPlacement {
  if (a === undefined) return b;
  const [older, newer] = a.sequence > b.sequence ? [b, a] : [a, b];
  return { ...newer, entries: new Map([...older.entries, ...newer.entries]) };
}

/** The `data` of a ConfigMap as a shard; members that are no text are left for the decoder to miss. */
export const shardOf = (data: JsonObject): Shard =>
  Object.fromEntries(Object.entries(data).filter((it): it is [string, string] => typeof it[1] === "string"));
