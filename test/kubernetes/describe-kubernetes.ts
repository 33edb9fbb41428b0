import { describe, expect, test } from "vitest";
import { apiServerPrograms, controlPlanePrograms, findPrograms } from "./assets.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Why a suite that needs real servers was skipped. */
    withoutServers?: string;
  }
}

/** What a suite starts: API servers alone, or clusters in which workloads become available by themselves. */
export type Need = "API servers" | "control planes";

/**
 * Describes tests that need real servers: `await describeKubernetes("…", "API servers", () => { … })`.
 *
 * Where the servers' programs can neither be found nor built, the suite is skipped, and the end of the run says so; with
 * `FLOTILLA_TEST_KUBERNETES=require` it fails instead.
 */
export async function describeKubernetes(name: string, need: Need, body: () => void): Promise<void> {
  const programs = await findPrograms(need === "API servers" ? apiServerPrograms : controlPlanePrograms);
  describeWhenFound(name, "kind" in programs ? programs.why : null, body);
}

/** Describes tests that need programs of their own; `why` says what they lack, null that they lack nothing. */
export function describeWhenFound(name: string, why: string | null, body: () => void): void {
  if (why === null) {
    describe(name, body);
  } else if (process.env["FLOTILLA_TEST_KUBERNETES"] === "require") {
    test(`${name} has the servers that it needs`, () => expect.fail(`${why} (FLOTILLA_TEST_KUBERNETES=require)`));
  } else {
    describe(name, { skip: true, meta: { withoutServers: why } }, body);
  }
}
