import { emptyLedger } from "../../src/core/model/ledger.ts";
import { differences } from "../simulation/rules/expected.ts";
import { transcriptOf } from "../simulation/transcript.ts";
import type { CallKind } from "../simulation/world/call.ts";
import { differencesOf, endOf } from "./end.ts";
import { type Moment, nameOf, type Point, pointsOf } from "./point.ts";
import type { Story } from "./stories.ts";
import { type Effect, undisturbed, type Walked, walk } from "./walk.ts";

/** What came of a crash. */
export interface Tried {
  /** What is wrong, a line each; empty when the end is that of the undisturbed story and no promise was broken. */
  readonly faults: readonly string[];
  transcript(): string;
}

/** A story with what it comes to when nothing disturbs it: what crashes are measured by (I-15). */
export class Course {
  readonly story: Story;
  readonly shuffle: number;
  readonly effects: readonly Effect[];
  /** What kinds of calls were made in it, before the edit as well. */
  readonly kinds: ReadonlySet<CallKind>;
  /** What is wrong with the undisturbed story itself: promises that were broken, and what nobody asked for (I-16). */
  readonly faults: readonly string[];
  readonly end: string;
  /** Ends with the edit taken back, by the pass after which it was. */
  readonly #reverted = new Map<number, string>();
  /** Effects that followed a single crash, by the name of its point. */
  readonly #followers = new Map<string, readonly Effect[]>();

  private constructor(story: Story, shuffle: number, { effects, simulation }: Walked) {
    this.story = story;
    this.shuffle = shuffle;
    this.effects = effects;
    this.kinds = new Set(simulation.lines.flatMap((it) => (it.kind === "call" ? [it.call.kind] : [])));
    const ledger = simulation.ledger() ?? emptyLedger;
    this.faults = [...violationsIn(simulation), ...differences(simulation, simulation.people.draft, ledger)];
    this.end = endOf(simulation, true);
  }

  /** Walks through a story once, undisturbed. */
  static async of(story: Story, shuffle: number): Promise<Course> {
    return new Course(story, shuffle, await walk(story, { ...undisturbed, shuffle }));
  }

  get points(): readonly Point[] {
    return pointsOf(this.story, this.shuffle, this.effects.length);
  }

  /** `before effect 12 of 38, apply ConfigMap web/config on m2` */
  wordsOf({ first }: Point): string {
    const text = this.effects[first.effect - 1]?.text ?? "there is none";
    return `${first.when} effect ${first.effect} of ${this.effects.length}, ${text}`;
  }

  /** Walks through the story with the crashes of a point and compares what it comes to. */
  async attempt(point: Point): Promise<Tried> {
    const { pass, words } = spotOf(point.first, this.effects);
    const crashes = new Map([[pass, words]]);
    if (point.second !== null) {
      const second = spotOf(point.second, await this.followersOf({ ...point, second: null }));
      crashes.set(second.pass, second.words);
    }
    const revertAfter = point.isReverted ? pass : null;
    const { simulation, effects } = await walk(this.story, { crashes, revertAfter, shuffle: this.shuffle });
    const followers = effects.filter((it) => it.pass > pass);
    if (point.second === null) this.#followers.set(nameOf(point), followers);
    const expected = point.isReverted ? await this.#endReverted(point) : this.end;
    return {
      faults: [...violationsIn(simulation), ...differencesOf(endOf(simulation, !point.isReverted), expected)],
      transcript: () => transcriptOf(simulation.lines),
    };
  }

  /** Effects that follow a single crash. */
  async followersOf(point: Point): Promise<readonly Effect[]> {
    if (!this.#followers.has(nameOf(point))) await this.attempt(point);
    return this.#followers.get(nameOf(point)) ?? [];
  }

  /**
   * The end of the story whose edit is taken back where the crash was, in an undisturbed process.
   *
   * A decision that was not pushed yet was never made: then that is before the pass which died, else after it.
   */
  async #endReverted({ first }: Point): Promise<string> {
    const { pass } = effectAt(first.effect, this.effects);
    const push = this.effects.findIndex((it) => it.pass === pass && it.text === "push") + 1;
    const isDecided = first.effect > push || (first.effect === push && first.when === "after");
    const revertAfter = isDecided ? pass : pass - 1;
    const known = this.#reverted.get(revertAfter);
    if (known !== undefined) return known;
    const { simulation } = await walk(this.story, { ...undisturbed, revertAfter, shuffle: this.shuffle });
    const faults = violationsIn(simulation);
    if (faults.length > 0)
      throw new Error(`${this.story.name}, reverted after pass ${revertAfter}: ${faults.join("; ")}`);
    const end = endOf(simulation, false);
    this.#reverted.set(revertAfter, end);
    return end;
  }
}

/** Lines about one point that are shown. */
const mostFaults = 12;

/** What to print of a point that came to another end: where, what, and how to see it alone. */
export function reportOf(course: Course, point: Point, faults: readonly string[]): string {
  const shown = faults.slice(0, mostFaults).map((it) => `    ${it}`);
  const more = faults.length > mostFaults ? [`    and ${faults.length - mostFaults} more`] : [];
  const alone = `    alone: CRASH_POINT="${nameOf(point)}" npx vitest run test/crash-points.test.ts`;
  return [`${nameOf(point)} (${course.wordsOf(point)})`, ...shown, ...more, alone].join("\n");
}

function effectAt(number: number, effects: readonly Effect[]): Effect {
  const effect = effects[number - 1];
  if (effect === undefined) throw new Error(`there is no effect ${number} among ${effects.length}`);
  return effect;
}

/** A moment as a step of the simulation names it. */
function spotOf(
  { when, effect }: Moment,
  effects: readonly Effect[],
): { readonly pass: number; readonly words: string } {
  const { pass, number } = effectAt(effect, effects);
  return { pass, words: `${when} effect ${number}` };
}

const violationsIn = ({ violations }: Walked["simulation"]): readonly string[] =>
  violations.map(({ rule, message }) => `${rule}: ${message}`);
