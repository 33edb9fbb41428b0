// Breaks one guard after another and shows that a test notices. `npm run mutants -- -t WORDS` runs some of them.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Mutant, projectFolder } from "./mutant.ts";
import { mutants } from "./mutants.ts";

// The longest of all, and beside the others: it comes first.
test.concurrent("the same tests are green without any break", async () => {
  // The storms of check-alone.ts hide every other trouble; promises.test.ts shows that there is none.
  const files = [...new Set([...mutants.flatMap(filesOf), "test/core/plan/promises.test.ts"])];
  const intact = { file: "package.json", find: "", replace: "" };
  expect(await runTests(files, intact)).toMatchObject({ failed: 0, broke: [] });
});

describe.concurrent("a test notices when somebody", () => {
  test.each(mutants.map((it) => [it.breaks, it] as const))("%s", async (_, mutant) => {
    const { passed, failed, broke } = await runTests(filesOf(mutant), mutant);
    // The first complaint ends the run, so other files may not have come to their turn; one that cannot be loaded is no proof.
    expect(failed, `${passed} tests passed and none failed; ${broke.join("; ")}`).toBeGreaterThan(0);
  });
});

const filesOf = ({ caughtBy }: Mutant): readonly string[] =>
  caughtBy === "check" ? ["test/mutants/check-alone.ts"] : caughtBy;

interface Outcome {
  readonly passed: number;
  /** Without those that ran out of time, which a busy machine brings about as well. */
  readonly failed: number;
  /** Files that could not be loaded and tests that ran out of time: neither proves anything. */
  readonly broke: readonly string[];
}

async function runTests(files: readonly string[], mutant: Pick<Mutant, "file" | "find" | "replace">): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-mutant-"));
  const report = join(folder, "report.json");
  const program = join(projectFolder, "node_modules", "vitest", "vitest.mjs");
  const options = ["--config", "test/mutants/vitest.config.ts", "--reporter=json", `--outputFile=${report}`];
  const env = { ...process.env, MUTANT: JSON.stringify(mutant), WALKS: "full" };
  // It exits with 1 when a test fails, which is what we hope for: the report tells why.
  await promisify(execFile)(process.execPath, [program, "run", ...options, ...files], {
    cwd: projectFolder,
    env,
  }).catch(() => undefined);
  const { numPassedTests, testResults } = JSON.parse(await readFile(report, "utf8")) as Report;
  await rm(folder, { recursive: true });
  const complaints = testResults.flatMap((it) =>
    it.assertionResults.flatMap((test) => test.failureMessages.slice(0, 1)),
  );
  const late = complaints.filter((it) => it.includes("Test timed out"));
  const unloaded = testResults.filter((it) => it.assertionResults.length === 0);
  return {
    passed: numPassedTests,
    failed: complaints.length - late.length,
    broke: [...unloaded.map((it) => `${it.name}: ${it.message}`), ...late],
  };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
  }[];
}
