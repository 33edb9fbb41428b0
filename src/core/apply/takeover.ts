import type { Inventory, InventoryEntry } from "../model/inventory.ts";
import { memberAt, textOf } from "../model/json.ts";
import type { Manifest, ObjectKey } from "../model/manifest.ts";
import type { ClusterActions, PlacementActions } from "../model/plan.ts";
import type { PlacementKey, Sequence } from "../model/value.ts";
import type { Failure } from "./failure.ts";
import { isWriteOf, type Mark, markOf, readMark } from "./mark.ts";

/** How an object that is to be written is to be gone about. */
export type TakeoverDecision =
  /** Free to be written, under this uid if it has one; null creates it. */
  | { readonly kind: "write"; readonly uid: string | null; readonly adopted: boolean; readonly live: Manifest | null }
  /** Ours, and being deleted: no write keeps it, so it is listed, and made anew once it is gone. */
  | { readonly kind: "wait"; readonly uid: string; readonly adopted: boolean }
  /** Existed before we came, and may be taken only if it differs in nothing. */
  | { readonly kind: "compare"; readonly uid: string; readonly live: Manifest }
  | { readonly kind: "leave"; readonly failure: Failure };

/** Everything that decides whether an object may be taken, besides the object itself. */
interface Claimant extends Pick<ClusterActions, "fleet" | "epoch" | "holders"> {
  readonly key: ObjectKey;
  readonly action: PlacementActions;
  readonly entry: InventoryEntry | null;
  /** Another placement of this fleet that has the object here, or is about to. */
  readonly rival: PlacementKey | null;
}

/** What stands in a member at the place of an object; `unknown` when it could not be looked at. */
type ObjectFound =
  | { readonly kind: "absent" }
  | { readonly kind: "present"; readonly live: Manifest }
  | { readonly kind: "unknown"; readonly refusal: { readonly message: string } };

/** Decides about one object by what stands at its place (`apply/README.md#takeover`). */
export function decideTakeover(found: ObjectFound, claimant: Claimant): TakeoverDecision {
  const { fleet, action, entry, rival } = claimant;
  const leave = (code: Failure["code"], message: string): TakeoverDecision => ({
    kind: "leave",
    failure: { code, message },
  });
  if (found.kind === "unknown") return leave("FailedToFindObjInMemberCluster", found.refusal.message);
  if (found.kind === "absent") {
    if (rival !== null) return leave("FailedToTakeOver", `placement ${rival} places it here`);
    return { kind: "write", uid: null, adopted: false, live: null };
  }
  const { live } = found;
  const uid = textOf(memberAt(live, "metadata", "uid")) ?? "";
  if (isLater(live, claimant)) return leave("FailedToTakeOver", "a later decision has written it");
  if (isClaimed(live, claimant)) {
    const adopted = mayBeAdopted(entry, uid);
    if (isBeingDeleted(live)) return { kind: "wait", uid, adopted };
    return { kind: "write", uid, adopted, live: null };
  }
  const { whenToTakeOver, allowCoOwnership } = action.applyStrategy;
  if (whenToTakeOver === "Never") return leave("NotTakenOver", "it existed before, and whenToTakeOver is Never");
  const mark = readMark(live);
  if (mark !== null && mark.fleet !== fleet) return leave("FailedToTakeOver", "another Flotilla fleet manages it");
  const owner = rival ?? (mark !== null && !isLeftBehind(mark, claimant) ? mark.label : null);
  if (owner !== null) return leave("FailedToTakeOver", `placement ${owner} owns it`);
  const owners = memberAt(live, "metadata", "ownerReferences");
  if (Array.isArray(owners) && owners.length > 0 && !allowCoOwnership) {
    const [first] = owners;
    const name = `${textOf(memberAt(first, "kind")) ?? ""} ${textOf(memberAt(first, "name")) ?? ""}`;
    return leave("FailedToTakeOver", `${name} owns it, and allowCoOwnership is false`);
  }
  // No write keeps it, and what replaces it is made by us.
  if (isBeingDeleted(live)) return leave("FailedToTakeOver", "it is being deleted; ours is created once it is gone");
  return whenToTakeOver === "IfNoDiff" ? { kind: "compare", uid, live } : { kind: "write", uid, adopted: true, live };
}

