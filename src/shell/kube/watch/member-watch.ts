import type { Inventory } from "../../../core/model/inventory.ts";
import { type ObjectKey, objectIdOf } from "../../../core/model/manifest.ts";
import type { Observation } from "../../../core/model/observation.ts";
import { metadataOnly, type Refused } from "../client/client.ts";
import { Lost, unreachableBy } from "../client/member-unreachable.ts";
import { inventoryListing, readInventory } from "../inventory/inventory.ts";
import type { Written } from "./confirmed-writes.ts";
import { KindWatch, type Surroundings } from "./kind-watch.ts";
import { type KindShare, objectsOf, sharesOf } from "./live-objects.ts";
import { type Asking, askBasics, askIdentity, type Identity } from "./observe.ts";
import { type Following, follow } from "./retry-watcher.ts";
import { carriedInventory, carriedOver } from "./reuse-unchanged.ts";

/**
 * One member from one complete look on, kept up to date by watches for as long as none of them breaks.
 *
 * What it gives is what `observeMember` would give. It loses nothing that it cannot find again: after a break, whoever owns
 * it opens another one, which lists everything.
 */
export class MemberWatch {
  readonly #around: Surroundings;
  #identity: Identity;
  #inventory: Inventory;
  #shares: ReadonlyMap<string, KindShare>;
  #inventoryWatch: Following | null = null;
  /** The inventory is small and changes seldom: its watch only says that it did, and a look reads it. */
  #isInventoryOld = false;
  readonly #kinds = new Map<string, KindWatch>();
  #isStopped = false;
  #view: Observation | null;
  /** What the view was put together from. */
  #seen: readonly unknown[] = [];

  /** What was last seen. */
  get seen(): Observation {
    // An open watch has looked.
    return this.#view as Observation;
  }

  /** Looks at everything once. A refusal is the member's; rejects with {@link Lost} when it is lost meanwhile. */
  static async open(asking: Asking, around: Surroundings, before: Observation | null): Promise<MemberWatch | Refused> {
    const basics = await askBasics(asking.client);
    if (basics.kind === "refused") return basics;
    const opened = new MemberWatch(basics, basics.stored.inventory, { around, before });
    opened.#followInventory(basics.stored.asOf);
    try {
      await opened.look(asking);
      return opened;
    } catch (error) {
      opened.stop();
      throw error;
    }
  }

  private constructor(
    identity: Identity,
    inventory: Inventory,
    { around, before }: { readonly around: Surroundings; readonly before: Observation | null },
  ) {
    this.#identity = identity;
    this.#around = around;
    this.#view = before;
    this.#inventory = before?.kind === "reached" ? carriedInventory(before.inventory, inventory) : inventory;
    this.#shares = sharesOf(this.#inventory);
  }

  /**
   * The member as it is, no older than our own last write to it; the same object while nothing changed. Rejects with
   * {@link Lost} when it cannot be made sure of.
   */
  async look(asking: Asking): Promise<Observation> {
    if (this.#isInventoryOld) await this.#readInventory(asking);
    for (const [name, kind] of this.#kinds) {
      if (this.#shares.has(name)) continue;
      kind.stop();
      this.#kinds.delete(name);
    }
    await Promise.all([...this.#shares].map(([name, share]) => this.#kind(name, share).look(asking, share)));
    return this.#assembled();
  }

  /** What watches do not tell: whether the member is still there and still itself, and what carries no label of ours. */
  async beat(asking: Asking): Promise<void> {
    const identity = await askIdentity(asking.client);
    if (identity.kind === "refused") throw lostBy(identity);
    if (identity.clusterUid !== this.#identity.clusterUid) throw new Lost("Unreachable", "it is another cluster now");
    if (identity.kubernetesVersion !== this.#identity.kubernetesVersion) {
      this.#identity = identity;
      this.#around.changed();
    }
    if (this.#inventoryWatch === null) this.#noticeInventory();
    const known = [...this.#shares].filter(([name]) => this.#kinds.has(name));
    await Promise.all(known.map(([name, share]) => this.#kind(name, share).refresh(asking, share)));
  }

  /** The next look must know of these. */
  expect(writes: readonly Written[]): void {
    this.#isInventoryOld = true;
    for (const written of writes) {
      for (const [name, { kind }] of this.#shares) {
        if (written.kind !== "wrote" || isOfKind(written.key, kind)) this.#kinds.get(name)?.expect(written);
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#inventoryWatch?.stop();
    for (const kind of this.#kinds.values()) kind.stop();
  }

  #kind(name: string, { kind }: KindShare): KindWatch {
    const known = this.#kinds.get(name) ?? new KindWatch(kind, this.#around);
    // A look may still be under way.
    if (this.#isStopped) known.stop();
    this.#kinds.set(name, known);
    return known;
  }

  #followInventory(from: string): void {
    this.#inventoryWatch = follow({
      client: this.#around.client,
      what: { ...inventoryListing, accept: metadataOnly },
      from,
      onObject: () => this.#noticeInventory(),
      onProgress: () => {},
      onBroken: (why) => {
        // Not allowed to watch: it is read again with every heartbeat.
        this.#inventoryWatch = null;
        if (why.kind !== "lost") return;
        // Who looks at this one until there is another reads it.
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

  async #readInventory({ client }: Asking): Promise<void> {
    // Before the answer: what changes while it is on its way makes it old again.
    this.#isInventoryOld = false;
    const stored = await readInventory(client).catch((error: unknown) => {
      this.#isInventoryOld = true;
      throw error;
    });
    if (stored.kind === "refused") {
      this.#isInventoryOld = true;
      throw lostBy(stored);
    }
    const inventory = carriedInventory(this.#inventory, stored.inventory);
    if (inventory !== this.#inventory) this.#shares = sharesOf(inventory);
    this.#inventory = inventory;
  }

  #assembled(): Observation {
    const kinds = [...this.#shares].map(([name, share]) => ({ share, watch: this.#kind(name, share) }));
    const seen = [this.#identity, this.#inventory, ...kinds.flatMap(({ watch }) => [watch, watch.changes])];
    if (this.#view !== null && seen.length === this.#seen.length && seen.every((it, at) => it === this.#seen[at]))
      return this.#view;
    this.#seen = seen;
    const { clusterUid, kubernetesVersion } = this.#identity;
    const objects = objectsOf(kinds.map(({ share, watch }) => ({ share, found: watch.found })));
    const view: Observation = {
      kind: "reached",
      clusterUid,
      kubernetesVersion,
      inventory: this.#inventory,
      ...objects,
    };
    this.#view = carriedOver(this.#view, view);
    return this.#view;
  }
}

const lostBy = (refusal: Refused): Lost => {
  const { code, message } = unreachableBy(refusal);
  return new Lost(code, message);
};

const isOfKind = (key: ObjectKey, { group, kind }: KindShare["kind"]): boolean => {
  const id = objectIdOf(key);
  return id.group === group && id.kind === kind;
};
