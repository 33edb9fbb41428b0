import { isOutdatedAction } from "../../../core/apply/claim.ts";
import { inventoryEntryOf, type RemovalTask, type WriteTask } from "../../../core/apply/inventory-entry.ts";
import {
  decideHandOver,
  decideKnown,
  decideTakeover,
  type HandedOver,
  otherOwners,
  type TakeoverDecision,
  withOwnEntry,
} from "../../../core/apply/takeover.ts";
import { remembered } from "../../../core/model/identity.ts";
import type { Inventory, InventoryEntry, InventoryPlacement } from "../../../core/model/inventory.ts";
import { type ObjectKey, objectKey } from "../../../core/model/manifest.ts";
import type { ClusterActions, PlacementActions, RenderedManifest } from "../../../core/model/plan.ts";
import type { Digest, PlacementKey, Sequence } from "../../../core/model/value.ts";
import { anyResourceOf, type ServedResources } from "../client/discovery.ts";
import type { StoredInventory } from "../inventory/inventory.ts";
import type { ApplyContext } from "./apply-context.ts";
import { absent, type LookupResult, lookUpAll, uidIn } from "./lookup.ts";

/** The context before the inventory is read. */
export type InitialContext = Omit<ApplyContext, "asOf">;

/** An action whose claim is written. */
export interface ClaimedAction {
  readonly claimed: StoredInventory;
  readonly accepted: readonly PlacementActions[];
  readonly writes: readonly WriteTask[];
  readonly removals: readonly RemovalTask[];
  /** Which placements are not acted on, and why; null when there are none. */
  readonly outdated: string | null;
}

/** Decides which placements are current, what to write and how, and what to remove. */
export async function planTasks(
  context: InitialContext,
  inventory: Inventory,
  earlier: Inventory | null,
  served: ServedResources,
): Promise<Omit<ClaimedAction, "claimed">> {
  const { client, actions } = context;
  const isLate = (it: PlacementActions): boolean =>
    isOutdatedAction(it, actions, inventory) ||
    // It was there at first: a later action has removed it since.
    (earlier?.placements.has(it.placement) === true && !inventory.placements.has(it.placement)) ||
    (it.isListed === true && isUnlisted(it, inventory));
  const late = actions.placements.filter(isLate);
  const accepted = late.length === 0 ? actions.placements : actions.placements.filter((it) => !isLate(it));
  const wanted = wantedBy(accepted, inventory);
  const offersOf = offersIn(inventory);
  const sharersOf = sharersIn(inventory, actions);
  const isShared = (it: Wanted): boolean => offersOf(it.action, it.item.key).length > 0 || sharersOf(it).length > 0;
  const unknown = wanted.filter((it) => it.before?.uid == null || isRepair(it) || isShared(it));
  const ids = unknown.map(({ item }) => item.id);
  const found = await lookUpAll(client, served, ids);
  const rivalOf = otherOwners(inventory, accepted, (key) => (found.get(key) ?? absent).kind === "absent");
  const writes = wanted.map(({ action, item, before }): WriteTask => {
    const there = found.get(item.key) ?? absent;
    const offers = offersOf(action, item.key);
    const taken = takenFrom(offers, there, { action, item, before }, actions);
    if (taken !== null) return taken;
    const known = before !== null && before.uid !== null;
    if (known && (there.kind === "unknown" || !isRepair({ item, before }) || uidIn(there) === before.uid)) {
      const claimant = { ...actions, key: item.key, action };
      const takeover = decideKnown(
        there,
        { ...before, uid: before.uid },
        claimant,
        sharersOf({ action, item, before }),
      );
      return { id: item.id, action, item, before, takeover };
    }
    const other = known ? null : rivalOf(item.key, action);
    // It is gone, and whoever had it hands it over: it is made by the new owner.
    const left = there.kind === "absent" ? offers.find((it) => it.from === other) : undefined;
    const rival = left === undefined ? other : null;
    const twin = before ?? twinOf(there, inventory.placements.get(action.placement));
    const entry = twin ?? (isUnlisted(action, inventory) ? lostEntry(item.id.version) : null);
    const decision = decideTakeover(there, { ...actions, key: item.key, action, entry, rival });
    const earlier = known && isCreation(decision) ? unmade(before, action) : isKept(there, decision) ? entry : before;
    return {
      id: item.id,
      action,
      item,
      before: earlier,
      takeover: decision,
      ...(left === undefined ? {} : { from: left.from }),
    };
  });
  const removals = [...removalsOf(accepted, inventory), ...recoveriesOf(accepted, inventory, served)];
  return { accepted, writes, removals, outdated: outdatedText(late, inventory) };
}

/** What is to be written, with what the inventory says of it. A report on differences writes nothing (`apply/README.md#c-1`). */
const wantedBy = (accepted: readonly PlacementActions[], inventory: Inventory): readonly Wanted[] =>
  accepted
    .filter((it) => it.applyStrategy.type !== "ReportDiff")
    .flatMap((action) =>
      action.apply.map((item) => ({ action, item, before: inventoryEntryOf(inventory, action, item.key) })),
    );

/** What other placements hand over, where the inventory still lists it as theirs. */
function offersIn(inventory: Inventory) {
  const offers = remembered(({ handOvers = [] }: PlacementActions) => {
    const all = new Map<ObjectKey, HandedOver[]>();
    for (const it of handOvers) {
      const entry = inventory.placements.get(it.from)?.entries.get(it.key);
      if (entry !== undefined) all.set(it.key, [...(all.get(it.key) ?? []), { ...it, entry }]);
    }
    return all;
  });
  return (action: PlacementActions, key: ObjectKey): readonly HandedOver[] => offers(action).get(key) ?? [];
}

