import type { RenderedManifest } from "../model/plan.ts";
import { emitDocuments } from "../yaml/canonical.ts";

// The same array stands for every cluster that gets the same content: its text is made once.
const texts = new WeakMap<readonly RenderedManifest[], string>();

/** What one cluster is to carry of one placement, as one file for people and `git diff`: written, never read back. */
export function renderedText(manifests: readonly RenderedManifest[]): string {
  const known = texts.get(manifests);
  if (known !== undefined) return known;
  const text = emitDocuments(manifests.map((it) => it.manifest));
  texts.set(manifests, text);
  return text;
}
