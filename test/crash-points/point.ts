import type { Story } from "./stories.ts";

/** A moment at an effect: just before it reaches the world, or after it did and before its answer is back. */
export interface Moment {
  readonly when: "before" | "after";
  /** Counted from 1. */
  readonly effect: number;
}

/** Where a process dies in a story. */
export interface Point {
  readonly story: Story;
  /** The order in which members are served: see `shuffle` of a walk. */
  readonly shuffle: number;
  /** Among the effects of the undisturbed story. */
  readonly first: Moment;
  /** While it is down, people take the edit back. */
  readonly isReverted: boolean;
  /** Where the next process dies, among the effects that follow the first crash; null for nowhere. */
  readonly second: Moment | null;
}

const moments = (effects: number): readonly Moment[] =>
  Array.from({ length: effects }, (_, at) => at + 1).flatMap((effect) => [
    { when: "before", effect },
    { when: "after", effect },
  ]);

/** Every single crash in a story of so many effects, with and without a revert where there can be one. */
export const pointsOf = (story: Story, shuffle: number, effects: number): readonly Point[] =>
  moments(effects).flatMap((first) =>
    (story.stands === true ? [false] : [false, true]).map(
      (isReverted): Point => ({ story, shuffle, first, isReverted, second: null }),
    ),
  );

/** `new placements: before 12 revert, after 3, shuffled 7`: what {@link pointNamed} reads back. */
export function nameOf({ story, shuffle, first, isReverted, second }: Point): string {
  const then = second === null ? "" : `, ${second.when} ${second.effect}`;
  const order = shuffle === 0 ? "" : `, shuffled ${shuffle}`;
  return `${story.name}: ${first.when} ${first.effect}${isReverted ? " revert" : ""}${then}${order}`;
}

const grammar =
  /^(?<name>.*): (?<when>before|after) (?<at>\d+)(?<revert> revert)?(, (?<then>before|after) (?<next>\d+))?(, shuffled (?<shuffle>\d+))?$/;

/** The point that a name speaks of; null when there is no such story or no such word. */
export function pointNamed(text: string, stories: readonly Story[]): Point | null {
  const { name, when, at, revert, then, next, shuffle } = grammar.exec(text)?.groups ?? {};
  const story = stories.find((it) => it.name === name);
  if (story === undefined) return null;
  const second = then === undefined ? null : momentOf(then, next);
  return { story, shuffle: Number(shuffle ?? 0), first: momentOf(when, at), isReverted: revert !== undefined, second };
}

const momentOf = (when: string | undefined, effect: string | undefined): Moment => ({
  when: when === "before" ? "before" : "after",
  effect: Number(effect),
});
