import { expect, test } from "vitest";
import { known } from "../../../src/core/model/assert.ts";
import { type Quantity, quantityOf } from "../../../src/core/model/quantity.ts";
import { exactArithmetic } from "../../../src/core/schedule/plugins/property-sorter.ts";
import { random } from "./random.ts";

const read = (text: string): Quantity => known(quantityOf(text), `${text} is a quantity`);

/** By definition: the part of the weight in whole numbers, halves away from zero. */
function shareOf(value: Quantity, min: Quantity, max: Quantity, isDescending: boolean, weight: number): number {
  const whole = max.nanos - min.nanos;
  if (whole === 0n) return 0;
  const part = isDescending ? value.nanos - min.nanos : max.nanos - value.nanos;
  const size = Number((2n * part * BigInt(Math.abs(weight)) + whole) / (2n * whole));
  return weight < 0 && size !== 0 ? -size : size;
}

/** Ranges in which doubles are off, by far or by a hair: of one value in two spellings, narrow ones, and immense ones. */
const ranges: readonly (readonly [min: string, value: string, max: string])[] = [
  ["100m", "300m", "500m"],
  ["0.1", "0.3", "0.5"],
  ["0.1", "300m", "0.3"],
  ["300m", "0.3", "300000u"],
  ["1e18", "1000000000000000001", "1000000000000000002"],
  ["9223372036854775805", "9223372036854775806", "9223372036854775807"],
  ["0", "1e380", "2e380"],
  ["-2e380", "0", "2e380"],
  ["-1e308", "1e307", "1e308"],
  ["0", "1n", "1e300"],
  ["1Ki", "1536", "2Ki"],
  ["-5", "-5", "-5"],
];

test.each(ranges)("A 31: between %s and %s, %s has its exact share of every weight", (min, value, max) => {
  const [low, middle, high] = [read(min), read(value), read(max)];
  for (let weight = -100; weight <= 100; weight++)
    for (const order of ["Ascending", "Descending"] as const)
      expect(
        exactArithmetic.share(middle, { min: low, max: high }, { name: "np", order }, weight),
        `${order} ${weight}`,
      ).toBe(shareOf(middle, low, high, order === "Descending", weight));
});

test("A 31: any value has its exact share, however the three of them are written", () => {
  const { below, pick } = random(31);
  const any = (): Quantity => {
    const digits = pick(["1", "7", "12", "305", "4096", "999999", "123456789012345678"]);
    return read(`${pick(["", "", "-"])}${digits}${pick(["", ".5", "25e-1", "m", "n", "k", "Ki", "Gi", "e12"])}`);
  };
  for (let round = 0; round < 5000; round++) {
    const [low, middle, high] = [any(), any(), any()].sort((a, b) => (a.nanos < b.nanos ? -1 : 1));
    if (low === undefined || middle === undefined || high === undefined) continue;
    const weight = below(201) - 100;
    const order = pick(["Ascending", "Descending"] as const);
    expect(exactArithmetic.share(middle, { min: low, max: high }, { name: "np", order }, weight), `${round}`).toBe(
      shareOf(middle, low, high, order === "Descending", weight),
    );
  }
});
