// Every .txt in test/scenarios is a test; the .out beside it is what we expect to read.
// UPDATE_GOLDEN=1 npm test rewrites the .out files: review them like code.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { play } from "./script.ts";

const folder = new URL("./scenarios/", import.meta.url);
const files = readdirSync(folder).sort();
const scripts = files.filter((it) => it.endsWith(".txt"));

for (const file of scripts) {
  test(file.replace(".txt", "").replaceAll("-", " "), () => {
    const told = play(readFileSync(new URL(file, folder), "utf8"));
    const golden = new URL(file.replace(".txt", ".out"), folder);
    if (process.env["UPDATE_GOLDEN"] !== undefined) writeFileSync(golden, told);
    expect(told).toBe(existsSync(golden) ? readFileSync(golden, "utf8") : "");
  });
}

test("every transcript has its script", () => {
  const orphans = files.filter((it) => it.endsWith(".out") && !files.includes(it.replace(".out", ".txt")));
  expect(orphans).toEqual([]);
});
