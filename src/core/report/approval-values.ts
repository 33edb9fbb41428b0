import type { Json, JsonObject } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Reason } from "../model/reason.ts";
import type { ApprovalFile, Denial, Judgement, StandingAnswers } from "../model/trust.ts";
import type { RunRecord } from "../model/update-run.ts";
import { compareText, exactInstantText } from "../model/value.ts";
import { answerReasons, deniedReasonOf, unsignedDenialOf } from "../plan/approval/answers.ts";
import { type ApprovalRequest, gateRequestsOf, requestsIn } from "../plan/approval/approval-request.ts";
import { indexRequests } from "../plan/approval/request-index.ts";
import { approvalFolder, approvalPathPrefix, openGateRequests, requestKey } from "./approval-files.ts";
import { reasonText } from "./reason-text.ts";

/**
 * Answers for programs, by path, with the result in `status`: all of them, or those to the request `name`. `standing`:
 * the files as last read; removed ones that still count are included as well.
 */
export function approvalValues(ledger: Ledger, standing: StandingAnswers, name: string | null): readonly JsonObject[] {
  const asks = requestsIn(ledger).filter((it) => name === null || requestKey(it) === name);
  return valuesOf(ledger, standing, (it) => name === null || asks.some((ask) => isFor(it, ask)));
}

/** The same for a run: its answers, and those to no request that may have been meant for it. */
export function runApprovalValues(run: RunRecord, ledger: Ledger, standing: StandingAnswers): Json {
  const strays = new Set(runDenials(run, ledger, standing).map((it) => it.file.path));
  const asks = gateRequestsOf(run);
  return valuesOf(ledger, standing, (it) => strays.has(it.path) || asks.some((ask) => isFor(it, ask)));
}

/** By its digest, or by where it stands. */
const isFor = ({ digest, path }: ApprovalFile, ask: ApprovalRequest): boolean =>
  digest === ask.request.digest || path.startsWith(`${approvalPathPrefix(ask)}.`);

function valuesOf(
  ledger: Ledger,
  standing: StandingAnswers,
  isMeant: (file: ApprovalFile) => boolean,
): readonly JsonObject[] {
  const files = new Map([...ledger.answers].map(([path, it]) => [path, it.file]));
  for (const it of standing.files) files.set(it.path, it);
  const blobs = new Map(standing.files.map((it) => [it.path, it.blob]));
  const denials = new Map(denialsIn(ledger, standing).map(({ file, denial }) => [file.path, denial]));
  return [...files.values()]
    .filter(isMeant)
    .sort((a, b) => compareText(a.path, b.path))
    .map((it) => ({ ...fileValue(it), status: { isThere: blobs.has(it.path), ...statusOf(it, ledger, denials) } }));
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
function statusOf(file: ApprovalFile, ledger: Ledger, denials: ReadonlyMap<string, Denial>): JsonObject {
  const record = ledger.answers.get(file.path);
  if (record === undefined) {
    const denial = denials.get(file.path);
    return denial === undefined ? { counts: isUsed(file, ledger) ? true : null } : verdictOf(denial);
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

/**
 * Lines about answers that do not count: about all of them, or, where nobody has to sign, about those to one request or at
 * its paths. A request lists its own judged answers itself.
 */
export function uncountedLines(ledger: Ledger, standing: StandingAnswers, name: string | null): readonly string[] {
  if (name === null) return deniedApprovals(ledger, standing).map(lineOf);
  const asks = requestsIn(ledger).filter((it) => requestKey(it) === name);
  return denialsIn(ledger, standing)
    .filter(({ file }) => asks.some((it) => isFor(file, it)))
    .map(denialLine);
}

/** The reasons why answers do not count, as far as something can be done about it. */
const deniedApprovals = (ledger: Ledger, standing: StandingAnswers): readonly Reason[] =>
  answerReasons(ledger, { ...standing, ledger, reviews: new Map() }, indexRequests(ledger)).filter(
    (it) => it.kind === "answerDenied",
  );

/**
 * The same for a run, where nobody has to sign: those to its requests and in its folder and, while it has open requests,
 * those to no request in no other folder, since they may have been meant for it.
 */
export const runUncountedLines = (run: RunRecord, ledger: Ledger, standing: StandingAnswers): readonly string[] =>
  runDenials(run, ledger, standing).map(denialLine);

interface DeniedAnswer {
  readonly file: ApprovalFile;
  readonly denial: Denial;
}

function runDenials(run: RunRecord, ledger: Ledger, standing: StandingAnswers): readonly DeniedAnswer[] {
  const { digests } = indexRequests(ledger);
  const asks = new Set(gateRequestsOf(run).map((it) => it.request.digest));
  const own = `${approvalFolder(run)}/`;
  const others = [...ledger.runs.values(), ...ledger.placements.values()].map((it) => `${approvalFolder(it)}/`);
  const isAsking = openGateRequests(run).length > 0;
  return denialsIn(ledger, standing).filter(({ file: { path, digest } }) => {
    if (digests.has(digest)) return asks.has(digest);
    return path.startsWith(own) || (isAsking && !others.some((it) => path.startsWith(it)));
  });
}

function denialsIn(ledger: Ledger, standing: StandingAnswers): readonly DeniedAnswer[] {
  const asked = indexRequests(ledger);
  return standing.files.flatMap((file): readonly DeniedAnswer[] => {
    const denial = unsignedDenialOf(file, ledger, standing, asked);
    return denial === null ? [] : [{ file, denial }];
  });
}

const denialLine = ({ file, denial }: DeniedAnswer): string => lineOf(deniedReasonOf(file, denial));

const lineOf = (it: Reason): string => reasonText(it);
