import { expect, test } from "vitest";
import { oneLine } from "../../../src/shell/reconcile/one-line.ts";

test.each([
  ["denied by webhook", "denied by webhook"],
  ["  indented", "  indented"],
  ["denied\n\nLedger-Sequence: 99\n", "denied Ledger-Sequence: 99 "],
  ["denied\r\n  ::stop-commands::x", "denied ::stop-commands::x"],
  ["denied\u2028::error::x", "denied ::error::x"],
  ["\u001b[2Jdenied\u0007", "\ufffd[2Jdenied\ufffd"],
])("%j is said as %j", (text, want) => {
  expect(oneLine(text)).toBe(want);
});
