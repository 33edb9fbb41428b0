import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/model/json.ts";
import { ambiguity, plainScalar } from "../../../src/core/yaml/scalar.ts";

// What `kubectl label --local -o json` makes of each unquoted scalar (kubectl 1.32; B-14 … B-18).
const scalars: readonly [text: string, value: Json, ambiguity?: "boolean" | "number"][] = [
  ["on", true, "boolean"],
  ["On", true, "boolean"],
  ["oN", "oN"],
  ["yes", true, "boolean"],
  ["y", true, "boolean"],
  ["Y", true, "boolean"],
  ["n", false, "boolean"],
  ["no", false, "boolean"],
  ["NO", false, "boolean"],
  ["off", false, "boolean"],
  ["true", true],
  ["TRUE", true],
  ["tRue", "tRue"],
  ["False", false],
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["nULL", "nULL"],
  ["0", 0],
  ["-0", 0],
  ["42", 42],
  ["+5", 5],
  ["0777", 511, "number"],
  ["+0777", 511, "number"],
  ["-012", -10, "number"],
  ["0o777", 511, "number"],
  ["0O17", 15, "number"],
  ["08", 8, "number"],
  ["0_7", 7, "number"],
  ["0b101", 5, "number"],
  ["0B101", 5, "number"],
  ["-0b11", -3, "number"],
  ["0x1F", 31, "number"],
  ["-0x1F", -31, "number"],
  ["0x_1", 1, "number"],
  ["0b", "0b"],
  ["0o", "0o"],
  ["0x1p-2", "0x1p-2"],
  ["1_000", 1000, "number"],
  ["1__0", 10, "number"],
  ["1_0.5", 10.5, "number"],
  ["_1", "_1"],
  ["1e3", 1000],
  ["1e+3", 1000],
  ["1.", 1],
  ["1.0", 1],
  [".5", 0.5],
  ["-.5", -0.5],
  [".5_0", 0.5, "number"],
  ["._5", "._5"],
  ["-0.0", 0],
  ["1:30", "1:30"],
  ["12:30:45", "12:30:45"],
  ["2024-01-02", "2024-01-02"],
  ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"],
  ["1.2.3", "1.2.3"],
  ["v1", "v1"],
  ["=", "="],
  ["9007199254740991", 9007199254740991],
  ["9007199254740993", 9007199254740993n],
  ["-9223372036854775808", -9223372036854775808n],
];

describe("an unquoted scalar is read as kubectl reads it", () => {
  for (const [text, value, doubt] of scalars)
    it(`${JSON.stringify(text)} is ${typeof value} ${String(value)}${doubt === undefined ? "" : `, an ambiguous ${doubt}`}`, () => {
      expect(plainScalar(text)).toEqual({ kind: "value", value });
      expect(ambiguity(text, value)).toBe(doubt ?? null);
    });
});

describe("what no API server could take is refused", () => {
  const cases: readonly [text: string, kind: "overflow" | "unrepresentable"][] = [
    ["9223372036854775808", "overflow"],
    ["18446744073709551615", "overflow"],
    ["99999999999999999999", "overflow"],
    ["9".repeat(400), "overflow"],
    ["0xFFFFFFFFFFFFFFFF", "overflow"],
    [".inf", "unrepresentable"],
    ["-.INF", "unrepresentable"],
    ["+.inf", "unrepresentable"],
    [".NaN", "unrepresentable"],
    ["1e400", "unrepresentable"],
  ];
  for (const [text, kind] of cases)
    it(`${text.slice(0, 24)} is ${kind}`, () => {
      expect(plainScalar(text)).toEqual({ kind });
    });
});
