import type { ApprovalFile, ApprovalRule, Authors, Denial, Judgement, Request, Trust } from "../model/trust.ts";
import { type Instant, later } from "../model/value.ts";
import { denied } from "./denial.ts";

/** A judged answer, and what of the request its rules look at. */
export interface AnswerToRule {
  readonly decision: ApprovalFile["decision"];
  readonly judgement: Judgement & { readonly kind: "counts" };
  readonly authors: Authors;
  readonly requestedAt: Instant;
}

/**
 * All rules that a stage has to meet, in order; with none its gate stays closed (`trust/README.md#rules-and-demands`).
 */
export const stageRules = (
  trust: Pick<Trust, "approvals">,
  placement: string,
  stage: string,
): readonly ApprovalRule[] =>
  trust.approvals.filter((it) => namesPlacement(it.placements, placement) && matchesAnyPattern(it.stages, stage));

/** A pattern without a slash means none of the placements in namespaces, so that `*` opens no gate of theirs. */
const namesPlacement = (patterns: readonly string[], placement: string): boolean =>
  matchesAnyPattern(
    patterns.filter((it) => it.includes("/") === placement.includes("/")),
    placement,
  );

/**
 * Why a rule does not accept an answer; null when it does (`trust/README.md#step-7`, `#step-8`, `#step-10`). Rejections
 * and revocations need neither four eyes nor a deadline: stopping a rollout is safe.
 */
export function objectionOf(
  rule: ApprovalRule,
  { decision, judgement, authors, requestedAt }: AnswerToRule,
): Denial | null {
  const { principal, proofs, at } = judgement;
  if (!rule.principals.includes(principal))
    return denied("FLT1214", `${principal} may not approve this stage; ${rule.principals.join(", ")} may`);
  if (!proofs.some((it) => rule.accept.includes(it.evidence))) {
    const given = proofs.map((it) => it.evidence).join(", ");
    return denied("FLT1219", `given as ${given}; this stage accepts ${rule.accept.join(", ")}`);
  }
  if (decision !== "Approve") return null;
  if (at > later(requestedAt, rule.maxAge))
    return denied(
      "FLT1215",
      "the request stood unanswered for too long, and is made anew; answer the one that is open now",
    );
  if (!rule.fourEyes) return null;
  if (authors.principals.includes(principal))
    return denied("FLT1205", `four eyes: ${principal} signed a change that this would roll out; ask somebody else`);
  if (authors.unknown === 0 || rule.unsignedChanges !== "deny") return null;
  return denied("FLT1205", `four eyes: ${authors.unknown} of the changes are signed by nobody, so anybody may be one`);
}

/** Whether an accepted approval meets a rule: enough different people who may give it. */
export function isMetBy(rule: ApprovalRule, { authors, requestedAt, approval }: Request): boolean {
  if (approval === null) return false;
  const heard = approval.by.filter(({ principal, proofs }) => {
    const judgement = { kind: "counts", principal, proofs, at: approval.at } as const;
    return objectionOf(rule, { decision: "Approve", judgement, authors, requestedAt }) === null;
  });
  return new Set(heard.map((it) => it.principal)).size >= approvalsNeeded(rule, authors);
}

/** How many different people a rule requires, given unsigned changes (`trust/README.md#t-07`). At least one. */
export const approvalsNeeded = ({ minimum, fourEyes, unsignedChanges }: ApprovalRule, { unknown }: Authors): number =>
  Math.max(1, minimum) + (fourEyes && unsignedChanges === "oneMore" && unknown > 0 ? 1 : 0);

/** Whether a pattern matches a name: exactly, or as a prefix that ends with `*`, the only wildcard. */
export const matchesPattern = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

/** Whether any of the patterns matches a name. */
export const matchesAnyPattern = (patterns: readonly string[], name: string): boolean =>
  patterns.some((it) => matchesPattern(it, name));

/** Whether any rule accepts reviews of a forge: only then a forge is asked (`trust/README.md#d-04`). */
export const acceptsForge = ({ approvals, protectedTargets }: Pick<Trust, "approvals" | "protectedTargets">): boolean =>
  [...approvals, ...protectedTargets].some((it) => it.accept.includes("forge"));
