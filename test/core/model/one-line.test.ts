import { expect, test } from "vitest";
import { oneLine } from "../../../src/core/model/value.ts";

test.each([
  ["denied by webhook", "denied by webhook"],
  ["  indented", "  indented"],
  ["denied\n\nLedger-Sequence: 99\n", "denied Ledger-Sequence: 99 "],
  ["denied\r\n  ::stop-commands::x", "denied ::stop-commands::x"],
  ["denied\u2028::error::x", "denied ::error::x"],
  ["\u001b[2Jdenied\u0007", "\ufffd[2Jdenied\ufffd"],
  ["by \u202emoc.live@eve", "by \ufffdmoc.live@eve"],
  ["\u2067rtl\u2069, \u05e9\u05dc\u05d5\u05dd", "\ufffdrtl\ufffd, \u05e9\u05dc\u05d5\u05dd"],
])("%j is said as %j", (text, want) => {
  expect(oneLine(text)).toBe(want);
});
