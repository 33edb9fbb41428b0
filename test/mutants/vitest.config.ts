import { defineConfig } from "vitest/config";
import { lateOptimization } from "../late-optimization.ts";
import { breaking } from "./mutant.ts";

const mutant = process.env["MUTANT"];

/** The drill; or, for the tests that it starts, everything but real servers, with one break in the source. */
export default defineConfig({
  test: {
    include: mutant === undefined ? ["test/mutants/drill.ts"] : ["test/**/*.test.ts", "test/mutants/*-alone.ts"],
    testTimeout: mutant === undefined ? 1_800_000 : 60_000,
    // What is broken may go round in circles: the first complaint is enough.
    bail: mutant === undefined ? 0 : 1,
    pool: "forks",
    execArgv: [...lateOptimization],
    maxWorkers: mutant === undefined ? 2 : 1,
    maxConcurrency: 2,
    // Each mutant has a process of its own: what one of them has read and transformed, the others need not.
    experimental: { fsModuleCache: true },
  },
  plugins: mutant === undefined ? [] : [breaking(JSON.parse(mutant))],
});
