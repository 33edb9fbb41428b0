import type { JsonObject } from "../../src/core/model/json.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Commit } from "../../src/core/model/value.ts";
import type { Incoming } from "../../src/shell/kube/exchange.ts";
import type { PassResult } from "../../src/shell/reconcile/pass.ts";
import type { Attempt } from "./attempt.ts";
import { effects, type Request } from "./call.ts";
import { InForce } from "./in-force.ts";
import { intrude } from "./intrude.ts";
import type { Reconciler } from "./reconciler.ts";
import { deletionRules } from "./rules-deletions.ts";
import { historyRules } from "./rules-history.ts";
import { memberRules } from "./rules-members.ts";
import { writeRules } from "./rules-writes.ts";
import {
  contentOf,
  type Entry,
  entriesAt,
  identityAt,
  isHealthy,
  keyOf,
  objectsAt,
  type Seen,
  uidOf,
} from "./sight.ts";
import type { Simulation } from "./simulation.ts";
import type { Site } from "./site.ts";
import type { Intrusion } from "./step.ts";
import { strikes } from "./strikes.ts";

/** What one pass was told by the world, as far as judges care. */
export interface PassFacts {
  readonly process: Reconciler;
  readonly attempt: Attempt;
  readonly began: number;
  readonly beganAt: number;
  /** When it last looked at something: `site what` → event. */
  readonly looks: Map<string, number>;
  /** Members that told who they are. */
  readonly answered: Set<string>;
  /** Everything it was told came without trouble. */
  isSmooth: boolean;
}

/** One request that reached a cluster, with what stood there before and after. */
export interface Deed {
  readonly simulation: Simulation;
  readonly facts: PassFacts;
  readonly site: Site;
  readonly request: Request;
  readonly incoming: Incoming;
  readonly event: number;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** The inventory before. */
  readonly entries: readonly Entry[];
  /** What was in the namespace that goes; empty for everything else. */
  readonly inside: readonly Seen[];
  /** What the process decided upon. */
  readonly ledger: Ledger | null;
  readonly stateCommit: Commit | null;
  /** Its sender was held up since it looked, or it was delivered late. */
  readonly isStale: boolean;
}

/** A promise about one request. */
export type DeedRule = (deed: Deed, judge: Judge) => Iterable<string>;

