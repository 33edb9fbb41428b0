import type { JsonObject } from "../../../core/model/json.ts";
import type { NamespacesSeen } from "../../../core/model/observation.ts";
import { metadataOnly } from "../client/client.ts";
import type { WatchContext } from "./kind-watch.ts";
import {
  isStanding,
  markIn,
  mostNamespaces,
  type NamespaceReader,
  namesInOrder,
  namespaceName,
  namespacesPath,
  type PlacedNamespaces,
} from "./namespaces.ts";
import { type RetryWatcher, retryWatch } from "./retry-watcher.ts";

/** What a watch of namespaces shares with the other watches of its member, and who lists them. */
interface NamespaceContext extends WatchContext {
  readonly reader: NamespaceReader;
}

/**
 * The namespaces of one member: listed once, then followed, as long as somebody asks. One that placements live in is news
 * at once, any other with the next heartbeat.
 */
export class NamespaceWatch {
  readonly #around: NamespaceContext;
  #placed: PlacedNamespaces = new Set();
  /** Null before the first list. */
  #found: NamespacesSeen | null = null;
  #names = new Map<string, string>();
  #following: RetryWatcher | null = null;
  #told: NamespacesSeen | null = null;
  /** Something is to be told with the next look. */
  #isNews = false;
  /** It has to be listed again: the watch before this one may have told more. */
  #isOld = false;
  #isStopped = false;
  #reading: Promise<void> = Promise.resolve();

  constructor(around: NamespaceContext) {
    this.#around = around;
  }

  /** What is told of them; null where nobody asks. The same (`===`) until there is news. */
  async look(placed: PlacedNamespaces): Promise<NamespacesSeen | null> {
    if (!hasSame(placed, this.#placed)) this.#isNews = true;
    this.#placed = placed;
    if (placed.size === 0) {
      this.#unfollow();
      [this.#found, this.#told] = [null, null];
      return null;
    }
    if (this.#found === null || this.#isOld) await this.#list();
    if (this.#told === null || this.#isNews) this.#tell();
    return this.#told;
  }

  /** Lists what no watch covers, and lets the next look tell what nobody waited for. */
  async beat(): Promise<void> {
    if (this.#placed.size === 0 || this.#found === null) return;
    if (this.#following === null) await this.#list();
    const before = this.#told;
    this.#tell();
    if (this.#told !== before) this.#around.changed();
  }

  /** The next look tells nothing older than the watch before this one has told; where that cannot be compared, it lists. */
  succeed(before: NamespaceWatch): void {
    const [theirs, ours] = [before.#following?.version, this.#following?.version];
    const isAsNew = theirs !== undefined && ours !== undefined && theirs <= ours;
    if (before.#found !== null && !isAsNew) this.#isOld = true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#unfollow();
  }

  /** One list at a time. */
  #list(): Promise<void> {
    const list = this.#reading.then(() => this.#listNow());
    this.#reading = list;
    return list;
  }

  async #listNow(): Promise<void> {
    this.#unfollow();
    this.#isOld = false;
    const { found, resourceVersion } = await this.#around.reader.list();
    // Nobody asks any more, and nobody follows what was listed: whoever asks next is to be told what is there then.
    if (this.#placed.size === 0) return;
    this.#isNews = true;
    this.#found = found;
    if (found.kind === "listed") this.#names = new Map(found.names);
    if (resourceVersion !== null && !this.#isStopped) this.#follow(resourceVersion);
  }

  #follow(from: string): void {
    const following = retryWatch({
      client: this.#around.client,
      what: { path: namespacesPath, accept: metadataOnly },
      from,
      onObject: (object, isGone) => this.#take(object, isGone),
      onProgress: () => {},
      onBroken: (why) => {
        // Watching is not allowed: they are listed with every heartbeat.
        if (this.#following !== following) return;
        this.#following = null;
        if (why.kind === "lost") this.#around.broken(why.lost);
      },
    });
    this.#following = following;
  }

  #unfollow(): void {
    this.#following?.stop();
    this.#following = null;
  }

  #take(object: JsonObject, isGone: boolean): void {
    const [name, mark] = [namespaceName(object), markIn(object)];
    const isThere = !isGone && isStanding(object);
    const [was, isPlaced] = [this.#names.has(name), this.#placed.has(name)];
    if (!isThere) this.#names.delete(name);
    else if (was || isPlaced || this.#names.size < mostNamespaces) this.#names.set(name, mark);
    if (was === isThere || !isPlaced) return;
    this.#isNews = true;
    this.#around.changed();
  }

  #tell(): void {
    this.#isNews = false;
    if (this.#found === null) return;
    const isListed = this.#found.kind === "listed";
    const found: NamespacesSeen = isListed ? { kind: "listed", names: namesInOrder([...this.#names]) } : this.#found;
    this.#told = this.#around.reader.steady(found, this.#placed);
  }
}

const hasSame = (a: PlacedNamespaces, b: PlacedNamespaces): boolean =>
  a === b || (a.size === b.size && [...a].every((it) => b.has(it)));
