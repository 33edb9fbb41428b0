import type { Problem } from "../model/intent.ts";
import type { Digest } from "../model/value.ts";
import { confirmationPath } from "./kinds/confirmation.ts";
import { fileProblem, type SourceFile } from "./source-file.ts";

/** Deletions that files under `approvals/deletions/` confirm, each by a document that says what its file is called. */
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
    problems.push(...documents.flatMap((it) => it.findings.map((finding) => ({ ...finding, path }))));
    const contents = documents.flatMap((it) => (it.kind === "object" && it.content !== null ? [it.content] : []));
    const [content] = contents;
    if (contents.length === 1 && content?.kind === "confirmation" && content.digest === digest)
      confirmations.push(digest);
    else problems.push(fileProblem("error", "FLT1350", path, notThis));
  }
  return { confirmations, problems };
}

const notThis = [
  "this confirms nothing: it must be one DeletionConfirmation whose spec.digest is the name of the file",
  "flotilla confirm writes it; or copy the file that plan prints",
] as const;
