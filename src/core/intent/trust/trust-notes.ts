import { isNode, parseDocument } from "yaml";
import type { Problem } from "../../model/intent.ts";
import { trustPath } from "./trust-file.ts";

/** What is to be said of one rule of a usable trust file: see `core/trust/quorum.ts`. */
interface Remarked {
  readonly field: "approvals" | "protectedTargets";
  readonly index: number;
  readonly isHopeless: boolean;
  readonly message: string;
}

/** The same as problems with positions, for whoever writes the file: they cost nothing. `text`: of a usable trust file. */
export function trustNotes(text: string, remarked: readonly Remarked[]): readonly Problem[] {
  if (remarked.length === 0) return [];
  const document = parseDocument(text);
  return remarked.map(({ field, index, isHopeless, message }): Problem => {
    const node: unknown = document.getIn(["spec", field, index], true);
    const before = text.slice(0, isNode(node) ? (node.range?.[0] ?? 0) : 0);
    const fix = isHopeless
      ? "add people to the rule, or lower its minimum"
      : "if that is too few, add people to the rule";
    const at = { path: trustPath, line: before.split("\n").length, column: before.length - before.lastIndexOf("\n") };
    return { code: "FLT1239", severity: isHopeless ? "warning" : "note", ...at, message, fix };
  });
}
