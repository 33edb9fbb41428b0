import type { FleetSpec } from "../model/fleet.ts";
import type { ApprovalFile, GateAnswer } from "../model/trust.ts";
import type { Digest, Instant } from "../model/value.ts";

/** What decides whether an answer counts. */
export interface ConsentRules {
  readonly unsigned: FleetSpec["unsignedApprovals"];
  /** Somebody set up who may approve: nothing counts any more that is not signed. */
  readonly hasTrust: boolean;
  readonly now: Instant;
}

/**
 * What the files under `approvals/` come to for one request: a rejection by anybody outweighs every approval, and
 * whoever revokes takes back an approval of their own, for as long as that file stands: of unsigned words nobody knows
 * the newest.
 *
 * Nothing here is proof of who wrote a file. As long as there are no signatures, that counts only where the fleet says
 * so, and never once it was said who may approve (`trust/README.md#what-counts`).
 */
export function gateAnswer(digest: Digest, files: readonly ApprovalFile[], rules: ConsentRules): GateAnswer {
  const answers = files.filter((it) => it.digest === digest);
  const [first] = answers;
  if (first === undefined) return { kind: "none" };
  const objection = objectionTo(first, rules);
  if (objection !== null) return { kind: "void", because: `an answer does not count: ${objection}`, wakeAt: null };
  const rejection = answers.find((it) => it.decision === "Reject");
  if (rejection !== undefined) {
    const { principal, comment, path } = rejection;
    return { kind: "rejected", by: principal, comment, path };
  }
  const revocations = new Map(
    answers.flatMap((it) => (it.decision === "Revoke" ? [[it.principal, it.path] as const] : [])),
  );
  const approval = answers.find((it) => it.decision === "Approve" && !revocations.has(it.principal));
  if (approval === undefined) return { kind: "void", because: takenBackText(revocations), wakeAt: null };
  const { principal, path, blob } = approval;
  return { kind: "approved", approval: { at: rules.now, by: [{ principal, path, blob, commit: null, proofs: [] }] } };
}

/** `revocations`: by name, the path of the file; at least one. */
function takenBackText(revocations: ReadonlyMap<string, string>): string {
  const [[name, path] = ["", ""]] = [...revocations];
  return `an answer does not count: ${name} took the approval back in ${path}; to give it again, flotilla approve removes that file`;
}

function objectionTo({ path }: ApprovalFile, { unsigned, hasTrust }: ConsentRules): string | null {
  if (hasTrust) return `${path} carries no signature, and trust/ says who may sign`;
  return unsigned === "allow"
    ? null
    : `${path} carries no signature; spec.approvals.unsigned of fleet.yaml could allow that`;
}
