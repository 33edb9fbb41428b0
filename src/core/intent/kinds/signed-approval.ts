import { canonicalJson } from "../../model/json.ts";
import type { ApprovalFile } from "../../model/trust.ts";

/**
 * The text that a signature inside of an approval is made over: all that it says, in one order, whatever its YAML looks
 * like (`trust/README.md#the-request`). An SSH signature over it has the namespace `flotilla-approval-v1`.
 */
export const signedApproval = ({
  comment,
  decision,
  digest,
  principal,
}: Pick<ApprovalFile, "comment" | "decision" | "digest" | "principal">): string =>
  canonicalJson({ comment, decision, principal, requestDigest: digest });
