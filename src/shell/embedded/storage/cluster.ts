import { createHash } from "node:crypto";
import type { JsonObject } from "../../../core/model/json.ts";
import { Kinds } from "../api/kinds.ts";
import { type InjectedFaults, type LogEntry, noFaults, RequestCounters } from "./injected-faults.ts";
import { Store, type StoreChange } from "./store.ts";

interface ClusterOptions {
  readonly name: string;
  /** How long a workload takes to become available, and a namespace to go. */
  readonly availableAfterMs: number;
  /** The bearer token that requests must carry; null for none. */
  readonly token: string | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes the queue for the controllers' delayed work. */
  readonly newDelayedWork: () => DelayedWork;
  /** Called for every write, inside of it: may schedule work only. */
  readonly runControllers: (cluster: Cluster, change: StoreChange) => void;
  /** Creates the objects that every cluster starts with. */
  readonly bootstrap: (cluster: Cluster) => void;
}

/** Requests that the log keeps. */
const logLimit = 10_000;

/** One simulated cluster: its objects, kinds, clock and injected faults. */
export class Cluster {
  readonly name: string;
  readonly token: string | null;
  readonly counters = new RequestCounters();
  store: Store;
  kinds = new Kinds();
  faults: InjectedFaults = noFaults;
  availableAfterMs: number;
  /** Null while nothing is logged. */
  log: LogEntry[] | null = null;
  /** Aborts when the cluster is reset or goes down, which ends watches. */
  life = new AbortController();
  readonly #setting: ClusterOptions;
  #schedule: DelayedWork;
  #missed: (() => void)[] = [];
  #incarnation = 0;
  /** A hash of name and incarnation: no two clusters share a uid. */
  #origin: string;
  #serial = 0;
  #time = { second: -1, text: "", date: "" };

  constructor(setting: ClusterOptions) {
    this.#setting = setting;
    this.#schedule = setting.newDelayedWork();
    this.name = setting.name;
    this.#origin = originOf(this.name, this.#incarnation);
    this.token = setting.token;
    this.availableAfterMs = setting.availableAfterMs;
    this.store = this.#newStore();
    setting.bootstrap(this);
  }

  /** The moment as Kubernetes writes it: RFC 3339, whole seconds. */
  time(): string {
    return this.#moment().text;
  }

  /** The moment as HTTP writes it (RFC 9110 §5.6.7). */
  date(): string {
    return this.#moment().date;
  }

  /** The texts of a second are formatted once. */
  #moment(): { readonly text: string; readonly date: string } {
    const second = Math.floor(this.#setting.now() / 1000);
    if (second !== this.#time.second) {
      const at = new Date(second * 1000);
      this.#time = { second, text: `${at.toISOString().slice(0, 19)}Z`, date: at.toUTCString() };
    }
    return this.#time;
  }

  /** The next serial number of this cluster: the same in every run. */
  serial(): number {
    return ++this.#serial;
  }

  /** A uid that depends on the cluster, its incarnation and what was made before, and on nothing else. */
  newUid(): string {
    const hash = this.#origin;
    const serial = this.serial().toString(16).padStart(12, "0");
    return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${serial}`;
  }

  /** Does work later, unless the cluster is reset or closed before. Work that finds controllers frozen waits for {@link thaw}. */
  after(delayMs: number, work: () => void): void {
    this.#schedule.after(delayMs, () => {
      if (this.faults.frozen) this.#missed.push(work);
      else work();
    });
  }

  /** Does what came due while controllers stood still, in its order. */
  thaw(): void {
    for (const work of this.#missed.splice(0)) work();
  }

  record(entry: LogEntry): void {
    if (this.log !== null && this.log.length < logLimit) this.log.push(entry);
  }

  /** A new cluster under the same name and address: other uids, nothing left of the old one. */
  reset(): void {
    this.#schedule.close();
    this.endWatches();
    this.#schedule = this.#setting.newDelayedWork();
    this.#missed = [];
    this.#incarnation++;
    this.#origin = originOf(this.name, this.#incarnation);
    this.#serial = 0;
    this.kinds = new Kinds();
    this.store = this.#newStore();
    this.#setting.bootstrap(this);
  }

  endWatches(): void {
    this.life.abort();
    this.life = new AbortController();
  }

  close(): void {
    this.#schedule.close();
    this.life.abort();
  }

  #newStore(): Store {
    return new Store((change) => this.#setting.runControllers(this, change));
  }
}

const originOf = (name: string, incarnation: number): string =>
  createHash("sha256").update(`${name}/${incarnation}`).digest("hex");

export const withStatus = (object: JsonObject, status: JsonObject): JsonObject => ({ ...object, status });

/** Delayed work, which can be cancelled as a whole. */
export interface DelayedWork {
  after(delayMs: number, work: () => void): void;
  /** Calls everything off, and whatever comes later. */
  close(): void;
}

/** Delayed work by real timers, which do not keep a process alive. */
export class RealTimers implements DelayedWork {
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  after(delayMs: number, work: () => void): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, delayMs);
    timer.unref();
    this.#timers.add(timer);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
