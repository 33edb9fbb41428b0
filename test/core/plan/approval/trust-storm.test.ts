import { expect, test } from "vitest";
import { walkLength } from "../../../long-walks.ts";
import { TrustStorm } from "./trust-storm.ts";

/** `STORMS=2000` blows longer, `SEED=501` begins elsewhere. */
const storms = walkLength("STORMS", { short: 5, full: 20 });
const first = Number(process.env["SEED"] ?? 1);

test("whatever people push, sign, approve and take back: nothing sound is refused", { timeout: 0 }, () => {
  let [opened, granted] = [0, 0];
  const complaints: string[] = [];
  for (let seed = first; seed < first + storms; seed++) {
    const storm = new TrustStorm(seed);
    try {
      for (let at = 0; at < 100; at++) storm.step();
    } catch (error) {
      complaints.push(`storm ${seed}: ${(error as Error).message}`);
    }
    opened += storm.opened;
    granted += storm.granted;
  }
  expect(complaints).toEqual([]);
  // A storm in which nobody is ever asked would show nothing.
  expect(opened).toBeGreaterThan(storms / 2);
  expect(granted).toBeGreaterThan(storms / 2);
});
