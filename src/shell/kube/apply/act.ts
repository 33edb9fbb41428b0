import {
  changesStillDue,
  claimRefusal,
  type InventoryChange,
  type InventoryChanges,
  isOutdatedAction,
  withChanges,
} from "../../../core/apply/claim.ts";
import {
  claimedEntry,
  inventoryEntryOf,
  type RemovalTask,
  type TaskResult,
  type WriteTask,
} from "../../../core/apply/inventory-entry.ts";
import { decideTakeover, otherOwners, type TakeoverDecision } from "../../../core/apply/takeover.ts";
import type { Inventory, InventoryEntry, InventoryPlacement } from "../../../core/model/inventory.ts";
import { memberAt, textOf } from "../../../core/model/json.ts";
import { type ObjectKey, objectKey } from "../../../core/model/manifest.ts";
import type { ClusterActions, PlacementActions, RenderedManifest } from "../../../core/model/plan.ts";
import type { Digest, Sequence } from "../../../core/model/value.ts";
import type { Receipt } from "../../reconcile/ports.ts";
import { anyResourceOf, resourceOf, type ServedResources } from "../client/discovery.ts";
import { contactFailureOf } from "../client/member-unreachable.ts";
import { readInventory, type StoredInventory, writeInventory } from "../inventory/inventory.ts";
import { clusterUidOf, kubeSystem } from "../watch/observe.ts";
import type { ApplyContext } from "./apply-context.ts";
import { applyAll } from "./apply-objects.ts";
import { absent, type LookupResult, lookUpAll } from "./lookup.ts";
import { removeAll } from "./remove-objects.ts";

/**
 * Carries out what one member is to do: claim, write, remove, record.
 *
 * The claim stands in the member's inventory before any object is touched, and the result after: whenever this is cut
 * short, the inventory is a superset of what is live, and the next pass goes on from there (`kube/README.md#acting`).
 * Never rejects.
 */
export async function actOn(scene: Opening): Promise<Receipt> {
  const tally: Tally = { created: 0, configured: 0, deleted: 0, released: 0, failed: 0 };
  const receipt = (interrupted: string | null): Receipt => ({ cluster: scene.actions.cluster, ...tally, interrupted });
  try {
    const ready = await prepare(scene);
    if (typeof ready === "string") return receipt(ready);
    const opened = { ...scene, asOf: ready.claimed.asOf };
    const writes = await applyAll(opened, ready.writes);
    // With writes missing, what is to go may still be needed by what should have taken its place.
    const due = scene.contact.loss === null ? ready.removals : [];
    const removals = await removeAll(opened, due, carriedBeside(ready, writes));
    for (const { effect } of [...writes.values(), ...removals.values()]) if (effect !== "none") tally[effect] += 1;
    tally.failed += ready.writes.length - writes.size;
    const trouble = await record(scene, ready.claimed, resultChanges(ready, writes, removals));
    return receipt(trouble ?? scene.contact.loss ?? ready.outdated);
  } catch (error) {
    return receipt(contactFailureOf(error).message);
  }
}

/** The scene before the inventory was read. */
type Opening = Omit<ApplyContext, "asOf">;

type Tally = { -readonly [key in "created" | "configured" | "deleted" | "released" | "failed"]: number };

/** An action whose claim stands. */
interface Ready {
  readonly claimed: StoredInventory;
  readonly accepted: readonly PlacementActions[];
  readonly writes: readonly WriteTask[];
  readonly removals: readonly RemovalTask[];
  /** Names the placements that a later action has overtaken; null when there are none. */
  readonly outdated: string | null;
}

const maxConflicts = 5;

/** Makes sure of the member and the fence, finds out what exists, and claims; a text says why nothing may be done. */
async function prepare(scene: Opening): Promise<Ready | string> {
  const { client, actions } = scene;
  const [identity, first] = await Promise.all([
    client.request({ method: "GET", path: kubeSystem }),
    readInventory(client),
  ]);
  if (identity.kind === "refused") return identity.message;
  const uid = clusterUidOf(identity);
  if (uid !== actions.clusterUid) return `it is another cluster now (kube-system ${uid}, not ${actions.clusterUid})`;
  let earlier: Inventory | null = null;
  for (let attempt = 0; attempt < maxConflicts; attempt += 1) {
    const stored = attempt === 0 ? first : await readInventory(client);
    if (stored.kind === "refused") return `its inventory cannot be read: ${stored.message}`;
    const refusal = claimRefusal(actions, stored.inventory);
    if (refusal !== null) return refusal;
    const plan = await planFor(scene, stored.inventory, earlier, await servedFor(scene));
    const claim = withChanges(stored.inventory, claimChanges(scene, plan), actions);
    const written = await writeInventory(client, stored, claim);
    if (written.kind === "written") return { ...plan, claimed: written.stored };
    if (written.kind === "refused") return `its inventory cannot be written: ${written.refusal.message}`;
    earlier ??= stored.inventory;
  }
  return "its inventory keeps changing: another reconciler is writing it";
}

