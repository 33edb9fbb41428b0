import type { DurationMs } from "../../model/value.ts";

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** The longest duration that Go can hold, 292 years: a hub could not read a longer one. */
const longest = 9_223_372_036_854;

/** Reads a Go duration such as `90s` or `1h30m` down to milliseconds; null when the text is none, is 0 or negative. */
export function durationOf(text: string): DurationMs | null {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s))+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) total += Number(count) * (units[unit ?? ""] ?? 0);
  return total >= 1 && total <= longest ? (Math.round(total) as DurationMs) : null;
}
