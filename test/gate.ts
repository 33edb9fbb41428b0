import { type Gate, noTaskRecords, type TaskRecords } from "../src/core/model/stage-task.ts";
import type { Approval } from "../src/core/model/trust.ts";
import type { BlobId, Digest, Instant } from "../src/core/model/value.ts";

/** A gate as a fleet writes it where nobody set up who may approve. */
export const gateOf = (more: Partial<Gate> & { readonly digest: Digest; readonly requestedAt: Instant }): Gate => ({
  nonce: "0".repeat(32),
  rules: null,
  authors: { principals: [], unknown: 0 },
  approval: null,
  ...more,
});

/** An approval that somebody gave without signing it. */
export const approvalOf = (principal: string, at: Instant, path = `approvals/${principal}.yaml`): Approval => ({
  at,
  by: [{ principal, path, blob: `blob-${principal}` as BlobId, commit: null, proofs: [] }],
});

/** What is recorded of the tasks on one side of a stage where only an approval is. */
export const requested = (gate: Gate | null): TaskRecords => ({ ...noTaskRecords, Approval: gate });
