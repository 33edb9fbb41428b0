import { type Json, member } from "../../core/model/json.ts";
import { editedText } from "./edited-text.ts";
import { documentsFound, type FoundDocument, type TextFile, valueIn } from "./found-document.ts";

/** The taint that keeps new placements off a drained cluster: the one that `kubectl fleet drain` sets. */
export const cordonTaint = { key: "cordon-key", value: "cordon-value", effect: "NoSchedule" } as const;

/** What becomes of a MemberCluster's file. */
export type CordonEdit =
  | { readonly kind: "edited"; readonly text: string }
  /** It says so already. */
  | { readonly kind: "unchanged" }
  /** Its layout cannot be edited without loss. */
  | { readonly kind: "unsupported" };

/** The file of a MemberCluster with the taint. Placements that tolerate it are not kept away. */
export const cordoned = (found: FoundDocument): CordonEdit =>
  taintsOf(found).some(isCordon)
    ? { kind: "unchanged" }
    : edit(
        editedText(found.text, found.document, { kind: "append", under: ["spec"], key: "taints", item: cordonTaint }),
      );

/** The file of a MemberCluster without the taint; taints of others stay. */
export const uncordoned = (found: FoundDocument): CordonEdit =>
  taintsOf(found).some(isCordon)
    ? edit(editedText(found.text, found.document, { kind: "drop", under: ["spec"], key: "taints", doomed: isCordon }))
    : { kind: "unchanged" };

/** The file as the edit leaves it; none where it stays. */
export const changedFile = ({ path, text: before }: FoundDocument, edited: CordonEdit): readonly ChangedText[] =>
  edited.kind === "edited" ? [{ path, text: edited.text, before }] : [];

/** A file's text, and what it was. */
export interface ChangedText extends TextFile {
  readonly before: string;
}

/** The members that files say are cordoned, by name. */
export const cordonedIn = (files: readonly TextFile[]): ReadonlySet<string> =>
  new Set(
    files
      .filter(({ text }) => text.includes(cordonTaint.key))
      .flatMap(documentsFound)
      .filter((it) => valueIn(it, "kind") === "MemberCluster" && taintsOf(it).some(isCordon))
      .map((it) => String(valueIn(it, "metadata", "name"))),
  );

const edit = (text: string | null): CordonEdit => (text === null ? { kind: "unsupported" } : { kind: "edited", text });

const isCordon = (taint: Json): boolean =>
  member(taint, "key") === cordonTaint.key && member(taint, "value") === cordonTaint.value;

function taintsOf(found: FoundDocument): readonly Json[] {
  const taints = valueIn(found, "spec", "taints");
  return Array.isArray(taints) ? (taints as readonly Json[]) : [];
}
