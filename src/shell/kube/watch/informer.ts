import { setMaxListeners } from "node:events";
import type { Observation } from "../../../core/model/observation.ts";
import type { Client } from "../client/client.ts";
import { inSlot, type SlotPool } from "../client/concurrency.ts";
import type { Discovery } from "../client/discovery.ts";
import { contactFailureOf, unreachableObservation } from "../client/member-unreachable.ts";
import type { Collector } from "./collect.ts";
import type { ConfirmedWrite } from "./confirmed-writes.ts";
import { MemberWatch } from "./member-watch.ts";
import type { PlacedNamespaces } from "./namespaces.ts";
import type { MemberApi } from "./observe.ts";
import { reuseUnchanged } from "./reuse-unchanged.ts";

/** What the informers of one fleet share. */
export interface InformerOptions extends SlotPool {
  /** Called when a member changed since it was last seen. */
  readonly onChange: () => void;
  /** How long listing a member may take. */
  readonly deadlineMs: number;
  /** How often a member is checked for being reachable, and for what watches do not cover. */
  readonly heartbeatMs: number;
}

interface InformerMember {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly collector: Collector;
  /** Seeds the jitter of its pauses. */
  readonly name: string;
}

/** With every tenth heartbeat everything is listed again: a missed event costs no more (`kube/README.md#f-32`). */
const beatsBetweenLists = 10;

/** A member that was not observed for so many heartbeats is no longer watched: it has left the fleet. */
const beatsUnasked = 5;

const firstRetryMs = 1_000;
const lastRetryMs = 16_000;

/** A watch that breaks sooner counts as another failure. */
const stableMs = 10_000;

/** How many watches one look may find broken. */
const maxLooks = 3;

type Unreachable = Extract<Observation, { kind: "unreachable" }>;

const notAsked: Unreachable = { kind: "unreachable", code: "NoConnection", message: "it is no longer watched" };

type State =
  | { readonly kind: "listing"; readonly done: Promise<void>; readonly end: () => void }
  | { readonly kind: "live"; readonly opened: Opened }
  | { readonly kind: "lost"; readonly seen: Unreachable }
  | { readonly kind: "idle" };

/** A watch, and how it ends. */
interface Opened {
  readonly watch: MemberWatch;
  readonly broken: Promise<Unreachable | "old">;
  readonly breakOff: (why: Unreachable | "old") => void;
}

/** Keeps one member watched: lists, watches, and starts again when something breaks. */
export class Informer {
  readonly #member: InformerMember;
  readonly #watching: InformerOptions;
  readonly #pace: number;
  readonly #closing = new AbortController();
  #state: State = { kind: "idle" };
  #last: Observation | null = null;
  #looking: Promise<Observation> | null = null;
  #placed: PlacedNamespaces = new Set();
  #unaskedBeats = 0;
  /** Our writes since the current listing began; null while nothing is listed. */
  #meanwhile: ConfirmedWrite[] | "anything" | null = null;

