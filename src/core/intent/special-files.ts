import { remembered } from "../model/identity.ts";
import type { Problem } from "../model/intent.ts";
import { type ApprovalFile, isApprovalPath, type TrustFile } from "../model/trust.ts";
import type { Digest } from "../model/value.ts";
import { isError } from "../yaml/problems.ts";
import { confirmationPath } from "./kinds/deletion-confirmation.ts";
import { fileProblem, isTrustPath, isTrustSignature, maxTrustSignatures, type SourceFile } from "./source-file.ts";
import { readTrust, trustPath } from "./trust/trust-file.ts";

// Files that count by their paths: confirmations, approvals and the trust file.

/** Deletions that files under `approvals/deletions/` confirm; the digest in each document is the name of its file. */
export function confirmationsIn(files: readonly SourceFile[]): {
  readonly confirmations: readonly Digest[];
  readonly problems: readonly Problem[];
} {
  const confirmations: Digest[] = [];
  const problems: Problem[] = [];
  for (const { path, kind, decoded } of files) {
    const digest = confirmationPath(path);
    if (digest === null || kind !== "file") continue;
    const documents = decoded?.documents ?? [];
    problems.push(...documents.flatMap((it) => it.problems.map((finding) => ({ ...finding, path }))));
    const contents = documents.flatMap((it) => (it.kind === "object" && it.content !== null ? [it.content] : []));
    const [content] = contents;
    if (contents.length === 1 && content?.kind === "confirmation" && content.digest === digest)
      confirmations.push(digest);
    else problems.push(fileProblem("error", "FLT1350", path, notAConfirmation));
  }
  return { confirmations, problems };
}

const notAConfirmation = [
  "not a valid confirmation: it must be one DeletionConfirmation whose spec.digest is the name of the file",
  "flotilla confirm writes it; or copy the file that plan prints",
] as const;

/**
 * Approvals, by path: files under `approvals/` with one document each. An unusable one affects only itself, and no
 * earlier version stays in force: an approval that was changed or removed allows nothing.
 */
export function approvalsIn(files: readonly SourceFile[]): {
  readonly approvals: readonly ApprovalFile[];
  readonly problems: readonly Problem[];
} {
  const approvals: ApprovalFile[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    if (file.kind !== "file" || !isApprovalPath(file.path)) continue;
    const read = approvalIn(file);
    if (read.approval !== null) approvals.push(read.approval);
    problems.push(...read.problems);
  }
  return { approvals, problems };
}

/** Read once for a file: an approval is the same object from commit to commit. */
const approvalIn = remembered(({ path, blob, decoded }: SourceFile) => {
  const documents = decoded?.documents ?? [];
  const located = [...(decoded?.problems ?? []), ...documents.flatMap((it) => it.problems)];
  const problems = located.map((it): Problem => ({ ...it, path }));
  const [document] = documents;
  const content = document?.kind === "object" && documents.length === 1 ? document.content : null;
  if (content?.kind === "approval") {
    const approval: ApprovalFile = { path, blob, ...content.approval };
    return { approval, problems };
  }
  const isExplained = problems.some(isError);
  return { approval: null, problems: isExplained ? problems : [...problems, notAnApproval(path)] };
});

const notAnApproval = (path: string): Problem =>
  fileProblem("error", "FLT1350", path, [
    "not a valid approval: it must be one Approval of flotilla.dev/v1alpha1",
    "write one Approval per file, and only approvals under approvals/",
  ]);

/**
 * The trust file of a commit and what is wrong with `trust/`; the same file gives the same result (`===`). An unusable
 * one counts, without a trust: it closes every gate. `core/trust` decides whether it comes into force.
 */
export function trustFileIn(files: readonly SourceFile[]): {
  readonly trust: TrustFile | null;
  readonly problems: readonly Problem[];
} {
  const root = files.find((it) => it.path === trustPath);
  const isRootless = root === undefined && files.some((it) => isTrustPath(it.path));
  const { trust, problems } =
    root === undefined ? { trust: null, problems: isRootless ? [rootless] : [] } : rootIn(root);
  const signatures = files.filter(isTrustSignature).length;
  return { trust, problems: signatures > maxTrustSignatures ? [...problems, tooMany] : problems };
}

/** Read once for a file: a trust file is large, and the same from commit to commit. */
const rootIn = remembered((file: SourceFile): { trust: TrustFile; problems: readonly Problem[] } => {
  const text = file.kind === "file" ? (file.text ?? null) : null;
  if (text === null) return { trust: unusable(file), problems: [unreadable(file)] };
  const { trust, problems } = readTrust(text);
  return { trust: trust === null ? unusable(file) : { blob: file.blob, text, trust }, problems };
});

const unusable = ({ blob }: SourceFile): TrustFile => ({ blob, text: "", trust: null });

function unreadable({ kind }: SourceFile): Problem {
  switch (kind) {
    case "file":
      return fileProblem("error", "FLT1234", trustPath, ["the file is not UTF-8, or it is too large", restore]);
    case "link":
      return fileProblem("error", "FLT1101", trustPath, ["symbolic links are not followed", commitItself]);
    case "submodule":
      return fileProblem("error", "FLT1102", trustPath, ["submodules are not read", commitItself]);
  }
}

const commitItself = "commit the file itself; until then every gate is closed";

const restore = "restore the last version that was accepted; until then every gate is closed";

const rootless = fileProblem("error", "FLT1237", "trust/", [
  "trust/root.yaml, which defines who may approve, is missing: every gate is closed, and no unsigned approval counts any more",
  "write it with flotilla trust init, or restore the last version that was accepted",
]);

const tooMany = fileProblem("error", "FLT1238", "trust/sigs/", [
  `there are more than ${maxTrustSignatures} signatures here; those that come last by their names do not count`,
  "remove those of earlier versions",
]);
