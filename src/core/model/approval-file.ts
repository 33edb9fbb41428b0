import type { BlobId, Digest } from "./value.ts";

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
