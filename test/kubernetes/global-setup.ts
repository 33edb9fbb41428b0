import { randomUUID } from "node:crypto";
import type { TestModule, TestProject, TestSuite } from "vitest/node";
import { findAct } from "../action/act.ts";
import { findGitea } from "../forge/gitea.ts";
import { controlPlanePrograms, findPrograms } from "./assets.ts";
import type {} from "./describe-kubernetes.ts";

/**
 * Vitest's global setup. Where real servers are required it builds them first, so that no test runs beside a compiler; after the
 * run it says on stderr how many tests were skipped for want of them.
 */
export async function setup(project: TestProject): Promise<() => void> {
  process.env["FLOTILLA_TEST_RUN"] = randomUUID();
  if (process.env["FLOTILLA_TEST_KUBERNETES"] === "require") {
    await findPrograms(controlPlanePrograms);
    await findAct();
    await findGitea();
  }
  return () => {
    const suites = project.vitest.state.getTestModules().flatMap(skippedSuites);
    if (suites.length === 0) return;
    const count = suites.reduce((sum, suite) => sum + [...suite.children.allTests()].length, 0);
    const reasons = [...new Set(suites.map((suite) => suite.meta().withoutServers))].join("; ");
    process.stderr.write(
      `\n!!! ${count} tests were SKIPPED, because they need real servers: ${reasons}\n` +
        "!!! To run them, put Go 1.26 on PATH; what is missing is built once, in minutes.\n\n",
    );
  };
}

function skippedSuites(module: TestModule): readonly TestSuite[] {
  // A suite in such a suite has inherited the reason, and is counted with it.
  return [...module.children.suites()].filter((suite) => suite.meta().withoutServers !== undefined);
}