/**
 * Decides about an object that the inventory knows by its uid: it is written, unless it was seen to be going, or to bear the
 * mark of another placement that lists it under this uid as well and has a say in it: `sharers`. Of two that want it, that one
 * has it (`apply/README.md#hand-over`). Another object that stands there is met by the write, which names the uid.
 */
export function decideKnown(
  found: ObjectFound,
  { uid, adopted }: { readonly uid: string; readonly adopted: boolean },
  claimant: Pick<Claimant, "fleet" | "epoch" | "action" | "key" | "holders">,
  sharers: readonly PlacementKey[],
): TakeoverDecision {
  const isThere = found.kind === "present" && textOf(memberAt(found.live, "metadata", "uid")) === uid;
  const mark = isThere ? readMark(found.live) : null;
  const isTheirs = mark?.fleet === claimant.fleet && !isLeftBehind(mark, claimant);
  const owner = isTheirs ? sharers.find((it) => markOf(it) === mark.label) : undefined;
  if (owner !== undefined)
    return { kind: "leave", failure: { code: "FailedToTakeOver", message: `placement ${owner} owns it` } };
  const isGoing = isThere && isBeingDeleted(found.live);
  return isGoing ? { kind: "wait", uid, adopted } : { kind: "write", uid, adopted, live: null };
}

/** What hands an object over: its last owner's entry in the inventory, and that owner's last decision. */
export interface HandedOver {
  readonly from: PlacementKey;
  readonly upTo: Sequence;
  readonly entry: InventoryEntry;
}

/**
 * What is known of an object that is handed over. Where the new owner has written it already, its own entry says which object
 * that was and whether it was there before us: the one before may have lost its inventory, and list it as possibly adopted, or
 * may never have had the object.
 */
export function withOwnEntry(
  given: HandedOver,
  found: ObjectFound,
  claimant: Pick<Claimant, "fleet" | "action" | "entry">,
): HandedOver {
  const { entry: own } = claimant;
  if (own === null || found.kind !== "present" || ownMark(found.live, claimant) === null) return given;
  const uid = textOf(memberAt(found.live, "metadata", "uid"));
  const isOwn = own.uid === null ? isClaimed(found.live, claimant) : own.uid === uid;
  return isOwn ? { ...given, entry: own } : given;
}

/**
 * Decides about one object that another placement of ours hands over: it is ours already, so `whenToTakeOver` and
 * `allowCoOwnership` have no say (`plan/README.md#d-9`). Null where it is not what that one had: then it is decided about like
 * any other object. A mark of a placement that has no say in it any more is that of a write which came late.
 */
export function decideHandOver(
  found: ObjectFound,
  claimant: Pick<Claimant, "fleet" | "epoch" | "action" | "key" | "holders">,
  { from, upTo, entry }: HandedOver,
): TakeoverDecision | null {
  const { fleet, epoch, action } = claimant;
  if (found.kind !== "present") return null;
  const { live } = found;
  const mark = readMark(live);
  const uid = textOf(memberAt(live, "metadata", "uid")) ?? "";
  if (mark === null || mark.fleet !== fleet) return null;
  const isNew = mark.label === markOf(action.placement);
  const isLater = mark.epoch > epoch || (mark.epoch === epoch && mark.sequence > (isNew ? action.sequence : upTo));
  const isLate = entry.outcome.kind === "applied" && !isLater && isLeftBehind(mark, claimant);
  if (!isNew && mark.label !== markOf(from) && !isLate) return null;
  if (entry.uid === null ? !isWriteOf(mark, entry, upTo) && !isNew : entry.uid !== uid) return null;
  if (isLater)
    return { kind: "leave", failure: { code: "FailedToTakeOver", message: "a later decision has written it" } };
  const adopted = mayBeAdopted(entry, uid);
  return isBeingDeleted(live) ? { kind: "wait", uid, adopted } : { kind: "write", uid, adopted, live: null };
}

