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
 * Carries out one member's actions: claim, write, remove, record.
 *
 * The claim is written to the member's inventory before any object is touched, and the result after: whenever this is
 * interrupted, the inventory is a superset of what is live, and the next pass continues from there (`kube/README.md#acting`).
 * Never rejects.
 */
export async function actOn(context: InitialContext): Promise<Receipt> {
  const counts: Counts = { created: 0, configured: 0, deleted: 0, released: 0, failed: 0 };
  const receipt = (interrupted: string | null): Receipt => ({
    cluster: context.actions.cluster,
    ...counts,
    interrupted,
  });
  try {
    const ready = await prepare(context);
    if (typeof ready === "string") return receipt(ready);
    const opened = { ...context, asOf: ready.claimed.asOf };
    const writes = await applyAll(opened, ready.writes);
    // With writes missing, an object to be removed may still be needed in place of its successor.
    const due = context.contact.loss === null ? ready.removals : [];
    const removals = await removeAll(opened, due, carriedBeside(ready, writes));
    for (const { effect } of [...writes.values(), ...removals.values()]) if (effect !== "none") counts[effect] += 1;
    counts.failed += ready.writes.length - writes.size;
    const recordFailure = await record(context, ready.claimed, resultChanges(ready, writes, removals));
    return receipt(recordFailure ?? context.contact.loss ?? ready.outdated);
  } catch (error) {
    return receipt(contactFailureOf(error).message);
  }
}

/** The context before the inventory is read. */
type InitialContext = Omit<ApplyContext, "asOf">;

type Counts = { -readonly [key in "created" | "configured" | "deleted" | "released" | "failed"]: number };

/** An action whose claim is written. */
interface Ready {
  readonly claimed: StoredInventory;
  readonly accepted: readonly PlacementActions[];
  readonly writes: readonly WriteTask[];
  readonly removals: readonly RemovalTask[];
  /** Names the placements with a later action; null when there are none. */
  readonly outdated: string | null;
}

const maxConflicts = 5;

/** Checks the cluster's identity and the claim's sequence, looks up what exists, and claims; a text says why nothing may be done. */
async function prepare(context: InitialContext): Promise<Ready | string> {
  const { client, actions } = context;
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
    const plan = await planFor(context, stored.inventory, earlier, await servedFor(context));
    const claim = withChanges(stored.inventory, claimChanges(context, plan), actions);
    const written = await writeInventory(client, stored, claim);
    if (written.kind === "written") return { ...plan, claimed: written.stored };
    if (written.kind === "refused") return `its inventory cannot be written: ${written.refusal.message}`;
    earlier ??= stored.inventory;
  }
  return "its inventory keeps changing: another reconciler is writing it";
}

/** The kinds that the member serves, discovered again when a kind to be written is not among them. */
async function servedFor({ client, discovery, actions }: InitialContext): Promise<ServedResources> {
  const known = await discovery.served(client);
  const isKnown = actions.placements.every(({ apply }) => apply.every(({ id }) => resourceOf(known, id) !== null));
  return isKnown ? known : discovery.refresh(client);
}

/** Decides which placements are current, what to write and how, and what to remove. */
async function planFor(
  context: InitialContext,
  inventory: Inventory,
  earlier: Inventory | null,
  served: ServedResources,
): Promise<Omit<Ready, "claimed">> {
  const { client, actions } = context;
  const isLate = (it: PlacementActions): boolean =>
    isOutdatedAction(it, actions, inventory) ||
    // It was there at first: a later action has removed it since.
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
      const decision = { kind: "write", uid: before.uid, adopted: before.adopted, live: null } as const;
      return { id: item.id, action, item, before, takeover: decision };
    }
    const rival = known ? null : rivalOf(item.key, action);
    const twin = before ?? twinOf(there, inventory.placements.get(action.placement));
    const entry = twin ?? (isUnlisted(action, inventory) ? lostEntry(item.id.version) : null);
    const decision = decideTakeover(there, { ...actions, action, entry, rival });
    const earlier = known && isCreation(decision) ? unmade(before, action) : isKept(there, decision) ? entry : before;
    return { id: item.id, action, item, before: earlier, takeover: decision };
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

const isCreation = (decision: TakeoverDecision): boolean => decision.kind === "write" && decision.uid === null;

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

/** Whether the object of a removal stays in its placement under another key. */
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

/** Only what the inventory lists can be removed (`plan/README.md#d-1`). */
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

/** The claim: everything that is about to be written, in addition to what was there. */
function claimChanges(
  context: InitialContext,
  { accepted, writes, removals }: Omit<Ready, "claimed">,
): InventoryChanges {
  const entries = new Map(accepted.map((it) => [it, new Map<ObjectKey, InventoryEntry | null>()]));
  for (const { action, departure, entry } of removals) entries.get(action)?.set(departure.key, entry);
  for (const write of writes) entries.get(write.action)?.set(write.item.key, claimedEntry(context, write));
  // Nothing is dropped yet: a placement that is removed stays listed until its objects are gone.
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

/** Replaces the claim by the result; a text says why it could not. Without it, the claim remains and nothing is lost. */
async function record(
  context: InitialContext,
  claimed: StoredInventory,
  results: InventoryChanges,
): Promise<string | null> {
  const { recorder: client, actions } = context;
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

/** A fleet or epoch that has claimed the inventory since stays in its header. */
function headOf(actions: ClusterActions, inventory: Inventory): ClusterActions {
  if (claimRefusal(actions, inventory) === null) return actions;
  return { ...actions, fleet: inventory.fleet, epoch: inventory.epoch };
}
