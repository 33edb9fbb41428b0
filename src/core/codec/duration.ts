import type { DurationMs } from "../model/value.ts";

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads a Go duration such as `90s` or `1h30m` down to milliseconds; null when the text is none, is 0 or negative. */
export function durationOf(text: string): DurationMs | null {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s))+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) total += Number(count) * (units[unit ?? ""] ?? 0);
  return total >= 1 && Number.isSafeInteger(Math.round(total)) ? (Math.round(total) as DurationMs) : null;
}
