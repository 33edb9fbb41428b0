import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { broken, filesOf, projectFolder } from "./mutant.ts";
import { mutants } from "./mutants.ts";

test.each(mutants.map((it) => [it.breaks, it] as const))("the place to break is there, once: %s", (_, mutant) => {
  const source = readFileSync(join(projectFolder, mutant.file), "utf8");
  expect(broken(source, mutant)).not.toBe(source);
});

test("there are at least twenty breaks, eight of which check() has to catch alone", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(20);
  expect(mutants.filter((it) => it.caughtBy === "check").length).toBeGreaterThanOrEqual(8);
});

test("what noticed a mutant first is written down of mutants that there are, and of tests that have to notice", () => {
  const nearest = JSON.parse(readFileSync(join(projectFolder, "test/mutants/nearest.json"), "utf8"));
  const strangers = Object.entries(nearest as Record<string, { readonly file: string }>).filter(
    ([breaks, { file }]) => !mutants.some((it) => it.breaks === breaks && filesOf(it).includes(file)),
  );
  expect(strangers).toEqual([]);
});
