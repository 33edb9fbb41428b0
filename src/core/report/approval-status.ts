import type { SignatureFact } from "../model/commit.ts";
import type { Ledger } from "../model/ledger.ts";
import type { AnswerRecord, ApprovalFile, ApprovalRule, Denial, Evidence, Judgement, Trust } from "../model/trust.ts";
import type { BlobId, Commit, Instant } from "../model/value.ts";
import { hearingAfter } from "../plan/approval/answer-order.ts";
import { type Ask, askSubject } from "../plan/approval/ask.ts";
import { type GateVerdict, gateVerdict } from "../trust/count.ts";
import { approvalNamespace, judgeApproval } from "../trust/judge-approval.ts";
import { rulesFor } from "../trust/protected.ts";
import { type Signer, signerOf } from "../trust/signer.ts";

/** What a signature inside of an approval is made for, where it is an SSH signature. */
export const answerNamespace = approvalNamespace;

/** How a request stands, by the answers that are there: the planner's own count. */
export type Verdict = GateVerdict;

/** What a request is looked at with. */
export interface Outlook {
  readonly ledger: Ledger;
  readonly trust: Trust;
  readonly answers: readonly AnswerRecord[];
  readonly now: Instant;
}

/** The outlook by the record alone; null where nobody ever set up who may approve. */
export const outlookOn = (ledger: Ledger, now: Instant): Outlook | null =>
  ledger.trust === null ? null : { ledger, trust: ledger.trust.trust, answers: [...ledger.answers.values()], now };

/** The rules that a request has to meet, all of them. */
export const rulesOn = (ask: Ask, { ledger, trust }: Pick<Outlook, "ledger" | "trust">): readonly ApprovalRule[] =>
  rulesFor(trust, askSubject(ask, ledger, trust));

/** What the answers come to, and who may still approve. */
export function verdictOn(ask: Ask, outlook: Outlook): Verdict {
  const { digest, requestedAt, authors } = ask.request;
  const { trust, answers, now } = outlook;
  return gateVerdict({ digest, requestedAt, authors, rules: rulesOn(ask, outlook), answers, trust, now });
}

/** Whose key made a signature on a commit, by the trust file in force. */
export const keyOwner = (fact: SignatureFact, { trust, now }: Pick<Outlook, "trust" | "now">): Signer | Denial =>
  signerOf(fact, { trust, namespace: "git", what: "a commit of yours", now });

/** An answer that somebody is about to give, and what it would be signed with. */
export interface IntendedAnswer {
  readonly file: Omit<ApprovalFile, "blob">;
  /** On the commit that adds the file, and nothing else. */
  readonly commit: SignatureFact;
  /** In the file; null without one. */
  readonly detached: SignatureFact | null;
}

/** What would be said of an answer that is read now: the planner's own judgement, over the commit that is to be made. */
export function judgedAhead(intended: IntendedAnswer, ask: Ask, outlook: Outlook): Judgement {
  const { answers, now } = outlook;
  const judgement = judgedAlone(intended, ask, outlook);
  const file: ApprovalFile = { ...intended.file, blob: toBeWritten };
  return hearingAfter(answers)({ file, judgement, commit: null, at: now, order: 0 }).judgement;
}

function judgedAlone({ file: intended, commit, detached }: IntendedAnswer, ask: Ask, outlook: Outlook): Judgement {
  const { ledger, trust, now } = outlook;
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
    request: { digest, requestedAt, authors, ...askSubject(ask, ledger, trust) },
    trust,
    now,
  });
}

/** Stands where the name of a commit does, once there is one. */
const yours = "to be made";
const toBeWritten = "to be written" as BlobId;

/** The answers with one more, as if it had been read now. */
export const answersWith = (
  { answers, now }: Outlook,
  { file }: IntendedAnswer,
  judgement: Judgement,
): readonly AnswerRecord[] => {
  const others = answers.filter((it) => it.file.path !== file.path);
  const answer = { file: { ...file, blob: toBeWritten }, judgement, commit: null, at: now, order: 0 };
  return [...others, hearingAfter(others)(answer)];
};

/** The ways in which somebody may prove who they are, by the rules that name them; all of the request's where none does. */
export function acceptedFrom(principal: string, ask: Ask, outlook: Outlook): ReadonlySet<Evidence> {
  const rules = rulesOn(ask, outlook);
  const own = rules.filter((it) => it.principals.includes(principal));
  return new Set((own.length === 0 ? rules : own).flatMap((it) => it.accept));
}
