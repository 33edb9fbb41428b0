import type { FactSource, MissingFacts } from "../../../core/model/observation.ts";
import type { ApiFailure } from "../client/api-request.ts";
import { contactFailureOf, MemberUnreachable } from "../client/member-unreachable.ts";

/** KubeFleet's: a collection that takes longer is given up, and what is recorded stands. */
export const collectionDeadlineMs = 10_000;

type Attempt<T> =
  | { readonly kind: "done"; readonly done: T }
  | { readonly kind: "missing"; readonly missing: MissingFacts };

/** What is to be read, what people call it, and the rule that allows it. */
interface Asked {
  readonly source: FactSource;
  readonly called: string;
  readonly grant: string;
}

/** What was read, or why it was not: in words that stay the same as long as the reason does. */
export async function attempted<T extends { readonly kind: string }>(
  { source, called, grant }: Asked,
  read: () => Promise<T | ApiFailure>,
): Promise<Attempt<T>> {
  const missing = (code: MissingFacts["code"], message: string): Attempt<T> => ({
    kind: "missing",
    missing: { source, code, message },
  });
  try {
    const answer = await read();
    if (!isRefusal(answer)) return { kind: "done", done: answer };
    if (answer.status === 403)
      return missing("Forbidden", `${called} may not be read: grant ${grant} (core API group)`);
    return missing("CollectionFailed", `${called} cannot be read: the API server refuses (${answer.status})`);
  } catch (error) {
    const isLate = error instanceof MemberUnreachable && error.message === "timed out";
    return isLate
      ? missing("TimedOut", `${called} could not be read within ${collectionDeadlineMs / 1000} s`)
      : missing("CollectionFailed", `${called} could not be read: ${contactFailureOf(error).code}`);
  }
}

const isRefusal = (answer: { readonly kind: string }): answer is ApiFailure => answer.kind === "refused";
