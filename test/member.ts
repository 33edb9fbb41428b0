import { markOf, writeText } from "../src/core/apply/mark.ts";
import { otherOwners } from "../src/core/apply/takeover.ts";
import { applyOrder, removeOrder } from "../src/core/apply/waves.ts";
import { type ForeignObject, maxForeignObjects } from "../src/core/model/deletion.ts";
import {
  emptyInventory,
  type FailureCode,
  type Inventory,
  type InventoryEntry,
  type InventoryPlacement,
  maxTombstones,
} from "../src/core/model/inventory.ts";
import { digestOf } from "../src/core/model/json.ts";
import {
  builtInScopes,
  kindKey,
  type ObjectId,
  type ObjectKey,
  objectIdOf,
  objectKey,
  objectText,
  type ScopeTable,
} from "../src/core/model/manifest.ts";
import type {
  Collected,
  ContactCode,
  Health,
  LiveObject,
  NamespacesSeen,
  Observation,
} from "../src/core/model/observation.ts";
import type { ClusterActions, ObjectRemoval, PlacementActions, RenderedManifest } from "../src/core/model/plan.ts";
import { compareText, type Digest, type Instant, later, type PlacementKey, seconds } from "../src/core/model/value.ts";

/** An object as it lives in a member. */
interface Live {
  uid: string;
  generation: number;
  /** Digest of the manifest that was last applied: what is really there. */
  content: Digest | null;
  fingerprint: Digest | null;
  health: Health;
  terminating: boolean;
  /** Whose label it carries, and the write annotation; null for somebody else's object. */
  mark: { readonly label: string; readonly write: string } | null;
}

/** Where the executor of an action dies. */
export type Death = "before the claim" | "after the claim" | "before the result";

const available: Health = { phase: "available" };
const starting: Health = { phase: "progressing", message: "0 of 1 replicas are available" };
const workloads = new Set(["apps/Deployment", "apps/StatefulSet", "batch/Job"]);

/**
 * A member cluster that fits in the head, with an executor that keeps the contract of `core/model/plan.ts` and
 * `core/model/inventory.ts`: claim, write in waves, remove in reverse, record. What goes wrong is told to it beforehand.
 */
export class Member {
  readonly name: string;
  uid: string;
  silence: { code: ContactCode; message: string } | null = null;
  inventory: Inventory = emptyInventory;
  readonly objects = new Map<ObjectKey, Live>();
  /** Writes that this member refuses, and what it says. */
  readonly refuses = new Map<ObjectKey, string>();
  /** Objects with a finalizer: they go only when it is taken off. */
  readonly finalizers = new Set<ObjectKey>();
  /** Kinds that it serves in another scope than the repository says. */
  scopes: ScopeTable = builtInScopes;
  /** Kinds that cannot be listed. */
  readonly unlisted = new Set<string>();
  /** What it says of itself; null where nobody asks. */
  collected: Collected | null = null;
  /** What it says of its namespaces: those that are there; null where nobody asks. */
  namespaces: "listed" | NamespacesSeen | null = null;
  /** How a workload is once it is written. */
  fresh: Health = starting;
  private made = 0;
  /** Who has an object here besides whoever is to write it, as of before this action's claim. */
  private owners: ReturnType<typeof otherOwners> = () => null;

  constructor(name: string, uid = `uid-of-${name}`) {
    this.name = name;
    this.uid = uid;
  }

  observe(): Observation {
    if (this.silence !== null) return { kind: "unreachable", ...this.silence };
    const listed = new Set([...this.inventory.placements.values()].flatMap((it) => [...it.entries.keys()]));
    const objects = new Map<ObjectKey, LiveObject>();
    for (const [key, { uid, generation, fingerprint, health, terminating, mark }] of this.objects) {
      if ((mark === null && !listed.has(key)) || this.unlisted.has(kindKey(objectIdOf(key)))) continue;
      objects.set(key, { uid, generation, fingerprint, health, terminating, mark: mark?.write ?? null });
    }
    const { uid: clusterUid, inventory, collected } = this;
    const seen: Observation = {
      kind: "reached",
      clusterUid,
      properties: new Map([["k8s.io/k8s-version", "v1.36.3"]]),
      inventory,
      objects,
      unlisted: new Set(this.unlisted),
    };
    const namespaces = this.namespaces === "listed" ? this.listed() : this.namespaces;
    return {
      ...seen,
      ...(collected === null ? {} : { collected }),
      ...(namespaces === null ? {} : { namespaces }),
    };
  }