/** Watches everything that reaches the world, keeps what the promises speak about, and says which of them is broken. */
export class Judge {
  readonly simulation: Simulation;
  readonly inForce: InForce;
  /** What was acknowledged: `cluster uid key` → contents. */
  readonly acknowledged = new Map<string, Set<string>>();
  /** Deployments seen available: `cluster uid key image`. */
  readonly healthy = new Set<string>();
  /** Objects deleted unasked: cause → cluster → keys. */
  readonly deletions = new Map<Commit, Map<string, Set<string>>>();
  /** The highest sequence that an object was written with: `uid placement`. */
  readonly sequences = new Map<string, readonly [epoch: number, sequence: number]>();
  /** The most objects that an inventory ever listed, by site. */
  readonly largest = new Map<string, number>();
  readonly #facts = new Map<Attempt, PassFacts>();
  readonly #pages: { readonly facts: PassFacts; readonly commit: Commit }[] = [];
  /** The version of a site that was looked at last. */
  readonly #seen = new Map<Site, number>();
  #quiet: { readonly steps: number; readonly time: number; readonly by: string } | null = null;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.inForce = new InForce(simulation);
  }

  begins(attempt: Attempt, process: Reconciler): void {
    const { events, time } = this.simulation;
    this.#facts.set(attempt, {
      process,
      attempt,
      began: events,
      beganAt: time.now,
      looks: new Map(),
      answered: new Set(),
      isSmooth: true,
    });
  }

  /** Looks at the place of a request before it is carried out; the witness judges it after. */
  witness(site: Site, request: Request, attempt: Attempt): (incoming: Incoming) => void {
    this.turnPages();
    const { simulation } = this;
    const event = simulation.events;
    const facts = this.#facts.get(attempt) as PassFacts;
    const isEffect = effects.has(request.kind);
    const before = isEffect ? objectAt(site, request) : null;
    const entries = isEffect ? entriesAt(site) : [];
    const stateCommit = request.late === null ? (facts.process.memory.state?.commit ?? null) : request.late.decision;
    const goes = request.kind === "delete" && request.place?.kind === "Namespace" ? request.place.name : null;
    const inside = goes === null ? [] : objectsAt(site).filter((it) => it.place.namespace === goes);
    return (incoming) => {
      if (incoming.status >= 400 && incoming.status !== 404) facts.isSmooth = false;
      if (!isEffect) return this.#look(facts, site, request, incoming);
      const deed: Deed = {
        simulation,
        facts,
        site,
        request,
        incoming,
        event,
        before,
        after: objectAt(site, request),
        entries,
        inside,
        ledger: simulation.ledger(stateCommit),
        stateCommit,
        isStale: request.late !== null || attempt.wasHeld,
      };
      for (const [rule, judge] of [...deletionRules, ...writeRules]) this.#hear(rule, judge(deed, this));
      this.#remember(deed);
      this.#lookAt(site);
    };
  }

  /** A commit of the state branch stands. It is judged as soon as its process has gone on, or can no more. */
  pushed(attempt: Attempt, commit: Commit): void {
    this.#pages.push({ facts: this.#facts.get(attempt) as PassFacts, commit });
  }

  /** Judges the commits that were made since it was last asked. */
  turnPages(): void {
    for (const { facts, commit } of this.#pages.splice(0)) {
      const { hub } = this.simulation;
      const state = facts.process.memory.state;
      const after = this.simulation.ledger(commit, state?.commit === commit ? state.ledger : null) as Ledger;
      const before = this.simulation.ledger(hub.commitAt(commit).parent);
      this.inForce.accept(after.sourceCommit);
      const said = this.simulation.people.at(after.sourceCommit as Commit);
      for (const it of strikes(before, after, said)) this.simulation.hit(it);
      for (const [rule, judge] of historyRules) this.#hear(rule, judge({ facts, commit, before, after }, this));
    }
  }

  ended(attempt: Attempt, result: PassResult): void {
    const { simulation } = this;
    const facts = this.#facts.get(attempt) as PassFacts;
    const by = `${attempt.writer} ${attempt.patience}`;
    const isStill = facts.isSmooth && attempt.isSmooth && !attempt.wasHeld && simulation.time.now === facts.beganAt;
    const quiet = this.#quiet;
    const follows = quiet?.steps === simulation.steps - 1 && quiet.time === facts.beganAt && quiet.by === by;
    if (follows && isStill && attempt.effects > 0)
      simulation.complain("I-14", `a pass after one that had nothing to do has ${attempt.effects} effects`);
    const isQuiet = isStill && attempt.effects === 0 && result.kind === "passed" && !result.deferred;
    this.#quiet = isQuiet ? { steps: simulation.steps, time: simulation.time.now, by } : null;
  }

  /** A cluster came back with old state: what was written since never was. */
  restored(site: Site): void {
    const uids = new Set(objectsAt(site).map(({ uid }) => uid));
    for (const key of this.sequences.keys()) if (uids.has(key.split(" ")[0] ?? "")) this.sequences.delete(key);
  }

  intrude(how: Intrusion): Promise<void> {
    return intrude(this.simulation, how);
  }

  afterStep(): void {
    for (const site of this.simulation.sites.values()) this.#lookAt(site);
  }

  /** Whatever changed is looked at once. */
  #lookAt(site: Site): void {
    const { version } = site.cluster.store;
    if (this.#seen.get(site) === version) return;
    this.#seen.set(site, version);
    for (const [rule, judge] of memberRules) this.#hear(rule, judge(site, this));
  }

  #look(facts: PassFacts, site: Site, { path, member }: Request, { status }: Incoming): void {
    facts.looks.set(`${site.name} ${path}`, this.simulation.events);
    if (status === 200 && path.endsWith("/namespaces/kube-system")) facts.answered.add(member);
    if (!path.includes("/deployments")) return;
    for (const { key, object } of objectsAt(site))
      if (isHealthy(object)) this.healthy.add(`${identityAt(site)} ${key} ${imageOf(object)}`);
  }

  #remember(deed: Deed): void {
    const { site, request, incoming, after } = deed;
    const { kind, body, place } = request;
    this.largest.set(site.name, Math.max(this.largest.get(site.name) ?? 0, entriesAt(site).length));
    if (kind !== "apply" || incoming.status >= 300 || body === null || place === null || after === null) return;
    if (deed.isStale) site.overdue.set(uidOf(after), deed.facts.attempt);
    const at = `${identityAt(site)} ${keyOf(place)}`;
    const contents = this.acknowledged.get(at) ?? new Set();
    this.acknowledged.set(at, contents.add(contentOf(body)));
  }

  #hear(rule: string, complaints: Iterable<string>): void {
    for (const it of complaints) this.simulation.complain(rule, it);
  }
}

/** What stands at the place of a request. */
function objectAt(site: Site, { place }: Request): JsonObject | null {
  return place === null ? null : site.hands.get(place);
}

/** The image of the only container of a Deployment, which is its whole content here. */
export const imageOf = (live: JsonObject): string =>
  JSON.stringify(live["spec"] ?? null).match(/"image":"([^"]*)"/)?.[1] ?? "";
