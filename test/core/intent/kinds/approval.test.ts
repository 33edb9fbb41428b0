import { expect, it } from "vitest";
import { signedApproval } from "../../../../src/core/intent/kinds/approval.ts";
import type { Digest } from "../../../../src/core/model/value.ts";

const approval = { comment: "", decision: "Approve", digest: "ab".repeat(32) as Digest, principal: "ann" } as const;

it("what is signed in an approval is all that it says, in one order", () => {
  expect(signedApproval(approval)).toBe(
    `{"comment":"","decision":"Approve","principal":"ann","requestDigest":"${"ab".repeat(32)}"}`,
  );
});

it("an approval that says something else signs something else", () => {
  const others = [
    { ...approval, comment: 'x","decision":"Reject' },
    { ...approval, decision: "Reject" as const },
    { ...approval, digest: "cd".repeat(32) as Digest },
    { ...approval, principal: "bob" },
  ];
  expect(new Set([approval, ...others].map(signedApproval)).size).toBe(5);
});
