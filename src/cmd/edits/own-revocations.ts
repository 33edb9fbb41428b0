import { isApprovalPath } from "../../core/intent/kinds/approval.ts";
import type { Digest } from "../../core/model/value.ts";
import { documentsFound, type FoundDocument, type TextFile, valueIn } from "./found-document.ts";

/** Everything with which somebody took approvals of a request back, as it lies there. */
export const ownRevocations = (
  files: readonly TextFile[],
  { principal, digest }: { readonly principal: string; readonly digest: Digest },
): readonly FoundDocument[] =>
  files
    .filter(({ path }) => isApprovalPath(path))
    .flatMap(documentsFound)
    .filter(
      (it) =>
        valueIn(it, "spec", "decision") === "Revoke" &&
        valueIn(it, "spec", "principal") === principal &&
        valueIn(it, "spec", "requestDigest") === digest,
    );
