import { setMaxListeners } from "node:events";
import http from "node:http";
import type { BlobId, Commit, Instant } from "../../../src/core/model/value.ts";
import { MemberUnreachable } from "../../../src/shell/kube/client/member-unreachable.ts";
import type { Network, WireRequest, WireResponse } from "../../../src/shell/kube/client/transport.ts";
import { kubeFleetOver } from "../../../src/shell/kube/fleet.ts";
import { Fault } from "../../../src/shell/reconcile/fault.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import type { Clock, Fleet, Ports, Repository } from "../../../src/shell/reconcile/ports.ts";
import { sha256, simulatedVerifier } from "../people/signing.ts";
import { ourRelease, type Release } from "../release.ts";
import type { Attempt, Fault as Mishap } from "./attempt.ts";
import { type Call, type CallKind, type Request, requestOf } from "./call.ts";
import type { Hub } from "./hub.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What a reconciler is in touch with. */
export interface SimulatedWorld {
  readonly time: VirtualTime;
  readonly hub: Hub;
  now(): Instant;
  /** Whether the hub answers at all. */
  isHubThere(): boolean;
  /** Carries one request out; null when the member does not take it, with what its sender sees instead. */
  deliver(request: Request, outgoing: WireRequest, attempt: Attempt): Delivered;
  /**
   * The same request, to be delivered when nobody waits for it any more, unless what it was sent to is gone by then.
   */
  envelope(request: Request, outgoing: WireRequest, attempt: Attempt): () => Delivered;
  /** Takes note of a call that reached the world. */
  note(attempt: Attempt, call: Call, outcome: string): void;
  pushed(attempt: Attempt, commit: Commit): void;
}

/** What came of a request. */
export type Delivered =
  | { readonly kind: "answered"; readonly incoming: WireResponse }
  /** Nobody listens at the address. */
  | { readonly kind: "refused" }
  /** Somebody listens and never answers. */
  | { readonly kind: "silent" };

/** One process that reconciles: production's ports over a simulated world. */
export class Reconciler {
  readonly memory: ReturnType<typeof newMemory>;
  readonly ports: Ports;
  readonly release: Release;
  /** The pass under way, or the last one. */
  attempt: Attempt | null = null;
  readonly #around: SimulatedWorld;

  constructor(writer: string, around: SimulatedWorld, release: Release = ourRelease) {
    this.release = release;
    this.memory = { ...newMemory(), writer };
    this.#around = around;
    const clock: Clock = { now: () => around.now(), sleepUntil: async () => {} };
    const access = { agent: idleAgent, headers: {} };
    const connection = (context: string) => ({
      server: new URL(`http://${context}/`),
      authority: () => null,
      access: async () => access,
      renewed: async () => access,
      trim: () => {},
      close: () => {},
    });
    const connections = new Map<string, ReturnType<typeof connection>>();
    const kubeconfig = {
      async connection(context: string) {
        const known = connections.get(context) ?? connection(context);
        connections.set(context, known);
        return known;
      },
      close: () => {},
    };
    const members = kubeFleetOver(kubeconfig, { clock, network: this.#network() });
    const fleet: Fleet = {
      ...members,
      observe: async (member) => (this.#current().isLate(member.name) ? null : members.observe(member)),
    };
    // Nobody knows it before the world is as it is, and the same world gives the same.
    const entropy = (): string => sha256(`${around.time.now} ${around.hub.state}`);
    this.ports = { repository: this.#repository(), fleet, clock, verifier: simulatedVerifier, entropy };
  }

  #sleep(ms: number, signal: AbortSignal | null = null): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#around.time.after(ms, resolve);
      signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  }

  #current(): Attempt {
    if (this.attempt === null) throw new Error("a process calls outside of its passes");
    return this.attempt;
  }

  #network(): Network {
    return {
      exchange: (outgoing) => this.#exchange(outgoing),
      pause: (ms, signal) => this.#sleep(ms, signal),
      deadline: (ms) => {
        const controller = new AbortController();
        // As many requests as there are may listen to it.
        setMaxListeners(0, controller.signal);
        void this.#sleep(ms).then(() => controller.abort(overdue));
        return controller.signal;
      },
      elapsed: () => this.#around.time.now,
    };
  }

  async #exchange(outgoing: WireRequest): Promise<WireResponse> {
    const attempt = this.#current();
    const request = requestOf(outgoing);
    if (outgoing.signal?.aborted === true) throw new MemberUnreachable("Unreachable", "timed out");
    const fault = await attempt.meet(request);
    const send =
      fault === "late"
        ? this.#around.envelope(request, outgoing, attempt)
        : () => this.#around.deliver(request, outgoing, attempt);
    const outcome = this.#carryOut(fault, send, () => void (fault !== null && attempt.strike(fault, request)));
    this.#around.note(attempt, request, outcome.text);
    if (outcome.silent) await this.#silence(outgoing);
    await attempt.leave(request);
    if (outcome.lost !== null) throw outcome.lost;
    return outcome.incoming;
  }

