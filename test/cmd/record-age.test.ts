// How old a record is that somebody looks at, and whether the source branch has moved on.
import { expect, test } from "vitest";
import { printRecordAge, recordAgeText } from "../../src/cmd/hub/record.ts";
import { type Commit, type Instant, later, seconds } from "../../src/core/model/value.ts";

const at = Date.parse("2026-11-21T12:00:00Z") as Instant;
const source = "a".repeat(40) as Commit;
const state = "b".repeat(40) as Commit;
const seen = { source, state, sourceCommit: source, branch: "main", stateBranch: "fleet/state", now: at };

test.each([
  [0, "0 s ago"],
  [-3, "0 s ago"],
  [119, "119 s ago"],
  [120, "2 min ago"],
  [7199, "120 min ago"],
  [7200, "2 h ago"],
  [172_800, "2 d ago"],
])("after %d seconds it was recorded %s", (age, text) => {
  const now = later(at, seconds(age));
  expect(recordAgeText({ ...seen, now }, at)).toBe(`recorded ${text} (2026-11-21T12:00:00Z) at source commit aaaaaaa`);
});

test("a source branch that has moved on is said", () => {
  const moved = { ...seen, source: "c".repeat(40) as Commit };
  expect(recordAgeText(moved, at)).toMatch(
    /at source commit aaaaaaa; main is at ccccccc, which no pass has recorded yet$/,
  );
  expect(recordAgeText({ ...moved, sourceCommit: null }, null)).toMatch(
    /^recorded before any source commit; main is at ccccccc/,
  );
});

test("an adapter that has no bytes of commits leaves the time out, and a missing record is said to be missing", async () => {
  const said: string[] = [];
  const err = (text: string): void => void said.push(text);
  await printRecordAge({}, seen, { err });
  await printRecordAge({}, { ...seen, state: null }, { err });
  expect(said).toEqual([
    "note: recorded at source commit aaaaaaa\n",
    "note: nothing is recorded: there is no branch fleet/state; flotilla reconcile makes it\n",
  ]);
});
