import type { Json } from "../../../src/core/model/json.ts";

/** A small seeded generator (mulberry32): the same seed, the same values. */
export interface Random {
  /** A whole number from 0 to below `count`. */
  below(count: number): number;
  pick<T>(from: readonly T[]): T;
  /** A JSON value at most `depth` deep, with strings, keys and numbers that are hard to write. */
  json(depth: number): Json;
}

export function seeded(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (count: number): number => Math.floor(next() * count);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const text = (): string => {
    if (below(4) === 0) return pick(hardTexts);
    return Array.from({ length: below(12) }, () => pick(characters)).join("");
  };
  const number = (): Json => {
    const kinds: readonly (() => Json)[] = [
      () => below(1000),
      () => -below(1_000_000),
      () => next(),
      () => (next() - 0.5) * 10 ** below(300),
      () => 10 ** -below(300),
      () => BigInt(Number.MAX_SAFE_INTEGER) + BigInt(below(1000) + 1),
      () => pick([0, -0, 999_999_999, 9_999_999_999, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e21, 5e-324, -(10n ** 30n)]),
    ];
    return pick(kinds)();
  };
  const json = (depth: number): Json => {
    const kind = below(depth > 0 ? 8 : 5);
    if (kind < 3) return text();
    if (kind === 3) return number();
    if (kind === 4) return pick([null, true, false]);
    const size = below(4);
    if (kind === 5) return Array.from({ length: size }, () => json(depth - 1));
    return Object.fromEntries(Array.from({ length: size }, () => [text(), json(depth - 1)]));
  };
  return { below, pick, json };
}

const characters = [
  ..."abcNOyx0123456789   ::--__//..,,\"\"''\\\\#&*!|>%@`{}[]()?=~^$<;+\t\n\r",
  ...["é", "日", "😀", "\u0000", "\u0085", "\u2028", "\u200b", "\ufeff", "\ufffe", "\u007f", "\u00a0"],
];

const hardTexts = [
  ...[
    "",
    "yes",
    "No",
    "ON",
    "null",
    "~",
    "true",
    ".inf",
    "-.inf",
    ".NaN",
    "nan",
    "0",
    "-1",
    "0x1F",
    "0o17",
    "1e3",
    "1_0",
  ],
  ...["2026-11-21", "2026-11-21T12:00:00Z", "12:30:45", "a: b", "a:", ": a", "a #b", "- a", "-", "---", "...", "? a"],
  ...["<<", "=", "key: |", "x".repeat(1100), "k".repeat(90), "__proto__", "constructor", "1", "10", "01", "4294967295"],
];