  private listed(): NamespacesSeen {
    const names = [...this.objects]
      .map(([key, live]) => ({ id: objectIdOf(key), live }))
      .filter(({ id, live }) => id.kind === "Namespace" && id.group === "" && !live.terminating)
      .map(({ id, live }) => [id.name, live.mark?.label ?? ""] as const);
    return { kind: "listed", names: new Map(names.sort(([a], [b]) => compareText(a, b))) };
  }

  /** Carries out what is to be done. Gives why it was not, or not all of it; null when it was. */
  act(actions: ClusterActions, now: Instant, death: Death | null = null): string | null {
    if (this.silence !== null || death === "before the claim") return "no answer";
    if (this.uid !== actions.clusterUid) return "another cluster";
    const { fleet, epoch } = this.inventory;
    if (fleet !== "" && fleet !== actions.fleet) return "another fleet's inventory";
    if (epoch > actions.epoch) return "a later epoch";
    const accepted = actions.placements.filter((it) => !this.isOutdated(it, actions));
    this.owners = otherOwners(this.inventory, accepted, (key) => !this.objects.has(key));
    for (const action of accepted) this.claim(action, actions);
    if (death === "after the claim") return "died after the claim";
    const results = new Map(accepted.map((it) => [it, new Map<ObjectKey, InventoryEntry | null>()]));
    this.write(accepted, results, { actions, now });
    this.remove(accepted, results, actions);
    if (death === "before the result") return "died before the result";
    for (const [action, entries] of results) {
      for (const key of action.forget) entries.set(key, null);
      this.note(action, actions, entries);
    }
    for (const [action, entries] of results)
      for (const { key, from } of action.handOvers ?? [])
        if (entries.get(key)?.outcome.kind === "applied") this.drop(from, key);
    return accepted.length < actions.placements.length ? "overtaken by a later action" : null;
  }

  private isOutdated({ placement, sequence }: PlacementActions, { epoch }: ClusterActions): boolean {
    const there = this.inventory.placements.get(placement);
    return there !== undefined && this.inventory.epoch === epoch && there.sequence > sequence;
  }

  /** Writes entries into the inventory; a placement of which nothing is left stays as a tombstone. */
  private note(
    { placement, sequence, digest }: PlacementActions,
    { fleet, epoch, placements: acted }: ClusterActions,
    changes: ReadonlyMap<ObjectKey, InventoryEntry | null>,
  ): void {
    const before = this.inventory.placements.get(placement);
    const entries = new Map(before?.entries ?? []);
    for (const [key, entry] of changes) entry === null ? entries.delete(key) : entries.set(key, entry);
    const next: InventoryPlacement = { sequence, digest: digest ?? before?.digest ?? ("" as Digest), entries };
    const placements = new Map(this.inventory.placements).set(placement, next);
    // As the executor has it: an action's own tombstones stay, however many.
    const own = new Set(acted.map((it) => it.placement));
    const tombs = [...placements].filter(([key, it]) => it.entries.size === 0 && !own.has(key));
    if (tombs.length > maxTombstones) tombs.sort(([a, x], [b, y]) => y.sequence - x.sequence || compareText(a, b));
    for (const [oldest] of tombs.slice(maxTombstones)) placements.delete(oldest);
    this.inventory = { fleet, epoch, placements };
  }

  /** What was handed over is in its new owner's part of the inventory alone. */
  private drop(placement: PlacementKey, key: ObjectKey): void {
    const there = this.inventory.placements.get(placement);
    if (there === undefined) return;
    const entries = new Map([...there.entries].filter(([it]) => it !== key));
    const placements = new Map([...this.inventory.placements, [placement, { ...there, entries }]]);
    this.inventory = { ...this.inventory, placements };
  }

  /** The entry of the placement that hands an object over, if it is the object that stands there. */
  private givenTo({ handOvers, placement }: PlacementActions, key: ObjectKey): InventoryEntry | null {
    const live = this.objects.get(key);
    for (const { from } of handOvers?.filter((it) => it.key === key) ?? []) {
      const entry = this.entryOf(from, key);
      const isMarked = [from, placement].some((it) => live?.mark?.label === markOf(it));
      if (isMarked && entry?.uid != null && entry.uid === live?.uid) return entry;
    }
    return null;
  }

  private entryOf(placement: PlacementKey, key: ObjectKey): InventoryEntry | null {
    return this.inventory.placements.get(placement)?.entries.get(key) ?? null;
  }

  private claim(action: PlacementActions, actions: ClusterActions): void {
    const entries = new Map<ObjectKey, InventoryEntry>();
    for (const item of action.apply) {
      const before = this.givenTo(action, item.key) ?? this.entryOf(action.placement, item.key);
      const live = this.objects.get(item.key);
      const isNew = before?.uid == null && live !== undefined && !this.isOurs(live, action, before, actions);
      entries.set(item.key, {
        version: item.id.version,
        digest: item.digest,
        sequence: action.sequence,
        uid: before?.uid ?? null,
        adopted: isNew || before?.adopted === true,
        fingerprint: before?.fingerprint ?? null,
        outcome: { kind: "claimed" },
      });
    }
    this.note(action, actions, entries);
  }

