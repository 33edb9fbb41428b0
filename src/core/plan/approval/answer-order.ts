import type { World } from "../../model/plan.ts";
import type { AnswerRecord, ApprovalFile, Judgement, Proof } from "../../model/trust.ts";
import { denied } from "../../trust/denial.ts";

// The newest answer of a person to a request counts. This file keeps the order of answers.

/** Answers in the order of their commits. Of those in one commit, what revokes or rejects comes last. */
export function inCommitOrder(
  heard: readonly AnswerRecord[],
  { history }: Pick<World, "history">,
): readonly AnswerRecord[] {
  const places = new Map(history.news.map((it, at) => [it, at]));
  const placeOf = ({ commit }: AnswerRecord): number => (commit === null ? -1 : (places.get(commit) ?? -1));
  const isBack = ({ file }: AnswerRecord): number => (file.decision === "Approve" ? 0 : 1);
  return [...heard].sort((a, b) => placeOf(a) - placeOf(b) || isBack(a) - isBack(b));
}

/** Records new answers one after the other: each with its order, and judged again in case it repeats an older one. */
type AnswerRecorder = (answer: AnswerRecord) => AnswerRecord;

/**
 * Records answers after those that were given before.
 *
 * The signature inside of a file, or a review of it, holds for every copy of the file, and may be older than what took it
 * back: nobody else brings a yes back by copying it. A commit of theirs is a new word, and so are other words. Taken back
 * is what they revoked, and what was taken away: `isTakenAway` says so of what came and went unseen.
 */
export function answerRecorder(
  answers: Iterable<AnswerRecord>,
  isTakenAway: (file: ApprovalFile) => boolean = () => false,
): AnswerRecorder {
  let last = 0;
  const taken = new Set<string>();
  const away = new Set<string>();
  const first = new Map<string, string>();
  // Somebody may push thousands of files, so look at each once.
  const note = ({ file, judgement, order }: AnswerRecord): void => {
    last = Math.max(last, order);
    if (file.decision === "Revoke" && judgement.kind === "counts") taken.add(speakerKey(file));
    if (file.decision === "Approve" && !first.has(statementKey(file))) first.set(statementKey(file), file.path);
    if (isAway({ file, judgement })) away.add(statementKey(file));
  };
  const weighed = ({ file, judgement }: AnswerRecord): Judgement => {
    const original = first.get(statementKey(file));
    if (file.decision !== "Approve" || judgement.kind === "denied") return judgement;
    const isAwayNow = away.has(statementKey(file)) || isTakenAway(file);
    if (!isAwayNow && (original === undefined || !taken.has(speakerKey(file)))) return judgement;
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
 * Approvals that repeat one that was removed, and that their author did not commit themselves: a copy is worth no more than
 * its original. Gives those that counted until now, with their new judgement.
 */
export function withdrawnCopies(answers: ReadonlyMap<string, AnswerRecord>): readonly AnswerRecord[] {
  const away = new Map([...answers.values()].filter(isAway).map(({ file }) => [statementKey(file), file.path]));
  if (away.size === 0) return [];
  return [...answers.values()].flatMap((it): readonly AnswerRecord[] => {
    const { file, judgement } = it;
    const original = away.get(statementKey(file));
    if (original === undefined || file.decision !== "Approve" || judgement.kind === "denied") return [];
    return signedByCommit(judgement).length > 0
      ? []
      : [{ ...it, judgement: copied(file.path, { original, code: "FLT1212" }) }];
  });
}

const isAway = ({ file, judgement }: Pick<AnswerRecord, "file" | "judgement">): boolean =>
  file.decision === "Approve" && judgement.kind === "denied" && judgement.code === "FLT1212";

const signedByCommit = ({ proofs }: Counting): readonly Proof[] => proofs.filter((it) => it.evidence === "commit");

/** How to give an approval again that was taken back. */
export const howToRenew = "give it again in a commit of your own, or with another comment";

const copied = (
  path: string,
  { original, code }: { readonly original: string; readonly code: "FLT1211" | "FLT1212" },
): Judgement =>
  denied(code, `${path} says word for word what ${original} said before that was taken back; ${howToRenew}`);

type Counting = Extract<Judgement, { readonly kind: "counts" }>;

type Statement = Pick<ApprovalFile, "digest" | "principal" | "comment">;

const speakerKey = ({ digest, principal }: Pick<Statement, "digest" | "principal">): string => `${digest} ${principal}`;
const statementKey = (file: Statement): string => `${speakerKey(file)}\n${file.comment}`;
