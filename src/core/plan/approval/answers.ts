import type { PathChange } from "../../model/commit.ts";
import type { ForgeFinding } from "../../model/history.ts";
import { remembered, sameMap } from "../../model/identity.ts";
import { type Ledger, maxTakenAway } from "../../model/ledger.ts";
import type { World } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import {
  type AnswerRecord,
  type ApprovalFile,
  type Denial,
  isApprovalPath,
  type StandingAnswers,
  type Trust,
} from "../../model/trust.ts";
import { compareText, type Digest } from "../../model/value.ts";
import { unsignedDenial } from "../../trust/count.ts";
import { denied } from "../../trust/denial.ts";
import { type ApprovalInput, judgeApproval, type OpenRequest } from "../../trust/judge-approval.ts";
import { newIntroducersOf } from "../authors/introducers.ts";
import { answerRecorder, howToRenew, inCommitOrder, withdrawnCopies } from "./answer-order.ts";

/** The open requests in the ledger, by digest. */
export type RequestsByDigest = ReadonlyMap<Digest, OpenRequest>;

/**
 * Judges every approval file that is new, by the trust file that was in force before it came, and keeps what was said
 * of the others (`trust/README.md#step-3` and `#step-12`; `#t-05`, `#t-08`).
 *
 * Without a trust file nothing is judged. What stands at a path was judged when it came there, whatever stands there
 * now: an approval that was touched since counts no more, and neither does what says the same elsewhere, so that nobody
 * puts back, or kept a copy of, what its author took away (`trust/README.md#t-43`). A rejection and a revocation stay.
 * What a forge could not be asked about is not judged: nothing follows from its silence.
 */
export function judgedAnswers(world: World, requests: (trust: Trust) => RequestsByDigest): Ledger["answers"] {
  const { intent, ledger } = world;
  const { answers: before, trust } = ledger;
  if (trust === null) return before;
  const fresh = intent.approvals.filter((it) => !before.has(it.path) && !isPending(it, world));
  const touched = touchedIn(before, world);
  if (fresh.length + touched.length === 0) return before;
  const open = requests(trust.trust);
  const gone = touched.filter(({ file }) => open.has(file.digest));
  if (fresh.length + gone.length === 0) return before;
  const answers = new Map(before);
  for (const it of gone) answers.set(it.file.path, { ...it, judgement: goneFrom(it.file, world) });
  const heard = fresh.map((file) => judged(file, world, { trust: trust.trust, open }));
  const hear = answerRecorder(answers.values(), (file) => isTakenAway(file, world) || wasTakenAway(file, ledger));
  for (const it of inCommitOrder(heard, world)) answers.set(it.file.path, hear(it));
  for (const it of withdrawnCopies(answers)) if (open.has(it.file.digest)) answers.set(it.file.path, it);
  return inOrder(answers);
}

/**
 * Approvals that count, and whose file came again, changed or went with a commit that is new in this pass; or that stands
 * there no more, as a merge may drop it in which no path is other than in all of its parents.
 */
function touchedIn(answers: Ledger["answers"], { intent, history }: World): readonly AnswerRecord[] {
  const counted = [...answers.values()].filter(
    ({ file, judgement }) => file.decision === "Approve" && judgement.kind === "counts",
  );
  if (counted.length === 0) return counted;
  const paths = newlyChanged(history);
  const standing = new Map(intent.approvals.map(({ path, blob }) => [path, blob]));
  return counted.filter(({ file }) => paths.has(file.path) || standing.get(file.path) !== file.blob);
}

/** What new commits changed: every path, and with it what stood there before, as `path blob`. */
const newlyChanged = remembered(
  ({ news, commits }: World["history"]): ReadonlySet<string> =>
    new Set(
      news.flatMap((it) => commits.get(it)?.changes.flatMap(({ path, before }) => [path, `${path} ${before}`]) ?? []),
    ),
);

/** Moving a file means nothing; removing or overwriting it takes the approval back. */
const goneFrom = (file: ApprovalFile, world: World): Denial =>
  isTakenAway(file, world) ||
  !newlyChanged(world.history).has(`${file.path} ${file.blob}`) ||
  !world.intent.approvals.some((it) => it.blob === file.blob)
    ? deniedAsTaken(file)
    : changed(file);

/** Whether a commit that is new takes what a file says from where it stood, and puts it nowhere else. */
const isTakenAway = ({ blob }: ApprovalFile, { history }: World): boolean =>
  history.news.some((it) => removedBy(history.commits.get(it)?.changes ?? []).some(({ before }) => before === blob));

