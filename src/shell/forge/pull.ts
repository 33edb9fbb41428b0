import type { Json } from "../../core/model/json.ts";
import { idAt, textAt } from "./json-at.ts";

/** A pull request that was merged. */
export interface MergedPull {
  readonly number: string;
  /** The number of the account that opened it; null where it is gone. */
  readonly author: string | null;
  /** What was merged. */
  readonly head: string;
  readonly base: string;
  /** `owner/repository`. */
  readonly baseRepository: string;
  /** What the merge became: a merge, or the one commit after squash, or the last one after rebase. */
  readonly merge: string;
  /** In milliseconds since 1970, by the forge's clock. */
  readonly mergedAt: number;
}

/** Reads a pull request as both forges write it; null for one that was not merged, or of which anything is not known. */
export function mergedPullIn(pull: Json): MergedPull | null {
  const number = idAt(pull, "number");
  const head = textAt(pull, "head", "sha");
  const base = textAt(pull, "base", "ref");
  const baseRepository = textAt(pull, "base", "repo", "full_name");
  const merge = textAt(pull, "merge_commit_sha");
  const mergedAt = Date.parse(textAt(pull, "merged_at") ?? "");
  if (number === null || head === null || base === null || baseRepository === null) return null;
  if (merge === null || Number.isNaN(mergedAt)) return null;
  return { number, author: idAt(pull, "user", "id"), head, base, baseRepository, merge, mergedAt };
}
