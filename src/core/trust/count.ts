import type { FleetSpec } from "../model/fleet.ts";
import type {
  ApprovalFile,
  ApprovalRule,
  Authors,
  Denial,
  GateAnswer,
  Judgement,
  Proof,
  Trust,
} from "../model/trust.ts";
import { compareText, type Digest, type Instant, instantText } from "../model/value.ts";
import { type DenialCode, denied } from "./denial.ts";
import { type AnswerToRule, approvalsNeeded, objectionOf } from "./rules.ts";
import { revokedBy } from "./signer.ts";

export interface JudgedAnswer {
  readonly file: ApprovalFile;
  readonly judgement: Judgement;
  /** A later answer has a higher one. */
  readonly order: number;
}

/** Everything that decides whether a request is approved. */
export interface GateInput {
  /** Of the open request: answers to others are not counted. */
  readonly digest: Digest;
  readonly requestedAt: Instant;
  readonly authors: Authors;
  /** All rules that have to be met, as `rulesFor` gives them. */
  readonly rules: readonly ApprovalRule[];
  readonly answers: readonly JudgedAnswer[];
  /** In force: approvals by keys that it revokes as compromised do not count; once it has expired, nothing does. */
  readonly trust: Pick<Trust, "expires" | "revocations">;
  readonly now: Instant;
}

interface CountedApproval {
  readonly file: ApprovalFile;
  readonly principal: string;
  readonly proofs: readonly Proof[];
  readonly at: Instant;
}

/** A rule that is not met yet. */
interface MissingApprovals {
  readonly rule: ApprovalRule;
  /** Who approved so far, by name. */
  readonly have: readonly string[];
  readonly need: number;
  /** Who else may approve, by name. If they are too few, the rule cannot be met. */
  readonly mayApprove: readonly string[];
}

export type GateVerdict =
  /** Each person once, ordered by name. */
  | { readonly kind: "approved"; readonly approvals: readonly CountedApproval[] }
  | { readonly kind: "rejected"; readonly by: string; readonly comment: string; readonly path: string }
  | {
      readonly kind: "waiting";
      /** Empty where no answer could approve it now. */
      readonly missing: readonly MissingApprovals[];
      readonly code: DenialCode;
      readonly because: string;
    };

/**
 * Counts the answers to one request (`trust/README.md#step-9`; `#t-06`, `#t-20`, `#b-57`): different people, not keys
 * or files.
 *
 * One rejection by anybody who could approve outweighs all approvals. A revocation takes back all earlier approvals of
 * that person; later ones count again. Without a rule nobody can approve.
 */
export function gateVerdict(context: GateInput): GateVerdict {
  const { rules, trust, now } = context;
  if (now >= trust.expires)
    return closed("FLT1216", `trust/root.yaml expired at ${instantText(trust.expires)}; sign a new version of it`);
  if (rules.length === 0) return closed("FLT1214", "no rule of trust/root.yaml says who may approve this; add one");
  const counting = countingAnswers(context);
  const rejection = counting.find((it) => it.decision === "Reject");
  if (rejection !== undefined) {
    const { principal, comment, path } = rejection.file;
    return { kind: "rejected", by: principal, comment, path };
  }
  const revoked = lastRevocations(counting);
  const approvals = counting.filter(
    (it) => it.decision === "Approve" && it.order > (revoked.get(it.file.principal) ?? Number.NEGATIVE_INFINITY),
  );
  const missing = rules.flatMap((it) => missingOf(it, approvals, context.authors));
  if (missing.length === 0) return approvedBy(approvals);
  return { kind: "waiting", missing, code: "FLT1206", because: missing.map(wordsOf).join("; ") };
}

const closed = (code: DenialCode, because: string): GateVerdict => ({ kind: "waiting", missing: [], code, because });

interface FiledAnswer extends AnswerToRule {
  readonly file: ApprovalFile;
  readonly order: number;
}

/** The order of the last revocation, by name. */
function lastRevocations(counting: readonly FiledAnswer[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { decision, file, order } of counting)
    if (decision === "Revoke") last.set(file.principal, Math.max(order, last.get(file.principal) ?? order));
  return last;
}

/** The answers that count for some rule, by name and path; by compromised keys, only what closes a gate stays. */
function countingAnswers({ digest, requestedAt, authors, rules, answers, trust }: GateInput): readonly FiledAnswer[] {
  const counting = answers.flatMap(({ file, judgement, order }): readonly FiledAnswer[] => {
    if (judgement.kind === "denied" || file.digest !== digest || file.principal !== judgement.principal) return [];
    const proofs = judgement.proofs.filter((it) => file.decision !== "Approve" || !isStolen(it.key, trust));
    const answer = { decision: file.decision, judgement: { ...judgement, proofs }, authors, requestedAt, file, order };
    return rules.some((it) => objectionOf(it, answer) === null) ? [answer] : [];
  });
  return counting.sort(
    (a, b) => compareText(a.file.principal, b.file.principal) || compareText(a.file.path, b.file.path),
  );
}

const isStolen = (key: string, { revocations }: Pick<Trust, "revocations">): boolean =>
  revokedBy(revocations, key)?.kind === "compromised";

