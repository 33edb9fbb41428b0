import { setTimeout as pause } from "node:timers/promises";
import type { ForgeFinding, ForgeReview, ReviewQuestion } from "../../core/model/forge.ts";
import type { Json } from "../../core/model/json.ts";
import { type Ask, Unanswered } from "./client.ts";
import type { Dialect } from "./dialect.ts";
import { idAt, listIn, textAt } from "./json-at.ts";
import { type MergedPull, mergedPullIn } from "./pull.ts";

/** The repository and branch that are asked about. */
export interface Place {
  /** For messages. */
  readonly name: string;
  /** Of the repository, in the API. */
  readonly path: string;
  /** `owner/repository`. */
  readonly full: string;
  readonly branch: string;
}

/** With what the forge is asked. */
export interface Desk {
  readonly ask: Ask;
  readonly dialect: Dialect;
  readonly place: Place;
  readonly lagMs: number;
}

/** Why no review counts. Thrown and caught here. */
class NoReview extends Error {}

/**
 * Finds the reviews that are all of `security.md` §2.4.1, or says which of it is missing and what to do.
 *
 * The pull request is the one whose merge git itself shows to have brought the file; what the forge adds is who looked at
 * it. Who merged it does not matter.
 */
export async function findReviews(question: ReviewQuestion, desk: Desk): Promise<ForgeFinding> {
  try {
    await assureRules(desk);
    const pull = await pullOf(question, desk);
    const pusher = await lastPusherOf(pull, question, desk);
    const blob = await reviewedBlob(pull, question, desk);
    return { kind: "reviewed", reviews: await reviewsOf(pull, { pusher, blob }, desk) };
  } catch (error) {
    if (error instanceof NoReview) return { kind: "none", because: error.message };
    throw error;
  }
}

async function assureRules({ ask, dialect, place }: Desk): Promise<void> {
  const missing = await dialect.missing(ask, place.path, place.branch);
  if (missing.length === 0) return;
  throw new NoReview(`branch ${place.branch} of ${place.name} asks for too little; switch on ${missing.join(", ")}`);
}

/** The merged pull request that brought the file. A merge may be seen in git a moment before the forge knows of it. */
async function pullOf(question: ReviewQuestion, { ask, dialect, place, lagMs }: Desk): Promise<MergedPull> {
  let found: readonly Json[] = [];
  for (const wait of [0, lagMs / 2, lagMs / 2]) {
    if (wait > 0) await pause(wait);
    found = await dialect.pulls(ask, place.path, question);
    const pull = found.flatMap((it) => mergedPullIn(it) ?? []).find((it) => isOf(it, question, place));
    if (pull !== undefined) return pull;
  }
  const short = question.introducer.slice(0, 12);
  const others = found.flatMap((it) => idAt(it, "number") ?? []).map((it) => `#${it}`);
  const known = others.length === 0 ? "" : ` (${others.join(", ")} did not)`;
  throw new NoReview(
    `no pull request brought commit ${short} to ${place.branch} of ${place.name} by being merged${known}; ` +
      "open one with the file, have it reviewed, and merge it",
  );
}

const isOf = ({ base, baseRepository, merge }: MergedPull, { arrival }: ReviewQuestion, place: Place): boolean =>
  base === place.branch && baseRepository.toLowerCase() === place.full.toLowerCase() && merge === arrival;

/** The accounts of the last commit; the file has to be of the pull request's own commits, or of the one that they became. */
async function lastPusherOf(
  pull: MergedPull,
  { introducer }: ReviewQuestion,
  desk: Desk,
): Promise<ReadonlySet<string | null>> {
  const commits = await listOf(`/pulls/${pull.number}/commits`, desk);
  const ids = commits.map((it) => textAt(it, "sha"));
  if (introducer !== pull.merge && !ids.includes(introducer))
    throw new NoReview(
      `commit ${introducer.slice(0, 12)} is not what ${wordsOf(pull)} became; rebased with others, the file goes into the last commit`,
    );
  const last = commits.find((it) => textAt(it, "sha") === pull.head);
  if (last === undefined)
    throw new NoReview(`${wordsOf(pull)} has no commit ${pull.head.slice(0, 12)}, which is said to be its last`);
  return new Set([idAt(last, "author", "id"), idAt(last, "committer", "id")]);
}

