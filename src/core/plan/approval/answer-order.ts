import type { World } from "../../model/plan.ts";
import type { AnswerRecord, ApprovalFile, Judgement, Proof } from "../../model/trust.ts";
import { denied } from "../../trust/denial.ts";

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
export type AnswerContext = (answer: AnswerRecord) => AnswerRecord;

/**
 * Hears answers after those that were given before.
 *
 * The signature inside of a file, or a review of it, holds for every copy of the file, and may be older than what took it
 * back: nobody else brings a yes back by copying it. A commit of theirs is a new word, and so are other words. Taken back
 * is what they revoked, and what was taken away: `isTakenAway` says so of what came and went unseen.
 */
export function hearingAfter(
  answers: Iterable<AnswerRecord>,
  isTakenAway: (file: ApprovalFile) => boolean = () => false,
): AnswerContext {
  let last = 0;
  const taken = new Set<string>();
  const away = new Set<string>();
  const first = new Map<string, string>();
  // Somebody may push thousands of files: each is looked at once.
  const note = ({ file, judgement, order }: AnswerRecord): void => {
    last = Math.max(last, order);
    if (file.decision === "Revoke" && judgement.kind === "counts") taken.add(speakerOf(file));
    if (file.decision === "Approve" && !first.has(wordsOf(file))) first.set(wordsOf(file), file.path);
    if (isAway({ file, judgement })) away.add(wordsOf(file));
  };
  const weighed = ({ file, judgement }: AnswerRecord): Judgement => {
    const original = first.get(wordsOf(file));
    if (file.decision !== "Approve" || judgement.kind === "denied") return judgement;
    const isAwayNow = away.has(wordsOf(file)) || isTakenAway(file);
    if (!isAwayNow && (original === undefined || !taken.has(speakerOf(file)))) return judgement;
    const proofs = signedByCommit(judgement);
    if (proofs.length > 0) return { ...judgement, proofs };
    return copied(file.path, { original: original ?? "another file", code: isAwayNow ? "FLT1212" : "FLT1211" });
  };
  for (const it of answers) note(it);
  return (answer) => {
    const heard = { ...answer, judgement: weighed(answer), order: last + 1 };
    note(heard);
    return heard;
  };
}

/**
 * Approvals that say word for word what somebody took away from where it stood, and that no commit of theirs brought: a copy
 * holds no longer than what it was made of. Those that still counted, with what they come to.
 */
export function copiesIn(answers: ReadonlyMap<string, AnswerRecord>): readonly AnswerRecord[] {
  const away = new Map([...answers.values()].filter(isAway).map(({ file }) => [wordsOf(file), file.path]));
  if (away.size === 0) return [];
  return [...answers.values()].flatMap((it): readonly AnswerRecord[] => {
    const { file, judgement } = it;
    const original = away.get(wordsOf(file));
    if (original === undefined || file.decision !== "Approve" || judgement.kind === "denied") return [];
    return signedByCommit(judgement).length > 0
      ? []
      : [{ ...it, judgement: copied(file.path, { original, code: "FLT1212" }) }];
  });
}

const isAway = ({ file, judgement }: Pick<AnswerRecord, "file" | "judgement">): boolean =>
  file.decision === "Approve" && judgement.kind === "denied" && judgement.code === "FLT1212";

const signedByCommit = ({ proofs }: Counting): readonly Proof[] => proofs.filter((it) => it.evidence === "commit");

/** What brings an approval back that was taken away. */
export const signedAnew = "give it again in a commit of your own, or with another comment";

const copied = (
  path: string,
  { original, code }: { readonly original: string; readonly code: "FLT1211" | "FLT1212" },
): Judgement =>
  denied(code, `${path} says word for word what ${original} said before that was taken back; ${signedAnew}`);

type Counting = Extract<Judgement, { readonly kind: "counts" }>;

type Words = Pick<ApprovalFile, "digest" | "principal" | "comment">;

const speakerOf = ({ digest, principal }: Pick<Words, "digest" | "principal">): string => `${digest} ${principal}`;
const wordsOf = (file: Words): string => `${speakerOf(file)}\n${file.comment}`;
