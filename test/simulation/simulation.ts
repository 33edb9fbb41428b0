import type { Ledger } from "../../src/core/model/ledger.ts";
import type { ClusterName, Commit, Instant } from "../../src/core/model/value.ts";
import type { WireRequest } from "../../src/shell/kube/client/transport.ts";
import { Judge } from "./judge.ts";
import { Approvers, type WithdrawalWay } from "./people/approvers.ts";
import { documentOf, happenInSource, ledgerAt, People } from "./people/people.ts";
import { type Outcome, Processes } from "./processes.ts";
import { lineOf, type Step } from "./step.ts";
import { type Line, tellCall } from "./transcript.ts";
import type { Attempt } from "./world/attempt.ts";
import { type Call, effects, type Request } from "./world/call.ts";
import { Hub } from "./world/hub.ts";
import type { Delivered, SimulatedWorld } from "./world/reconciler.ts";
import { Site } from "./world/site.ts";
import { changeByOthers, fightBack } from "./world/third-party.ts";
import { VirtualTime } from "./world/virtual-time.ts";

const recantations: Readonly<Record<WithdrawalWay, string>> = {
  commit: "approval revoked",
  detached: "approval revoked",
  remove: "approval removed",
  copy: "approval put back by a stranger",
};

/** A promise that was broken. */
export interface Violation {
  /** `I-27`, or another short name. */
  readonly rule: string;
  readonly message: string;
  /** The step, counted from 1, after which it was seen. */
  readonly step: number;
}

/**
 * A hub, members, people, weather and reconcilers: production's core and shell over simulated ports.
 *
 * It does what steps say, one after another, and keeps everything that the judges look at.
 */
export class Simulation implements SimulatedWorld {
  readonly time = new VirtualTime();
  readonly hub = new Hub();
  readonly people = new People(this.hub);
  readonly approvers = new Approvers(this.people);
  readonly sites = new Map<string, Site>();
  readonly processes = new Processes(this);
  readonly judge: Judge = new Judge(this);
  readonly violations: Violation[] = [];
  readonly lines: Line[] = [];
  /** How often each kind of fault really struck. */
  readonly hits = new Map<string, number>();
  /** Counts everything that happens, so that it can be told what came first. */
  events = 0;
  /** Effects that reached the world, in all passes. */
  effects = 0;
  steps = 0;
  /** Rewrites of the source branch that the operator ever accepted: `from..to`. */
  readonly rewrites = new Set<string>();
  /** Ledgers by state commit. */
  readonly #ledgers = new Map<Commit, Ledger>();
  readonly #addresses = new Map<string, string>();
  #skew = 0;
  #isHubThere = true;

  now(): Instant {
    return (this.time.now + this.#skew) as Instant;
  }

  /** By how much the reconcilers' clocks are ahead of the members'. */
  get skew(): number {
    return this.#skew;
  }

  isHubThere(): boolean {
    if (!this.#isHubThere) this.hit("hub unreachable");
    return this.#isHubThere;
  }

  hit(what: string): void {
    this.hits.set(what, (this.hits.get(what) ?? 0) + 1);
  }

  complain(rule: string, message: string): void {
    this.violations.push({ rule, message, step: this.steps });
  }

  site(name: string): Site {
    const known = this.sites.get(name) ?? new Site(name, this.time);
    this.sites.set(name, known);
    return known;
  }

  /** The record at a commit of the state branch, as somebody has it in mind or else as it is written there. */
  ledger(commit: Commit | null = this.hub.state, inMind: Ledger | null = null): Ledger | null {
    if (commit === null) return null;
    const known = this.#ledgers.get(commit) ?? inMind ?? ledgerAt(this.hub, commit);
    if (known !== null) this.#ledgers.set(commit, known);
    return known;
  }

  /** Does one step and lets the judges look at what came of it. */
  async step(step: Step): Promise<Outcome | null> {
    this.steps++;
    this.events++;
    const outcome = await this.#carryOut(step);
    for (const site of this.sites.values()) if (fightBack(site) > 0) this.hit("others fight");
    this.judge.afterStep();
    return outcome;
  }

  async #carryOut(step: Step): Promise<Outcome | null> {
    this.lines.push({ kind: "step", text: lineOf(step) });
    const document = documentOf(step);
    if (document !== null) {
      if (step.do !== "break" || this.people.draft.has(step.path)) this.people.write(document);
      return null;
    }
    switch (step.do) {
      case "pass":
      case "start":
        return this.processes.pass(step.by, step, step.do === "start" ? step.hold : "");
      case "resume":
        return this.processes.resume(step.by);
      case "restart":
        await this.processes.restart(step.by);
        return null;
      case "release":
        await this.processes.deploy();
        return null;
      case "intrude":
        await this.judge.intrude(step.how);
        return null;
      default:
        this.#happen(step);
        return null;
    }
  }

  /** What people, weather and time do: none of it waits. */
  #happen(step: Step): void {
    switch (step.do) {
      case "wait":
        this.time.pass(step.ms);
        break;
      case "jump":
        this.#skew += step.ms;
        break;
      case "hub":
        this.#isHubThere = step.is === "well";
        break;
      case "plant":
        this.processes.plant(step.placement);
        break;
      case "accept": {
        const from = this.ledger()?.sourceCommit ?? null;
        const to = this.hub.source;
        this.processes.acceptedRewrite = from === null || to === null ? null : { from, to };
        this.rewrites.add(`${from}..${to}`);
        break;
      }
      case "confirm": {
        const ledger = this.ledger();
        if (ledger !== null) this.people.confirm(ledger, step.only);
        break;
      }
      case "reconfirm":
        this.people.confirmAgain();
        break;
      case "answer":
        this.people.answer(step.how);
        break;
      case "trust":
        this.approvers.change(step.how, step.words);
        break;
      case "vote":
        this.approvers.vote(step.who, step.how, step.way, this.people.openRequests(step.how));
        break;
      case "recant":
        if (this.approvers.recant(step.who, step.how) > 0) this.hit(recantations[step.how]);
        break;
      default:
        happenInSource(step, this.people);
        this.#happenOnMember(step);
    }
  }

