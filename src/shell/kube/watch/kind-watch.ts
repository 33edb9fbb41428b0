import { sameList } from "../../../core/model/identity.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { ObjectKey } from "../../../core/model/manifest.ts";
import { placementLabel } from "../../../core/model/names.ts";
import type { LiveObject } from "../../../core/model/observation.ts";
import type { Client } from "../client/client.ts";
import { type ApiResource, collectionPath } from "../client/discovery.ts";
import type { MemberUnreachable } from "../client/member-unreachable.ts";
import type { ConfirmedWrite } from "./confirmed-writes.ts";
import { type InventoryKind, isSameLiveObject, type LiveObjects, reduceOne } from "./live-objects.ts";
import { listKind, type MemberApi, missingKeys, observeUnlabelled } from "./observe.ts";
import { type RetryWatcher, retryWatch } from "./retry-watcher.ts";

/** What the watches of one member share. */
export interface WatchContext {
  /** Without an overall deadline: watches outlive any single observation. */
  readonly client: Client;
  /** Something changed since the last look. */
  readonly changed: () => void;
  /** The cached objects may be out of date from now on. */
  readonly broken: (why: MemberUnreachable) => void;
  /** Waits, by the time of the network. */
  readonly pause: (ms: number) => Promise<void>;
}

/** How long to wait for the event of our own write before listing. */
const maxEventWaitMs = 1_000;

/**
 * One kind on one member, listed once, then followed: what `observeMember` would find. What the inventory names without
 * our label no watch covers: it is read when a look finds it missing, and with every heartbeat.
 */
export class KindWatch {
  readonly #kind: InventoryKind["kind"];
  readonly #around: WatchContext;
  /** Null before the first list, and while the member refuses to list. */
  #resource: ApiResource | "gone" | null = null;
  #isListed = false;
  #isStopped = false;
  #marked = new Map<ObjectKey, LiveObject>();
  #following: RetryWatcher | null = null;
  #unmarked: { readonly keys: readonly ObjectKey[]; readonly found: LiveObjects | null } = noneMissing;
  /** What the watch before this one found may be newer. */
  #isUnmarkedOld = false;
  /** What the last look wanted. */
  #wanted: Pick<InventoryKind, "keys"> = { keys: new Set() };
  #listing: Promise<void> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  /** Counts expected writes: a list that began before a write may not show it. */
  #writes = 0;
  #expectedVersion = 0;
  readonly #expectedGone = new Set<string>();
  #progressed: (() => void) | null = null;
  #changes = 0;

  constructor(kind: InventoryKind["kind"], around: WatchContext) {
    this.#kind = kind;
    this.#around = around;
  }

  /** Counts changes: while it stays the same, so does {@link found}. */
  get changes(): number {
    return this.#changes;
  }

