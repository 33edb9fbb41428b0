import type { SignatureFact } from "../model/commit.ts";
import type { Ledger } from "../model/ledger.ts";
import type { AnswerRecord, ApprovalFile, ApprovalRule, Denial, Evidence, Judgement, Trust } from "../model/trust.ts";
import type { BlobId, Commit, Instant } from "../model/value.ts";
import { answerRecorder } from "../plan/approval/answer-order.ts";
import { type ApprovalRequest, requestSubject } from "../plan/approval/approval-request.ts";
import { type GateVerdict, gateVerdict } from "../trust/count.ts";
import { judgeApproval } from "../trust/judge-approval.ts";
import { rulesFor } from "../trust/protected.ts";
import { type Signer, signerOf } from "../trust/signer.ts";

export interface ApprovalContext {
  readonly ledger: Ledger;
  readonly trust: Trust;
  readonly answers: readonly AnswerRecord[];
  readonly now: Instant;
}

/** The context by the record alone; null without a trust file. */
export const approvalContext = (ledger: Ledger, now: Instant): ApprovalContext | null =>
  ledger.trust === null ? null : { ledger, trust: ledger.trust.trust, answers: [...ledger.answers.values()], now };

/** The rules that a request has to meet, all of them. */
export const rulesOn = (
  ask: ApprovalRequest,
  { ledger, trust }: Pick<ApprovalContext, "ledger" | "trust">,
): readonly ApprovalRule[] => rulesFor(trust, requestSubject(ask, ledger, trust));

/** Whether the request is approved, rejected or waiting, and for whom. */
export function requestVerdict(ask: ApprovalRequest, context: ApprovalContext): GateVerdict {
  const { digest, requestedAt, authors } = ask.request;
  const { trust, answers, now } = context;
  return gateVerdict({ digest, requestedAt, authors, rules: rulesOn(ask, context), answers, trust, now });
}

/** The owner of a commit's signature, by the trust file in force. */
export const keyOwner = (
  fact: SignatureFact,
  { trust, now }: Pick<ApprovalContext, "trust" | "now">,
): Signer | Denial => signerOf(fact, { trust, namespace: "git", what: "a commit of yours", now });

/** An answer before it is committed, with its signatures. */
export interface DraftApproval {
  readonly file: Omit<ApprovalFile, "blob">;
  /** On the commit that adds the file, and nothing else. */
  readonly commit: SignatureFact;
  /** In the file; null without one. */
  readonly detached: SignatureFact | null;
}

/** How the planner would judge an answer if it were read now, in the commit that is about to be made. */
export function previewJudgement(intended: DraftApproval, ask: ApprovalRequest, context: ApprovalContext): Judgement {
  const { answers, now } = context;
  const judgement = judgementAlone(intended, ask, context);
  const file: ApprovalFile = { ...intended.file, blob: toBeWritten };
  return answerRecorder(answers)({ file, judgement, commit: null, at: now, order: 0 }).judgement;
}

function judgementAlone(
  { file: intended, commit, detached }: DraftApproval,
  ask: ApprovalRequest,
  context: ApprovalContext,
): Judgement {
  const { ledger, trust, now } = context;
  const { digest, requestedAt, authors } = ask.request;
  const file: ApprovalFile = { ...intended, blob: toBeWritten };
  return judgeApproval({
    file,
    files: [file],
    introducers: [
      {
        commit: yours as Commit,
        parents: ["" as Commit],
        signature: commit,
        claimedAuthor: "",
        changes: [{ path: file.path, before: null, after: file.blob }],
        merge: null,
      },
    ],
    detached,
    review: null,
    request: { digest, requestedAt, authors, ...requestSubject(ask, ledger, trust) },
    trust,
    now,
  });
}

/** Placeholders until there is a commit. */
const yours = "to be made";
const toBeWritten = "to be written" as BlobId;

/** The answers with the draft, as if it had been read now. */
export const withDraft = (
  { answers, now }: ApprovalContext,
  { file }: DraftApproval,
  judgement: Judgement,
): readonly AnswerRecord[] => {
  const others = answers.filter((it) => it.file.path !== file.path);
  const answer = { file: { ...file, blob: toBeWritten }, judgement, commit: null, at: now, order: 0 };
  return [...others, answerRecorder(others)(answer)];
};

/** The evidence that is accepted of a principal, by the rules that name them; by all rules if none does. */
export function acceptedEvidence(
  principal: string,
  ask: ApprovalRequest,
  context: ApprovalContext,
): ReadonlySet<Evidence> {
  const rules = rulesOn(ask, context);
  const own = rules.filter((it) => it.principals.includes(principal));
  return new Set((own.length === 0 ? rules : own).flatMap((it) => it.accept));
}