  #happenOnMember(step: Step): void {
    if (!("name" in step)) return;
    const site = this.site(step.name);
    // A frozen process holds a connection to the cluster that was: what it still sends never reaches another one.
    const isBusy = this.processes.held.length > 0;
    switch (step.do) {
      case "member":
        site.turn(step.is);
        break;
      case "pace":
        site.handle.control({ availableAfterMs: step.ms });
        break;
      case "nodes":
        site.resize(step.count);
        break;
      case "lie":
        site.lie = step.how;
        break;
      case "meddle":
        this.#meddle(site, step);
        break;
      case "fight":
        if (step.value === "") site.rivals.delete(step.object);
        else site.rivals.set(step.object, step.value);
        break;
      case "save":
        site.save();
        this.judge.losses.saved(site);
        break;
      case "reset":
        if (!isBusy) site.reset();
        break;
      case "readdress":
        if (!isBusy) this.#addresses.set(step.name, step.to);
        break;
      case "restore":
        if (isBusy || !site.restore()) break;
        this.judge.losses.restored(site);
        this.hit("old state restored");
    }
  }

  #meddle(site: Site, step: Extract<Step, { do: "meddle" }>): void {
    const isInventory = step.object.startsWith("ConfigMap flotilla-system/");
    if (isInventory) this.judge.losses.losesInventory(site);
    if (changeByOthers(site, step, this.events)) this.hit(isInventory ? "inventory deleted" : `others ${step.how}`);
  }

  deliver(request: Request, outgoing: WireRequest, attempt: Attempt): Delivered {
    const address = this.#addresses.get(request.member) ?? request.member;
    const site = this.site(address);
    if (site.weather === "down") {
      this.hit("member down");
      return { kind: "refused" };
    }
    if (site.weather === "hangs") {
      this.hit("member hangs");
      return { kind: "silent" };
    }
    if (address !== request.member) this.hit("readdressed");
    this.events++;
    const witness = this.judge.witness(site, request, attempt);
    const truth = site.answer(request, outgoing);
    const lied = site.lied(request, truth);
    const incoming = lied ?? truth;
    witness(incoming, lied !== null && site.lie === "changing");
    if (lied !== null) this.hit(`lied ${site.lie}`);
    if (site.isFelt(request, incoming.status)) this.hit(`member ${site.weather}`);
    return { kind: "answered", incoming };
  }

  envelope(request: Request, outgoing: WireRequest, attempt: Attempt): () => Delivered {
    const site = this.siteAt(request.member);
    const { lives } = site;
    const decision = this.processes.senderOf(attempt)?.memory.state?.commit ?? null;
    return () => {
      if (site.lives !== lives || this.siteAt(request.member) !== site || site.weather !== "well")
        return { kind: "silent" };
      const delivered = this.deliver({ ...request, late: { decision } }, outgoing, attempt);
      const outcome = delivered.kind === "answered" ? `${delivered.incoming.status}, late` : "never arrived";
      tellCall(this.lines, attempt.writer, request, outcome);
      return delivered;
    };
  }

  note(attempt: Attempt, call: Call, outcome: string): void {
    if (effects.has(call.kind)) this.effects++;
    tellCall(this.lines, attempt.writer, call, outcome);
  }

  pushed(attempt: Attempt, commit: Commit): void {
    this.events++;
    this.judge.pushed(attempt, commit);
  }

  /** Every name that was ever asked for, or led somewhere else. */
  get names(): readonly string[] {
    return [...new Set([...this.sites.keys(), ...this.#addresses.keys()])];
  }

  /** What a member's name leads to now. */
  siteAt(member: ClusterName | string): Site {
    return this.site(this.#addresses.get(member) ?? member);
  }
}
