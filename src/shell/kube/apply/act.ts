import {
  changesStillDue,
  claimRefusal,
  contestedObjects,
  type InventoryChange,
  type InventoryChanges,
  type StandingObjects,
  withChanges,
} from "../../../core/apply/claim.ts";
import {
  claimedEntry,
  type RemovalTask,
  type TaskResult,
  type WriteTask,
} from "../../../core/apply/inventory-entry.ts";
import { bearsMark } from "../../../core/apply/mark.ts";
import type { Inventory, InventoryEntry } from "../../../core/model/inventory.ts";
import type { ObjectKey, VersionedId } from "../../../core/model/manifest.ts";
import type { ClusterActions, PlacementActions } from "../../../core/model/plan.ts";
import type { Receipt } from "../../reconcile/ports.ts";
import { resourceOf, type ServedResources } from "../client/discovery.ts";
import { contactFailureOf } from "../client/member-unreachable.ts";
import { readInventory, type StoredInventory, writeInventory } from "../inventory/inventory.ts";
import { clusterUidOf, kubeSystem } from "../watch/observe.ts";
import { applyAll } from "./apply-objects.ts";
import { lookUpAll, uidIn } from "./lookup.ts";
import { type ClaimedAction, type InitialContext, planTasks } from "./plan-tasks.ts";
import { removeAll } from "./remove-objects.ts";

/**
 * Carries out one member's actions: claim, write, remove, record. The claim is in the inventory before any object is
 * touched, and the result after: the inventory stays a superset of what is live, and the next pass goes on from there
 * (`kube/README.md#acting`). Never rejects.
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

type Counts = { -readonly [key in "created" | "configured" | "deleted" | "released" | "failed"]: number };

const maxConflicts = 5;

/** Checks the cluster's identity and the claim's sequence, looks up what exists, and claims; a text says why nothing may be done. */
async function prepare(context: InitialContext): Promise<ClaimedAction | string> {
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
    const plan = await planTasks(context, stored.inventory, earlier, await servedFor(context));
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

/** Whether the object of a removal stays in its placement under another key. */
function carriedBeside(
  { claimed, removals }: ClaimedAction,
  writes: ReadonlyMap<WriteTask, TaskResult>,
): (it: RemovalTask) => boolean {
  const goes = new Set(removals.map(({ action, item }) => `${action.placement} ${item.key}`));
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

/** The claim: everything that is about to be written, in addition to what was there. */
function claimChanges(
  context: InitialContext,
  { accepted, writes, removals }: Omit<ClaimedAction, "claimed">,
): InventoryChanges {
  const entries = new Map(accepted.map((it) => [it, new Map<ObjectKey, InventoryEntry | null>()]));
  for (const { action, item, entry } of removals) entries.get(action)?.set(item.key, entry);
  for (const write of writes) entries.get(write.action)?.set(write.item.key, claimedEntry(context, write));
  // Nothing is dropped yet: a placement that is removed stays listed until its objects are gone.
  return changesOf(accepted, entries, leavingIn(removals));
}

function resultChanges(
  { accepted, claimed }: ClaimedAction,
  writes: ReadonlyMap<WriteTask, TaskResult>,
  removals: ReadonlyMap<RemovalTask, TaskResult>,
): InventoryChanges {
  const entries = new Map(
    accepted.map((it) => [it, new Map<ObjectKey, InventoryEntry | null>(it.forget.map((key) => [key, null]))]),
  );
  for (const [{ action, item, takeover }, { entry }] of writes) {
    // The claim said so already: somebody else may have claimed it since.
    if (takeover.kind !== "leave") entries.get(action)?.set(item.key, entry);
  }
  for (const [{ action, item }, { entry }] of removals) entries.get(action)?.set(item.key, entry);
  const changes = changesOf(accepted, entries, leavingIn(removals.keys()));
  return withoutHandedOver(changes, writes, claimed.inventory);
}

/** What was taken stands in its new owner's part by now, and leaves that of the one before. */
function withoutHandedOver(
  changes: InventoryChanges,
  writes: ReadonlyMap<WriteTask, TaskResult>,
  inventory: Inventory,
): InventoryChanges {
  const all = new Map(changes);
  for (const [{ from, item }, { entry }] of writes) {
    const there = from === undefined ? undefined : inventory.placements.get(from);
    if (from === undefined || there === undefined || entry?.outcome.kind !== "applied") continue;
    const before = all.get(from) ?? { sequence: there.sequence, digest: null, entries: new Map(), leaving: new Set() };
    all.set(from, { ...before, entries: new Map([...before.entries, [item.key, null]]) });
  }
  return all;
}

const changesOf = (
  accepted: readonly PlacementActions[],
  entries: ReadonlyMap<PlacementActions, InventoryChange["entries"]>,
  leaving: Leaving,
): InventoryChanges =>
  new Map(
    accepted.map((it): [PlacementActions["placement"], InventoryChange] => [
      it.placement,
      {
        sequence: it.sequence,
        digest: it.digest,
        entries: entries.get(it) ?? new Map(),
        leaving: leaving.get(it) ?? new Set(),
      },
    ]),
  );

type Leaving = ReadonlyMap<PlacementActions, InventoryChange["leaving"]>;

function leavingIn(removals: Iterable<RemovalTask>): Leaving {
  const leaving = new Map<PlacementActions, Set<ObjectKey>>();
  for (const { action, item } of removals) leaving.set(action, (leaving.get(action) ?? new Set()).add(item.key));
  return leaving;
}

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
    const { inventory } = fresh;
    const standing = await standingAt(context, contestedObjects(results, actions, inventory));
    due = changesStillDue(results, actions, { claimed: claimed.inventory, inventory, standing });
    if (due.size === 0) return null;
  }
  return "its inventory keeps changing: another reconciler is writing it";
}

/** What stands at the places of objects; without what could not be looked at. */
async function standingAt(
  { recorder, discovery }: InitialContext,
  ids: readonly VersionedId[],
): Promise<StandingObjects> {
  if (ids.length === 0) return new Map();
  const found = await lookUpAll(recorder, await discovery.served(recorder), ids);
  return new Map(
    [...found].flatMap(([key, it]) =>
      it.kind === "unknown"
        ? []
        : [[key, { uid: uidIn(it), isMarked: it.kind === "present" && bearsMark(it.live) }] as const],
    ),
  );
}

/** A fleet or epoch that has claimed the inventory since stays in its header. */
function headOf(actions: ClusterActions, inventory: Inventory): ClusterActions {
  if (claimRefusal(actions, inventory) === null) return actions;
  return { ...actions, fleet: inventory.fleet, epoch: inventory.epoch };
}