  /** A claim of ours that was carried out, and whose result was lost. */
  private isOurs(
    live: Live,
    action: PlacementActions,
    entry: InventoryEntry | null,
    { fleet, epoch }: ClusterActions,
  ): boolean {
    if (live.mark?.label !== markOf(action.placement)) return false;
    const writes = [action.sequence, ...(entry === null ? [] : [entry.sequence])];
    return writes.some((sequence) => live.mark?.write === writeText({ fleet, epoch, sequence }));
  }

  private write(
    accepted: readonly PlacementActions[],
    results: ReadonlyMap<PlacementActions, Map<ObjectKey, InventoryEntry | null>>,
    context: { readonly actions: ClusterActions; readonly now: Instant },
  ): void {
    // A report on differences never writes anything.
    const writing = accepted.filter((it) => it.applyStrategy.type !== "ReportDiff");
    const wanted = writing.flatMap((action) => action.apply.map((item) => ({ id: item.id, action, item })));
    for (const wave of applyOrder(wanted)) {
      for (const { action, item } of wave) {
        results.get(action)?.set(item.key, this.writeOne(action, item, context));
      }
    }
  }

  private writeOne(
    action: PlacementActions,
    item: RenderedManifest,
    { actions, now }: { readonly actions: ClusterActions; readonly now: Instant },
  ): InventoryEntry {
    const before = this.entryOf(action.placement, item.key);
    const base = { version: item.id.version, digest: item.digest, sequence: action.sequence };
    const fail = (code: FailureCode, message: string): InventoryEntry => {
      const attempts = (before?.outcome.kind === "failed" ? before.outcome.attempts : 0) + 1;
      const outcome = { kind: "failed", code, message, attempts, retryAt: later(now, seconds(5 * attempts)) } as const;
      const { uid = null, adopted = false, fingerprint = null } = before?.uid == null ? {} : before;
      return { ...base, uid, adopted, fingerprint, outcome };
    };
    const refusal = this.refuses.get(item.key);
    if (refusal !== undefined) return fail("ManifestApplyFailed", refusal);
    const { namespace } = item.id;
    const scope = this.scopes.get(kindKey(item.id)) ?? null;
    if (scope !== null && (scope === "Cluster") !== (namespace === null))
      return fail("ScopeDiffers", `${item.id.kind} is ${scope} here`);
    const home =
      namespace === null ? null : objectKey({ group: "", kind: "Namespace", namespace: null, name: namespace });
    if (home !== null && !this.objects.has(home)) return fail("NamespaceMissing", `no namespace ${namespace}`);
    const rival = this.owners(item.key, action);
    if (before?.uid == null && rival !== null) return fail("FailedToTakeOver", `placement ${rival} places it here`);
    const live = this.objects.get(item.key);
    const isKnown = live !== undefined && (live.uid === before?.uid || this.isOurs(live, action, before, actions));
    const strangers = live !== undefined && !isKnown;
    const isHeld = actions.holders.get(item.key)?.some((it) => markOf(it) === live?.mark?.label) === true;
    if (strangers && live.mark !== null && live.mark.label !== markOf(action.placement) && isHeld)
      return fail("FailedToTakeOver", `placement ${live.mark.label} owns it`);
    if (strangers && action.applyStrategy.whenToTakeOver === "Never") return fail("NotTakenOver", "it existed before");
    const next = this.put(item, action, actions);
    const adopted = strangers || (before?.adopted === true && live !== undefined);
    return { ...base, uid: next.uid, adopted, fingerprint: next.fingerprint, outcome: { kind: "applied" } };
  }

  private put(item: RenderedManifest, { placement, sequence }: PlacementActions, actions: ClusterActions): Live {
    const { fleet, epoch } = actions;
    const before = this.objects.get(item.key);
    const isChanged = before?.content !== item.digest;
    const next: Live = {
      uid: before?.uid ?? this.newUid(),
      generation: (before?.generation ?? 0) + (isChanged ? 1 : 0),
      content: item.digest,
      fingerprint: digestOf(["owned", item.digest]),
      health: isChanged || before === undefined ? this.freshHealth(item.id) : before.health,
      terminating: before?.terminating ?? false,
      mark: { label: markOf(placement), write: writeText({ fleet, epoch, sequence }) },
    };
    this.objects.set(item.key, next);
    return next;
  }

