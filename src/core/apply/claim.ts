import { type Inventory, type InventoryEntry, type InventoryPlacement, maxTombstones } from "../model/inventory.ts";
import { type ObjectKey, objectIdOf, type VersionedId } from "../model/manifest.ts";
import type { ClusterActions, PlacementActions } from "../model/plan.ts";
import { compareText, type Digest, type PlacementKey, type Sequence } from "../model/value.ts";

/** What an action does to one placement of the inventory. */
export interface InventoryChange {
  readonly sequence: Sequence;
  /** Null when nothing of the placement is to stay. */
  readonly digest: Digest | null;
  /** Null drops the entry. */
  readonly entries: ReadonlyMap<ObjectKey, InventoryEntry | null>;
  /** Which of them are of objects that were to be taken away, or found again for that. */
  readonly leaving: ReadonlySet<ObjectKey>;
}

export type InventoryChanges = ReadonlyMap<PlacementKey, InventoryChange>;

/** Why the inventory refuses a whole action: another fleet's, or later than it. Null when it does not. */
export function claimRefusal({ fleet, epoch }: ClusterActions, inventory: Inventory): string | null {
  if (inventory.fleet !== "" && inventory.fleet !== fleet) {
    return `its inventory belongs to another fleet (${inventory.fleet.slice(0, 80)})`;
  }
  if (inventory.epoch > epoch) return `its inventory is of epoch ${inventory.epoch}, later than this action's ${epoch}`;
  return null;
}

/**
 * Why the inventory refuses one placement's part: a later target was claimed here already
 * (`apply/README.md#inventory-and-claims`). Sequences count within an epoch; a later epoch overrules them.
 */
export function isOutdatedAction(action: PlacementActions, actions: ClusterActions, inventory: Inventory): boolean {
  const there = inventory.placements.get(action.placement);
  return there !== undefined && inventory.epoch === actions.epoch && there.sequence > action.sequence;
}

/** The inventory with the changes. A placement with nothing left stays as a tombstone: its sequence still fences. */
export function withChanges(
  inventory: Inventory,
  changes: InventoryChanges,
  { fleet, epoch }: ClusterActions,
): Inventory {
  const placements = new Map<PlacementKey, InventoryPlacement>(inventory.placements);
  for (const [key, change] of changes) {
    const before = placements.get(key);
    const entries = new Map(before?.entries ?? []);
    for (const [object, entry] of change.entries) {
      if (entry === null) entries.delete(object);
      else entries.set(object, entry);
    }
    const digest = change.digest ?? before?.digest ?? ("" as Digest);
    placements.set(key, { sequence: change.sequence, digest, entries });
  }
  return { fleet, epoch, placements: withoutOldTombstones(placements, changes) };
}

/** An action's own tombstones stay, however many: dropped, they would be asked for again at once. */
function withoutOldTombstones(placements: Inventory["placements"], changes: InventoryChanges): Inventory["placements"] {
  const tombs = [...placements].filter(([key, it]) => it.entries.size === 0 && !changes.has(key));
  if (tombs.length <= maxTombstones) return placements;
  const newestFirst = tombs.sort(([a, x], [b, y]) => y.sequence - x.sequence || compareText(a, b));
  const dropped = new Set(newestFirst.slice(maxTombstones).map(([key]) => key));
  return new Map([...placements].filter(([key]) => !dropped.has(key)));
}

/**
 * What has to be looked at before our results count, when somebody else wrote the inventory since our claim: objects that
 * we wrote under another uid than the inventory has by now, or under one where it has none. Somebody may have made them
 * anew since, or be about to; and of a placement that moved on, they may have been let go.
 */
export function contestedObjects(
  changes: InventoryChanges,
  actions: ClusterActions,
  inventory: Inventory,
): readonly VersionedId[] {
  if (inventory.fleet !== actions.fleet) return [];
  const contested = new Map<ObjectKey, VersionedId>();
  for (const [key, change] of changes) {
    const there = inventory.placements.get(key);
    const isLate = there === undefined || hasMovedOn(change, actions, inventory, there);
    for (const [object, entry] of change.entries) {
      const known = there?.entries.get(object);
      if (entry?.outcome.kind !== "applied" || known?.uid === entry.uid) continue;
      if (isLate ? known !== undefined && !isOpenClaim(known) : known === undefined) continue;
      contested.set(object, { ...objectIdOf(object), version: entry.version });
    }
  }
  return [...contested.values()];
}

/** What stands at a place: an object by its uid, which may bear our mark or not; or nothing, null. */
interface Standing {
  readonly uid: string | null;
  readonly isMarked: boolean;
}

/** What stands at the places of {@link contestedObjects}; without those that could not be looked at. */
export type StandingObjects = ReadonlyMap<ObjectKey, Standing>;

/** What became of the inventory since our claim. */
interface Since {
  /** As our claim left it. */
  readonly claimed: Inventory;
  readonly inventory: Inventory;
  readonly standing: StandingObjects;
}