const isBeingDeleted = (live: Manifest): boolean => memberAt(live, "metadata", "deletionTimestamp") !== null;

/** The fence once more, at the object: where the inventory was deleted, nothing else stops who has been overtaken. */
function isLater(live: Manifest, { fleet, epoch, action }: Claimant): boolean {
  const mark = readMark(live);
  if (mark === null || mark.fleet !== fleet || mark.label !== markOf(action.placement)) return false;
  return mark.epoch > epoch || (mark.epoch === epoch && mark.sequence > action.sequence);
}

/**
 * Whether the placement that a mark names has no say in the object any more: its cluster left the fleet with it, came back
 * without it, and lost the inventory; and whatever it carries here by now, this is no part of it. What a later decision
 * wrote, ours does not know of.
 */
function isLeftBehind(
  { label, epoch, sequence }: Mark,
  { key, action, holders, epoch: ourEpoch }: Pick<Claimant, "key" | "action" | "holders" | "epoch">,
): boolean {
  if (label === markOf(action.placement)) return true;
  const isLater = epoch > ourEpoch || (epoch === ourEpoch && sequence > action.sequence);
  return !isLater && label !== "" && holders.get(key)?.some((it) => markOf(it) === label) !== true;
}

/** Our own, although the inventory has no uid for it: a claim that was carried out, and whose result was lost. */
function isClaimed(live: Manifest, claimant: Pick<Claimant, "fleet" | "action" | "entry">): boolean {
  const { action, entry } = claimant;
  const mark = ownMark(live, claimant);
  if (mark === null) return false;
  return mark.sequence === action.sequence || (entry !== null && isWriteOf(mark, entry, action.sequence));
}

/** The mark of the claimant's placement; null where there is none, or another one. */
function ownMark(live: Manifest, { fleet, action }: Pick<Claimant, "fleet" | "action">): Mark | null {
  const mark = readMark(live);
  return mark !== null && mark.fleet === fleet && mark.label === markOf(action.placement) ? mark : null;
}

/**
 * Whether an object that carries our mark may have existed before us, and so is to be released one day and not deleted.
 * It may, as far as anybody can tell, when the inventory has lost its entry (`apply/README.md#f-43`), or when somebody
 * made it anew since the inventory knew it.
 */
export const mayBeAdopted = (entry: InventoryEntry | null, uid: string): boolean =>
  entry === null || entry.adopted || (entry.uid !== null && entry.uid !== uid);

/** Tells who else of this fleet has an object in the member; null when nobody does. */
type OtherOwners = (key: ObjectKey, action: PlacementActions) => PlacementKey | null;

/**
 * An object belongs to the placement that the inventory says, then to the first of this action that applies it. An entry
 * whose object is gone, and which nobody is about to write again, is in nobody's way: no decision may be left that would
 * ever clear it, where a placement is gone from a member that left the fleet and came back.
 */
export function otherOwners(
  inventory: Inventory,
  actions: readonly PlacementActions[],
  isGone: (key: ObjectKey) => boolean,
): OtherOwners {
  const forgotten = new Map(actions.map((it) => [it.placement, new Set(it.forget)]));
  const applied = new Map(actions.map((it) => [it.placement, new Set(it.apply.map(({ key }) => key))]));
  const holders = new Map<ObjectKey, PlacementKey>();
  const hold = (key: ObjectKey, placement: PlacementKey): void => {
    if (!holders.has(key)) holders.set(key, placement);
  };
  for (const [placement, { entries }] of inventory.placements) {
    for (const [key, { uid, outcome }] of entries) {
      // What was never ours to write is listed too, for its outcome's sake.
      const isOurs = uid !== null || outcome.kind === "claimed";
      const isHeld = isOurs && (!isGone(key) || applied.get(placement)?.has(key) === true);
      if (isHeld && forgotten.get(placement)?.has(key) !== true) hold(key, placement);
    }
  }
  for (const { placement, apply } of actions) for (const { key } of apply) hold(key, placement);
  return (key, { placement }) => {
    const holder = holders.get(key) ?? placement;
    return holder === placement ? null : holder;
  };
}
