import type { DeletionConfirmation } from "#schemas/deletion-confirmation";
import type { Digest } from "../../model/value.ts";
import { error, type FieldProblems } from "../../yaml/problems.ts";

/** The digest that a confirmation names: of the deletions that may now happen (`plan/README.md#d-3`). */
export const confirmedDigest = ({ spec }: DeletionConfirmation): Digest => spec.digest as Digest;

/** Checks a confirmation that its schema has passed. */
export function confirmationProblems({ spec }: DeletionConfirmation): FieldProblems {
  if (/^[0-9a-f]{64}$/.test(spec.digest)) return [];
  const fix = "copy the one that plan prints";
  return [error("FLT1302", ["spec", "digest"], "is not a digest of 64 hexadecimal digits", fix)];
}

/** The digest in the name of a confirmation's file, or null for every other path. */
export function confirmationPath(path: string): Digest | null {
  const match = /^approvals\/deletions\/([^/]+)\.ya?ml$/.exec(path);
  return match === null ? null : (match[1] as Digest);
}
