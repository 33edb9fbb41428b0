import { expect, test } from "vitest";
import { systemEntropy } from "../../../src/shell/host/system.ts";

test("entropy is 64 hexadecimal digits, others every time", () => {
  const some = Array.from({ length: 100 }, systemEntropy);
  for (const it of some) expect(it).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(some).size).toBe(100);
});