/** What the member serves, asked anew when it is not known to serve a kind that is to be written. */
async function servedFor({ client, discovery, actions }: Opening): Promise<ServedResources> {
  const known = await discovery.served(client);
  const isKnown = actions.placements.every(({ apply }) => apply.every(({ id }) => resourceOf(known, id) !== null));
  return isKnown ? known : discovery.refresh(client);
}

/** Sorts the actions out: whose turn it is, what is to be written and how, what is to go. */
async function planFor(
  scene: Opening,
  inventory: Inventory,
  earlier: Inventory | null,
  served: ServedResources,
): Promise<Omit<Ready, "claimed">> {
  const { client, actions } = scene;
  const isLate = (it: PlacementActions): boolean =>
    isOutdatedAction(it, actions, inventory) ||
    // It was there a moment ago: a later action has removed it since.
    (earlier?.placements.has(it.placement) === true && !inventory.placements.has(it.placement));
  const late = actions.placements.filter(isLate);
  const accepted = late.length === 0 ? actions.placements : actions.placements.filter((it) => !isLate(it));
  // A report on differences never writes anything (`apply/README.md#c-1`).
  const wanted = accepted
    .filter((it) => it.applyStrategy.type !== "ReportDiff")
    .flatMap((action) =>
      action.apply.map((item) => ({ action, item, before: inventoryEntryOf(inventory, action, item.key) })),
    );
  const unknown = wanted.filter((it) => it.before === null || it.before.uid === null || isRepair(it));
  const found = await lookUpAll(
    client,
    served,
    unknown.map(({ item }) => item.id),
  );
  const rivalOf = otherOwners(inventory, accepted, (key) => (found.get(key) ?? absent).kind === "absent");
  const writes = wanted.map(({ action, item, before }): WriteTask => {
    const there = found.get(item.key) ?? absent;
    const known = before !== null && before.uid !== null;
    if (known && (there.kind === "unknown" || !isRepair({ item, before }) || uidIn(there) === before.uid)) {
      const way = { kind: "write", uid: before.uid, adopted: before.adopted, live: null } as const;
      return { id: item.id, action, item, before, takeover: way };
    }
    const rival = known ? null : rivalOf(item.key, action);
    const twin = before ?? twinOf(there, inventory.placements.get(action.placement));
    const entry = twin ?? (isUnlisted(action, inventory) ? lostEntry(item.id.version) : null);
    const way = decideTakeover(there, { ...actions, action, entry, rival });
    const earlier = known && isCreation(way) ? unmade(before, action) : isKept(there, way) ? entry : before;
    return { id: item.id, action, item, before: earlier, takeover: way };
  });
  const removals = [...removalsOf(accepted, inventory), ...recoveriesOf(accepted, inventory, served)];
  return { accepted, writes, removals, outdated: outdatedText(late) };
}

interface Wanted {
  readonly item: RenderedManifest;
  readonly before: InventoryEntry | null;
}

/**
 * Whether what stands there already is written again: others changed it, or it is gone. What is made anew is claimed without
 * a uid, so that it stays ours although its result is lost.
 */
const isRepair = ({ item, before }: Wanted): boolean =>
  before?.outcome.kind === "applied" && before.digest === item.digest;

const isCreation = (way: TakeoverDecision): boolean => way.kind === "write" && way.uid === null;

/** What is known of an object that is gone: whatever stands there by our mark from now on is what we make. */
const unmade = (before: InventoryEntry, { sequence }: PlacementActions): InventoryEntry => ({
  ...before,
  sequence,
  uid: null,
  adopted: false,
  fingerprint: null,
});

const uidIn = (found: LookupResult): string | null =>
  found.kind === "present" ? textOf(memberAt(found.live, "metadata", "uid")) : null;

/** The entry of the same object under another key: what was served in one group is served in another one too. */
function twinOf(found: LookupResult, carried: InventoryPlacement | undefined): InventoryEntry | null {
  const uid = uidIn(found);
  if (uid === null || carried === undefined) return null;
  for (const entry of carried.entries.values()) if (entry.uid === uid) return entry;
  return null;
}

/** Whether what a removal is of is carried by its placement under a key that does not go. */
function carriedBeside(
  { claimed, removals }: Ready,
  writes: ReadonlyMap<WriteTask, TaskResult>,
): (it: RemovalTask) => boolean {
  const goes = new Set(removals.map(({ action, departure }) => `${action.placement} ${departure.key}`));
  const kept = new Set<string>();
  const keep = (placement: string, key: ObjectKey, uid: string | null): void => {
    if (uid !== null && !goes.has(`${placement} ${key}`)) kept.add(`${placement} ${uid}`);
  };
  for (const action of new Set(removals.map((it) => it.action)))
    for (const [key, { uid }] of claimed.inventory.placements.get(action.placement)?.entries ?? [])
      keep(action.placement, key, uid);
  for (const [{ action, item }, { entry }] of writes) keep(action.placement, item.key, entry?.uid ?? null);
  return ({ action, entry }) => entry.uid !== null && kept.has(`${action.placement} ${entry.uid}`);
}