  #carryOut(fault: Mishap | null, send: () => Delivered, strike: () => void): Outcome {
    const sent = (): Delivered => {
      const delivered = send();
      if (delivered.kind === "answered") strike();
      return delivered;
    };
    switch (fault) {
      case "refused":
        strike();
        return failed("refused", broken("ECONNREFUSED"));
      case "hangs":
        strike();
        return failed("no answer", noAnswer(), true);
      case "late":
        this.#around.time.after(lateness, () => void sent());
        return failed("no answer, but late", noAnswer(), true);
      case "403":
      case "429":
      case "500":
      case "503":
        strike();
        return { text: fault, lost: null, silent: false, incoming: refusal(Number(fault)) };
      default:
        return outcomeOf(fault, sent());
    }
  }

  /** Nothing comes, until the time for the request or for everything is over. */
  async #silence({ deadlines, signal }: WireRequest): Promise<void> {
    await this.#sleep(deadlines.requestMs, signal).catch(() => undefined);
  }

  #repository(): Repository {
    const { hub } = this.#around;
    const ask = <T>(kind: CallKind, during: string, answer: () => T): Promise<T> => this.#ask(kind, during, answer);
    return {
      name: "the hub",
      heads: () => ask("heads", "fetching", () => ({ source: hub.source, state: hub.state })),
      files: (commit, under = "") =>
        ask("files", `listing ${commit}`, () =>
          [...hub.treeAt(commit)]
            .filter(([path]) => path.startsWith(under))
            .map(([path, blob]) => ({ path, blob, size: null, kind: "file" as const })),
        ),
      blobs: (ids) =>
        ask("blobs", "reading", () => new Map(ids.map((it): [BlobId, Uint8Array] => [it, mustHave(hub, it)]))),
      descends: (commit, ancestor) => ask("descends", "walking", () => hub.descends(commit, ancestor)),
      history: (...range) => ask("history", "walking", () => hub.historyOf(...range)),
      commit: (proposal) => {
        this.#current().decidedAt = this.#around.now();
        return ask("commit", "pushing", () => {
          const attempt = this.#current();
          const pushed = hub.pushState(proposal);
          if (pushed.kind === "committed") this.#around.pushed(attempt, pushed.commit);
          return pushed;
        });
      },
      close: async () => {},
    };
  }

  async #ask<T>(kind: CallKind, during: string, answer: () => T): Promise<T> {
    const attempt = this.#current();
    const call: Call = { kind, member: null, text: kind };
    const fault = await attempt.meet(call);
    const isLost = fault === "lost";
    const isThere = this.#around.isHubThere();
    if (isThere && fault !== null) attempt.strike(fault, call);
    if (isThere && fault === "hook") {
      this.#around.note(attempt, call, "refused by a hook");
      await attempt.leave(call);
      throw new Fault("RepositoryRefused", during, "the hub refused it: pre-receive hook declined", "ask its owner");
    }
    if (!isThere || (fault !== null && !isLost)) {
      this.#around.note(attempt, call, "unreachable");
      await attempt.leave(call);
      throw unreachable(during);
    }
    const result = answer();
    this.#around.note(attempt, call, textOf(result) + (isLost ? ", answer lost" : ""));
    await attempt.leave(call);
    if (isLost) throw unreachable(during);
    return result;
  }
}

/** Nobody asks why; an error with a stack would be made each time otherwise. */
const overdue = "the deadline has passed";

/** Nobody uses its sockets. */
const idleAgent = new http.Agent();

/** What is delivered late arrives when its sender has given up, and usually when its pass is over. */
const lateness = 40_000;

interface Outcome {
  readonly text: string;
  readonly lost: MemberUnreachable | null;
  /** The sender sees nothing until its patience is over. */
  readonly silent: boolean;
  readonly incoming: WireResponse;
}

const nothing: WireResponse = { status: 0, retryAfterMs: null, date: null, text: "" };

const failed = (text: string, lost: MemberUnreachable, silent = false): Outcome => ({
  text,
  lost,
  silent,
  incoming: nothing,
});

function outcomeOf(fault: Mishap | null, delivered: Delivered): Outcome {
  if (delivered.kind === "refused") return failed("refused", broken("ECONNREFUSED"));
  if (delivered.kind === "silent") return failed("no answer", noAnswer(), true);
  const { incoming } = delivered;
  const text = String(incoming.status);
  switch (fault) {
    case "lost":
      return failed(`${text}, answer lost`, noAnswer(), true);
    case "torn":
      return failed(`${text}, connection broke`, broken("ECONNRESET"));
    case "504":
      return { text: `${text}, told 504`, lost: null, silent: false, incoming: refusal(504) };
    default:
      return { text, lost: null, silent: false, incoming };
  }
}

const broken = (code: string): MemberUnreachable =>
  new MemberUnreachable("Unreachable", `${code}: the connection failed`, Object.assign(new Error(code), { code }));
const noAnswer = (): MemberUnreachable => new MemberUnreachable("Unreachable", "no response within 30000 ms");
const unreachable = (during: string): Fault =>
  new Fault("RepositoryUnreachable", during, "the hub does not answer", "try again later");

const reasons: Readonly<Record<number, string>> = { 403: "Forbidden", 429: "TooManyRequests", 504: "Timeout" };

function refusal(status: number): WireResponse {
  const reason = reasons[status] ?? "InternalError";
  const text = JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: "trouble",
    reason,
    code: status,
  });
  return { status, retryAfterMs: status === 429 ? 1000 : null, date: null, text };
}

function mustHave(hub: Hub, id: BlobId): Uint8Array {
  const bytes = hub.blob(id);
  if (bytes === null) throw new Fault("RepositoryCorrupt", "reading", `there is no blob ${id}`, "look into the hub");
  return bytes;
}

const textOf = (result: unknown): string =>
  typeof result === "object" && result !== null && "kind" in result ? String(result.kind) : "done";
