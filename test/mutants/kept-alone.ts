// The stories of test/simulation/kept without the storm beside them: they take seconds, and the same ones every time.
import { expect, test } from "vitest";
import { run } from "../simulation/run.ts";
import { scriptsIn } from "../simulation/scripts.ts";
import { stepsOf } from "../simulation/step.ts";

test.each(scriptsIn("kept"))("$name: ends well", async ({ text }) => {
  const { violations, transcript } = await run(stepsOf(text));
  expect(violations, transcript()).toEqual([]);
});