  /** The cached objects; null when the member would not list them. Valid after a look, until the next event. */
  get found(): LiveObjects | null {
    if (this.#resource === null || this.#unmarked.found === null) return null;
    return this.#unmarked.found.size === 0 ? this.#marked : new Map([...this.#marked, ...this.#unmarked.found]);
  }

  /** Brings the cache up to date with our own writes and with what the inventory names. */
  async look(asking: MemberApi, wanted: InventoryKind): Promise<void> {
    if (!this.#isListed || this.#isUnwatchable()) await this.#list(asking);
    else if (!this.#isCaughtUp()) await this.#catchUp(asking);
    this.#wanted = wanted;
    await this.#readUnmarked(asking, (keys) => this.#isUnmarkedOld || !sameList(keys, this.#unmarked.keys));
  }

  /** Reads again what the watch does not cover. */
  async refresh(asking: MemberApi): Promise<void> {
    if (this.#following === null) await this.#list(asking);
    await this.#readUnmarked(asking, (keys) => keys.length > 0);
  }

  /** The next look gives nothing older than the watch before this one has given; where that one broke, it lists. */
  succeed(before: KindWatch): void {
    const isSame = isSameFound(before.#unmarked.found, this.#unmarked.found);
    if (!isSame) this.#isUnmarkedOld = true;
    this.#expectVersion(before.#following?.version ?? Number.NaN);
  }

  /** The next look must see these writes. */
  expect(written: ConfirmedWrite): void {
    if (written.kind === "unclear") return;
    this.#writes += 1;
    if (written.kind === "deleted") {
      for (const live of this.#marked.values()) {
        if (live.uid === written.uid && !live.terminating) this.#expectedGone.add(live.uid);
      }
      return;
    }
    if (!written.isMarked && !this.#marked.has(written.key)) return;
    this.#expectVersion(written.version);
  }

  /** A version that is not a number is never reached: the kind is listed instead. */
  #expectVersion(version: number): void {
    this.#expectedVersion = Math.max(this.#expectedVersion, Number.isNaN(version) ? Number.POSITIVE_INFINITY : version);
  }

  stop(): void {
    this.#isStopped = true;
    this.#following?.stop();
  }

  /** One list at a time: the last one counts. */
  #list(asking: MemberApi): Promise<void> {
    const list = this.#listing.then(() => this.#listNow(asking));
    this.#listing = list.catch(() => {});
    return list;
  }

  async #listNow(asking: MemberApi): Promise<void> {
    this.#following?.stop();
    this.#following = null;
    const writes = this.#writes;
    const listed = await listKind(asking, this.#kind);
    this.#isListed = true;
    if (writes === this.#writes) this.#expectNothing();
    if (listed === null || listed === "gone") {
      this.#replace(listed, new Map());
      return;
    }
    const { resource, labelled, resourceVersion } = listed;
    this.#replace(resource, labelled);
    if (this.#isStopped) return;
    if (resource.verbs.length === 0 || resource.verbs.includes("watch")) this.#follow(resource, resourceVersion);
  }

  #follow(resource: ApiResource, from: string): void {
    const following = retryWatch({
      client: this.#around.client,
      what: { path: collectionPath(resource, null), labelSelector: placementLabel },
      from,
      onObject: (object, isGone) => this.#take(object, resource, isGone),
      onProgress: () => {
        if (this.#isCaughtUp()) this.#progressed?.();
      },
      onBroken: (why) => {
        if (this.#following !== following) return;
        this.#following = null;
        if (why.kind === "lost") this.#around.broken(why.lost);
      },
    });
    this.#following = following;
  }

  #replace(resource: ApiResource | "gone" | null, marked: LiveObjects): void {
    const before = this.#marked;
    const isSame = resource === this.#resource && before.size === marked.size;
    this.#marked = new Map([...marked].map(([key, live]) => [key, kept(before.get(key), live)]));
    if (isSame && [...this.#marked].every(([key, live]) => before.get(key) === live)) return;
    this.#resource = resource;
    this.#change();
  }

  #take(object: JsonObject, resource: ApiResource, isGone: boolean): void {
    const [key, reduce] = reduceOne(object, resource);
    const before = this.#marked.get(key);
    if (isGone) {
      if (before !== undefined) this.#expectedGone.delete(before.uid);
      if (this.#marked.delete(key)) this.#change();
      return;
    }
    const live = reduce();
    if (live.terminating) this.#expectedGone.delete(live.uid);
    if (before !== undefined && before.uid !== live.uid) this.#expectedGone.delete(before.uid);
    if (before !== undefined && isSameLiveObject(before, live)) return;
    this.#marked.set(key, live);
    this.#change();
  }

  #change(): void {
    this.#changes += 1;
    this.#around.changed();
  }

  /** It can be listed but not watched. */
  #isUnwatchable(): boolean {
    return this.#following === null && this.#resource !== null && this.#resource !== "gone";
  }

  /** What the last look wanted and the watch does not cover. */
  #missing(): readonly ObjectKey[] {
    return this.#resource === null || this.#resource === "gone" ? [] : missingKeys(this.#wanted, this.#marked);
  }

  /** One read at a time, if it is still due in its turn: an answer that was late would replace a newer one. */
  #readUnmarked(asking: MemberApi, isDue: (keys: readonly ObjectKey[]) => boolean): Promise<void> {
    const read = this.#reading.then(async () => {
      const keys = this.#missing();
      if (isDue(keys)) await this.#readUnmarkedNow(asking, keys);
    });
    this.#reading = read.catch(() => {});
    return read;
  }

  async #readUnmarkedNow({ client }: MemberApi, keys: readonly ObjectKey[]): Promise<void> {
    const before = this.#unmarked.found;
    this.#isUnmarkedOld = false;
    const found =
      keys.length === 0 ? noneMissing.found : await observeUnlabelled(client, this.#resource as ApiResource, keys);
    const isSame = isSameFound(before, found);
    this.#unmarked = { keys, found: isSame ? before : found };
    if (!isSame) this.#change();
  }

  #isCaughtUp(): boolean {
    if (this.#expectedVersion === 0 && this.#expectedGone.size === 0) return true;
    return (
      this.#following !== null && this.#following.version >= this.#expectedVersion && this.#expectedGone.size === 0
    );
  }

  async #catchUp(asking: MemberApi): Promise<void> {
    if (this.#following !== null && this.#expectedVersion < Number.POSITIVE_INFINITY) {
      const progressed = new Promise<void>((resolve) => {
        this.#progressed = resolve;
      });
      await Promise.race([progressed, this.#around.pause(maxEventWaitMs)]);
      this.#progressed = null;
    }
    if (this.#isCaughtUp()) this.#expectNothing();
    else await this.#list(asking);
  }

  #expectNothing(): void {
    this.#expectedVersion = 0;
    this.#expectedGone.clear();
  }
}

const noneMissing: { readonly keys: readonly ObjectKey[]; readonly found: LiveObjects } = {
  keys: [],
  found: new Map(),
};

const isSameFound = (before: LiveObjects | null, found: LiveObjects | null): boolean =>
  before?.size === found?.size &&
  [...(found ?? [])].every(([key, live]) => {
    const was = before?.get(key);
    return was !== undefined && isSameLiveObject(was, live);
  });

const kept = (before: LiveObject | undefined, live: LiveObject): LiveObject =>
  before !== undefined && isSameLiveObject(before, live) ? before : live;
