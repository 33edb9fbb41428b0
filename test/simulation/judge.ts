import { type Json, type JsonObject, memberAt } from "../../src/core/model/json.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Commit } from "../../src/core/model/value.ts";
import type { WireResponse } from "../../src/shell/kube/client/transport.ts";
import type { PassResult } from "../../src/shell/reconcile/pass.ts";
import { Losses } from "./losses.ts";
import type { Landing, MemberWrite, PassFacts } from "./member-write.ts";
import { wordIn } from "./people/document.ts";
import { restart } from "./restart.ts";
import { memberWriteRules, stateCommitRules } from "./rules/all.ts";
import { CountedAnswers } from "./rules/counted-answers.ts";
import { InForce } from "./rules/in-force.ts";
import { forgetWithTheirClusters, memberRules } from "./rules/members.ts";
import type { Simulation } from "./simulation.ts";
import type { SourceAttack } from "./step.ts";
import { strikes, strikesOnProfiles } from "./strikes.ts";
import { strikesOnRuns } from "./strikes-runs.ts";
import type { Attempt } from "./world/attempt.ts";
import { effects, type Request } from "./world/call.ts";
import {
  availableAt,
  claimsAt,
  contentOf,
  entriesAt,
  identityAt,
  isHealthy,
  keyOf,
  markOf,
  objectsAt,
  uidOf,
} from "./world/observed-objects.ts";
import type { Reconciler } from "./world/reconciler.ts";
import type { Site } from "./world/site.ts";
import { attackSource } from "./world/third-party.ts";

