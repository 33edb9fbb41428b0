import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { broken, projectFolder } from "./mutant.ts";
import { mutants } from "./mutants.ts";

test.each(mutants.map((it) => [it.breaks, it] as const))("the place to break is there, once: %s", (_, mutant) => {
  const source = readFileSync(join(projectFolder, mutant.file), "utf8");
  expect(broken(source, mutant)).not.toBe(source);
});

test("there are at least twenty breaks, eight of which check() has to catch alone", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(20);
  expect(mutants.filter((it) => it.caughtBy === "check").length).toBeGreaterThanOrEqual(8);
});
