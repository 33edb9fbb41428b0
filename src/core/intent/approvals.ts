import type { Problem } from "../model/intent.ts";
import { remembered } from "../model/memo.ts";
import type { ApprovalFile } from "../model/trust.ts";
import { isError } from "../yaml/remark.ts";
import { isApprovalPath } from "./kinds/approval.ts";
import { fileProblem, type SourceFile } from "./source-file.ts";

/**
 * Answers to approval requests, in the order of their paths: files under `approvals/` of one document each.
 *
 * One that cannot be used costs only itself, and never stays in force at an earlier version: what somebody once said
 * and no longer says opens nothing.
 */
export function approvalsIn(files: readonly SourceFile[]): {
  readonly approvals: readonly ApprovalFile[];
  readonly problems: readonly Problem[];
} {
  const approvals: ApprovalFile[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    if (file.kind !== "file" || !isApprovalPath(file.path)) continue;
    const said = approvalIn(file);
    if (said.approval !== null) approvals.push(said.approval);
    problems.push(...said.problems);
  }
  return { approvals, problems };
}

/** Read once for a file: an answer is the same object from commit to commit. */
const approvalIn = remembered(({ path, blob, decoded }: SourceFile) => {
  const documents = decoded?.documents ?? [];
  const findings = [...(decoded?.findings ?? []), ...documents.flatMap((it) => it.findings)];
  const problems = findings.map((it): Problem => ({ ...it, path }));
  const [document] = documents;
  const content = document?.kind === "object" && documents.length === 1 ? document.content : null;
  if (content?.kind === "approval") {
    const approval: ApprovalFile = { path, blob, ...content.approval };
    return { approval, problems };
  }
  const isExplained = problems.some(isError);
  return { approval: null, problems: isExplained ? problems : [...problems, answersNothing(path)] };
});

const answersNothing = (path: string): Problem =>
  fileProblem("error", "FLT1350", path, [
    "this answers no request: it must be one Approval of flotilla.dev/v1alpha1",
    "write one Approval per file, and nothing else under approvals/",
  ]);
