import type { ApprovalFile } from "../../core/model/approval-file.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { RunRecord } from "../../core/model/run-record.ts";
import { isStray, strayReason } from "../../core/plan/answers.ts";
import { asksIn } from "../../core/plan/ask.ts";
import { reasonText } from "../../core/plan/explain.ts";
import { askedIn } from "../../core/plan/requests.ts";
import { answerFolder, answersPrefix, askKey, openRequests } from "./approval-text.ts";

/**
 * Answers that answer nothing, as they were accepted: of all, or of the request of that name, by the paths at which its answers
 * stand. Only where nobody has to sign; elsewhere what was judged says it.
 */
export function strayLines(ledger: Ledger, files: readonly ApprovalFile[], name: string | null): readonly string[] {
  const prefixes = asksIn(ledger).flatMap((it) => (askKey(it) === name ? [`${answersPrefix(it)}.`] : []));
  return straysIn(ledger, files)
    .filter(({ path }) => name === null || prefixes.some((it) => path.startsWith(it)))
    .map(lineOf);
}

/**
 * The same for a run: those in its folder and, while it asks for something, those in nobody's, since they may have been meant
 * for it.
 */
export function strayLinesOf(run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly string[] {
  const own = `${answerFolder(run)}/`;
  const others = [...ledger.runs.values(), ...ledger.placements.values()].map((it) => `${answerFolder(it)}/`);
  const isAsking = openRequests(run).length > 0;
  return straysIn(ledger, files)
    .filter(({ path }) => path.startsWith(own) || (isAsking && !others.some((it) => path.startsWith(it))))
    .map(lineOf);
}

function straysIn(ledger: Ledger, files: readonly ApprovalFile[]): readonly ApprovalFile[] {
  const asked = askedIn(ledger);
  return files.filter((it) => isStray(it, ledger, asked));
}

const lineOf = (it: ApprovalFile): string => reasonText(strayReason(it));
