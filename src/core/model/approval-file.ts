import type { Approval } from "./trust.ts";
import type { BlobId, Digest, Instant } from "./value.ts";

/** An Approval of flotilla.dev/v1alpha1: a person's answer to an approval request, a file under `approvals/`. */
export interface ApprovalFile {
  readonly path: string;
  readonly blob: BlobId;
  /** Of the request that it answers: its annotation `flotilla.dev/request-digest`. */
  readonly digest: Digest;
  readonly decision: "Approve" | "Reject" | "Revoke";
  readonly principal: string;
  readonly comment: string;
  /** An armored signature inside of the file, over what it says; null without one. */
  readonly signature: string | null;
}

/** What people said to an approval request. */
export type GateAnswer =
  | { readonly kind: "approved"; readonly approval: Approval }
  | { readonly kind: "rejected"; readonly by: string; readonly comment: string; readonly path: string }
  /** There is no answer that counts, or not enough of them: why not, and when that may be otherwise by time alone. */
  | { readonly kind: "void"; readonly because: string; readonly wakeAt: Instant | null }
  | { readonly kind: "none" };
