import type { Inventory, InventoryEntry } from "../model/inventory.ts";
import { memberAt, textOf } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import { fieldManager } from "../model/names.ts";
import type { ObjectRemoval, PlacementActions, RenderedManifest } from "../model/plan.ts";
import type { Instant, PlacementKey } from "../model/value.ts";
import { type Failure, failedOutcome } from "./failure.ts";
import { afterOtherWrite, afterRepair } from "./fight.ts";
import { liveFingerprint } from "./fingerprint.ts";
import type { TakeoverDecision } from "./takeover.ts";

/** What came of a write that was carried out. */
interface Wrote {
  readonly live: Manifest;
  readonly adopted: boolean;
  readonly effect: TaskResult["effect"];
}

/** What the inventory says of an object once it is written. */
export function writtenEntry(
  context: { readonly now: Instant },
  write: WriteTask,
  { live, adopted, effect }: Wrote,
): InventoryEntry {
  const { action, before } = write;
  const uid = textOf(memberAt(live, "metadata", "uid"));
  return {
    ...plainEntry(context, write, effect),
    sequence: action.sequence,
    uid,
    adopted: adopted || (before?.adopted === true && before.uid === uid),
    fingerprint: liveFingerprint(live, fieldManager),
    outcome: { kind: "applied" },
  };
}

/** What the inventory says of an object that was not written. What stands there and is not ours ends what was known; what could not be looked at ends nothing. */
export function failedEntry(context: { readonly now: Instant }, write: WriteTask, failure: Failure): InventoryEntry {
  const { before, takeover: decision } = write;
  const isUnseen = decision.kind === "leave" && decision.failure.code === "FailedToFindObjInMemberCluster";
  const known = decision.kind === "write" || isUnseen ? before : null;
  return {
    ...plainEntry(context, write),
    uid: known?.uid ?? null,
    adopted: known?.adopted ?? false,
    fingerprint: known?.fingerprint ?? null,
    outcome: failedOutcome(failure, before?.outcome ?? null, context.now),
  };
}

/** Whether the write would take over what others made. */
export const adopts = (decision: TakeoverDecision): boolean =>
  decision.kind === "compare" || (decision.kind !== "leave" && decision.adopted);

/** What the inventory says of an object from the claim on, until its result is known. */
export function claimedEntry(context: { readonly now: Instant }, write: WriteTask): InventoryEntry {
  const { takeover: decision, before } = write;
  if (decision.kind === "leave") return failedEntry(context, write, decision.failure);
  return {
    ...plainEntry(context, write),
    uid: decision.kind === "wait" || (decision.kind === "write" && decision.live === null) ? decision.uid : null,
    adopted: adopts(decision),
    fingerprint: before?.fingerprint ?? null,
    outcome: { kind: "claimed" },
  };
}

/** Without a uid, it may still have been written by any claim since the first. */
function plainEntry(context: { readonly now: Instant }, write: WriteTask, effect?: TaskResult["effect"]) {
  const { item, action, before } = write;
  const { id, digest } = item;
  const repairs = repairsOf(context, write, effect);
  const sequence = before?.uid === null ? before.sequence : action.sequence;
  return { version: id.version, digest, sequence, ...(repairs === undefined ? {} : { repairs }) };
}

/** A repair writes again what was written already; one that turns out to change nothing was somebody else's. */
function repairsOf({ now }: { readonly now: Instant }, { item, before }: WriteTask, effect?: TaskResult["effect"]) {
  const isSame = before?.digest === item.digest && before.version === item.id.version;
  const isRepair = isSame && before?.outcome.kind === "applied" && effect !== "none";
  return isRepair ? afterRepair(before?.repairs, now) : afterOtherWrite(before?.repairs, now);
}

export interface WriteTask {
  readonly id: RenderedManifest["id"];
  readonly action: PlacementActions;
  readonly item: RenderedManifest;
  /** As it stood before the claim. */
  readonly before: InventoryEntry | null;
  readonly takeover: TakeoverDecision;
  /** The placement that hands it over; absent where nobody does. */
  readonly from?: PlacementKey;
}

/** One object to be deleted or released. */
export interface RemovalTask {
  readonly id: ObjectRemoval["id"];
  readonly action: PlacementActions;
  readonly item: ObjectRemoval;
  readonly entry: InventoryEntry;
}

/** What became of one object. */
export interface TaskResult {
  /** Null: the inventory forgets it. */
  readonly entry: InventoryEntry | null;
  readonly effect: "created" | "configured" | "deleted" | "released" | "failed" | "none";
}

/** The inventory's entry of an object in a placement, or null. */
export const inventoryEntryOf = (
  inventory: Inventory,
  action: PlacementActions,
  key: RenderedManifest["key"],
): InventoryEntry | null => inventory.placements.get(action.placement)?.entries.get(key) ?? null;
