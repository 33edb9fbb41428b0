import type { DeletionConfirmation } from "#schemas/deletion-confirmation";
import schema from "../../../../schemas/deletion-confirmation.json" with { type: "json" };
import { flotillaGroup } from "../../model/names.ts";
import type { Digest } from "../../model/value.ts";
import { error, type FieldProblems } from "../../yaml/problems.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";

/** Consent to planned deletions. */
export const deletionConfirmationKind: ReadKind<DeletionConfirmation, ContentOf<"confirmation">> = {
  names: [{ group: flotillaGroup, kind: "DeletionConfirmation", scope: "Cluster", versions: ["v1alpha1"] }],
  schema,
  ownPlace: "a confirmation is read from approvals/deletions/<digest>.yaml",
  rules: (it) => confirmationProblems(it),
  content: (it) => ({ kind: "confirmation", digest: it.spec.digest as Digest }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

function confirmationProblems({ spec }: DeletionConfirmation): FieldProblems {
  if (/^[0-9a-f]{64}$/.test(spec.digest)) return [];
  const fix = "copy the one that plan prints";
  return [error("FLT1302", ["spec", "digest"], "is not a digest of 64 hexadecimal digits", fix)];
}

/** The digest in the name of a confirmation's file, or null for every other path. */
export function confirmationPath(path: string): Digest | null {
  const match = /^approvals\/deletions\/([^/]+)\.ya?ml$/.exec(path);
  return match === null ? null : (match[1] as Digest);
}
