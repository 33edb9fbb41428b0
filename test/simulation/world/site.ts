import { isDeepStrictEqual } from "node:util";
import { type JsonObject, memberAt, textOf } from "../../../src/core/model/json.ts";
import type { ServedKind } from "../../../src/shell/embedded/api/kinds.ts";
import { runControllers } from "../../../src/shell/embedded/controllers/controllers.ts";
import { type ClusterHandle, newClusterHandle } from "../../../src/shell/embedded/handle.ts";
import { dispatch } from "../../../src/shell/embedded/http/dispatch.ts";
import { bootstrapCluster } from "../../../src/shell/embedded/registry/bootstrap.ts";
import { Cluster } from "../../../src/shell/embedded/storage/cluster.ts";
import { noFaults } from "../../../src/shell/embedded/storage/injected-faults.ts";
import type { WireRequest, WireResponse } from "../../../src/shell/kube/client/transport.ts";
import type { Lie, MemberState } from "../step.ts";
import type { Attempt } from "./attempt.ts";
import { effects, type Request } from "./call.ts";
import { liedAnswer } from "./lies.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A cluster of the world, with what is wrong with it and what others did there. */
export class Site {
  readonly name: string;
  readonly cluster: Cluster;
  readonly handle: ClusterHandle;
  weather: MemberState = "well";
  lie: Lie = "none";
  /** Who made an object that is not ours: uid → the event in which it was made. */
  readonly strangers = new Map<string, number>();
  /** Uids of what others made by copying our objects, marks and all. */
  readonly copies = new Set<string>();
  /** Uids of what we made under a claim that said so, as long as it is listed and carries our mark. */
  readonly own = new Set<string>();
  /** Uids of what stood in an inventory that somebody deleted, and has to be found again. */
  readonly lost = new Set<string>();
  /** The same, of what no decision explained: nobody can know of it any more. */
  readonly forgotten = new Set<string>();
  /** What stood in an inventory that somebody deleted, made by then or not: `placement key`. */
  readonly lostClaims = new Set<string>();
  /** Uids of what a writer made that was held up since it claimed, until it has written down what it did. */
  readonly overdue = new Map<string, Attempt>();
  /**
   * How often the cluster became another one, or what it once was: what is still under way to it then does not arrive.
   */
  lives = 0;
  #saved: readonly Stored[] | null = null;
  #answers = 0;
  /** What a second controller wants of objects: `ConfigMap web/config` → its value. */
  readonly rivals = new Map<string, string>();
  readonly #time: VirtualTime;

  constructor(name: string, time: VirtualTime) {
    this.name = name;
    this.#time = time;
    this.cluster = new Cluster({
      name,
      availableAfterMs: 0,
      token: null,
      now: () => time.now,
      newDelayedWork: () => time.schedule(),
      runControllers,
      bootstrap: bootstrapCluster,
    });
    this.handle = newClusterHandle(this.cluster);
  }

  /** Sets what is wrong with the cluster; only the last one counts. */
  turn(weather: MemberState): void {
    this.weather = weather;
    const faults = {
      ...noFaults,
      failWith: weather === "busy" ? 429 : weather === "broken" ? 503 : null,
      unauthorized: weather === "unauthorized",
      readOnly: weather === "read-only" ? ["*"] : [],
      frozen: weather === "frozen",
    };
    this.handle.control({ faults });
  }

  /** What the cluster says to a request that reaches it now. */
  answer({ method, path, query }: Request, { headers, body }: WireRequest): WireResponse {
    const lowered = Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]);
    const asked = { method, path, query, headers: Object.fromEntries(lowered), body: body ?? "", now: this.#time.now };
    const answer = dispatch(this.cluster, asked, deaf);
    if (answer === null) throw new Error(`a watch cannot be simulated: ${path}`);
    const retryAfter = answer.headers?.["retry-after"];
    const retryAfterMs = retryAfter === undefined ? null : Number(retryAfter) * 1000;
    return { status: answer.code, retryAfterMs, date: answer.headers?.["date"] ?? null, text: answer.text };
  }

  /** What it makes up instead of the truth; null where it says the truth, or nothing. */
  lied({ path }: Request, truth: WireResponse): WireResponse | null {
    return truth.status >= 400 && truth.status !== 404 ? null : liedAnswer(this.lie, path, truth, this.#answers++);
  }

  /**
   * Whether its weather is felt in an answer: who only reads does not notice that nothing can be written, nor that
   * controllers stand still.
   */
  isFelt({ kind }: Request, status: number): boolean {
    switch (this.weather) {
      case "well":
        return false;
      case "frozen":
        return effects.has(kind) && kind !== "note" && status < 300;
      default:
        return status >= 400 && status !== 404 && status !== 409;
    }
  }

  /** Adds nodes, or takes away the last ones, until there are so many. */
  resize(count: number): void {
    const place = { group: "", kind: "Node", namespace: null };
    const names = this.handle.list("", "Node").map((it) => textOf(memberAt(it, "metadata", "name")) ?? "");
    for (const name of names.slice(count)) this.handle.remove({ ...place, name });
    const status = { capacity: { cpu: "4" }, allocatable: { cpu: "4" } };
    for (let at = names.length + 1; at <= count; at++)
      this.handle.create("cloud", { apiVersion: "v1", kind: "Node", metadata: { name: `node-${at}` }, status });
  }

  save(): void {
    this.#saved = this.objects();
  }

  /** Puts everything back to what was saved, uids included; false when nothing was, or nothing has changed since. */
  restore(): boolean {
    const saved = this.#saved;
    if (saved === null || isDeepStrictEqual(saved, this.objects())) return false;
    this.lives++;
    const { store } = this.cluster;
    for (const { kind, object } of this.objects()) store.delete(kind, object);
    for (const { kind, object } of saved) store.put(kind, object);
    return true;
  }

  reset(): void {
    this.lives++;
    this.handle.control({ reset: true });
    this.strangers.clear();
    this.#saved = null;
  }

  objects(): readonly Stored[] {
    const { store, kinds } = this.cluster;
    return store.tables.flatMap((table) => {
      const kind = kinds.ofTable(table);
      return kind === null ? [] : store.list(kind, null).map((object) => ({ kind, object }));
    });
  }
}

/** Nobody watches. */
const deaf = { begin: () => {}, send: () => {}, end: () => {}, onClose: () => {} };

/** An object as a cluster stores it. */
export interface Stored {
  readonly kind: ServedKind;
  readonly object: JsonObject;
}