/** Whether the inventory knows nothing of a placement: it was never here, or somebody deleted what told of it. */
const isUnlisted = ({ placement }: PlacementActions, { placements }: Inventory): boolean => !placements.has(placement);

/** What a lost inventory may have said: it is ours if it bears our mark, and may have been there before us. */
const lostEntry = (version: string): InventoryEntry => ({
  version,
  digest: "" as Digest,
  uid: null,
  adopted: true,
  sequence: 0 as Sequence,
  fingerprint: null,
  outcome: { kind: "claimed" },
});

/** What is made now, or taken from others, is not what was lost. */
const isKept = (found: LookupResult, way: TakeoverDecision): boolean =>
  found.kind === "unknown" || (way.kind === "write" && way.uid !== null && way.live === null);

/** Claimed like everything else, so that nothing is forgotten when this is cut short, and then looked up by their marks. */
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
        const departure = {
          id,
          key: objectKey(id),
          uid: null,
          how: "release",
          confirmed: false,
          takesAlong: [],
        } as const;
        return { id, action, departure, entry: lostEntry(id.version) };
      }),
    );

/** Only what the inventory lists can go (`plan/README.md#d-1`). */
const removalsOf = (accepted: readonly PlacementActions[], inventory: Inventory): readonly RemovalTask[] =>
  accepted.flatMap((action) =>
    action.remove.flatMap((departure): readonly RemovalTask[] => {
      const entry = inventoryEntryOf(inventory, action, departure.key);
      return entry === null ? [] : [{ id: departure.id, action, departure, entry }];
    }),
  );

const outdatedText = (late: readonly PlacementActions[]): string | null =>
  late.length === 0
    ? null
    : `superseded by a later action for placement ${late
        .slice(0, 5)
        .map((it) => it.placement)
        .join(", ")}`;

/** The claim: everything that is about to be written, beside everything that was there. */
function claimChanges(scene: Opening, { accepted, writes, removals }: Omit<Ready, "claimed">): InventoryChanges {
  const entries = new Map(accepted.map((it) => [it, new Map<ObjectKey, InventoryEntry | null>()]));
  for (const { action, departure, entry } of removals) entries.get(action)?.set(departure.key, entry);
  for (const write of writes) entries.get(write.action)?.set(write.item.key, claimedEntry(scene, write));
  // Nothing is forgotten yet, so a placement that goes keeps standing until its objects went.
  return changesOf(accepted, entries);
}

function resultChanges(
  { accepted }: Ready,
  writes: ReadonlyMap<WriteTask, TaskResult>,
  removals: ReadonlyMap<RemovalTask, TaskResult>,
): InventoryChanges {
  const entries = new Map(
    accepted.map((it) => [it, new Map<ObjectKey, InventoryEntry | null>(it.forget.map((key) => [key, null]))]),
  );
  for (const [{ action, item }, { entry }] of writes) entries.get(action)?.set(item.key, entry);
  for (const [{ action, departure }, { entry }] of removals) entries.get(action)?.set(departure.key, entry);
  return changesOf(accepted, entries);
}

const changesOf = (
  accepted: readonly PlacementActions[],
  entries: ReadonlyMap<PlacementActions, InventoryChange["entries"]>,
): InventoryChanges =>
  new Map(
    accepted.map((it): [PlacementActions["placement"], InventoryChange] => [
      it.placement,
      { sequence: it.sequence, digest: it.digest, entries: entries.get(it) ?? new Map() },
    ]),
  );

/** Writes the result over the claim; a text says why it could not. Without it, the claim stands and nothing is lost. */
async function record(scene: Opening, claimed: StoredInventory, results: InventoryChanges): Promise<string | null> {
  const { recorder: client, actions } = scene;
  let stored = claimed;
  let due = results;
  for (let attempt = 0; attempt < maxConflicts; attempt += 1) {
    const next = withChanges(stored.inventory, due, headOf(actions, stored.inventory));
    const written = await writeInventory(client, stored, next);
    if (written.kind === "written") return null;
    if (written.kind === "refused") return `its inventory cannot be written: ${written.refusal.message}`;
    const fresh = await readInventory(client);
    if (fresh.kind === "refused") return `its inventory cannot be read: ${fresh.message}`;
    stored = fresh;
    due = changesStillDue(results, actions, fresh.inventory);
    if (due.size === 0) return null;
  }
  return "its inventory keeps changing: another reconciler is writing it";
}

/** Whoever is later by epoch, or owns the inventory by now, stays at its head. */
function headOf(actions: ClusterActions, inventory: Inventory): ClusterActions {
  if (claimRefusal(actions, inventory) === null) return actions;
  return { ...actions, fleet: inventory.fleet, epoch: inventory.epoch };
}
