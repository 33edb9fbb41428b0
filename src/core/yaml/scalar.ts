import type { Json } from "../model/json.ts";

const words = new Map<string, boolean | null>([
  ...spellings(["y", "yes", "true", "on"]).map((it): [string, boolean] => [it, true]),
  ...spellings(["n", "no", "false", "off"]).map((it): [string, boolean] => [it, false]),
  ...["", "~", ...spellings(["null"])].map((it): [string, null] => [it, null]),
]);

const endless = new Set(
  ["inf", "Inf", "INF"].flatMap((it) => [`.${it}`, `+.${it}`, `-.${it}`]).concat(".nan", ".NaN", ".NAN"),
);

/** What an unquoted scalar is to kubectl. */
type PlainScalar =
  | { readonly kind: "value"; readonly value: Json }
  /** An integer that does not fit 64 bits. */
  | { readonly kind: "overflow" }
  /** `.inf`, `.nan`: kubectl refuses them, JSON has no such number. */
  | { readonly kind: "unrepresentable" };

/**
 * Reads an unquoted scalar as kubectl does: YAML 1.1 with Go's integers, without its dates and its base 60.
 *
 * No mode of any YAML library agrees with kubectl (`intent/README.md#schemas`), so the rules are here: those of go-yaml
 * 2 as sigs.k8s.io/yaml uses it, checked scalar by scalar against kubectl. Integers beyond 2⁵³ are bigints, exactly.
 */
export function plainScalar(text: string): PlainScalar {
  if (!mayBeSpecial(text)) return { kind: "value", value: text };
  const word = words.get(text);
  if (word !== undefined) return { kind: "value", value: word };
  if (endless.has(text)) return { kind: "unrepresentable" };
  const digits = /^[-+0-9]/.test(text) ? text.replaceAll("_", "") : text.replace(/(?<=\d)_+(?=\d)/g, "");
  if (/^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.test(digits)) return integer(digits);
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(digits)) return float(digits, text);
  return { kind: "value", value: text };
}

/** Whether a boolean or number is written in a way that readers, human or YAML 1.2, take for something else. */
export function ambiguity(text: string, value: Json): "boolean" | "number" | null {
  if (typeof value === "boolean") return /^(true|false)$/i.test(text) ? null : "boolean";
  if (typeof value !== "number" && typeof value !== "bigint") return null;
  return /_|^[-+]?0[xXbBoO0-9]/.test(text) ? "number" : null;
}

function spellings(lower: readonly string[]): readonly string[] {
  return lower.flatMap((it) => [it, `${it.charAt(0).toUpperCase()}${it.slice(1)}`, it.toUpperCase()]);
}

/** Only these can open anything but a text; nearly every scalar of a manifest is dismissed here. */
const mayBeSpecial = (text: string): boolean => text.length < 500 && /^(?:[-+.0-9yYnNtTfFoO~]|$)/.test(text);

function integer(digits: string): PlainScalar {
  const negative = digits.startsWith("-");
  const unsigned = digits.replace(/^[-+]/, "");
  // Go reads a leading zero as octal; BigInt wants it spelled out.
  const magnitude = BigInt(/^0[0-7]+$/.test(unsigned) ? `0o${unsigned.slice(1)}` : unsigned.toLowerCase());
  const value = negative ? -magnitude : magnitude;
  if (BigInt.asIntN(64, value) !== value) return { kind: "overflow" };
  const small = Number(value);
  return { kind: "value", value: Number.isSafeInteger(small) ? small : value };
}

function float(digits: string, text: string): PlainScalar {
  const value = Number(digits);
  if (!Number.isFinite(value)) return { kind: "unrepresentable" };
  if (/^[-+]?[0-9]+$/.test(digits) && !Number.isSafeInteger(value)) return { kind: "overflow" };
  // What Go does not parse as a number stays a string.
  return { kind: "value", value: Number.isNaN(value) ? text : value + 0 };
}
