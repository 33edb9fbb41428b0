import type { Json } from "../../../core/model/json.ts";

/**
 * How many names and values one response may have. Time and memory grow with them and not with the bytes: 57 MiB of empty
 * lists keep `JSON.parse` busy for most of a minute. A page of 500 objects leaves 8,000 to each. Within the limit, parsing
 * costs 3 s and 140 MiB at most (distinct names cost most). A response that is nested too deep loses the member.
 */
export const maxJsonTokens = 4_000_000;

/** Parses JSON from a member; undefined where it is not JSON, or has more names and values than `most`. */
export function parseBoundedJson(text: string, most: number = maxJsonTokens): Json | undefined {
  if (!hasAtMost(text, most)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const [quote, backslash, comma, colon, list, object] = [...'"\\,:[{'].map((it) => it.charCodeAt(0));

function hasAtMost(text: string, most: number): boolean {
  // Each of them takes at least one character: most responses need no count.
  if (text.length <= most) return true;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at);
    else if (code === comma || code === colon || code === list || code === object) count += 1;
    if (count > most) return false;
  }
  return true;
}

/** Where a text ends that begins at a quote; where the whole of it ends, if it does not. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}
