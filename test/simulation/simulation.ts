import { getActiveResourcesInfo } from "node:process";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { World } from "../../src/core/model/plan.ts";
import type { ClusterName, Commit, Instant } from "../../src/core/model/value.ts";
import type { WireRequest } from "../../src/shell/kube/client/transport.ts";
import { Fault } from "../../src/shell/reconcile/fault.ts";
import { type PassResult, pass } from "../../src/shell/reconcile/pass.ts";
import type { Settings } from "../../src/shell/reconcile/ports.ts";
import { Judge } from "./judge.ts";
import { Approvers, type WithdrawalWay } from "./people/approvers.ts";
import { unusableIn } from "./people/document.ts";
import { documentOf, ledgerAt, People } from "./people/people.ts";
import { planWithDefect } from "./planted-defect.ts";
import { ourRelease, outlived, planByRelease, type Release } from "./release.ts";
import { lineOf, type PassOptions, type Step } from "./step.ts";
import { strikesOn } from "./strikes.ts";
import { type Line, tell, tellCall } from "./transcript.ts";
import { Attempt } from "./world/attempt.ts";
import { type Call, effects, type Request } from "./world/call.ts";
import { Hub } from "./world/hub.ts";
import { type Delivered, Reconciler, type SimulatedWorld } from "./world/reconciler.ts";
import { Site } from "./world/site.ts";
import { changeByOthers, fightBack } from "./world/third-party.ts";
import { VirtualTime } from "./world/virtual-time.ts";

const recantations: Readonly<Record<WithdrawalWay, string>> = {
  commit: "approval revoked",
  detached: "approval revoked",
  remove: "approval removed",
  copy: "approval put back by a stranger",
};

