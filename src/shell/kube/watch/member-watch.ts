import { sameMap } from "../../../core/model/identity.ts";
import type { Inventory } from "../../../core/model/inventory.ts";
import { type ObjectKey, objectIdOf } from "../../../core/model/manifest.ts";
import type { Collected, NamespacesSeen, Observation } from "../../../core/model/observation.ts";
import type { ApiFailure } from "../client/api-request.ts";
import { metadataOnly } from "../client/client.ts";
import { MemberUnreachable, unreachableObservation } from "../client/member-unreachable.ts";
import { inventoryListing, readInventory } from "../inventory/inventory.ts";
import type { Collector } from "./collect.ts";
import type { ConfirmedWrite } from "./confirmed-writes.ts";
import { KindWatch, type WatchContext } from "./kind-watch.ts";
import { type InventoryKind, inventoryKinds, observedObjects } from "./live-objects.ts";
import { NamespaceWatch } from "./namespace-watch.ts";
import type { PlacedNamespaces } from "./namespaces.ts";
import { type MemberApi, type MemberIdentity, readIdentity, readIdentityAndInventory } from "./observe.ts";
import { type RetryWatcher, retryWatch } from "./retry-watcher.ts";
import { reuseUnchanged, reuseUnchangedInventory } from "./reuse-unchanged.ts";

/** What a watch begins with. */
interface MemberStart {
  readonly around: MemberContext;
  readonly before: Observation | null;
  readonly collected: Collected;
}

/** What the watches of a member share, and who finds out what it is. */
interface MemberContext extends WatchContext {
  readonly collector: Collector;
  /** The namespaces that placements live in, as of the last time that the member was asked about. */
  readonly placed: () => PlacedNamespaces;
}

/** One member, read completely once and kept up to date by watches until one breaks; then its owner opens another. */
export class MemberWatch {
  readonly #around: MemberContext;
  #identity: MemberIdentity;
  #inventory: Inventory;
  #collected: Collected;
  #wantedKinds: ReadonlyMap<string, InventoryKind>;
  #inventoryWatch: RetryWatcher | null = null;
  /** The inventory is small and rarely changes: its watch only marks it as stale, and a look reads it. */
  #isInventoryOld = false;
  readonly #kinds = new Map<string, KindWatch>();
  readonly #namespaces: NamespaceWatch;
  #namespacesSeen: NamespacesSeen | null = null;
  #isStopped = false;
  #view: Observation | null;
  /** What the view was built from. */
  #seen: readonly unknown[] = [];

  get seen(): Observation {
    // Set once the watch is open.
    return this.#view as Observation;
  }

  /** Reads everything once. Gives the member's refusal; rejects with {@link MemberUnreachable} when it is lost meanwhile. */
  static async open(
    asking: () => MemberApi,
    around: MemberContext,
    before: Observation | null,
  ): Promise<MemberWatch | ApiFailure> {
    const basics = await readIdentityAndInventory(asking().client);
    if (basics.kind === "refused") return basics;
    const collected = await around.collector.collect();
    const identity = { ...basics, properties: around.collector.steady(basics.properties) };
    const opened = new MemberWatch(identity, basics.stored.inventory, { around, before, collected });
    opened.#followInventory(basics.stored.asOf);
    try {
      // A deadline of its own: collecting may have taken long.
      await opened.look(asking());
      return opened;
    } catch (error) {
      opened.stop();
      throw error;
    }
  }

  private constructor(identity: MemberIdentity, inventory: Inventory, { around, before, collected }: MemberStart) {
    this.#collected = collected;
    this.#identity = identity;
    this.#around = around;
    this.#view = before;
    this.#inventory = before?.kind === "reached" ? reuseUnchangedInventory(before.inventory, inventory) : inventory;
    this.#wantedKinds = inventoryKinds(this.#inventory);
    this.#namespaces = new NamespaceWatch({ ...around, reader: around.collector.namespaces });
  }

