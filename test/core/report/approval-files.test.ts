import { expect, test } from "vitest";
import { isApprovalPath } from "../../../src/core/model/trust.ts";
import type { Digest } from "../../../src/core/model/value.ts";
import { approvalFile } from "../../../src/core/report/approval-files.ts";

// A run may be called like the folder in which confirmations stand, and nothing there answers a request.
test.each([
  [null, "web-3", "approvals/web-3/canary-before.yaml"],
  [null, "web.3", "approvals/web.3/canary-before.yaml"],
  ["shop", "web-3", "approvals/namespaces/shop/web-3/canary-before.yaml"],
  [null, "deletions", "approvals/runs/deletions/canary-before.yaml"],
  [null, "deletions-3", "approvals/deletions-3/canary-before.yaml"],
  ["deletions", "web-3", "approvals/namespaces/deletions/web-3/canary-before.yaml"],
])("the answer to a request of run %s/%s stands where answers are read", (namespace, name, want) => {
  const at = { run: { namespace, name }, stage: "canary", when: "before" } as const;
  const { path } = approvalFile(at, { digest: "ab".repeat(32) as Digest }, "ada@example.com");
  expect([path, isApprovalPath(path)]).toEqual([want, true]);
});
