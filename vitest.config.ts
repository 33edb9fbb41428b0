import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { lateOptimization } from "./test/late-optimization.ts";

/** Short files that take long: Vitest begins with large ones as long as it knows nothing else of them. */
const longOnes =
  /\/test\/((end-to-end|forge|bench|action|kubernetes)\/|(simulation|crash-points|shell\/kube\/fleet|core\/plan\/approval\/trust-storm)\.test)/;

/** What takes longest comes first: begun last, it would go on alone when everything else is done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => longOnes.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((it) => !isLong(it))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/kubernetes/global-setup.ts"],
    // Deadlines, not measures: what takes two seconds alone may take minutes beside a build.
    testTimeout: 300_000,
    hookTimeout: 400_000,
    pool: "forks",
    // A process and its modules for every file would take longer than most of the files' tests do.
    isolate: false,
    execArgv: [...lateOptimization],
    // One more than the cores that we count on, since some tests wait for servers.
    maxWorkers: 3,
    // A list that should be empty is worth nothing in a log that only says how long it was.
    chaiConfig: { truncateThreshold: 2000 },
    sequence: { sequencer: LongestFirst },
  },
});
