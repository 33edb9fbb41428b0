import type { ForgeFinding } from "../model/history.ts";
import type { Ledger } from "../model/ledger.ts";
import type { World } from "../model/plan.ts";
import type { AnswerRecord } from "../model/trust.ts";
import { reviewsToAsk } from "../plan/approval/reviews.ts";

/**
 * The world with what its writer says that a forge said: a forge's word cannot be had again years later, nor offline.
 *
 * It is taken for the files about which a forge had to be asked, and for no others; of all else that makes them count,
 * nothing is taken for granted.
 */
export function withRecordedReviews(world: World, { answers }: Ledger): World {
  const questions = reviewsToAsk(world);
  if (questions.length === 0) return world;
  const reviews = new Map(
    questions.flatMap(({ path }): readonly (readonly [string, ForgeFinding])[] => {
      const finding = recorded(answers.get(path));
      return finding === null ? [] : [[path, finding]];
    }),
  );
  return { ...world, history: { ...world.history, reviews } };
}

function recorded(record: AnswerRecord | undefined): ForgeFinding | null {
  if (record === undefined) return { kind: "unavailable", because: "the record says nothing about it" };
  const { judgement, file } = record;
  if (judgement.kind === "denied") return null;
  const reviews = judgement.proofs.flatMap(({ evidence, key, source = "" }) => {
    const [forge = "", account = ""] = key.split(":");
    return evidence === "forge" ? [{ forge, account, blob: file.blob, source }] : [];
  });
  return reviews.length === 0 ? null : { kind: "reviewed", reviews };
}
