import type { Json, JsonObject } from "../../core/model/json.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import { flotillaGroup } from "../../core/model/names.ts";
import type { ApprovalFile, Judgement } from "../../core/model/trust.ts";
import type { RunRecord } from "../../core/model/update-run.ts";
import { compareText, exactInstantText } from "../../core/model/value.ts";
import { isStray, strayReason } from "../../core/plan/approval/answers.ts";
import { type Ask, asksIn, gateAsks } from "../../core/plan/approval/ask.ts";
import { askedIn } from "../../core/plan/approval/requests.ts";
import { answersPrefix, askKey } from "./approval-text.ts";
import { strayPathsOf } from "./stray-text.ts";

/**
 * Answers for programs, in the order of their paths: each Approval as its file has it, with what became of it in `status`.
 * `standing`: the files as they were read last; those that are gone and count all the same are there as well.
 *
 * `name` is that of a request; without one, all answers.
 */
export function answerValues(
  ledger: Ledger,
  standing: readonly ApprovalFile[],
  name: string | null,
): readonly JsonObject[] {
  const asks = asksIn(ledger).filter((it) => name === null || askKey(it) === name);
  return valuesOf(ledger, standing, (it) => name === null || asks.some((ask) => isFor(it, ask)));
}

/** The same for a run: what answers it, and what answers nothing and may have been meant for it. */
export function answerValuesOf(run: RunRecord, ledger: Ledger, standing: readonly ApprovalFile[]): Json {
  const strays = new Set(strayPathsOf(run, ledger, standing));
  const asks = gateAsks(run);
  return valuesOf(ledger, standing, (it) => strays.has(it.path) || asks.some((ask) => isFor(it, ask)));
}

/** By its digest, or by where it stands. */
const isFor = ({ digest, path }: ApprovalFile, ask: Ask): boolean =>
  digest === ask.request.digest || path.startsWith(`${answersPrefix(ask)}.`);

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
 * What became of an answer. `counts` is null where nobody judges it on its own: nobody has to sign, or it was not read by
 * the time of the record. `order`: of two words of one person, the one with the higher is newer.
 */
function statusOf(file: ApprovalFile, ledger: Ledger): JsonObject {
  const record = ledger.answers.get(file.path);
  if (record === undefined) {
    if (!isStray(file, ledger, askedIn(ledger))) return { counts: isUsed(file, ledger) ? true : null };
    const stray = strayReason(file, false);
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

/** Whether it stands in an approval that was accepted. */
const isUsed = ({ path, blob }: ApprovalFile, ledger: Ledger): boolean =>
  asksIn(ledger).some(
    ({ request }) => request.approval?.by.some((it) => it.path === path && it.blob === blob) === true,
  );
