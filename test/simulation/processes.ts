import { getActiveResourcesInfo } from "node:process";
import type { World } from "../../src/core/model/plan.ts";
import { Fault } from "../../src/shell/reconcile/fault.ts";
import { type PassResult, pass } from "../../src/shell/reconcile/pass.ts";
import type { Settings } from "../../src/shell/reconcile/ports.ts";
import { unusableIn } from "./people/document.ts";
import { planWithDefect } from "./planted-defect.ts";
import { ourRelease, outlived, planByRelease, type Release } from "./release.ts";
import type { Simulation } from "./simulation.ts";
import type { PassOptions } from "./step.ts";
import { strikesOn } from "./strikes.ts";
import { tell } from "./transcript.ts";
import { Attempt } from "./world/attempt.ts";
import { Reconciler } from "./world/reconciler.ts";

/** How a pass came out. */
export type Outcome =
  | { readonly kind: "result"; readonly result: PassResult }
  | { readonly kind: "fault"; readonly fault: Fault }
  | { readonly kind: "died" | "held" };

/** The processes that reconcile, by who runs them, and their passes until these end, die or stand still. */
export class Processes {
  /** What the operator last told them to accept of the source branch. */
  acceptedRewrite: Settings["acceptRewrite"] = null;
  readonly #simulation: Simulation;
  readonly #reconcilers = new Map<string, Reconciler>();
  readonly #running = new Map<string, Promise<Outcome>>();
  #release = ourRelease;
  /** The placement whose plans have a defect; empty for none. */
  #planted = "";
  /** Placements whose plans ever had one. */
  readonly #everPlanted = new Set<string>();
  /** By how much their clocks were ahead of the members' when a pass last began. */
  #skewBefore = 0;
  #writers = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** The latest one: what processes run that begin now. */
  get release(): Release {
    return this.#release;
  }

  /** Who has a pass that stands still. */
  get held(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** The process that makes, or made, an attempt as its last. */
  senderOf(attempt: Attempt): Reconciler | undefined {
    return [...this.#reconcilers.values()].find((it) => it.attempt === attempt);
  }

  /** From now on, what a process decides anew of this placement has a defect; of none for "". */
  plant(placement: string): void {
    this.#planted = placement;
    this.#everPlanted.add(placement);
  }

  #reconciler(name: string): Reconciler {
    const known = this.#reconcilers.get(name);
    if (known !== undefined && known.attempt?.progress !== "dead") return known;
    return this.#begin(name);
  }

  #begin(name: string, release = this.#release): Reconciler {
    this.#writers++;
    const fresh = new Reconciler(`${name}${this.#writers}`, this.#simulation, release);
    this.#reconcilers.set(name, fresh);
    return fresh;
  }

  /** Ends a process and begins another. One that stands still or is dead cannot be asked to end. */
  async restart(by: string, release = this.#release): Promise<void> {
    const before = this.#reconcilers.get(by);
    if (this.#running.has(by) || before?.attempt?.progress === "dead") return;
    if (before !== undefined) await this.#simulation.judge.restarts(before);
    this.#begin(by, release);
  }

  /** Everybody begins anew with the next release. Who stands still goes on as what they are. */
  async deploy(): Promise<void> {
    const next: Release = { decisionVersion: this.#release.decisionVersion + 1 };
    for (const by of this.#reconcilers.keys()) await this.restart(by, next);
    this.#release = next;
  }

  /** Null where the process already has a pass that stands still: it does one at a time. */
  async pass(by: string, words: PassOptions, hold: string): Promise<Outcome | null> {
    if (this.#running.has(by)) return null;
    const process = this.#reconciler(by);
    const { writer } = process.memory;
    const attempt = new Attempt({
      writer,
      words,
      hold,
      time: this.#simulation.time,
      hit: (it) => this.#simulation.hit(it),
    });
    process.attempt = attempt;
    this.#simulation.judge.begins(attempt, process);
    const { skew } = this.#simulation;
    if (skew !== this.#skewBefore) this.#simulation.hit(skew < this.#skewBefore ? "clock back" : "clock ahead");
    this.#skewBefore = skew;
    const settings = {
      members: "ask",
      patience: words.patience,
      acceptRewrite: this.acceptedRewrite,
      trustAnchor: this.#simulation.approvers.anchor,
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

  /** Lets a pass go on that stands still; null where there is none. */
  async resume(by: string): Promise<Outcome | null> {
    const running = this.#running.get(by);
    if (running === undefined) return null;
    this.#running.delete(by);
    const attempt = this.#reconciler(by).attempt as Attempt;
    this.#simulation.judge.resumes(attempt);
    attempt.resume();
    return this.#follow(by, running);
  }

  /** Lets a pass go on until it ends, dies or stands still. Time moves only when nothing else does. */
  async #follow(by: string, running: Promise<Outcome>): Promise<Outcome> {
    const process = this.#reconciler(by);
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
        if (!this.#simulation.time.next()) throw new Error("a pass waits for what never comes");
        continue;
      }
      this.#simulation.judge.checkStateCommits();
      if (outcome.kind === "held") this.#running.set(by, running);
      if (outcome.kind === "result" || outcome.kind === "fault") attempt.end(this.#simulation.time.now);
      this.#heard(process, outcome);
      return outcome;
    }
  }

  #heard({ attempt, release }: Reconciler, outcome: Outcome): void {
    tell(this.#simulation.lines, outcome);
    for (const it of strikesOn(outcome)) this.#simulation.hit(it);
    if (outcome.kind !== "result") return;
    const { result } = outcome;
    if (result.kind === "unsound")
      this.#simulation.complain("check", result.faults.map((it) => `${it.code}: ${it.message}`).join("; "));
    if (result.kind === "passed")
      for (const [key, { violations }] of result.plan.ledger.quarantines)
        if (this.#everPlanted.has(key)) this.#simulation.hit("quarantine");
        else
          this.#simulation.complain(
            "check",
            `${key}: ${violations.map((it) => `${it.code}: ${it.message}`).join("; ")}`,
          );
    if (result.kind === "passed" && result.plan.refusal === null)
      for (const it of outlived(result.plan.ledger, release)) this.#simulation.complain("D-10", it);
    if (result.kind === "passed")
      for (const it of unusableIn(result.intent, this.#simulation.people.at(result.intent.commit)))
        this.#simulation.complain("world", it);
    this.#simulation.judge.ended(attempt as Attempt, result);
  }
}