/** Changes of one commit that take what an approval says away, and put it nowhere else where approvals are read. */
const removedBy = remembered((changes: readonly PathChange[]): readonly PathChange[] => {
  const meant = changes.filter((it) => isApprovalPath(it.path) && it.before !== it.after);
  const put = new Set(meant.map((it) => it.after));
  return meant.filter(({ before }) => before !== null && !put.has(before));
});

const wasTakenAway = ({ blob }: ApprovalFile, { takenAway }: Ledger): boolean =>
  takenAway.has(blob) || takenAway.size >= maxTakenAway;

/**
 * What was taken away, judged or not, so that nobody puts it back in a later pass (`trust/README.md#t-43`); but not what
 * answered something that is asked for no more. Nothing of it is left once nothing is asked for: whatever is asked later
 * has digests that nobody could have answered before.
 */
export function allTakenAway(world: World, requests: (trust: Trust) => RequestsByDigest): Ledger["takenAway"] {
  const { ledger, history } = world;
  const { answers, takenAway: before, trust } = ledger;
  const removed = trust === null ? [] : history.news.flatMap((it) => removedBy(history.commits.get(it)?.changes ?? []));
  if (removed.length + before.size === 0) return before;
  const open = trust === null ? new Map() : requests(trust.trust);
  if (open.size === 0) return none;
  const isOver = ({ path, before: blob }: PathChange): boolean => {
    const file = answers.get(path)?.file;
    return file !== undefined && file.blob === blob && !open.has(file.digest);
  };
  const found = removed.flatMap((it) => (it.before === null || isOver(it) ? [] : it.before));
  if (found.every((it) => before.has(it))) return before;
  return new Set([...new Set([...before, ...found])].slice(0, maxTakenAway).sort(compareText));
}

const none: Ledger["takenAway"] = new Set();

const isPending = ({ path }: ApprovalFile, { history }: World): boolean =>
  history.reviews.get(path)?.kind === "unavailable";

/** What an answer is judged by: the trust file in force, and the open requests. */
interface AnswerContext {
  readonly trust: Trust;
  readonly open: RequestsByDigest;
}

function judged(file: ApprovalFile, world: World, bench: AnswerContext): AnswerRecord {
  const scene = approvalInput(file, world, bench);
  return {
    file,
    judgement: judgeApproval(scene),
    commit: scene.introducers[0]?.commit ?? null,
    at: world.now,
    order: 0,
  };
}

/** All that a new approval file is judged by. */
export function approvalInput(file: ApprovalFile, world: World, { trust, open }: AnswerContext): ApprovalInput {
  const { intent, history, now } = world;
  return {
    file,
    files: intent.approvals,
    introducers: newIntroducersOf(file.path, file.blob, world),
    detached: history.detached.get(file.blob) ?? null,
    review: history.reviews.get(file.path) ?? null,
    request: open.get(file.digest) ?? null,
    trust,
    now,
  };
}

/**
 * The answers that are worth keeping once a pass has decided: those whose file is there, and those to what is still open,
 * so that nobody takes a rejection back by removing it. One whose request is there no more says so.
 *
 * `was` and `is` say what is, or was, asked for.
 */
export function keptAnswers(
  answers: Ledger["answers"],
  {
    was,
    is,
    files,
  }: { readonly was: RequestIndex; readonly is: RequestIndex; readonly files: readonly ApprovalFile[] },
): Ledger["answers"] {
  const paths = new Set(files.map((it) => it.path));
  const next = new Map<string, AnswerRecord>();
  for (const [path, it] of answers) {
    const { digest } = it.file;
    if (!paths.has(path) && is.digests.get(digest)?.isOpen !== true) continue;
    const lost = it.judgement.kind === "counts" && !is.digests.has(digest) ? was.digests.get(digest) : undefined;
    // What was done as it was approved is not asked for any more, and there is nothing to be said about that.
    const isLost = lost !== undefined && (is.places.has(lost.place) || !lost.isDone);
    next.set(path, isLost ? { ...it, judgement: replaced(it.file, lost, is) } : it);
  }
  return sameMap(next, answers) ? answers : next;
}

/** What is, or was, requested. */
export interface RequestIndex {
  readonly digests: ReadonlyMap<Digest, IndexedRequest>;
  /** Every gate or change with a request, open or planned, with the UID of its run or placement. */
  readonly places: ReadonlyMap<IndexedRequest["place"], string>;
}

/** What a digest names. */
export interface IndexedRequest {
  /** Which gate or change, whatever run it is of: `run web, before stage prod`. */
  readonly place: string;
  readonly uid: string;
  readonly isOpen: boolean;
  /** It was approved, and the run is over; a change is forgotten only when all of it was made. */
  readonly isDone: boolean;
}

