import type { Approval as WrittenApproval } from "#schemas/approval";
import schema from "../../../../schemas/approval.json" with { type: "json" };
import { canonicalJson } from "../../model/json.ts";
import { flotillaGroup } from "../../model/names.ts";
import type { ApprovalFile } from "../../model/trust.ts";
import type { Digest } from "../../model/value.ts";
import { error, type FieldProblem, type FieldProblems } from "../../yaml/problems.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";

/** Answers to requests. */
export const approvalKind: ReadKind<WrittenApproval, ContentOf<"approval">> = {
  names: [{ group: flotillaGroup, kind: "Approval", scope: "Cluster", versions: ["v1alpha1"] }],
  schema,
  ownPlace: "an approval is read from a file under approvals/",
  rules: (it) => approvalProblems(it),
  content: (it) => ({ kind: "approval", approval: approvalFrom(it) }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

const approvalFrom = ({ spec }: WrittenApproval): Omit<ApprovalFile, "path" | "blob"> => ({
  digest: spec.requestDigest as Digest,
  decision: spec.decision,
  principal: spec.principal,
  comment: spec.comment ?? "",
  signature: spec.signature ?? null,
});

function approvalProblems({ spec }: WrittenApproval): FieldProblems {
  const { requestDigest, principal, comment = "", signature = null } = spec;
  const problems: FieldProblem[] = [];
  if (!/^[0-9a-f]{64}$/.test(requestDigest))
    problems.push(error("FLT1302", ["spec", "requestDigest"], "is not a digest of 64 hexadecimal digits", copyDigest));
  if (!/^\P{C}{1,253}$/u.test(principal) || principal.trim() !== principal)
    problems.push(error("FLT1302", ["spec", "principal"], "is not a name on one line", "write who approves"));
  if (comment.length > 1000)
    problems.push(error("FLT1302", ["spec", "comment"], "is longer than 1000 characters", "shorten it"));
  if (signature !== null && !isArmored(signature))
    problems.push(error("FLT1302", ["spec", "signature"], "is not an armored signature of at most 16 KiB", signIt));
  return problems;
}

/** Whether a text is an armored signature, valid or not. */
const isArmored = (text: string): boolean => text.length <= maxSignature && armor.test(text);

const maxSignature = 16 * 1024;

const armor = /^-----BEGIN (SSH|PGP) SIGNATURE-----\n[\x20-\x7e\n]+\n-----END \1 SIGNATURE-----\n{0,4}$/;

const signIt =
  "let flotilla approve write it, paste all lines that ssh-keygen -Y sign or gpg --armor wrote, or leave it out";

const copyDigest = "copy the annotation flotilla.dev/request-digest of the request";

/**
 * The text that a signature in an approval signs: all of its content in a fixed order, independent of its YAML
 * (`trust/README.md#the-request`). An SSH signature over it has the namespace `flotilla-approval-v1`.
 */
export const signedApproval = ({
  comment,
  decision,
  digest,
  principal,
}: Pick<ApprovalFile, "comment" | "decision" | "digest" | "principal">): string =>
  canonicalJson({ comment, decision, principal, requestDigest: digest });
