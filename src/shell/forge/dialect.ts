import type { ReviewQuestion } from "../../core/model/history.ts";
import type { Json } from "../../core/model/json.ts";
import type { Ask } from "./client.ts";

/** What one forge says otherwise than another. */
export interface Dialect {
  /** As trust files name it. */
  readonly forge: string;
  /** So many things fit on a page, by this parameter. */
  readonly page: { readonly size: number; readonly parameter: string };
  /** Whether a review stands when its pull request is given another base, whose difference nobody looked at. */
  readonly keepsReviewsOnNewBase: boolean;
  authorization(token: string): string;
  /** What the rules of a branch do not ask for and have to, in words that name the switches; empty when nothing is missing. */
  missing(ask: Ask, repository: string, branch: string): Promise<readonly string[]>;
  /** The pull requests that may have brought a file. */
  pulls(ask: Ask, repository: string, question: ReviewQuestion): Promise<readonly Json[]>;
  /** Whether a review approves, says something else in place of an earlier one, or is no more than a remark. */
  opinion(review: Json): "approved" | "otherwise" | "remark";
}
