import type { AuthoredFile } from "../shell/reconcile/ports.ts";
import type { FoundDocument } from "./edits/found-document.ts";
import { withoutDocuments } from "./edits/without-documents.ts";

/** What becomes of files that lose documents. */
export interface PrunedFiles {
  readonly files: readonly AuthoredFile[];
  /** Paths of files in which that could not be cut out. */
  readonly stuck: readonly string[];
}

/** Files without these documents; one that held nothing else goes. */
export function filesWithout(documents: readonly FoundDocument[]): PrunedFiles {
  const texts = new Map(documents.map((it) => [it.path, it.text]));
  const files: AuthoredFile[] = [];
  const stuck: string[] = [];
  for (const [path, before] of texts) {
    const doomed = documents.filter((it) => it.path === path).map((it) => it.document);
    const left = withoutDocuments(before, new Set(doomed));
    if (left === null) stuck.push(path);
    else files.push({ path, text: left.kind === "text" ? left.text : null, before });
  }
  return { files, stuck };
}
