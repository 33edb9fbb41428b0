import type { Plan, World } from "../model/plan.ts";
import type { ApprovalDefectCode, DefectSubject, PlanDefect, TrustFileDefectCode } from "../model/plan-defect.ts";
import type { Approver, Request, Trust, TrustFile } from "../model/trust.ts";
import { checkAnswers } from "./check-answers.ts";
import { type Approved, newlyApproved, type Rules } from "./check-approved.ts";
import {
  type CheckedAnswer,
  isAccepted,
  isMet,
  isStillInSource,
  type Requirement,
  usesCompromisedKey,
  verifiedSignerOf,
} from "./check-approvers.ts";
import { defect } from "./check-defect.ts";

/** Lists where a plan trusts or accepts what people did not sign as required (`trust/README.md#what-counts`). */
export function* checkTrust(plan: Plan, world: World): Generator<PlanDefect<TrustFileDefectCode | ApprovalDefectCode>> {
  yield* followsTheChain(plan, world);
  yield* checkAnswers(plan, world);
  for (const it of newlyApproved(plan.ledger, world.ledger)) yield* acceptsWhatWasSaid(it, plan, world);
  yield* keepsWhatIsAsked(plan, world);
}

const trustFile: DefectSubject = { kind: "trustFile" };

/**
 * `trust/README.md#the-trust-file`, `#t-09`: the next version follows the present one and is signed by enough roots of
 * both, or it is the anchor's.
 */
function* followsTheChain({ ledger }: Plan, world: World): Generator<PlanDefect<TrustFileDefectCode>> {
  const { trust: before, hasTrust } = world.ledger;
  const { trust: after } = ledger;
  if ((hasTrust || world.intent.hasTrust || after !== null) && !ledger.hasTrust)
    yield defect("TrustForgotten", trustFile, "forgets that there was a trust file");
  if (after === before) return;
  if (after === null) return yield defect("TrustFileForgotten", trustFile, "forgets the trust file");
  const { trust: file } = world.intent;
  const what = `version ${after.trust.version} of the trust file`;
  if (file === null || file.trust !== after.trust || file.text !== after.text)
    return yield defect("TrustFileNotFound", trustFile, `trusts ${what}, which does not stand there`);
  if (world.now >= after.trust.expires)
    yield defect("TrustFileExpired", trustFile, `trusts ${what}, which has expired`);
  if (before !== null && after.trust.version <= before.trust.version)
    yield defect("TrustFileRolledBack", trustFile, `goes back to ${what}`);
  if (after.trust.digest === world.trustAnchor) return;
  if (before === null) return yield defect("TrustFileUnvouched", trustFile, `trusts ${what}, for which nobody vouches`);
  yield* succeeds(before.trust, after.trust, file, world);
}

function* succeeds(
  old: Trust,
  next: Trust,
  { blob }: TrustFile,
  { history, now }: World,
): Generator<PlanDefect<TrustFileDefectCode>> {
  const what = `version ${next.version} of the trust file`;
  if (next.version - old.version !== 1 || next.previous !== old.digest)
    yield defect("TrustFileNotSuccessor", trustFile, `trusts ${what}, which does not follow version ${old.version}`);
  const carriers = [...history.commits.values()].filter(({ changes }) =>
    changes.some((it) => it.path === "trust/root.yaml" && it.after === blob && it.before !== blob),
  );
  const isAlone = carriers.every(
    ({ parents, changes }) => parents.length < 2 && changes.every((it) => it.path.startsWith("trust/")),
  );
  if (carriers.length === 0 || !isAlone)
    yield defect("TrustFileCommitMixed", trustFile, `trusts ${what}, which did not come alone`);
  const revocations = [...old.revocations, ...next.revocations];
  for (const { version, principals, roots } of [old, next]) {
    const speakers = history.trustSignatures.map(
      ({ fact }) => verifiedSignerOf(fact, "flotilla-trust-v1", { principals, revocations, now })?.name,
    );
    const signed = roots.principals.filter((it) => speakers.includes(it));
    if (new Set(signed).size < Math.max(roots.threshold, 1))
      yield defect(
        "TrustFileBelowThreshold",
        trustFile,
        `trusts ${what}, which too few roots of version ${version} signed`,
      );
  }
}

/**
 * `rollout/README.md#u7`, `trust/README.md#t-01` to `#t-07`, `#t-20`: it was requested, and the right people approved
 * exactly that.
 */
function* acceptsWhatWasSaid(it: Approved, plan: Plan, world: World): Generator<PlanDefect<ApprovalDefectCode>> {
  const { what, subject, request, approval, was } = it;
  const isAsked =
    was !== null &&
    was.approval === null &&
    was.digest === request.digest &&
    was.authors === request.authors &&
    was.requestedAt === request.requestedAt;
  if (!isAsked) return yield defect("ApprovalNotRequested", subject, `opens ${what}, which was not asked for`);
  if (approval.by.length === 0) yield defect("ApprovalWithoutApprover", subject, `opens ${what} by nobody`);
  const { trust } = plan.ledger;
  if (trust === null) return yield* opensUnsigned(it, plan, world);
  const { trust: rules } = trust;
  if (!isStillInSource(world.intent, trust))
    yield defect(
      "ApprovalWithoutTrustFile",
      subject,
      `opens ${what} while the trust file in force does not stand there`,
    );
  if (world.now >= rules.expires)
    yield defect("ApprovalAfterTrustExpiry", subject, `opens ${what} by a trust file that has expired`);
  if (new Set(approval.by.map((by) => by.principal)).size < approval.by.length)
    yield defect("ApproverDuplicate", subject, `opens ${what} by one voice twice`);
  for (const by of approval.by) {
    const flaw = flawOf(by, request, plan, world);
    if (flaw !== null) yield defect("ApproverInvalid", subject, `opens ${what} by ${by.principal}, ${flaw}`);
  }
  yield* meetsTheRules(it, it.rules(rules, plan, world), plan);
}

