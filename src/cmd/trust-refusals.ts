import { durationOf } from "../core/intent/kinds/duration.ts";
import type { Problem } from "../core/model/intent.ts";
import type { Trust } from "../core/model/trust.ts";
import { type DurationMs, type Instant, instantOf, instantText, later } from "../core/model/value.ts";
import { verdictOn } from "./edits/trust-signers.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { printProblems } from "./report.ts";
import type { Terminal } from "./terminal.ts";
import { now } from "./wire.ts";

/** Why a command does nothing, and what to do. */
export interface Declined {
  readonly kind: "declined";
  readonly message: string;
  readonly fix: string;
}

/** Until when: a length of time from now (`400d`, `8760h`), a day or a moment; null for anything else. */
export function expiryOf(text: string): Instant | null {
  const days = /^\d{1,4}d$/.test(text) ? ((Number.parseInt(text, 10) * 86_400_000) as DurationMs) : null;
  const span = days ?? durationOf(text);
  return span === null ? instantOf(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text) : later(now(), span);
}

/** That a text is no time to expire. */
export const noExpiry = (text: string): Declined => ({
  kind: "declined",
  message: `${JSON.stringify(text)} is no time to expire`,
  fix: "write it as 400d, 8760h, 2027-10-01 or 2027-10-01T00:00:00Z",
});

/** Why a version would not come into force for the time at which it expires; null when that is fine. */
export function expiryObjection(before: Trust | null, next: Trust): [string, string] | null {
  const verdict = verdictOn({ before, next, signatures: [], now: now() });
  return verdict.kind === "refused" && verdict.denial.code === "FLT1225"
    ? [`version ${next.version} would expire at ${instantText(next.expires)}`, "give --expires 400d; two years at most"]
    : null;
}

/** Says what is wrong with a text that was to become the trust file, or is it. */
export function unusable(problems: readonly Problem[], terminal: Terminal): ExitCode {
  printProblems(problems, terminal);
  terminal.err("error: the trust file would not be usable: nothing was written\n");
  return exitCodes.problems;
}