function replaced({ path }: ApprovalFile, { place, uid }: IndexedRequest, { places }: RequestIndex): Denial {
  const now = places.get(place);
  if (now === undefined) return denied("FLT1201", `${path} answered ${place}, which is not asked for any more`);
  const why = now === uid ? "what has to be met, or what would happen, is another now" : "it was created again";
  return denied("FLT1201", `${path} answered ${place} as it was before: ${why}; answer the request that is open`);
}

/** The approval files at this commit, and what the ledger held of them before this pass. */
export interface AnswersBefore extends StandingAnswers {
  readonly reviews: World["history"]["reviews"];
  readonly ledger: Pick<Ledger, "answers" | "sourceCommit">;
}

/**
 * Approvals that do not count, or not yet, as long as they stand there: each with why not and what to do. Of one to a
 * request that is over nothing is left to be done, whoever granted that.
 *
 * One that was judged is new in the pass that judges it. Where nothing is judged, all are new to every commit.
 */
export function answerReasons(
  ledger: Pick<Ledger, "answers" | "trust" | "hasTrust" | "sourceCommit">,
  { files, unsigned, reviews, ledger: before }: AnswersBefore,
  asked: Pick<RequestIndex, "digests">,
): readonly Reason[] {
  const { answers } = ledger;
  const isNewCommit = before.sourceCommit !== ledger.sourceCommit;
  const { digests } = asked;
  return files.flatMap((file): readonly Reason[] => {
    const record = answers.get(file.path);
    if (record === undefined && isUnsigned(ledger)) {
      const denial = unsignedAnswerDenial(file, { files, unsigned }, asked);
      return denial === null ? [] : [deniedReason(file, denial, isNewCommit)];
    }
    if (record === undefined) return pendingReasons(file, reviews.get(file.path));
    const denial = record.file.blob === file.blob ? record.judgement : changed(file);
    if (denial.kind === "counts" || digests.get(file.digest)?.isOpen === false) return [];
    return [deniedReason(file, denial, before.answers.get(file.path)?.judgement !== record.judgement)];
  });
}

const deniedReason = ({ path, principal }: ApprovalFile, { code, because }: Denial, isNew: boolean): Reason => ({
  ...{ kind: "answerDenied", isNew, path, principal, code },
  message: because,
});

const isUnsigned = ({ trust, hasTrust }: Pick<Ledger, "trust" | "hasTrust">): boolean => trust === null && !hasTrust;

/**
 * Why an answer does not count where nobody has to sign, as far as something can be done about it; null for any other. Only
 * there: nothing is judged, and no other record mentions it.
 */
export function unsignedDenialOf(
  file: ApprovalFile,
  ledger: Pick<Ledger, "answers" | "trust" | "hasTrust">,
  standing: StandingAnswers,
  asked: Pick<RequestIndex, "digests">,
): Denial | null {
  return isUnsigned(ledger) && !ledger.answers.has(file.path) ? unsignedAnswerDenial(file, standing, asked) : null;
}

function unsignedAnswerDenial(
  file: ApprovalFile,
  { files, unsigned }: StandingAnswers,
  { digests }: Pick<RequestIndex, "digests">,
): Denial | null {
  const request = digests.get(file.digest);
  if (request === undefined)
    return denied(
      "FLT1201",
      `${file.path} answers no request that is open; answer the one that flotilla describe run shows, in a new file`,
    );
  return request.isOpen ? unsignedDenial(file, files, { unsigned, hasTrust: false }) : null;
}

/** The line for an answer that does not count. */
export const deniedReasonOf = (file: ApprovalFile, denial: Denial): Reason => deniedReason(file, denial, false);

function pendingReasons({ path, principal }: ApprovalFile, found: ForgeFinding | undefined): readonly Reason[] {
  if (found?.kind !== "unavailable") return [];
  return [{ kind: "answerPending", path, principal, code: "FLT1240", message: found.because }];
}

const changed = ({ path }: ApprovalFile): Denial =>
  denied("FLT1211", `${path} was changed or taken away after it was judged; write a new file`);

const deniedAsTaken = ({ path }: ApprovalFile): Denial =>
  denied("FLT1212", `${path} was taken away, or written over, after it was judged; ${howToRenew}`);

const inOrder = (answers: ReadonlyMap<string, AnswerRecord>): Ledger["answers"] =>
  new Map([...answers].sort(([a], [b]) => (a < b ? -1 : 1)));
