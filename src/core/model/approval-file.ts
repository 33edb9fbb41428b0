import type { Approval } from "./run-record.ts";
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
}

/** What people said to an approval request. */
export type GateAnswer =
  | { readonly kind: "approved"; readonly approval: Approval }
  | { readonly kind: "rejected"; readonly by: string; readonly comment: string; readonly path: string }
  /** There are answers, and none of them counts: why not. */
  | { readonly kind: "void"; readonly because: string }
  | { readonly kind: "none" };
