import type { Ledger } from "../../core/model/ledger.ts";
import type { Reason } from "../../core/model/plan.ts";
import type { ApprovalFile } from "../../core/model/trust.ts";
import type { RunRecord } from "../../core/model/update-run.ts";
import { answerReasons, isStray, strayReason } from "../../core/plan/approval/answers.ts";
import { asksIn } from "../../core/plan/approval/ask.ts";
import { askedIn } from "../../core/plan/approval/requests.ts";
import { reasonText } from "../../core/report/explain.ts";
import { answerFolder, answersPrefix, askKey, openRequests } from "./approval-text.ts";

/**
 * Answers that do not count, as they were accepted: of all, or of the request of that name, by the paths at which its
 * answers stand. What was judged is said of all alone: a request tells of its own.
 */
export function strayLines(ledger: Ledger, files: readonly ApprovalFile[], name: string | null): readonly string[] {
  if (name === null) return deniedIn(ledger, files).map(lineOf);
  const prefixes = asksIn(ledger).flatMap((it) => (askKey(it) === name ? [`${answersPrefix(it)}.`] : []));
  return straysIn(ledger, files)
    .filter(({ path }) => prefixes.some((it) => path.startsWith(it)))
    .map((it) => lineOf(strayReason(it, false)));
}

/** What is to be said of each answer that does not count, where there is something left to do about it. */
export const deniedIn = (ledger: Ledger, files: readonly ApprovalFile[]): readonly Reason[] =>
  answerReasons(ledger, { files, ledger, reviews: new Map() }, askedIn(ledger)).filter(
    (it) => it.kind === "answerDenied",
  );

/**
 * The same for a run: those in its folder and, while it asks for something, those in nobody's, since they may have been meant
 * for it.
 */
export const strayLinesOf = (run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly string[] =>
  straysOf(run, ledger, files).map((it) => lineOf(strayReason(it, false)));

/** Their paths. */
export const strayPathsOf = (run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly string[] =>
  straysOf(run, ledger, files).map((it) => it.path);

function straysOf(run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly ApprovalFile[] {
  const own = `${answerFolder(run)}/`;
  const others = [...ledger.runs.values(), ...ledger.placements.values()].map((it) => `${answerFolder(it)}/`);
  const isAsking = openRequests(run).length > 0;
  return straysIn(ledger, files).filter(
    ({ path }) => path.startsWith(own) || (isAsking && !others.some((it) => path.startsWith(it))),
  );
}

function straysIn(ledger: Ledger, files: readonly ApprovalFile[]): readonly ApprovalFile[] {
  const asked = askedIn(ledger);
  return files.filter((it) => isStray(it, ledger, asked));
}

const lineOf = (it: Reason): string => reasonText(it);
