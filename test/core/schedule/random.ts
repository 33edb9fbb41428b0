/** A seeded source of choices (mulberry32), so that every random test can be run again. */
export function random(seed: number): {
  readonly below: (limit: number) => number;
  readonly pick: <T>(choices: readonly [T, ...T[]]) => T;
  readonly shuffled: <T>(list: readonly T[]) => readonly T[];
} {
  let state = seed + 1;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    below,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
    shuffled: (list) =>
      list
        .map((it) => ({ it, at: fraction() }))
        .sort((a, b) => a.at - b.at)
        .map(({ it }) => it),
  };
}