  /** The member's state, no older than our own last write; rejects with {@link MemberUnreachable} otherwise. */
  async look(asking: MemberApi): Promise<Observation> {
    if (this.#isInventoryOld) await this.#readInventory(asking);
    for (const [name, kind] of this.#kinds) {
      if (this.#wantedKinds.has(name)) continue;
      kind.stop();
      this.#kinds.delete(name);
    }
    const [namespaces] = await Promise.all([
      this.#namespaces.look(this.#around.placed()),
      ...[...this.#wantedKinds].map(([name, wanted]) => this.#kind(name, wanted).look(asking, wanted)),
    ]);
    this.#namespacesSeen = namespaces;
    return this.#assembled();
  }

  /** Checks what watches do not: that the member is reachable and the same cluster, and objects without our label. */
  async beat(asking: MemberApi): Promise<void> {
    const identity = await readIdentity(asking.client);
    if (identity.kind === "refused") throw lostBy(identity);
    if (identity.clusterUid !== this.#identity.clusterUid)
      throw new MemberUnreachable("Unreachable", "it is another cluster now");
    const properties = this.#around.collector.steady(identity.properties);
    if (!sameMap(properties, this.#identity.properties)) {
      this.#identity = { ...identity, properties };
      this.#around.changed();
    }
    if (this.#inventoryWatch === null) this.#noticeInventory();
    const known = [...this.#kinds].filter(([name]) => this.#wantedKinds.has(name));
    await Promise.all([this.#namespaces.beat(), ...known.map(([, kind]) => kind.refresh(asking))]);
    await this.#collect();
  }

  /** With every beat another number of nodes is noticed, and what the operator's command said since; the rest when it is due. */
  async #collect(): Promise<void> {
    const { collector, changed } = this.#around;
    await collector.probe();
    const collected = await collector.collect();
    if (collected === this.#collected) return;
    this.#collected = collected;
    changed();
  }

  /** The next look must see these writes. */
  expect(writes: readonly ConfirmedWrite[]): void {
    this.#isInventoryOld = true;
    for (const written of writes) {
      for (const [name, { kind }] of this.#wantedKinds) {
        if (written.kind !== "wrote" || isOfKind(written.key, kind)) this.#kinds.get(name)?.expect(written);
      }
    }
  }

  /** The next look gives nothing older than the watch before this one has given, which went on while this one was opened. */
  succeed(before: MemberWatch): void {
    if (before.#inventory !== this.#inventory) this.#isInventoryOld = true;
    for (const [name, kind] of this.#kinds) {
      const earlier = before.#kinds.get(name);
      if (earlier !== undefined) kind.succeed(earlier);
    }
    this.#namespaces.succeed(before.#namespaces);
  }

  stop(): void {
    this.#isStopped = true;
    this.#inventoryWatch?.stop();
    this.#namespaces.stop();
    for (const kind of this.#kinds.values()) kind.stop();
  }

  #kind(name: string, { kind }: InventoryKind): KindWatch {
    const known = this.#kinds.get(name) ?? new KindWatch(kind, this.#around);
    // A look may still be under way.
    if (this.#isStopped) known.stop();
    this.#kinds.set(name, known);
    return known;
  }

  #followInventory(from: string): void {
    this.#inventoryWatch = retryWatch({
      client: this.#around.client,
      what: { ...inventoryListing, accept: metadataOnly },
      from,
      onObject: () => this.#noticeInventory(),
      onProgress: () => {},
      onBroken: (why) => {
        // Watching is not allowed: it is read again with every heartbeat.
        this.#inventoryWatch = null;
        if (why.kind !== "lost") return;
        // Until the watch is replaced, every look reads it.
        this.#isInventoryOld = true;
        this.#around.broken(why.lost);
      },
    });
  }

  #noticeInventory(): void {
    if (this.#isInventoryOld) return;
    this.#isInventoryOld = true;
    this.#around.changed();
  }

  async #readInventory({ client }: MemberApi): Promise<void> {
    // Set before the response: a change meanwhile marks it as stale again.
    this.#isInventoryOld = false;
    const stored = await readInventory(client).catch((error: unknown) => {
      this.#isInventoryOld = true;
      throw error;
    });
    if (stored.kind === "refused") {
      this.#isInventoryOld = true;
      throw lostBy(stored);
    }
    const inventory = reuseUnchangedInventory(this.#inventory, stored.inventory);
    if (inventory !== this.#inventory) this.#wantedKinds = inventoryKinds(inventory);
    this.#inventory = inventory;
  }

  #assembled(): Observation {
    const kinds = [...this.#wantedKinds].map(([name, wanted]) => ({ wanted, watch: this.#kind(name, wanted) }));
    const seen = [
      this.#identity,
      this.#collected,
      this.#namespacesSeen,
      this.#inventory,
      ...kinds.flatMap(({ watch }) => [watch, watch.changes]),
    ];
    if (this.#view !== null && seen.length === this.#seen.length && seen.every((it, at) => it === this.#seen[at]))
      return this.#view;
    this.#seen = seen;
    const { clusterUid, properties } = this.#identity;
    const objects = observedObjects(kinds.map(({ wanted, watch }) => ({ kind: wanted, found: watch.found })));
    const view: Observation = {
      kind: "reached",
      clusterUid,
      properties,
      collected: this.#collected,
      ...(this.#namespacesSeen === null ? {} : { namespaces: this.#namespacesSeen }),
      inventory: this.#inventory,
      ...objects,
    };
    this.#view = reuseUnchanged(this.#view, view);
    return this.#view;
  }
}

const lostBy = (refusal: ApiFailure): MemberUnreachable => {
  const { code, message } = unreachableObservation(refusal);
  return new MemberUnreachable(code, message);
};

const isOfKind = (key: ObjectKey, { group, kind }: InventoryKind["kind"]): boolean => {
  const id = objectIdOf(key);
  return id.group === group && id.kind === kind;
};
