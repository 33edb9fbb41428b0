import type { Binding, PendingRemoval, Target } from "../model/binding.ts";
import type { ForeignObject } from "../model/deletion.ts";
import { remembered } from "../model/identity.ts";
import {
  type Inventory,
  type InventoryEntry,
  type InventoryPlacement,
  isRetryPending,
  maxTombstones,
} from "../model/inventory.ts";
import { kindKey, type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import type { LiveObject, Observation } from "../model/observation.ts";
import type { ApplyStrategy } from "../model/placement.ts";
import type { ObjectHandOver, ObjectRemoval, PlacementActions, RenderedManifest, World } from "../model/plan.ts";
import type { Instant, PlacementKey, Sequence } from "../model/value.ts";
import { disturbedPlacements } from "./disturbed.ts";
import { isBackingOff } from "./fight.ts";
import { isWriteOf, readWrite } from "./mark.ts";

type Reached = Extract<Observation, { kind: "reached" }>;

/** What one binding wants on its member, and what the member has. */
export interface LiveComparison {
  readonly placement: PlacementKey;
  readonly binding: Binding;
  /** Renders the binding's target, if something may have to be written; null: it cannot be rendered now. */
  readonly render: () => readonly RenderedManifest[] | null;
  readonly member: Reached;
  /** Whether the removal of the object waits for a confirmation. */
  readonly isHeld: (key: ObjectKey) => boolean;
  /** Others' objects whose deletion with a Namespace or definition was confirmed; null without a confirmation. */
  readonly confirmedOthers: (key: ObjectKey) => readonly ForeignObject[] | null;
  readonly applyStrategy: ApplyStrategy;
  /** What becomes of an object of `leaving` because somebody wants it there; null where nobody does, so that it goes. */
  readonly stay: (leave: PendingRemoval) => Stay | null;
  /** Renders what is kept for others; called only where `stay` says that there is something. */
  readonly renderKept: () => readonly RenderedManifest[];
  /** From whom an object of the target may be taken, the likeliest first. */
  readonly sourcesOf: (key: ObjectKey) => readonly Omit<ObjectHandOver, "key">[];
  readonly now: Instant;
  readonly patience: World["patience"];
}

/**
 * Why an object that leaves is not taken away: it is `kept`, and put right, until the turn of who wants it comes there; then
 * it is `due` to be taken by that one; `taken`, it is in the other one's inventory, and ours forgets it (`plan/README.md#d-9`).
 */
export type Stay = "kept" | "due" | "taken";

/**
 * What has to be written on a member so that it carries its binding's target and nothing else; null when nothing has to
 * be. Objects are removed only once everything wanted is applied (`apply/README.md#c-11`, `#c-33`), and only what the
 * inventory lists (`plan/README.md#d-1`); what no binding explains stays (`#d-7`).
 */
export function placementActions(comparison: LiveComparison): PlacementActions | null {
  const { binding, member, placement, applyStrategy } = comparison;
  const carried = member.inventory.placements.get(placement) ?? null;
  if (binding.removal !== null) return withdraw(comparison, carried, binding.removal.sequence);
  const { target } = binding;
  if (target === null || isUpToDate(comparison)) return null;

  const claimed = isClaimed(carried, target);
  const desired = comparison.render();
  if (desired === null) return null;
  const due = desired.filter((it) => mustApply(comparison, it, carried));
  const apply = [...due, ...keptToApply(comparison, carried)];
  const isComplete = claimed && due.length === 0 && desired.every((it) => isApplied(comparison, carried, it.key));
  const { remove, forget } = isComplete ? removalsOf(comparison, carried, leavingKeys(binding)) : nothing;
  const forgotten = claimed ? [...forget, ...strays(comparison, carried, desired)] : forget;
  if (claimed && apply.length === 0 && remove.length === 0 && forgotten.length === 0) return null;
  const { sequence, digest } = target;
  const recover = leavingIds(binding);
  return {
    placement,
    sequence,
    digest,
    applyStrategy,
    apply,
    remove,
    forget: forgotten,
    recover,
    ...(carried === null ? {} : { isListed: true }),
    ...taking(comparison, due),
  };
}

/** What is kept for others and has to be put right. What never was ours is nobody's to make. */
function keptToApply(comparison: LiveComparison, carried: InventoryPlacement | null): readonly RenderedManifest[] {
  const kept = comparison.binding.leaving.filter((it) => comparison.stay(it) === "kept");
  if (kept.length === 0) return noManifests;
  const keys = new Set(kept.map((it) => objectKey(it.id)));
  const isOurs = (key: ObjectKey): boolean => {
    const entry = carried?.entries.get(key);
    return entry !== undefined && (entry.uid !== null || entry.outcome.kind === "claimed");
  };
  return comparison
    .renderKept()
    .filter((it) => keys.has(it.key) && isOurs(it.key) && mustApply(comparison, it, carried));
}

const noManifests: readonly RenderedManifest[] = [];

/** What is handed over of what is written now. */
function taking(
  { sourcesOf }: LiveComparison,
  apply: readonly RenderedManifest[],
): Pick<PlacementActions, "handOvers"> {
  const handOvers = apply.flatMap(({ key }): readonly ObjectHandOver[] =>
    sourcesOf(key).map((source) => ({ key, ...source })),
  );
  return handOvers.length === 0 ? {} : { handOvers };
}

/** Always all of it: only the claim shows whether the inventory still knows the placement (`apply/README.md#f-43`). */
const leavingIds = ({ leaving }: Binding): PlacementActions["recover"] => leaving.map((it) => it.id);

/** A quick test whether nothing has to be done: not admitted yet, or the member carries exactly the target. */
export function isUpToDate(
  look: Pick<LiveComparison, "placement" | "binding" | "member" | "now" | "patience">,
): boolean {
  const { binding, member } = look;
  const { target } = binding;
  if (binding.removal !== null) return false;
  const carried = member.inventory.placements.get(look.placement) ?? null;
  if (binding.state === "Scheduled" || target === null || (carried !== null && carried.sequence > target.sequence))
    return true;
  if (binding.leaving.length > 0 || !isClaimed(carried, target)) return false;
  if (!disturbedPlacements(member).has(look.placement)) return true;
  for (const [key, it] of carried.entries) if (!isSettled(look, key, it)) return false;
  return true;
}

const isClaimed = (carried: InventoryPlacement | null, { sequence, digest }: Target): carried is InventoryPlacement =>
  carried?.sequence === sequence && carried.digest === digest;

/** Entries without a decision whose objects are gone. */
function strays(
  comparison: LiveComparison,
  carried: InventoryPlacement,
  desired: readonly RenderedManifest[],
): readonly ObjectKey[] {
  const explained = new Set([...desired.map((it) => it.key), ...leavingKeys(comparison.binding)]);
  return [...carried.entries].flatMap(([key, it]) => (!explained.has(key) && isGone(comparison, key, it) ? key : []));
}

function isApplied({ member }: LiveComparison, carried: InventoryPlacement, key: ObjectKey): boolean {
  const entry = carried.entries.get(key);
  return entry?.outcome.kind === "applied" && !isGoing(member.objects.get(key), entry);
}

const nothing: Pick<PlacementActions, "remove" | "forget"> = { remove: [], forget: [] };

/**
 * Removes everything that the binding explains; other entries are orphans and stay. When nothing is left, the removal
 * itself is claimed if the member has not recorded it, which fences off older decisions.
 */
function withdraw(
  comparison: LiveComparison,
  carried: InventoryPlacement | null,
  sequence: Sequence,
): PlacementActions | null {
  if (carried !== null && carried.sequence > sequence) return null;
  const { binding, member, placement, applyStrategy } = comparison;
  const { remove, forget } = carried === null ? nothing : removalsOf(comparison, carried, leavingKeys(binding));
  const apply = keptToApply(comparison, carried);
  const recover = leavingIds(binding);
  const isDone = recover.length > 0 ? carried !== null : isFenced(member.inventory, placement, sequence);
  if (apply.length + remove.length + forget.length === 0 && isDone) return null;
  return { placement, sequence, digest: null, applyStrategy, apply, remove, forget, recover };
}

const leavingKeys = (binding: Binding): readonly ObjectKey[] => binding.leaving.map((it) => objectKey(it.id));

/**
 * Whether nothing is to be written: the member carries exactly what was last applied, or the object is being deleted,
 * which no write prevents, or it is fought over. Absence from a list that failed proves nothing.
 */
function isSettled(
  { member, now, patience }: Pick<LiveComparison, "member" | "now" | "patience">,
  key: ObjectKey,
  entry: InventoryEntry,
): boolean {
  const live = member.objects.get(key);
  if (isGoing(live, entry)) return true;
  if (entry.outcome.kind === "failed") return patience === "retryAt" && isRetryPending(entry.outcome.retryAt, now);
  if (entry.outcome.kind !== "applied") return false;
  if (isBackingOff(entry.repairs, now)) return true;
  if (live === undefined) return member.unlisted.has(kindKey(objectIdOf(key)));
  return live.uid === entry.uid && live.fingerprint === entry.fingerprint;
}

/** Whether the object in the inventory is being deleted. */
const isGoing = (live: LiveObject | undefined, { uid }: InventoryEntry): boolean =>
  live?.terminating === true && live.uid === uid;

function mustApply(comparison: LiveComparison, wanted: RenderedManifest, carried: InventoryPlacement | null): boolean {
  const entry = carried?.entries.get(wanted.key);
  if (entry === undefined) return true;
  if (isGoing(comparison.member.objects.get(wanted.key), entry)) return false;
  return (
    entry.digest !== wanted.digest || entry.version !== wanted.id.version || !isSettled(comparison, wanted.key, entry)
  );
}

/** The removal of each of `keys` that the inventory still lists. */
function removalsOf(
  comparison: LiveComparison,
  carried: InventoryPlacement,
  keys: readonly ObjectKey[],
): Pick<PlacementActions, "remove" | "forget"> {
  const remove: ObjectRemoval[] = [];
  const forget: ObjectKey[] = [];
  for (const key of keys) {
    const entry = carried.entries.get(key);
    if (entry === undefined) continue;
    const stay = stayOf(comparison, key);
    // What somebody took our mark off, or made anew, is not ours to hand over either.
    if (stay === "taken" || (stay === "due" && isGone(comparison, key, entry))) forget.push(key);
    if (stay !== null || comparison.isHeld(key)) continue;
    if (isGone(comparison, key, entry)) forget.push(key);
    else if (isDue(comparison, key, entry)) remove.push(removalOf(comparison, key, entry));
  }
  return { remove, forget };
}

function stayOf({ binding, stay }: LiveComparison, key: ObjectKey): Stay | null {
  const leave = binding.leaving.find((it) => objectKey(it.id) === key);
  return leave === undefined ? null : stay(leave);
}

/** Gone, recreated or without our mark: not ours (`plan/README.md#d-1`). An incomplete list proves nothing. */
function isGone({ member, placement }: LiveComparison, key: ObjectKey, entry: InventoryEntry): boolean {
  const live = member.objects.get(key);
  if (live === undefined) return !member.unlisted.has(kindKey(objectIdOf(key)));
  if (live.uid === entry.uid) return live.mark === null;
  return entry.uid !== null && !isOurWrite(live, entry, member.inventory, placement);
}

/** A write whose result is not in the inventory yet. The executor checks the label. */
function isOurWrite(
  { mark }: LiveObject,
  entry: InventoryEntry,
  inventory: Inventory,
  placement: PlacementKey,
): boolean {
  const write = mark === null ? null : readWrite(mark);
  if (write === null || write.fleet !== inventory.fleet || write.epoch !== inventory.epoch) return false;
  return isWriteOf(write, entry, inventory.placements.get(placement)?.sequence ?? entry.sequence);
}

/** A deletion under way is not repeated; a failed one is retried like every failed write. */
function isDue(comparison: LiveComparison, key: ObjectKey, entry: InventoryEntry): boolean {
  const { member, now, patience, confirmedOthers } = comparison;
  if (member.objects.get(key)?.terminating === true) return false;
  const { outcome } = entry;
  if (outcome.kind === "lingering") {
    if (outcome.code === "Terminating" || patience === "none") return true;
    // A refused deletion is retried by every single run, and by a daemon once in a while.
    if (outcome.code !== "NamespaceNotEmpty") return false;
    const isAbandoned = comparison.binding.removal?.propagation === "Abandon";
    return isAbandoned || outcome.others === undefined || confirmedOthers(key) !== null;
  }
  return outcome.kind !== "failed" || patience === "none" || !isRetryPending(outcome.retryAt, now);
}

/** An adopted object is released, unless placement or confirmation say otherwise (`apply/README.md#takeover`). */
function removalOf(comparison: LiveComparison, key: ObjectKey, entry: InventoryEntry): ObjectRemoval {
  const { binding } = comparison;
  const others = comparison.confirmedOthers(key);
  const abandoned = binding.removal?.propagation === "Abandon";
  const leave = binding.leaving.find((it) => objectKey(it.id) === key);
  const isLetGo = leave === undefined || leave.released || (entry.adopted && !leave.evenAdopted);
  const keeps = abandoned || (isLetGo && others === null);
  const id = { ...objectIdOf(key), version: entry.version };
  const live = comparison.member.objects.get(key);
  // It is ours with a uid that was never recorded: that is looked up first, as for a claim without a result.
  const uid = live !== undefined && live.uid !== entry.uid ? null : entry.uid;
  return { id, key, uid, how: keeps ? "release" : "delete", cascadesTo: others ?? [] };
}

/**
 * Whether a member refuses older decisions about a placement: `sequence` or a later one was claimed there.
 *
 * Otherwise an executor that was suspended before its claim could come back after a removal that the member does not
 * know of, and write objects that no decision explains. A member that remembers as many later removals as it has room
 * for would drop this one first, so that has to do.
 */
export function isFenced(inventory: Inventory, placement: PlacementKey, sequence: Sequence): boolean {
  const carried = inventory.placements.get(placement);
  if (carried !== undefined) return carried.sequence >= sequence;
  const oldest = oldestKept(inventory);
  return oldest !== null && oldest >= sequence;
}

/** The oldest removal that a full inventory keeps; null while there is room. */
const oldestKept = remembered(({ placements }: Inventory): Sequence | null => {
  const removals: Sequence[] = [];
  for (const it of placements.values()) if (it.entries.size === 0) removals.push(it.sequence);
  return removals.sort((a, b) => b - a)[maxTombstones - 1] ?? null;
});
