import type { Ledger } from "../../model/ledger.ts";
import type { World } from "../../model/plan.ts";
import type { ApprovalRule, GateAnswer, Request, Trust } from "../../model/trust.ts";
import type { Sequence } from "../../model/value.ts";
import { gateVerdict, unsignedAnswer } from "../../trust/count.ts";
import { denied } from "../../trust/denial.ts";
import { nextTrust } from "../../trust/trust-chain.ts";
import { introducersOf } from "../authors/introducers.ts";
import type { Consent } from "../moves/context.ts";

/**
 * Decides which trust file is in force (`trust/README.md#the-trust-file`). One that may not come into force changes
 * nothing of what was accepted, and closes every gate until it is repaired: running workloads are untouched.
 */
export function consentOf(world: World, ledger: Ledger, sequence: Sequence): Consent {
  const { intent, history, trustAnchor, now } = world;
  const { trust: file } = intent;
  const current = ledger.trust;
  const isNew = file !== null && file.trust?.digest !== current?.trust.digest;
  const next = nextTrust({
    current: current?.trust ?? null,
    anchor: trustAnchor,
    candidate: file === null ? null : (file.trust ?? "unusable"),
    signatures: history.trustSignatures,
    // Of the one in force nobody asks again how it came.
    introducers: isNew ? introducersOf("trust/root.yaml", file.blob, world) : [],
    now,
  });
  switch (next.kind) {
    case "kept":
      return { record: current, closed: current === null && ledger.hasTrust ? gone : null };
    case "refused":
      return { record: current, closed: next.denial };
    case "accepted": {
      const from = history.head;
      const { trust, by } = next;
      const text = file?.text ?? "";
      return { record: { trust, text, since: sequence, from, first: current?.first ?? from, by }, closed: null };
    }
  }
}

const gone = denied(
  "FLT1221",
  "there was a trust/ folder, and there is no trust/root.yaml; restore it, and give its SHA-256 as --trust-anchor",
);

/** What people said to a request that has to meet these rules. */
export function answerTo(
  request: Request,
  rules: (trust: Trust) => readonly ApprovalRule[],
  { world, ledger, consent }: { readonly world: World; readonly ledger: Ledger; readonly consent: Consent },
): GateAnswer {
  const { intent, now } = world;
  const { record, closed } = consent;
  if (closed !== null) return { kind: "void", because: `${closed.code}: ${closed.because}`, wakeAt: null };
  if (record === null)
    return unsignedAnswer(request.digest, intent.approvals, {
      unsigned: intent.fleet.unsignedApprovals,
      hasTrust: ledger.hasTrust,
      now,
    });
  const standing = new Map(intent.approvals.map((it) => [it.path, it.blob]));
  // What somebody no longer says opens nothing; that they said no counts for good.
  const answers = [...ledger.answers.values()].filter(
    ({ file }) => file.decision !== "Approve" || standing.get(file.path) === file.blob,
  );
  const { digest, requestedAt, authors } = request;
  const { trust } = record;
  const verdict = gateVerdict({ digest, requestedAt, authors, rules: rules(trust), answers, trust, now });
  switch (verdict.kind) {
    case "approved": {
      const by = verdict.approvals.map(({ file: { path, blob }, principal, proofs }) => {
        const commit = ledger.answers.get(path)?.commit ?? null;
        return { principal, path, blob, commit, proofs };
      });
      return { kind: "approved", approval: { at: now, by } };
    }
    case "rejected":
      return verdict;
    case "waiting":
      return {
        kind: "void",
        because: `${verdict.code}: ${verdict.because}`,
        wakeAt: now < trust.expires ? trust.expires : null,
      };
  }
}