async function reviewedBlob({ head }: MergedPull, { path, blob }: ReviewQuestion, desk: Desk): Promise<string> {
  const at = path.split("/").map(encodeURIComponent).join("/");
  const file = await desk.ask(`${desk.place.path}/contents/${at}?ref=${head}`);
  if (file !== null && textAt(file, "type") === "file" && textAt(file, "sha") === blob) return blob;
  throw new NoReview(`what was reviewed, ${head.slice(0, 12)}, does not hold ${path} as it is now; write a new file`);
}

interface Reviewed {
  readonly pusher: ReadonlySet<string | null>;
  readonly blob: string;
}

async function reviewsOf(pull: MergedPull, about: Reviewed, desk: Desk): Promise<readonly ForgeReview[]> {
  const { dialect, place } = desk;
  const reviews = await listOf(`/pulls/${pull.number}/reviews`, desk);
  const last = new Map<string, Json>();
  for (const it of inTime(reviews)) {
    const account = idAt(it, "user", "id");
    if (account !== null && dialect.opinion(it) !== "remark") last.set(account, it);
  }
  const flaws: string[] = [];
  const good: ForgeReview[] = [];
  for (const [account, it] of last) {
    const flaw = flawOf(it, { account, pull, pusher: about.pusher, dialect });
    const number = idAt(it, "id") ?? "";
    if (flaw !== null) flaws.push(`review ${number} of ${dialect.forge}:${account} ${flaw}`);
    else {
      const source = `review ${number} of pull request ${pull.number} on ${place.name}`;
      good.push({ forge: dialect.forge, account, blob: about.blob as ForgeReview["blob"], source });
    }
  }
  if (good.length > 0) return good;
  const why = flaws.length === 0 ? "nobody approved it" : flaws.slice(0, mostFlaws).join(", ");
  throw new NoReview(`of ${wordsOf(pull)} no review counts: ${why}; have a new file reviewed in a new pull request`);
}

/** So many reviews that do not count are told of. */
const mostFlaws = 5;

interface Judged {
  readonly account: string;
  readonly pull: MergedPull;
  readonly pusher: ReadonlySet<string | null>;
  readonly dialect: Dialect;
}

/** Why somebody's last word about a pull request is no proof; null when it is one. */
function flawOf(review: Json, { account, pull, pusher, dialect }: Judged): string | null {
  if (dialect.opinion(review) !== "approved") return "is dismissed or asks for changes";
  if (textAt(review, "commit_id") !== pull.head)
    return `is of another commit than ${pull.head.slice(0, 12)}, which was merged`;
  if (!(timeOf(review) <= pull.mergedAt)) return "came after the merge";
  if (account === pull.author) return "is by the author of the pull request";
  if (pusher.has(account)) return "is by the author of its last commit";
  return null;
}

/** Not a number where there is none: that is never in time. */
const timeOf = (review: Json): number => Date.parse(textAt(review, "submitted_at") ?? "");

const inTime = (reviews: readonly Json[]): readonly Json[] =>
  [...reviews].sort((a, b) => timeOf(a) - timeOf(b) || Number(idAt(a, "id")) - Number(idAt(b, "id")));

const wordsOf = ({ number }: MergedPull): string => `pull request ${number}`;

const mostPages = 5;

/** All of a list, page by page. One that is too long is not looked at in part. */
async function listOf(path: string, { ask, dialect, place }: Desk): Promise<readonly Json[]> {
  const { size, parameter } = dialect.page;
  const all: Json[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const some = listIn(await ask(`${place.path}${path}?${parameter}=${size}&page=${page}`));
    if (some === null) throw new Unanswered(`${place.name} does not show ${path}`);
    all.push(...some);
    if (some.length < size) return all;
  }
  throw new NoReview(`${path.slice(1)} has more than ${mostPages * size} entries; use a smaller pull request`);
}
