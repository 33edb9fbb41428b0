// Breaks one guard after another and shows that a test notices. `npm run mutants -- -t WORDS` runs some of them, and with
// `UPDATE_NEAREST=1` it writes down which test noticed each of them first, so that the next one asks that test alone.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { filesOf, type Mutant, projectFolder } from "./mutant.ts";
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
    const nearest = knownNearest[mutant.breaks];
    const asked = nearest === undefined ? null : await runTests([nearest.file], mutant, nearest.test);
    if (asked !== null && asked.failed > 0) return;
    const { passed, failed, broke, first } = await runTests(filesOf(mutant), mutant);
    if (first !== null) noticed.set(mutant.breaks, first);
    // The first complaint ends the run, so other files may not have come to their turn; one that cannot be loaded is no proof.
    expect(failed, `${passed} tests passed and none failed; ${broke.join("; ")}`).toBeGreaterThan(0);
  });
});

/** The test that noticed a mutant first when it was last written down, by what is broken. Where it does not, all are run. */
type Nearest = Readonly<Record<string, TestName>>;

interface TestName {
  readonly file: string;
  /** With the suites that it stands in, as Vitest's reports have it. */
  readonly test: string;
}

const nearestPath = join(projectFolder, "test/mutants/nearest.json");
const knownNearest: Nearest = JSON.parse(await readFile(nearestPath, "utf8"));

/** What noticed mutants of which it was not known, or not any more. */
const noticed = new Map<string, TestName>();

afterAll(async () => {
  if (process.env["UPDATE_NEAREST"] === undefined) return;
  const entries = mutants.flatMap(({ breaks }) => {
    const nearest = noticed.get(breaks) ?? knownNearest[breaks];
    return nearest === undefined ? [] : [[breaks, nearest] as const];
  });
  await writeFile(nearestPath, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
});

interface Outcome {
  readonly passed: number;
  /** Without those that ran out of time, which a busy machine brings about as well. */
  readonly failed: number;
  /** What failed first; null for nothing. */
  readonly first: TestName | null;
  /** Files that could not be loaded and tests that ran out of time: neither proves anything. */
  readonly broke: readonly string[];
}

/** Runs the tests of files, or one of them alone, with a break in the source. */
async function runTests(
  files: readonly string[],
  mutant: Pick<Mutant, "file" | "find" | "replace">,
  only: string | null = null,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-mutant-"));
  const report = join(folder, "report.json");
  const program = join(projectFolder, "node_modules", "vitest", "vitest.mjs");
  const options = ["--config", "test/mutants/vitest.config.ts", "--reporter=json", `--outputFile=${report}`];
  if (only !== null) options.push("-t", `^${only.replace(/[^\w ]/g, "\\$&")}$`);
  const env = { ...process.env, MUTANT: JSON.stringify(mutant), WALKS: "full" };
  // It exits with 1 when a test fails, which is what we hope for: the report tells why.
  await promisify(execFile)(process.execPath, [program, "run", ...options, ...files], {
    cwd: projectFolder,
    env,
  }).catch(() => undefined);
  const { numPassedTests, testResults } = JSON.parse(await readFile(report, "utf8")) as Report;
  await rm(folder, { recursive: true });
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.flatMap(({ fullName, failureMessages }) =>
      failureMessages.slice(0, 1).map((message) => ({ file: relative(projectFolder, name), test: fullName, message })),
    ),
  );
  const isLate = ({ message }: { readonly message: string }): boolean => message.includes("Test timed out");
  const inTime = failures.filter((it) => !isLate(it));
  const [first] = inTime;
  const unloaded = testResults.filter((it) => it.assertionResults.length === 0);
  return {
    passed: numPassedTests,
    failed: inTime.length,
    first: first === undefined ? null : { file: first.file, test: first.test },
    broke: [...unloaded.map((it) => `${it.name}: ${it.message}`), ...failures.filter(isLate).map((it) => it.message)],
  };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly failureMessages: readonly string[] }[];
  }[];
}
