import { type DurationMs, firstOf } from "../model/value.ts";

/** A length of time as Go and kubectl write it, without what is zero: `1h30m`, `90s` as `1m30s`. */
export function shortDuration(duration: DurationMs): string {
  const total = Math.round(duration / 1000);
  const parts = [
    [Math.floor(total / 3600), "h"],
    [Math.floor(total / 60) % 60, "m"],
    [total % 60, "s"],
  ] as const;
  const text = parts.map(([number, unit]) => (number === 0 ? "" : `${number}${unit}`)).join("");
  return text === "" ? "0s" : text;
}

/** Up to eight names, then how many more. */
export const someNames = (all: readonly string[]): string => firstOf(all, 8);

export const quantity = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
