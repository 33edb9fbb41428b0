import { sameMap } from "../model/identity.ts";
import type { ClusterRecord, CollectionRecord, PropertyOrigin } from "../model/ledger.ts";
import { authorityProperty, entrypointProperty, resourcePrefix } from "../model/names.ts";
import { type Collected, type FactSource, type MemberProperties, noProperties } from "../model/observation.ts";
import { compareText, type DurationMs, type Instant, later, minutes } from "../model/value.ts";
import { type ComparedValues, isPastThreshold } from "./threshold.ts";

/** What is recorded of the facts about a member. */
export interface FactsRecord {
  readonly properties: MemberProperties;
  readonly collection: CollectionRecord;
  /** When the same observation would be recorded in another way; null when there is no such moment. */
  readonly until: Instant | null;
}

/** How long what is available stays as recorded, unless it crosses a value of a policy. */
const calm: DurationMs = minutes(15);

/**
 * What is recorded of a member, from what is on record and what was collected (`members/README.md#when-it-is-recorded`).
 *
 * What was not read stays as recorded, and what hardly changed does as well: the same collection, recorded twice, changes
 * nothing (`===`). `read` are the properties that are read with every look, as they are to be recorded.
 */
export function recordedFacts(
  before: Pick<ClusterRecord, "properties" | "collection">,
  { read, collected, priced = noProperties }: FactsSeen,
  { compared, now }: { readonly compared: ComparedValues; readonly now: Instant },
): FactsRecord {
  const found = foundFacts(before, { read, collected, priced });
  const { isNews, until } = judgeResources(before, found, { compared, now });
  const entries = [...found].map(([name, { value, origin }]): Entry => {
    const was = before.properties.get(name);
    if (was === undefined) return [name, value];
    const isOwn = origin === undefined && before.collection.origins.get(name) === undefined;
    const isSame = isOwn && !isPastThreshold(name, was, value, compared);
    return [name, (isResource(name, origin) ? isNews : !isSame) ? value : was];
  });
  const properties = inOrder(entries);
  const origins = inOrder([...found].flatMap(([name, { origin }]) => (origin === undefined ? [] : [[name, origin]])));
  return {
    properties: same(before.properties, properties),
    collection: collectionOf(before.collection, {
      origins,
      labels: collected.missing.some((it) => it.source === "nodes") ? before.collection.labels : collected.labels,
      measuredAt: measuredAt(before, properties, { isNews, now }),
    }),
    until,
  };
}

interface FactsSeen {
  readonly read: MemberProperties;
  readonly collected: Collected;
  /** What follows from prices. */
  readonly priced?: MemberProperties;
}

type Entry = readonly [name: string, value: string];

interface FoundFact {
  readonly value: string;
  /** Undefined: the cluster itself. */
  readonly origin: PropertyOrigin | undefined;
}

/** Every property that the member has now, and from whom: the first of these that has it. */
function foundFacts(
  { properties, collection }: Pick<ClusterRecord, "properties" | "collection">,
  { read, collected, priced }: Required<FactsSeen>,
): ReadonlyMap<string, FoundFact> {
  const unread = new Set(collected.missing.map((it) => it.source));
  const found = new Map<string, FoundFact>();
  const add = (entries: Iterable<Entry>, origin: PropertyOrigin | undefined): void => {
    for (const [name, value] of entries) if (!found.has(name)) found.set(name, { value, origin });
  };
  const kept = (origin: PropertyOrigin | undefined): readonly Entry[] =>
    [...properties].filter(
      ([name]) =>
        collection.origins.get(name) === origin && sourcesOf(name, origin, read).some((source) => unread.has(source)),
    );
  add(read, undefined);
  add(collected.properties, undefined);
  add(kept(undefined), undefined);
  add(collected.provided, "provider");
  add(kept("provider"), "provider");
  add(priced, "price");
  add(kept("price"), "price");
  return found;
}

/** What has to be read to know a property. */
function sourcesOf(name: string, origin: PropertyOrigin | undefined, read: MemberProperties): readonly FactSource[] {
  if (origin === "provider") return ["providers"];
  if (read.has(name) || name === entrypointProperty || name === authorityProperty) return [];
  return isAvailable(name) ? ["nodes", "pods"] : ["nodes"];
}

const isAvailable = (name: string): boolean => name.startsWith(`${resourcePrefix}available-`);

/** Resources of the cluster itself are recorded together: they are parts of one measurement. */
const isResource = (name: string, origin: PropertyOrigin | undefined): boolean =>
  origin === undefined && name.startsWith(resourcePrefix);

interface JudgeInput {
  readonly compared: ComparedValues;
  readonly now: Instant;
}

/** Whether a measurement of resources is worth a commit, and when it will be if it is not yet. */
function judgeResources(
  { properties, collection }: Pick<ClusterRecord, "properties" | "collection">,
  found: ReadonlyMap<string, FoundFact>,
  { compared, now }: JudgeInput,
): { readonly isNews: boolean; readonly until: Instant | null } {
  const { measuredAt, origins } = collection;
  const due = measuredAt === null ? now : later(measuredAt, calm);
  let until: Instant | null = null;
  for (const [name, { value, origin }] of found) {
    if (!isResource(name, origin)) {
      // A provider's are parts of the same measurement.
      if (name.startsWith(resourcePrefix) && properties.get(name) !== value) return { isNews: true, until: null };
      continue;
    }
    const was = origins.get(name) === undefined ? properties.get(name) : undefined;
    if (was === undefined) return { isNews: true, until: null };
    if (!isPastThreshold(name, was, value, compared)) continue;
    if (!isAvailable(name) || due <= now || isPastThreshold(name, was, value, compared, "values"))
      return { isNews: true, until: null };
    until = due;
  }
  return { isNews: false, until };
}

const measuredAt = (
  { properties, collection }: Pick<ClusterRecord, "properties" | "collection">,
  next: MemberProperties,
  { isNews, now }: { readonly isNews: boolean; readonly now: Instant },
): Instant | null => {
  const names = [...next.keys()].filter((it) => it.startsWith(resourcePrefix));
  if (names.length === 0) return null;
  return isNews || collection.measuredAt === null || names.some((it) => !properties.has(it))
    ? now
    : collection.measuredAt;
};

const inOrder = <V extends string>(entries: readonly (readonly [string, V])[]): ReadonlyMap<string, V> =>
  new Map([...entries].sort(([a], [b]) => compareText(a, b)));

const same = <V>(before: ReadonlyMap<string, V>, next: ReadonlyMap<string, V>): ReadonlyMap<string, V> =>
  sameMap(before, next) ? before : next;

function collectionOf(before: CollectionRecord, next: CollectionRecord): CollectionRecord {
  const origins = same(before.origins, next.origins);
  const labels = same(before.labels, next.labels);
  const isSame = origins === before.origins && labels === before.labels && next.measuredAt === before.measuredAt;
  return isSame ? before : { origins, labels, measuredAt: next.measuredAt };
}