/** Unsigned approvals count only where the fleet allows them and there never was a trust file. */
function* opensUnsigned(
  { what, subject, request, approval }: Approved,
  { ledger }: Plan,
  world: World,
): Generator<PlanDefect<ApprovalDefectCode>> {
  const { fleet, approvals, trust } = world.intent;
  const isAllowed = fleet.unsignedApprovals === "allow" && trust === null && world.trustAnchor === null;
  if (ledger.hasTrust || !isAllowed)
    yield defect("ApprovalUnsigned", subject, `opens ${what} although nobody signed that`);
  const said = approvals.filter((it) => it.digest === request.digest);
  if (said.some((it) => it.decision === "Reject"))
    yield defect("ApprovalRejected", subject, `opens ${what}, which was rejected`);
  for (const { principal, path, blob } of approval.by) {
    const file = said.find((it) => it.path === path && it.blob === blob);
    if (file?.decision !== "Approve" || file.principal !== principal)
      yield defect("ApproverMismatch", subject, `opens ${what} by ${principal}, who said no such thing`);
  }
}

/** Why an approval does not count; null when it does. */
function flawOf(
  { principal, path, blob, proofs }: Approver,
  { digest }: Request,
  { ledger }: Plan,
  { intent }: World,
): string | null {
  const { principals, revocations } = ledger.trust?.trust ?? { principals: new Map(), revocations: [] };
  if (principals.get(principal)?.isHuman !== true) return "who is no person";
  const answer = ledger.answers.get(path);
  if (answer === undefined || answer.judgement.kind !== "counts") return "whose answer does not count";
  const { file, judgement } = answer;
  const isHis = judgement.principal === principal && file.principal === principal;
  if (!isHis || file.digest !== digest || file.decision !== "Approve") return "who said something else";
  if (file.blob !== blob || !intent.approvals.some((it) => it.path === path && it.blob === blob))
    return "who does not say so any more";
  const known = judgement.proofs.map((it) => `${it.evidence} ${it.key}`);
  if (proofs.length === 0 || !proofs.every((it) => known.includes(`${it.evidence} ${it.key}`)))
    return "which nothing proves";
  return proofs.some((it) => usesCompromisedKey(it, revocations)) ? "whose key is compromised" : null;
}

function* meetsTheRules(
  { what, subject, request, approval }: Approved,
  { certain, possible }: Rules,
  { ledger }: Plan,
): Generator<PlanDefect<ApprovalDefectCode>> {
  const said = [...ledger.answers.values()].flatMap(({ file: { digest, decision }, judgement, order }) =>
    digest === request.digest && judgement.kind === "counts" ? [{ ...judgement, decision, order }] : [],
  );
  const [nos, taken] = (["Reject", "Revoke"] as const).map((no) => said.filter((it) => it.decision === no));
  const yes = approval.by.map(({ principal, proofs, path }): CheckedAnswer & { readonly order: number } => {
    const { judgement, order = -1 } = ledger.answers.get(path) ?? {};
    return { principal, proofs, at: judgement?.kind === "counts" ? judgement.at : approval.at, order };
  });
  const isFull = (demand: Requirement): boolean => {
    const gone = (taken ?? []).filter((it) => isAccepted(demand, it));
    const isTakenBack = (it: (typeof yes)[number]): boolean =>
      gone.some((no) => no.principal === it.principal && no.order >= it.order);
    return isMet(
      demand,
      request,
      yes.filter((it) => !isTakenBack(it)),
    );
  };
  if (!certain.every(isFull) || (certain.length === 0 && !possible.some(isFull)))
    yield defect("ApprovalBelowMinimum", subject, `opens ${what} by fewer than have to approve it`);
  const isNo = (it: CheckedAnswer): boolean =>
    certain.length > 0
      ? certain.some((demand) => isAccepted(demand, it))
      : possible.length > 0 && possible.every((demand) => isAccepted(demand, it));
  if ((nos ?? []).some(isNo)) yield defect("ApprovalRejected", subject, `opens ${what}, which was rejected`);
}

/** A request never changes once it is made. */
function* keepsWhatIsAsked({ ledger }: Plan, { ledger: old }: World): Generator<PlanDefect<ApprovalDefectCode>> {
  for (const [key, { change }] of ledger.placements) {
    const was = old.placements.get(key)?.change ?? null;
    if (change === was || change?.request == null || change.request.digest !== was?.request?.digest) continue;
    if (change.clusters !== was.clusters || change.leaves !== was.leaves)
      yield defect(
        "RequestChanged",
        { kind: "placement", placement: key },
        `changes what the change of ${key} is asked for`,
      );
  }
}
