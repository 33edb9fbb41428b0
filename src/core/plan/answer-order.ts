import type { ApprovalFile } from "../model/approval-file.ts";
import type { World } from "../model/plan.ts";
import type { AnswerRecord, Judgement } from "../model/trust.ts";
import { denied } from "../trust/denial.ts";

// Of what somebody said to a request the newest word counts: who said what, and in which order.

/** In the order of the commits that brought them; what takes something back comes last of those that came together. */
export function asTheyCame(
  heard: readonly AnswerRecord[],
  { history }: Pick<World, "history">,
): readonly AnswerRecord[] {
  const places = new Map(history.news.map((it, at) => [it, at]));
  const placeOf = ({ commit }: AnswerRecord): number => (commit === null ? -1 : (places.get(commit) ?? -1));
  const isBack = ({ file }: AnswerRecord): number => (file.decision === "Approve" ? 0 : 1);
  return [...heard].sort((a, b) => placeOf(a) - placeOf(b) || isBack(a) - isBack(b));
}

/** Takes new answers in, one after the other: each with its order, and with what proves that it is a new word. */
export type Hearing = (answer: AnswerRecord) => AnswerRecord;

/**
 * Hears answers after those that were given before.
 *
 * The signature inside of a file, or a review of it, holds for every copy of the file, and may be older than what took it
 * back: nobody else brings a yes back by copying it. A commit of theirs is a new word, and so are other words.
 */
export function hearingAfter(answers: Iterable<AnswerRecord>): Hearing {
  let last = 0;
  const taken = new Set<string>();
  const first = new Map<string, string>();
  // Somebody may push thousands of files: each is looked at once.
  const note = ({ file, judgement, order }: AnswerRecord): void => {
    last = Math.max(last, order);
    if (file.decision === "Revoke" && judgement.kind === "counts") taken.add(speakerOf(file));
    if (file.decision === "Approve" && !first.has(wordsOf(file))) first.set(wordsOf(file), file.path);
  };
  const weighed = ({ file, judgement }: AnswerRecord): Judgement => {
    const original = first.get(wordsOf(file));
    if (file.decision !== "Approve" || judgement.kind === "denied") return judgement;
    if (original === undefined || !taken.has(speakerOf(file))) return judgement;
    const proofs = judgement.proofs.filter((it) => it.evidence === "commit");
    return proofs.length > 0 ? { ...judgement, proofs } : copied(file.path, original);
  };
  for (const it of answers) note(it);
  return (answer) => {
    const heard = { ...answer, judgement: weighed(answer), order: last + 1 };
    note(heard);
    return heard;
  };
}

const copied = (path: string, original: string): Judgement =>
  denied(
    "FLT1211",
    `${path} says word for word what ${original} said before that was taken back; ` +
      "give it in a commit of your own, or with another comment",
  );

type Words = Pick<ApprovalFile, "digest" | "principal" | "comment">;

const speakerOf = ({ digest, principal }: Pick<Words, "digest" | "principal">): string => `${digest} ${principal}`;
const wordsOf = (file: Words): string => `${speakerOf(file)}\n${file.comment}`;
