import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/kubernetes/global-setup.ts"],
    // Deadlines, not measures: what takes two seconds alone may take a minute beside a build.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Left to itself the runner keeps a core free; most of our time is spent waiting for servers.
    maxWorkers: 2,
  },
});