  constructor(member: InformerMember, watching: InformerOptions) {
    this.#member = member;
    this.#watching = watching;
    this.#pace = jitterOf(member.name);
    // Any number of pauses may listen to it.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * The member's cached state, at once or when it is listed; unreachable until then. The same while unchanged. With its
   * namespaces where placements live in some.
   */
  observe(placed: PlacedNamespaces): Promise<Observation> {
    this.#unaskedBeats = 0;
    // A look under way asks about others.
    if (placed !== this.#placed) this.#looking = null;
    this.#placed = placed;
    if (this.#state.kind === "idle" && !this.#closing.signal.aborted) {
      this.#become(listing());
      void this.#live();
    }
    if (this.#looking !== null) return this.#looking;
    const looking = this.#look().finally(() => {
      if (this.#looking === looking) this.#looking = null;
    });
    this.#looking = looking;
    return looking;
  }

  /** The next observation includes these writes of ours; null: anything may have been written. */
  expect(writes: readonly ConfirmedWrite[] | null): void {
    // A look under way may have been too early.
    this.#looking = null;
    if (writes === null) this.#meanwhile = this.#meanwhile === null ? null : "anything";
    else if (Array.isArray(this.#meanwhile)) this.#meanwhile.push(...writes);
    if (this.#state.kind !== "live") return;
    const { watch, breakOff } = this.#state.opened;
    if (writes !== null) watch.expect(writes);
    else {
      this.#become(listing());
      breakOff("old");
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #look(): Promise<Observation> {
    for (let looks = 1; ; looks += 1) {
      if (this.#state.kind === "listing") await this.#state.done;
      if (this.#state.kind === "lost") return this.#state.seen;
      if (this.#state.kind !== "live") return notAsked;
      const { watch, breakOff } = this.#state.opened;
      try {
        this.#last = await watch.look(this.#asking());
        return this.#last;
      } catch (error) {
        const loss: Unreachable = { kind: "unreachable", ...contactFailureOf(error) };
        // A watch whose look failed is not used again, and `onChange` is called after its loss was reported.
        if (this.#state.kind === "live" && this.#state.opened.watch === watch) this.#become(listing());
        if (looks >= maxLooks) this.#last = loss;
        breakOff(loss);
        if (looks >= maxLooks) return loss;
      }
    }
  }

  async #live(): Promise<void> {
    // The old watch stays open while everything is listed again.
    let aging: MemberWatch | null = null;
    for (let failures = 0; ; ) {
      const opened = await inSlot(this.#watching, () => this.#open());
      if (aging !== null && "watch" in opened) opened.watch.succeed(aging);
      aging?.stop();
      aging = null;
      if (this.#closing.signal.aborted) {
        if ("watch" in opened) opened.watch.stop();
        return this.#become({ kind: "idle" });
      }
      if ("watch" in opened) {
        const began = performance.now();
        const meanwhile = this.#meanwhile;
        this.#meanwhile = null;
        if (meanwhile === "anything") {
          opened.watch.stop();
          continue;
        }
        if (meanwhile !== null && meanwhile.length > 0) opened.watch.expect(meanwhile);
        this.#become({ kind: "live", opened });
        this.#note(opened.watch.seen);
        const end = await this.#keep(opened);
        const isStale = end !== "old" || this.#state.kind === "listing";
        if (isStale) opened.watch.stop();
        else aging = opened.watch;
        if (end === "idle" || this.#closing.signal.aborted) return this.#become({ kind: "idle" });
        failures = end === "old" || performance.now() - began > stableMs ? 0 : failures + 1;
        if (isStale && this.#state.kind === "live") this.#become(listing());
        // A single broken connection is retried at once. Where lists succeed and watches fail, it is listed now and then.
        if (failures <= 1) continue;
      } else {
        failures += 1;
        this.#note(opened);
        this.#become({ kind: "lost", seen: opened });
      }
      const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), lastRetryMs);
      await this.#pause(retryMs, this.#closing.signal);
      this.#unaskedBeats += Math.min(1, retryMs / this.#watching.heartbeatMs);
      if (this.#isDone()) return this.#become({ kind: "idle" });
    }
  }

  async #open(): Promise<Opened | Unreachable> {
    if (this.#closing.signal.aborted) return notAsked;
    this.#meanwhile = [];
    const { promise: broken, resolve: breakOff } = deferred<Unreachable | "old">();
    const around = {
      client: this.#member.client,
      collector: this.#member.collector,
      placed: () => this.#placed,
      changed: () => {
        if (this.#state.kind === "live" && this.#state.opened.broken === broken) this.#watching.onChange();
      },
      broken: (why: unknown) => breakOff({ kind: "unreachable", ...contactFailureOf(why) }),
      pause: (ms: number) => this.#pause(ms, this.#closing.signal),
    };
    try {
      const watch = await MemberWatch.open(() => this.#asking(), around, this.#last);
      return watch instanceof MemberWatch ? { watch, broken, breakOff } : unreachableObservation(watch);
    } catch (error) {
      return { kind: "unreachable", ...contactFailureOf(error) };
    }
  }

  /** Until it breaks, is due for a new list, or the member is no longer observed. */
  async #keep({ watch, broken }: Opened): Promise<Unreachable | "old" | "idle"> {
    const ending = new AbortController();
    const closed = (): void => ending.abort();
    this.#closing.signal.addEventListener("abort", closed);
    try {
      for (let beat = 0; beat < beatsBetweenLists; beat += 1) {
        const loss = await Promise.race([broken, this.#pause(this.#watching.heartbeatMs, ending.signal)]);
        if (loss !== undefined) return loss;
        this.#unaskedBeats += 1;
        if (this.#isDone()) return "idle";
        const lost = await Promise.race([broken, watch.beat(this.#asking())]);
        if (lost !== undefined) return lost;
      }
      return "old";
    } catch (error) {
      return { kind: "unreachable", ...contactFailureOf(error) };
    } finally {
      this.#closing.signal.removeEventListener("abort", closed);
      ending.abort();
    }
  }

  #isDone(): boolean {
    return this.#closing.signal.aborted || this.#unaskedBeats > beatsUnasked;
  }

  /** The deadline starts with the first request: most looks send none. */
  #asking(): MemberApi {
    const { client, discovery } = this.#member;
    const { network, deadlineMs } = this.#watching;
    let bounded: Client | null = null;
    return {
      get client() {
        bounded ??= client.until(network.deadline(deadlineMs));
        return bounded;
      },
      discovery,
    };
  }

  #become(next: State): void {
    const before = this.#state;
    this.#state = next;
    if (before.kind === "listing") before.end();
  }

  #note(seen: Observation): void {
    const carried = reuseUnchanged(this.#last, seen);
    if (carried !== this.#last) this.#watching.onChange();
    this.#last = carried;
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#watching.network.pause(ms * this.#pace, signal).catch(() => {});
  }
}

function listing(): State {
  const { promise: done, resolve: end } = deferred<void>();
  return { kind: "listing", done, end };
}

/** From 0.75 to 1.25, by name: members that lost their connection together do not reconnect together. */
function jitterOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return 0.75 + hash / 1994;
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}