  private freshHealth(id: ObjectId): Health {
    if (workloads.has(kindKey(id))) return this.fresh;
    return builtInScopes.has(kindKey(id)) ? available : { phase: "untrackable" };
  }

  private newUid(): string {
    this.made += 1;
    return `${this.name}-${this.made}`;
  }

  private remove(
    accepted: readonly PlacementActions[],
    results: ReadonlyMap<PlacementActions, Map<ObjectKey, InventoryEntry | null>>,
    actions: ClusterActions,
  ): void {
    const going = accepted.flatMap((action) =>
      action.remove.map((departure) => ({ id: departure.id, action, departure })),
    );
    for (const wave of removeOrder(going)) {
      for (const { action, departure } of wave) {
        const entry = this.entryOf(action.placement, departure.key);
        if (entry !== null) results.get(action)?.set(departure.key, this.removeOne(action, departure, entry, actions));
      }
    }
  }

  private removeOne(
    action: PlacementActions,
    departure: ObjectRemoval,
    entry: InventoryEntry,
    actions: ClusterActions,
  ): InventoryEntry | null {
    const { key, id } = departure;
    const lingering = (code: FailureCode, message: string): InventoryEntry => ({
      ...entry,
      outcome: { kind: "lingering", code, message },
    });
    const live = this.objects.get(key);
    if (live === undefined) return null;
    if (departure.uid === null) return this.isOurs(live, action, entry, actions) ? { ...entry, uid: live.uid } : null;
    if (live.uid !== departure.uid) return lingering("IdentityChanged", "it was made anew by somebody else");
    // Another placement of ours has taken it.
    if (live.mark !== null && live.mark.label !== markOf(action.placement)) return null;
    if (departure.how === "release") {
      live.mark = null;
      live.fingerprint = null;
      return null;
    }
    if (live.mark === null) return lingering("DeletionRefused", "it does not carry our mark any more");
    const foreign = id.kind === "Namespace" ? this.foreignIn(id.name) : [];
    const isConfirmed = (it: ForeignObject): boolean =>
      departure.cascadesTo.some((other) => other.uid === it.uid && objectKey(other) === objectKey(it));
    if (!foreign.every(isConfirmed)) {
      const others = { count: foreign.length, objects: foreign.slice(0, maxForeignObjects) };
      const message = `it holds ${objectText(foreign[0] ?? id)}`;
      return { ...entry, outcome: { kind: "lingering", code: "NamespaceNotEmpty", message, others } };
    }
    return this.delete(key) ? null : lingering("Terminating", "waits for its finalizers");
  }

  /** Objects of somebody else in a namespace. */
  private foreignIn(namespace: string): readonly ForeignObject[] {
    return [...this.objects]
      .map(([key, { uid, terminating }]) => ({ ...objectIdOf(key), uid, terminating }))
      .filter((it) => it.namespace === namespace && !it.terminating)
      .map(({ terminating: _, ...it }) => it)
      .sort((a, b) => compareText(objectKey(a), objectKey(b)));
  }

  /** Deletes an object, and with a namespace everything in it. Gives whether it is gone. */
  delete(key: ObjectKey): boolean {
    const live = this.objects.get(key);
    if (live === undefined) return true;
    const { kind, name } = objectIdOf(key);
    const inside =
      kind === "Namespace" ? [...this.objects.keys()].filter((it) => objectIdOf(it).namespace === name) : [];
    const emptied = inside.map((it) => this.delete(it)).every((it) => it);
    if (emptied && !this.finalizers.has(key)) return this.objects.delete(key);
    live.terminating = true;
    live.health = { phase: "progressing", message: "is being deleted" };
    return false;
  }

  /** The finalizer is taken off: what was being deleted goes, and with it a namespace that waited for it. */
  finish(key: ObjectKey): void {
    this.finalizers.delete(key);
    for (const [other, live] of [...this.objects]) if (live.terminating) this.delete(other);
  }

  /** Somebody else makes an object here. */
  make(key: ObjectKey): void {
    this.objects.set(key, {
      uid: this.newUid(),
      generation: 1,
      content: null,
      fingerprint: null,
      health: available,
      terminating: false,
      mark: null,
    });
  }

  /** Somebody changes fields of ours by hand. */
  drift(key: ObjectKey): void {
    const live = this.objects.get(key);
    if (live === undefined) return;
    live.fingerprint = digestOf(["drifted", key]);
    live.content = null;
  }

  /** Every workload becomes what `health` says. */
  turn(health: Health): void {
    for (const [key, live] of this.objects)
      if (workloads.has(kindKey(objectIdOf(key))) && !live.terminating) live.health = health;
  }
}