/** How a pass came out. */
export type Outcome =
  | { readonly kind: "result"; readonly result: PassResult }
  | { readonly kind: "fault"; readonly fault: Fault }
  | { readonly kind: "died" | "held" };

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
  readonly #reconcilers = new Map<string, Reconciler>();
  readonly #running = new Map<string, Promise<Outcome>>();
  #release = ourRelease;
  /** The rewrite of the source branch that the operator accepted last. */
  #rewrite: Settings["acceptRewrite"] = null;
  #skew = 0;
  /** The placement whose plans have a defect; empty for none. */
  #planted = "";
  /** Placements whose plans ever had one. */
  readonly #everPlanted = new Set<string>();
  /** The same, when a pass last began. */
  #skewBefore = 0;
  #writers = 0;
  #isHubThere = true;

  now(): Instant {
    return (this.time.now + this.#skew) as Instant;
  }

  /** By how much the reconcilers' clocks are ahead of the members'. */
  get skew(): number {
    return this.#skew;
  }

  /** The latest one: what processes run that begin now. */
  get release(): Release {
    return this.#release;
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

  reconciler(name: string): Reconciler {
    const known = this.#reconcilers.get(name);
    if (known !== undefined && known.attempt?.progress !== "dead") return known;
    return this.#begin(name);
  }

  /** Reconcilers with a pass that stands still. */
  get held(): readonly string[] {
    return [...this.#running.keys()];
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
        return this.#pass(step.by, step, step.do === "start" ? step.hold : "");
      case "resume":
        return this.#resume(step.by);
      case "restart":
        await this.#restart(step.by);
        return null;
      case "release":
        await this.#deploy();
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
        this.#planted = step.placement;
        this.#everPlanted.add(step.placement);
        break;
      case "accept": {
        const from = this.ledger()?.sourceCommit ?? null;
        const to = this.hub.source;
        this.#rewrite = from === null || to === null ? null : { from, to };
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
        this.#happenInSource(step);
        this.#happenOnMember(step);
    }
  }

  #happenInSource(step: Step): void {
    const { people } = this;
    switch (step.do) {
      case "erase":
        people.erase(step.path);
        break;
      case "revert":
        people.revert(step.back);
        break;
      case "push":
        people.push(step.by ?? null);
        break;
      case "rewrite":
        people.rewrite(step.back);
        break;
      case "empty":
        people.pushNothing();
        break;
      case "vanish":
        this.hub.source = null;
    }
  }

  #happenOnMember(step: Step): void {
    if (!("name" in step)) return;
    const site = this.site(step.name);
    // A frozen process holds a connection to the cluster that was: what it still sends never reaches another one.
    const isBusy = this.#running.size > 0;
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
        this.judge.saved(site);
        break;
      case "reset":
        if (!isBusy) site.reset();
        break;
      case "readdress":
        if (!isBusy) this.#addresses.set(step.name, step.to);
        break;
      case "restore":
        if (isBusy || !site.restore()) break;
        this.judge.restored(site);
        this.hit("old state restored");
    }
  }

  #meddle(site: Site, step: Extract<Step, { do: "meddle" }>): void {
    const isInventory = step.object.startsWith("ConfigMap flotilla-system/");
    if (isInventory) this.judge.losesInventory(site);
    if (changeByOthers(site, step, this.events)) this.hit(isInventory ? "inventory deleted" : `others ${step.how}`);
  }

  #begin(name: string, release = this.#release): Reconciler {
    this.#writers++;
    const fresh = new Reconciler(`${name}${this.#writers}`, this, release);
    this.#reconcilers.set(name, fresh);
    return fresh;
  }

  /** A process that stands still or is dead cannot be asked to end. */
  async #restart(by: string, release = this.#release): Promise<void> {
    const before = this.#reconcilers.get(by);
    if (this.#running.has(by) || before?.attempt?.progress === "dead") return;
    if (before !== undefined) await this.judge.restarts(before);
    this.#begin(by, release);
  }

  /** Who stands still goes on as what they are. */
  async #deploy(): Promise<void> {
    const next: Release = { decisionVersion: this.#release.decisionVersion + 1 };
    for (const by of this.#reconcilers.keys()) await this.#restart(by, next);
    this.#release = next;
  }

  async #pass(by: string, words: PassOptions, hold: string): Promise<Outcome | null> {
    // A process does one pass at a time.
    if (this.#running.has(by)) return null;
    const process = this.reconciler(by);
    const { writer } = process.memory;
    const attempt = new Attempt({ writer, words, hold, time: this.time, hit: (it) => this.hit(it) });
    process.attempt = attempt;
    this.judge.begins(attempt, process);
    if (this.#skew !== this.#skewBefore) this.hit(this.#skew < this.#skewBefore ? "clock back" : "clock ahead");
    this.#skewBefore = this.#skew;
    const settings = {
      members: "ask",
      patience: words.patience,
      acceptRewrite: this.#rewrite,
      trustAnchor: this.approvers.anchor,
    } as const;
    const planner = (world: World) => planByRelease(world, process.release, (it) => planWithDefect(it, this.#planted));
    const running = pass(process.ports, settings, process.memory, words.flush, planner).then(
      (result): Outcome => ({ kind: "result", result }),
      (error: unknown): Outcome => {
        if (!(error instanceof Fault)) throw error;
        return { kind: "fault", fault: error };
      },
    );
    return this.#follow(by, running);
  }

  async #resume(by: string): Promise<Outcome | null> {
    const running = this.#running.get(by);
    if (running === undefined) return null;
    this.#running.delete(by);
    const attempt = this.reconciler(by).attempt as Attempt;
    this.judge.resumes(attempt);
    attempt.resume();
    return this.#follow(by, running);
  }

  /** Lets a pass go on until it ends, dies or stands still. Time moves only when nothing else does. */
  async #follow(by: string, running: Promise<Outcome>): Promise<Outcome> {
    const process = this.reconciler(by);
    const attempt = process.attempt as Attempt;
    let ended: Outcome | null = null;
    let thrown: { readonly error: unknown } | null = null;
    running.then(
      (it) => {
        ended = it;
      },
      (error: unknown) => {
        thrown = { error };
      },
    );
    const stops = (): Outcome | null => {
      if (thrown !== null) throw thrown.error;
      if (ended !== null) return ended;
      if (attempt.progress === "dead") return { kind: "died" };
      return attempt.progress === "held" ? { kind: "held" } : null;
    };
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const outcome = stops();
      if (outcome === null) {
        // Long work gives others their turn, and takes no time.
        if (getActiveResourcesInfo().includes("Immediate")) continue;
        if (!this.time.next()) throw new Error("a pass waits for what never comes");
        continue;
      }
      this.judge.checkStateCommits();
      if (outcome.kind === "held") this.#running.set(by, running);
      if (outcome.kind === "result" || outcome.kind === "fault") attempt.end(this.time.now);
      this.#heard(process, outcome);
      return outcome;
    }
  }

  #heard({ attempt, release }: Reconciler, outcome: Outcome): void {
    tell(this.lines, outcome);
    for (const it of strikesOn(outcome)) this.hit(it);
    if (outcome.kind !== "result") return;
    const { result } = outcome;
    if (result.kind === "unsound")
      this.complain("check", result.faults.map((it) => `${it.code}: ${it.message}`).join("; "));
    if (result.kind === "passed")
      for (const [key, { violations }] of result.plan.ledger.quarantines)
        if (this.#everPlanted.has(key)) this.hit("quarantine");
        else this.complain("check", `${key}: ${violations.map((it) => `${it.code}: ${it.message}`).join("; ")}`);
    if (result.kind === "passed" && result.plan.refusal === null)
      for (const it of outlived(result.plan.ledger, release)) this.complain("D-10", it);
    if (result.kind === "passed")
      for (const it of unusableIn(result.intent, this.people.at(result.intent.commit))) this.complain("world", it);
    this.judge.ended(attempt as Attempt, result);
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
    const sender = [...this.#reconcilers.values()].find((it) => it.attempt === attempt);
    const decision = sender?.memory.state?.commit ?? null;
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
