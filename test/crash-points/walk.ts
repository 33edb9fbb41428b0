import { earliest, later, seconds } from "../../src/core/model/value.ts";
import { hasMoved, type Passed } from "../../src/shell/reconcile/pass.ts";
import { isInFlight } from "../../src/shell/reconcile/settle.ts";
import type { Outcome } from "../simulation/processes.ts";
import { Simulation } from "../simulation/simulation.ts";
import { defaultPass, type PassOptions, stepsOf } from "../simulation/step.ts";
import { effects } from "../simulation/world/call.ts";
import type { Story } from "./stories.ts";

/** One effect of a walk. */
export interface Effect {
  /** In which pass after the edit, counted from 1. */
  readonly pass: number;
  /** Which effect of that pass, counted from 1. */
  readonly number: number;
  /** `apply ConfigMap web/config on m2` */
  readonly text: string;
}

/** What disturbs a walk. */
export interface Disturbance {
  /** Where the process dies, by pass: `before effect 3`. */
  readonly crashes: ReadonlyMap<number, string>;
  /** The pass after which people take the edit back; 0 for at once, null for never. */
  readonly revertAfter: number | null;
  /** Above zero, members are served in an order that this number shuffles; else they keep step with each other. */
  readonly shuffle: number;
}

/** Nobody dies, and people stand by their edit. */
export const undisturbed: Disturbance = { crashes: new Map(), revertAfter: null, shuffle: 0 };

/** What came of a walk. */
export interface Walked {
  readonly simulation: Simulation;
  /** Effects after the edit that reached the world, in order. */
  readonly effects: readonly Effect[];
}

/** Passes that may follow each other until there is nothing left to do. */
const enough = 60;
/** A process that died is started again after so long. */
const restartAfter = seconds(5);
/** How often somebody looks who waits for members. */
const glance = seconds(1);

/** Goes through a story with whatever disturbs it, until there is nothing left to do. Throws when that does not come. */
export async function walk(story: Story, disturbance: Disturbance): Promise<Walked> {
  const walker = new Walker(disturbance);
  await walker.prepare(story.given);
  await walker.edit(story.edit);
  await walker.settle();
  return walker;
}

class Walker implements Walked {
  readonly simulation = new Simulation();
  readonly effects: Effect[] = [];
  readonly #disturbance: Disturbance;
  #passes = 0;
  /** Pushes that make up the edit: itself, and confirmations of what it deletes. */
  #pushes = 0;

  constructor(disturbance: Disturbance) {
    this.#disturbance = disturbance;
  }

  /** Pushes, and lets passes follow each other until one does no more than push. The process ends there. */
  async prepare(script: string): Promise<void> {
    const { simulation } = this;
    await this.#happen(`${script}\npush`);
    for (let before = -2; simulation.effects - before > 1; ) {
      before = simulation.effects;
      await this.#happen("pass by=a flush=true\nwait ms=1000");
    }
    await this.#happen("restart by=a");
  }

  async edit(script: string): Promise<void> {
    await this.#happen(`${script}\npush`);
    this.#pushes = 1;
    if (this.#disturbance.revertAfter === 0) await this.#takeBack();
  }

  /** Goes on as a run that waits does, or a daemon; who dies is started again, and people confirm what waits for them. */
  async settle(): Promise<void> {
    let words: Words = hasty;
    for (let count = 0; count < enough; count++) {
      const outcome = await this.#pass(words);
      const hasDied = outcome.kind === "died";
      words = hasDied ? hasty : {};
      if (hasDied) await this.#happen(`wait ms=${restartAfter}`);
      if (this.#passes === this.#disturbance.revertAfter) await this.#takeBack();
      else if (outcome.kind === "result" && outcome.result.kind === "passed") {
        const { result } = outcome;
        if (hasMoved(result) || (await this.#wait(result)) || (await this.#answer(result))) continue;
        if (!result.deferred) return;
        words = { flush: true };
      }
    }
    throw new Error(`${enough} passes, and no rest`);
  }

  async #happen(script: string): Promise<void> {
    for (const step of stepsOf(script)) await this.simulation.step(step);
  }

  async #pass(words: Words): Promise<Outcome> {
    this.#passes++;
    const from = this.simulation.lines.length;
    const { crashes, shuffle } = this.#disturbance;
    const crash = crashes.get(this.#passes) ?? "";
    const outcome = await this.simulation.step({ do: "pass", by: "a", ...defaultPass, shuffle, crash, ...words });
    this.#count(from);
    if (outcome === null || (crash !== "" && outcome.kind !== "died"))
      throw new Error(`pass ${this.#passes} should have died ${crash}`);
    return outcome;
  }

  #count(from: number): void {
    let number = 0;
    for (const line of this.simulation.lines.slice(from)) {
      if (line.kind !== "call" || !effects.has(line.call.kind)) continue;
      const { text, member } = line.call;
      number++;
      this.effects.push({ pass: this.#passes, number, text: member === null ? "push" : `${text} on ${member}` });
    }
  }

  async #takeBack(): Promise<void> {
    await this.#happen(`revert back=${this.#pushes}\npush`);
  }

  /** Lets time go by when there is something to wait for. */
  async #wait({ plan }: Passed): Promise<boolean> {
    const now = this.simulation.now();
    const next = earliest(plan.wakeAt, isInFlight(plan.reasons) ? later(now, glance) : null);
    if (next !== null) await this.#happen(`wait ms=${Math.max(next - now, 100)}`);
    return next !== null;
  }

  /** People confirm what waits for that, and mend what keeps a placement in quarantine. */
  async #answer({ plan }: Passed): Promise<boolean> {
    const kinds = new Set(plan.reasons.map((it) => it.kind));
    const answers = [
      ...(kinds.has("confirmationNeeded") ? ["confirm"] : []),
      ...(kinds.has("quarantined") ? ['plant placement=""', 'manifest object="Namespace spare" value=1'] : []),
    ];
    if (answers.length === 0) return false;
    await this.#happen([...answers, "push"].join("\n"));
    this.#pushes++;
    return true;
  }
}

type Words = Partial<Pick<PassOptions, "patience" | "flush">>;

/** Who has just begun tries at once what failed before. */
const hasty: Words = { patience: "none" };