function missingOf(
  rule: ApprovalRule,
  approvals: readonly FiledAnswer[],
  authors: Authors,
): readonly MissingApprovals[] {
  const have = [...new Set(approvals.filter((it) => objectionOf(rule, it) === null).map((it) => it.file.principal))];
  const need = approvalsNeeded(rule, authors);
  const isAuthor = (name: string): boolean => rule.fourEyes && authors.principals.includes(name);
  const isOut = rule.fourEyes && rule.unsignedChanges === "deny" && authors.unknown > 0;
  const others = rule.principals.filter((it) => !have.includes(it) && !isAuthor(it));
  return have.length >= need ? [] : [{ rule, have, need, mayApprove: isOut ? [] : others.sort(compareText) }];
}

function wordsOf({ rule, have, need, mayApprove }: MissingApprovals): string {
  const count = `${have.length} of ${need} approvals for ${subjectOf(rule)}`;
  if (mayApprove.length >= need - have.length) return `${count}; ${mayApprove.join(", ")} may approve`;
  return `${count}, and too few are left who may approve; change the rule in trust/root.yaml, or who made the change`;
}

const subjectOf = ({ placements, stages, target }: ApprovalRule): string =>
  target === undefined
    ? `${placements.join(", ")} / ${stages.join(", ")}`
    : `what is protected: ${target.namespaces.join(", ")} on ${target.clusters.join(", ")}`;

function approvedBy(counting: readonly FiledAnswer[]): GateVerdict {
  const first = counting.filter((it, at) => counting[at - 1]?.file.principal !== it.file.principal);
  const approvals = first.map(({ file, judgement: { principal, proofs, at } }) => ({ file, principal, proofs, at }));
  return { kind: "approved", approvals };
}

/** What decides whether an unsigned answer counts. */
interface UnsignedRules {
  readonly unsigned: FleetSpec["unsignedApprovals"];
  /** There is a trust file: unsigned answers no longer count. */
  readonly hasTrust: boolean;
  readonly now: Instant;
}

/**
 * The outcome of the unsigned files under `approvals/` for one request: a rejection by anybody outweighs every
 * approval, and a revocation takes back an approval of the same person for as long as its file exists, since the order
 * of unsigned files is not known.
 *
 * Nothing here proves who wrote a file. Unsigned answers count only where the fleet allows it, and never once there was
 * a trust file (`trust/README.md#what-counts`).
 */
export function unsignedAnswer(digest: Digest, files: readonly ApprovalFile[], rules: UnsignedRules): GateAnswer {
  const answers = files.filter((it) => it.digest === digest);
  const [first] = answers;
  if (first === undefined) return { kind: "none" };
  const missing = missingSignature(first, rules);
  if (missing !== null) return { kind: "void", because: `an answer does not count: ${missing.because}`, wakeAt: null };
  const rejection = answers.find((it) => it.decision === "Reject");
  if (rejection !== undefined) {
    const { principal, comment, path } = rejection;
    return { kind: "rejected", by: principal, comment, path };
  }
  const revocations = revocationsAmong(answers);
  const approval = answers.find((it) => it.decision === "Approve" && !revocations.has(it.principal));
  if (approval === undefined) {
    const [[name, path] = ["", ""]] = [...revocations];
    return { kind: "void", because: `an answer does not count: ${takenBackText(name, path)}`, wakeAt: null };
  }
  const { principal, path, blob } = approval;
  return { kind: "approved", approval: { at: rules.now, by: [{ principal, path, blob, commit: null, proofs: [] }] } };
}

/**
 * Why an unsigned answer to an open request does not count; null for one that does. `files` are all that stand there.
 */
export function unsignedDenial(
  file: ApprovalFile,
  files: readonly ApprovalFile[],
  rules: Pick<UnsignedRules, "unsigned" | "hasTrust">,
): Denial | null {
  const missing = missingSignature(file, rules);
  if (missing !== null || file.decision !== "Approve") return missing;
  const path = revocationsAmong(files.filter((it) => it.digest === file.digest)).get(file.principal);
  return path === undefined
    ? null
    : denied("FLT1212", `${file.path} counts no more: ${takenBackText(file.principal, path)}`);
}

/** By name, the path of a file that takes that person's approval back. */
const revocationsAmong = (answers: readonly ApprovalFile[]): ReadonlyMap<string, string> =>
  new Map(answers.flatMap((it) => (it.decision === "Revoke" ? [[it.principal, it.path] as const] : [])));

const takenBackText = (name: string, path: string): string =>
  `${name} took the approval back in ${path}; to give it again, flotilla approve removes that file`;

function missingSignature(
  { path }: ApprovalFile,
  { unsigned, hasTrust }: Pick<UnsignedRules, "unsigned" | "hasTrust">,
): Denial | null {
  if (hasTrust) return denied("FLT1209", `${path} carries no signature, and trust/ says who may sign`);
  return unsigned === "allow"
    ? null
    : denied("FLT1209", `${path} carries no signature; spec.approvals.unsigned of fleet.yaml could allow that`);
}