/** Watches everything that reaches the world, keeps what the promises speak about, and says which of them is broken. */
export class Judge {
  readonly simulation: Simulation;
  readonly inForce: InForce;
  /** What was acknowledged last, and later than that by who had been held up: `cluster key` → contents. */
  readonly acknowledged = new Map<string, Set<string>>();
  /** Images with which Deployments were seen available since they were last changed: `cluster key` → images. */
  readonly healthy = new Map<string, Set<string>>();
  /** Objects deleted unasked: cause → cluster → keys. */
  readonly deletions = new Map<Commit, Map<string, Set<string>>>();
  /** What people signed for, and what that opened. */
  readonly countedAnswers = new CountedAnswers();
  /** Digests of deletions that the record once took for confirmed. */
  readonly confirmed = new Set<string>();
  /** The highest sequence that an object was written with: `uid placement`. */
  readonly sequences = new Map<string, readonly [epoch: number, sequence: number]>();
  /** When the last cluster of a stage was first said to have ended: `uid stage` → that. */
  readonly finished = new Map<string, Landing>();
  /** What runs changed on clusters: `uid cluster`. */
  readonly brought = new Set<string>();
  /** The newest run that ever moved a placement on a cluster, as these are now: `uid uid cluster` → since. */
  readonly movers = new Map<string, number>();
  /** When an object was put right that others had changed: `cluster key` → times. */
  readonly repairs = new Map<string, readonly number[]>();
  /** When a process recorded something else that a member says of itself: `writer cluster` → times. */
  readonly factChanges = new Map<string, readonly number[]>();
  /** The most objects that an inventory ever listed, by site. */
  readonly largest = new Map<string, number>();
  /** Members that a process ever heard: what it was told may wait in its memory. */
  readonly heard = new Map<Reconciler, Set<string>>();
  /** Images with which a process ever heard Deployments to be available, by `cluster key sequence`: that may wait too. */
  readonly #heardUp = new Map<Reconciler, Map<string, Set<string>>>();
  readonly losses = new Losses(this);
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
    const { time } = this.simulation;
    this.#facts.set(attempt, {
      process,
      attempt,
      beganAt: time.now,
      skew: this.simulation.skew,
      resumed: 0,
      claimed: new Map(),
      looks: new Map(),
      answered: new Set(),
      up: new Map(),
      isSmooth: true,
    });
  }

  /** A pass that stood still goes on. */
  resumes(attempt: Attempt): void {
    this.#factsOf(attempt).resumed = this.simulation.events;
  }

  /** Looks at the place of a request before it is carried out; the witness judges it after. */
  witness(site: Site, request: Request, attempt: Attempt): (incoming: WireResponse, isOther?: boolean) => void {
    this.checkStateCommits();
    const { simulation } = this;
    const event = simulation.events;
    const facts = this.#factsOf(attempt);
    const isEffect = effects.has(request.kind);
    const before = isEffect ? objectAt(site, request) : null;
    const [entries, claims] = isEffect ? [entriesAt(site), claimsAt(site)] : [[], []];
    const stateCommit = request.late === null ? (facts.process.memory.state?.commit ?? null) : request.late.decision;
    const goes = request.kind === "delete" && request.place?.kind === "Namespace" ? request.place.name : null;
    const inside = goes === null ? [] : objectsAt(site).filter((it) => it.place.namespace === goes);
    return (incoming, isOther = false) => {
      // It says something else each time: no pass is like the one before.
      if (isOther) facts.isSmooth = false;
      if (incoming.status >= 400 && incoming.status !== 404) facts.isSmooth = false;
      if (!isEffect) return this.#look(facts, site, request, incoming);
      const write: MemberWrite = {
        simulation,
        facts,
        site,
        request,
        incoming,
        event,
        before,
        after: objectAt(site, request),
        entries,
        claims,
        inside,
        ledger: simulation.ledger(stateCommit),
        stateCommit,
        isStale: request.late !== null || (facts.claimed.get(request.member) ?? 0) < facts.resumed,
      };
      for (const [rule, judge] of memberWriteRules) this.#hear(rule, judge(write, this));
      this.#remember(write);
      this.#lookAt(site);
    };
  }

  /** A commit of the state branch stands. It is judged as soon as its process has gone on, or can no more. */
  pushed(attempt: Attempt, commit: Commit): void {
    this.#pages.push({ facts: this.#factsOf(attempt), commit });
  }

  /** Judges the commits that were made since it was last asked. */
  checkStateCommits(): void {
    for (const { facts, commit } of this.#pages.splice(0)) {
      const { hub } = this.simulation;
      const state = facts.process.memory.state;
      const after = this.simulation.ledger(commit, state?.commit === commit ? state.ledger : null) as Ledger;
      const before = this.simulation.ledger(hub.commitAt(commit).parent);
      this.inForce.accept(after.sourceCommit);
      const said = this.simulation.people.at(after.sourceCommit as Commit);
      forgetWithTheirClusters(before, after, this.simulation);
      for (const it of strikes(before, after, said)) this.simulation.hit(it);
      const [was, is] = [before?.sourceCommit ?? null, after.sourceCommit as Commit];
      for (const it of strikesOnProfiles(was === null ? null : this.inForce.at(was), this.inForce.at(is)))
        this.simulation.hit(it);
      for (const it of strikesOnRuns(hub, commit, after)) this.simulation.hit(it);
      for (const [rule, judge] of stateCommitRules) this.#hear(rule, judge({ facts, commit, before, after }, this));
    }
  }

  ended(attempt: Attempt, result: PassResult): void {
    const { simulation } = this;
    const facts = this.#factsOf(attempt);
    const by = `${attempt.writer} ${attempt.patience}`;
    const isWhole = !attempt.wasHeld && attempt.unheard.size === 0;
    const isStill = facts.isSmooth && attempt.isSmooth && isWhole && simulation.time.now === facts.beganAt;
    const quiet = this.#quiet;
    const follows = quiet?.steps === simulation.steps - 1 && quiet.time === facts.beganAt && quiet.by === by;
    if (follows && isStill && attempt.effects > 0)
      simulation.complain("I-14", `a pass after one that had nothing to do has ${attempt.effects} effects`);
    const isQuiet = isStill && attempt.effects === 0 && result.kind === "passed" && !result.deferred;
    this.#quiet = isQuiet ? { steps: simulation.steps, time: simulation.time.now, by } : null;
  }

  intrude(how: SourceAttack): Promise<void> {
    return attackSource(this.simulation, how);
  }

  /** A process ends between two passes, and the next one has nothing of what it had in mind. */
  restarts(process: Reconciler): Promise<void> {
    return restart(this.simulation, process.memory);
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

  #look(facts: PassFacts, site: Site, { path, member }: Request, { status }: WireResponse): void {
    if (status >= 400 && status !== 404) return;
    facts.looks.set(`${site.name} ${path}`, this.simulation.events);
    if (status === 200 && path.endsWith("/namespaces/kube-system")) {
      facts.answered.add(member);
      this.heard.set(facts.process, (this.heard.get(facts.process) ?? new Set()).add(member));
    }
    const up = availableAt(site);
    const before = facts.up.get(member) ?? up;
    facts.up.set(member, before === up ? up : new Map([...up].filter(([at, word]) => before.get(at) === word)));
    if (!path.includes("/deployments")) return;
    const heardUp = this.#heardUp.get(facts.process) ?? new Map<string, Set<string>>();
    this.#heardUp.set(facts.process, heardUp);
    for (const { key, object, mark } of objectsAt(site)) {
      if (!isHealthy(object)) continue;
      const at = `${identityAt(site)} ${key}`;
      noted(this.healthy, at).add(wordIn(object) ?? "");
      // What a new version leaves as it was keeps its mark, and counts for that version as well.
      const claims = claimsAt(site).filter((it) => it.placement === mark?.placement);
      const sequences = mark === null ? [] : [mark.sequence, ...claims.map((it) => it.sequence)];
      for (const it of new Set(sequences)) noted(heardUp, `${at} ${it}`).add(wordIn(object) ?? "");
    }
  }

  /** Whether a Deployment was seen available with an image since it was last changed, or heard to be while its target was the same. */
  wasUp(process: Reconciler, at: string, { image, sequence }: { readonly image: string; readonly sequence: number }) {
    const isHeard = this.#heardUp.get(process)?.get(`${at} ${sequence}`)?.has(image) === true;
    return isHeard || this.healthy.get(at)?.has(image) === true;
  }

  #remember(write: MemberWrite): void {
    const { site, request, incoming, before, after, facts, isStale } = write;
    const { kind, body, place, member } = request;
    this.largest.set(site.name, Math.max(this.largest.get(site.name) ?? 0, entriesAt(site).length));
    if (incoming.status >= 300 || place === null) return;
    const at = `${identityAt(site)} ${keyOf(place)}`;
    if (kind === "note") facts.claimed.set(member, write.event);
    if (kind === "delete") this.acknowledged.delete(at);
    if (kind !== "apply" || body === null || after === null) return;
    if (before === null && !isStale && isClaimed(write)) site.own.add(uidOf(after));
    if (!isClaimed(write)) this.losses.losesClaimed(uidOf(after), site);
    if (isStale) site.overdue.set(uidOf(after), facts.attempt);
    else {
      this.acknowledged.delete(at);
      if (generationOf(before) !== generationOf(after)) this.healthy.delete(at);
    }
    noted(this.acknowledged, at).add(contentOf(body));
  }

  #factsOf(attempt: Attempt): PassFacts {
    return this.#facts.get(attempt) as PassFacts;
  }

  #hear(rule: string, complaints: Iterable<string>): void {
    for (const it of complaints) this.simulation.complain(rule, it);
  }
}

/** What stands at the place of a request. */
function objectAt(site: Site, { place }: Request): JsonObject | null {
  return place === null ? null : site.handle.get(place);
}

/** Whether the inventory says that the object is about to be written for its placement: then whatever is made is ours. */
const isClaimed = ({ entries, request: { place }, after }: MemberWrite): boolean =>
  place !== null &&
  after !== null &&
  entries.some((it) => it.key === keyOf(place) && it.placement === markOf(after)?.placement);

/** What is known about a place, to be added to. */
export function noted(known: Map<string, Set<string>>, at: string): Set<string> {
  const own = known.get(at) ?? new Set();
  known.set(at, own);
  return own;
}

const generationOf = (live: JsonObject | null): Json => memberAt(live, "metadata", "generation");