/** Which other placements that have a say in an object (`holders`) the inventory lists with it, under the same uid. */
const sharersIn =
  ({ placements }: Inventory, { holders }: ClusterActions) =>
  ({ action, item: { key }, before }: Wanted): readonly PlacementKey[] =>
    before?.uid == null
      ? []
      : (holders.get(key) ?? []).filter(
          (it) => it !== action.placement && placements.get(it)?.entries.get(key)?.uid === before.uid,
        );

/** How an object is taken from whose mark it has; null where that is none of those who hand it over. */
function takenFrom(
  offers: readonly HandedOver[],
  there: LookupResult,
  { action, item, before }: Wanted,
  { fleet, epoch, holders }: ClusterActions,
): WriteTask | null {
  for (const offer of offers) {
    const given = withOwnEntry(offer, there, { fleet, action, entry: before });
    const takeover = decideHandOver(there, { fleet, epoch, action, holders, key: item.key }, given);
    if (takeover !== null)
      return { id: item.id, action, item, before: entryTaken(before, given), takeover, from: given.from };
  }
  return null;
}

/** What is known of an object that is taken goes along; how the new owner fared with it so far is its own. */
const entryTaken = (before: InventoryEntry | null, { entry }: HandedOver): InventoryEntry => ({
  ...entry,
  outcome: before?.outcome ?? { kind: "claimed" },
});

interface Wanted {
  readonly action: PlacementActions;
  readonly item: RenderedManifest;
  readonly before: InventoryEntry | null;
}

/** Whether what stands there is written again; what is made anew is claimed without a uid, so that it stays ours. */
const isRepair = ({ item, before }: Pick<Wanted, "item" | "before">): boolean =>
  before?.outcome.kind === "applied" && before.digest === item.digest;

const isCreation = (decision: TakeoverDecision): boolean => decision.kind === "write" && decision.uid === null;

/** What is known of an object that is gone: whatever stands there by our mark from now on is what we make. */
const unmade = (before: InventoryEntry, { sequence }: PlacementActions): InventoryEntry => ({
  ...before,
  sequence,
  uid: null,
  adopted: false,
  fingerprint: null,
});

/** The entry of the same object under another key: what was served in one group is served in another one too. */
function twinOf(found: LookupResult, carried: InventoryPlacement | undefined): InventoryEntry | null {
  const uid = uidIn(found);
  if (uid === null || carried === undefined) return null;
  for (const entry of carried.entries.values()) if (entry.uid === uid) return entry;
  return null;
}

/** Whether the inventory does not list a placement: it was never here, or the inventory was deleted. */
const isUnlisted = ({ placement }: PlacementActions, { placements }: Inventory): boolean => !placements.has(placement);

/** The entry that a lost inventory may have had: ours if it has our mark, and possibly adopted. */
const lostEntry = (version: string): InventoryEntry => ({
  version,
  digest: "" as Digest,
  uid: null,
  adopted: true,
  sequence: 0 as Sequence,
  fingerprint: null,
  outcome: { kind: "claimed" },
});

/** An object that is created now, or taken from others, is not the one of the lost entry. */
const isKept = (found: LookupResult, decision: TakeoverDecision): boolean =>
  found.kind === "unknown" || (decision.kind === "write" && decision.uid !== null && decision.live === null);

/** Objects to recover: claimed like any other, so that nothing is lost on interruption, and then looked up by their marks. */
const recoveriesOf = (
  accepted: readonly PlacementActions[],
  inventory: Inventory,
  served: ServedResources,
): readonly RemovalTask[] =>
  accepted
    .filter((it) => isUnlisted(it, inventory))
    .flatMap((action) =>
      action.recover.map((object): RemovalTask => {
        const id = { ...object, version: anyResourceOf(served, object)?.version ?? "" };
        const item = {
          id,
          key: objectKey(id),
          uid: null,
          how: "release",
          confirmed: false,
          cascadesTo: [],
        } as const;
        return { id, action, item, entry: lostEntry(id.version) };
      }),
    );

/** Only what the inventory lists can be removed (`plan/README.md#d-1`). */
const removalsOf = (accepted: readonly PlacementActions[], inventory: Inventory): readonly RemovalTask[] =>
  accepted.flatMap((action) =>
    action.remove.flatMap((item): readonly RemovalTask[] => {
      const entry = inventoryEntryOf(inventory, action, item.key);
      return entry === null ? [] : [{ id: item.id, action, item, entry }];
    }),
  );

/** Why actions are not carried out, each reason with the first few placements that it is of; null where all of them are. */
const outdatedText = (late: readonly PlacementActions[], inventory: Inventory): string | null => {
  const unlisted = late.filter((it) => isUnlisted(it, inventory));
  const reasons = [
    ["the inventory no longer lists", unlisted],
    ["superseded by a later action for", late.filter((it) => !unlisted.includes(it))],
  ] as const;
  const texts = reasons.flatMap(([why, those]) =>
    those.length === 0
      ? []
      : [
          `${why} placement ${those
            .slice(0, 5)
            .map((it) => it.placement)
            .join(", ")}`,
        ],
  );
  return texts.length === 0 ? null : texts.join("; ");
};