/**
 * What is left of our results when somebody else wrote the inventory since our claim.
 *
 * A result never overrules a later claim, and never hides what is live. Of a placement that moved on, only objects that we
 * wrote are told of, so that they can be seen and put right: those that the inventory does not know are added, unless they
 * were let go since, and one that is claimed again gets its uid. What somebody else, who carries out the same decision, saw go
 * or come meanwhile stays as it was seen, and whether it was there before us as they say; what is listed under another uid by
 * now is not forgotten. Where they know an object by another uid than we do, the one that is `standing` counts. Where the
 * whole inventory is gone, nothing of ours is written: with a part of what it held it would vouch for what it does not know,
 * and without it all is looked for.
 */
export function changesStillDue(changes: InventoryChanges, actions: ClusterActions, since: Since): InventoryChanges {
  const { inventory } = since;
  if (inventory.fleet !== actions.fleet) return new Map();
  const due = new Map<PlacementKey, InventoryChange>();
  for (const [key, change] of changes) {
    const there = inventory.placements.get(key);
    if (there !== undefined && !hasMovedOn(change, actions, inventory, there)) {
      due.set(key, withoutOverruled(change, there, since.claimed.placements.get(key), since.standing));
      continue;
    }
    const entries = unseenEntries(change, there, since.standing);
    if (entries.size === 0) continue;
    const { sequence, digest } = there ?? change;
    due.set(key, { sequence, digest, entries, leaving: change.leaving });
  }
  return due;
}

/** What we wrote, and what a later decision does not know of by its uid. */
function unseenEntries(
  { entries, leaving }: InventoryChange,
  there: InventoryPlacement | undefined,
  standing: StandingObjects,
): ReadonlyMap<ObjectKey, InventoryEntry> {
  const unseen = new Map<ObjectKey, InventoryEntry>();
  for (const [object, entry] of entries) {
    if (entry === null || entry.uid === null || leaving.has(object)) continue;
    const known = there?.entries.get(object);
    const stands = standing.get(object);
    if (known === undefined) {
      if (!wasLetGo(entry, stands)) unseen.set(object, entry);
    } else if (isOpenClaim(known) && stands?.uid === entry.uid) unseen.set(object, { ...known, uid: entry.uid });
  }
  return unseen;
}

/** Whether what we wrote stands there without our mark: whoever decided later took it off. */
const wasLetGo = ({ uid }: InventoryEntry, stands: Standing | undefined): boolean =>
  stands !== undefined && stands.uid === uid && !stands.isMarked;

/** Whether somebody is about to write an object of which nobody knows that it is there. */
const isOpenClaim = ({ uid, outcome }: InventoryEntry): boolean => uid === null && outcome.kind === "claimed";

/** Whether somebody has claimed a later decision about the placement since. */
const hasMovedOn = (
  { sequence }: InventoryChange,
  { epoch }: ClusterActions,
  inventory: Inventory,
  there: InventoryPlacement,
): boolean => inventory.epoch > epoch || there.sequence > sequence;

/**
 * Without what whoever carries out the same decision knows better: an entry of what leaves that was there when we claimed, and
 * is there no more, is of an object that is gone or let go; and what is to be forgotten has not been found since.
 */
function withoutOverruled(
  change: InventoryChange,
  { entries: known }: InventoryPlacement,
  claimed: InventoryPlacement | undefined,
  standing: StandingObjects,
): InventoryChange {
  const entries = new Map<ObjectKey, InventoryEntry | null>();
  for (const [object, entry] of change.entries) {
    const there = known.get(object);
    if (there === undefined ? change.leaving.has(object) : isOverruled(entry, there, standing.get(object)?.uid))
      continue;
    if (entry === null && there?.uid !== claimed?.entries.get(object)?.uid) continue;
    entries.set(object, entry === null || there === undefined ? entry : withOrigin(entry, there));
  }
  return { ...change, entries };
}

/**
 * Whether the inventory knows better which object stands there: where we do not know it by its uid, and somebody does, it was
 * written since. Of two uids, the one that stands there is right; what could not be looked at is left as somebody knows it.
 */
function isOverruled(
  ours: InventoryEntry | null,
  { uid }: InventoryEntry,
  standing: string | null | undefined,
): boolean {
  if (ours === null || ours.uid === uid) return false;
  if (ours.uid === null || standing === undefined) return uid !== null;
  return standing !== ours.uid;
}

/**
 * Our entry, with what the inventory says of where its object comes from. Whoever made the object or took it over claimed
 * that first; whoever finds it later finds their mark, and can only guess (`apply/README.md#inventory-and-claims`).
 */
const withOrigin = (entry: InventoryEntry, { uid, adopted }: InventoryEntry): InventoryEntry =>
  uid === null || uid === entry.uid ? { ...entry, adopted } : entry;
