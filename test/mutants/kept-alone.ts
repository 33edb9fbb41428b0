// The stories of test/simulation/kept without the storm beside them: they take seconds, and the same ones every time.
import { expect, test } from "vitest";
import { run } from "../simulation/run.ts";
import { scriptsIn } from "../simulation/scripts.ts";
import { stepsOf } from "../simulation/step.ts";

test.each(scriptsIn("kept").map((it) => [it.name, it.text] as const))("%s: ends well", async (_, text) => {
  const { violations, transcript } = await run(stepsOf(text));
  expect(violations, transcript()).toEqual([]);
});
