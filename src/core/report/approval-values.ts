import type { Json, JsonObject } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Reason } from "../model/plan.ts";
import type { ApprovalFile, Judgement } from "../model/trust.ts";
import type { RunRecord } from "../model/update-run.ts";
import { compareText, exactInstantText } from "../model/value.ts";
import { answerReasons, isUnmatched, unmatchedReason } from "../plan/approval/answers.ts";
import { type ApprovalRequest, gateRequestsOf, requestsIn } from "../plan/approval/approval-request.ts";
import { indexRequests } from "../plan/approval/request-index.ts";
import { approvalFolder, approvalPathPrefix, openGateRequests, requestKey } from "./approval-files.ts";
import { reasonText } from "./reason-text.ts";

/**
 * Answers for programs, by path, with the result in `status`: all of them, or those to the request `name`. `standing`:
 * the files as last read; removed ones that still count are included as well.
 */
export function approvalValues(
  ledger: Ledger,
  standing: readonly ApprovalFile[],
  name: string | null,
): readonly JsonObject[] {
  const asks = requestsIn(ledger).filter((it) => name === null || requestKey(it) === name);
  return valuesOf(ledger, standing, (it) => name === null || asks.some((ask) => isFor(it, ask)));
}

/** The same for a run: its answers, and unmatched ones that may have been meant for it. */
export function runApprovalValues(run: RunRecord, ledger: Ledger, standing: readonly ApprovalFile[]): Json {
  const strays = new Set(runUnmatchedPaths(run, ledger, standing));
  const asks = gateRequestsOf(run);
  return valuesOf(ledger, standing, (it) => strays.has(it.path) || asks.some((ask) => isFor(it, ask)));
}

/** By its digest, or by where it stands. */
const isFor = ({ digest, path }: ApprovalFile, ask: ApprovalRequest): boolean =>
  digest === ask.request.digest || path.startsWith(`${approvalPathPrefix(ask)}.`);

function valuesOf(
  ledger: Ledger,
  standing: readonly ApprovalFile[],
  isMeant: (file: ApprovalFile) => boolean,
): readonly JsonObject[] {
  const files = new Map([...ledger.answers].map(([path, it]) => [path, it.file]));
  for (const it of standing) files.set(it.path, it);
  const blobs = new Map(standing.map((it) => [it.path, it.blob]));
  return [...files.values()]
    .filter(isMeant)
    .sort((a, b) => compareText(a.path, b.path))
    .map((it) => ({ ...fileValue(it), status: { isThere: blobs.has(it.path), ...statusOf(it, ledger) } }));
}

const fileValue = ({ path, digest, decision, principal, comment, signature }: ApprovalFile): JsonObject => ({
  apiVersion: `${flotillaGroup}/v1alpha1`,
  kind: "Approval",
  metadata: { name: path.replace(/^.*\/|\.ya?ml$/g, ""), annotations: { [`${flotillaGroup}/path`]: path } },
  spec: { requestDigest: digest, decision, principal, comment, ...(signature === null ? {} : { signature }) },
});

/**
 * The result of an answer. `counts` is null if it is not judged by itself: no signature is needed, or the record is
 * older. `order`: of two answers of one person, the newer one has the higher.
 */
function statusOf(file: ApprovalFile, ledger: Ledger): JsonObject {
  const record = ledger.answers.get(file.path);
  if (record === undefined) {
    if (!isUnmatched(file, ledger, indexRequests(ledger))) return { counts: isUsed(file, ledger) ? true : null };
    const stray = unmatchedReason(file, false);
    return stray.kind === "answerDenied" ? { counts: false, code: stray.code, because: stray.message } : {};
  }
  const { order, at, commit, judgement } = record;
  const known = { order, at: exactInstantText(at), commit };
  if (record.file.blob === file.blob) return { ...verdictOf(judgement), ...known };
  return { counts: false, code: "FLT1211", because: "it was changed after it was judged", ...known };
}

const verdictOf = (judgement: Judgement): JsonObject =>
  judgement.kind === "denied"
    ? { counts: false, code: judgement.code, because: judgement.because }
    : { counts: true, proofs: judgement.proofs.map((it) => ({ ...it })) };

/** Whether it is part of an accepted approval. */
const isUsed = ({ path, blob }: ApprovalFile, ledger: Ledger): boolean =>
  requestsIn(ledger).some(
    ({ request }) => request.approval?.by.some((it) => it.path === path && it.blob === blob) === true,
  );

/** Answers that do not count: all, or unmatched ones at one request's paths, which lists its judged ones itself. */
export function uncountedLines(ledger: Ledger, files: readonly ApprovalFile[], name: string | null): readonly string[] {
  if (name === null) return deniedApprovals(ledger, files).map(lineOf);
  const prefixes = requestsIn(ledger).flatMap((it) => (requestKey(it) === name ? [`${approvalPathPrefix(it)}.`] : []));
  return unmatchedIn(ledger, files)
    .filter(({ path }) => prefixes.some((it) => path.startsWith(it)))
    .map((it) => lineOf(unmatchedReason(it, false)));
}

/** The reasons why answers do not count, as far as something can be done about it. */
const deniedApprovals = (ledger: Ledger, files: readonly ApprovalFile[]): readonly Reason[] =>
  answerReasons(ledger, { files, ledger, reviews: new Map() }, indexRequests(ledger)).filter(
    (it) => it.kind === "answerDenied",
  );

/** Those in a run's folder and, while it has open requests, in no other folder: they may have been meant for it. */
export const runUnmatchedLines = (run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly string[] =>
  runUnmatched(run, ledger, files).map((it) => lineOf(unmatchedReason(it, false)));

const runUnmatchedPaths = (run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly string[] =>
  runUnmatched(run, ledger, files).map((it) => it.path);

function runUnmatched(run: RunRecord, ledger: Ledger, files: readonly ApprovalFile[]): readonly ApprovalFile[] {
  const own = `${approvalFolder(run)}/`;
  const others = [...ledger.runs.values(), ...ledger.placements.values()].map((it) => `${approvalFolder(it)}/`);
  const isAsking = openGateRequests(run).length > 0;
  return unmatchedIn(ledger, files).filter(
    ({ path }) => path.startsWith(own) || (isAsking && !others.some((it) => path.startsWith(it))),
  );
}

function unmatchedIn(ledger: Ledger, files: readonly ApprovalFile[]): readonly ApprovalFile[] {
  const asked = indexRequests(ledger);
  return files.filter((it) => isUnmatched(it, ledger, asked));
}

const lineOf = (it: Reason): string => reasonText(it);
