import { expect, test } from "vitest";
import { TrustStorm } from "./trust-storm.ts";

test("whatever people push, sign, approve and take back: nothing sound is refused", { timeout: 0 }, () => {
  let [opened, granted] = [0, 0];
  for (let seed = 1; seed <= 20; seed++) {
    const storm = new TrustStorm(seed);
    for (let at = 0; at < 100; at++) storm.step();
    opened += storm.opened;
    granted += storm.granted;
  }
  // A storm in which nobody is ever asked would show nothing.
  expect(opened).toBeGreaterThan(10);
  expect(granted).toBeGreaterThan(10);
});
