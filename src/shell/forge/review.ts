import { setTimeout as pause } from "node:timers/promises";
import type { ForgeFinding, ForgeReview, ReviewQuestion } from "../../core/model/history.ts";
import { type Json, memberAt } from "../../core/model/json.ts";
import { type ForgeApi, type ForgeGet, ForgeUnavailable, idAt, listIn, ResponseTooLarge, stringAt } from "./client.ts";

export interface ReviewTarget {
  /** For messages. */
  readonly name: string;
  /** Of the repository, in the API. */
  readonly path: string;
  /** `owner/repository`. */
  readonly full: string;
  readonly branch: string;
}

interface ReviewContext {
  readonly ask: ForgeGet;
  readonly dialect: ForgeApi;
  readonly place: ReviewTarget;
  readonly lagMs: number;
}

/** Why no review counts. Thrown and caught here. */
class NoReview extends Error {}

/**
 * Finds the reviews that are all of `trust/README.md#merged-pull-requests`, or says what is missing and what to do. Git
 * itself shows whose merge brought the file; the forge adds who looked at it, whoever merged it.
 */
export async function findReviews(question: ReviewQuestion, context: ReviewContext): Promise<ForgeFinding> {
  try {
    await assureRules(context);
    return { kind: "reviewed", reviews: await reviewsFor(question, { ...context, ask: withSizeLimit(context.ask) }) };
  } catch (error) {
    if (error instanceof NoReview) return { kind: "none", because: error.message };
    throw error;
  }
}

async function reviewsFor(question: ReviewQuestion, context: ReviewContext): Promise<readonly ForgeReview[]> {
  const pull = await pullOf(question, context);
  const commits = await listOf(`/pulls/${pull.number}/commits`, context);
  const last = lastOf(commits, pull, question);
  const pusher = new Set([idAt(last, "author", "id"), idAt(last, "committer", "id")]);
  await assureReviewed(pull, question, context);
  const reviews = await reviewsOf(pull, { pusher, blob: question.blob }, context);
  if (context.dialect.keepsReviewsOnNewBase) await assureShown({ pull, commits, last }, question, context);
  return reviews;
}

/** A pull request with too much text counts as not reviewed, instead of blocking its file, and all others, for ever. */
const withSizeLimit =
  (ask: ForgeGet): ForgeGet =>
  (path) =>
    ask(path).catch((error: unknown) => {
      if (error instanceof ResponseTooLarge) throw new NoReview(`${error.message}; use a smaller pull request`);
      throw error;
    });

async function assureRules({ ask, dialect, place }: ReviewContext): Promise<void> {
  const missing = await dialect.missing(ask, place.path, place.branch);
  if (missing.length === 0) return;
  throw new NoReview(`branch ${place.branch} of ${place.name} is not protected enough; enable ${missing.join(", ")}`);
}

/** The merged pull request that brought the file. A merge may be seen in git a moment before the forge knows of it. */
async function pullOf(question: ReviewQuestion, { ask, dialect, place, lagMs }: ReviewContext): Promise<MergedPull> {
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

const isOf = ({ base, baseRepository, merge }: MergedPull, { arrival }: ReviewQuestion, place: ReviewTarget): boolean =>
  base === place.branch && baseRepository.toLowerCase() === place.full.toLowerCase() && merge === arrival;

/** The last commit; the file has to be of the pull request's own commits, or of the one that they became. */
function lastOf(commits: readonly Json[], pull: MergedPull, { introducer }: ReviewQuestion): Json {
  const ids = commits.map((it) => stringAt(it, "sha"));
  if (introducer !== pull.merge && !ids.includes(introducer))
    throw new NoReview(
      `commit ${introducer.slice(0, 12)} is not what ${pullText(pull)} became; rebased with others, the file goes into the last commit`,
    );
  const last = commits.find((it) => stringAt(it, "sha") === pull.head);
  if (last === undefined)
    throw new NoReview(`${pullText(pull)} has no commit ${pull.head.slice(0, 12)}, which is said to be its last`);
  return last;
}

async function fileAt(path: string, commit: string, { ask, place }: ReviewContext): Promise<Json | null> {
  const at = path.split("/").map(encodeURIComponent).join("/");
  return ask(`${place.path}/contents/${at}?ref=${commit}`);
}

async function assureReviewed(
  { head }: MergedPull,
  { path, blob }: ReviewQuestion,
  context: ReviewContext,
): Promise<void> {
  const file = await fileAt(path, head, context);
  if (file !== null && stringAt(file, "type") === "file" && stringAt(file, "sha") === blob) return;
  throw new NoReview(
    `commit ${head.slice(0, 12)}, which was reviewed, does not contain ${path} as it is now; write a new file`,
  );
}

interface Shown {
  readonly pull: MergedPull;
  readonly commits: readonly Json[];
  readonly last: Json;
}

/**
 * That whoever reviewed has seen the file, whatever the base was then: somebody may offer it on top of a branch that has
 * the file already, and give the pull request its proper base once it is reviewed. Where it is one commit, which adds
 * the file, every base shows it.
 */
async function assureShown(
  { pull, commits, last }: Shown,
  { path }: ReviewQuestion,
  context: ReviewContext,
): Promise<void> {
  const parents = listIn(memberAt(last, "parents")) ?? [];
  const parent = parents.length === 1 && commits.length === 1 ? stringAt(parents[0] ?? null, "sha") : null;
  if (parent !== null && (await fileAt(path, parent, context)) === null) return;
  throw new NoReview(
    `${pullText(pull)} is not one commit that adds ${path}, so that its base may have hidden the file from who reviewed it; ` +
      "have a new file reviewed in a pull request of one commit",
  );
}

interface Reviewed {
  readonly pusher: ReadonlySet<string | null>;
  readonly blob: string;
}

async function reviewsOf(pull: MergedPull, about: Reviewed, context: ReviewContext): Promise<readonly ForgeReview[]> {
  const { dialect, place } = context;
  const reviews = await listOf(`/pulls/${pull.number}/reviews`, context);
  const last = new Map<string, Json>();
  for (const it of inTime(reviews)) {
    const account = idAt(it, "user", "id");
    if (account !== null && dialect.opinion(it) !== "remark") last.set(account, it);
  }
  const flaws: string[] = [];
  const good: ForgeReview[] = [];
  for (const [account, it] of last) {
    const flaw = objectionTo(it, { account, pull, pusher: about.pusher, dialect });
    const number = idAt(it, "id") ?? "";
    if (flaw !== null) flaws.push(`review ${number} of ${dialect.forge}:${account} ${flaw}`);
    else {
      const source = `review ${number} of pull request ${pull.number} on ${place.name}`;
      good.push({ forge: dialect.forge, account, blob: about.blob as ForgeReview["blob"], source });
    }
  }
  if (good.length > 0) return good;
  const why = flaws.length === 0 ? "nobody approved it" : flaws.slice(0, mostFlaws).join(", ");
  throw new NoReview(`no review of ${pullText(pull)} counts: ${why}; have a new file reviewed in a new pull request`);
}

/** How many reviews that do not count are listed. */
const mostFlaws = 5;

interface Judged {
  readonly account: string;
  readonly pull: MergedPull;
  readonly pusher: ReadonlySet<string | null>;
  readonly dialect: ForgeApi;
}

/** Why somebody's last review does not count; null when it does. */
function objectionTo(review: Json, { account, pull, pusher, dialect }: Judged): string | null {
  if (dialect.opinion(review) !== "approved") return "is dismissed or asks for changes";
  if (stringAt(review, "commit_id") !== pull.head)
    return `is for another commit than ${pull.head.slice(0, 12)}, which was merged`;
  if (!(timeOf(review) <= pull.mergedAt)) return "came after the merge";
  if (account === pull.author) return "is by the author of the pull request";
  if (pusher.has(account)) return "is by the author of its last commit";
  return null;
}

/** Later than anything where there is none: that is never in time, and nobody's word before it counts. */
function timeOf(review: Json): number {
  const time = Date.parse(stringAt(review, "submitted_at") ?? "");
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

const inTime = (reviews: readonly Json[]): readonly Json[] =>
  [...reviews].sort((a, b) => timeOf(a) - timeOf(b) || Number(idAt(a, "id")) - Number(idAt(b, "id")));

const pullText = ({ number }: MergedPull): string => `pull request ${number}`;

const mostPages = 5;

/**
 * All of a list, or nothing of one that is too long. A page with room left is not the last, since what we may not see
 * is left out of it (Gitea: reviews that nobody submitted yet): behind the last there is an empty one.
 */
async function listOf(path: string, { ask, dialect, place }: ReviewContext): Promise<readonly Json[]> {
  const { size, parameter } = dialect.page;
  const all: Json[] = [];
  for (let page = 1; page <= mostPages + 1; page++) {
    const some = listIn(await ask(`${place.path}${path}?${parameter}=${size}&page=${page}`));
    if (some === null) throw new ForgeUnavailable(`${place.name} does not show ${path}`);
    if (some.length === 0) return all;
    all.push(...some);
  }
  throw new NoReview(`${path.slice(1)} has more than ${mostPages} pages; use a smaller pull request`);
}

interface MergedPull {
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
function mergedPullIn(pull: Json): MergedPull | null {
  const number = idAt(pull, "number");
  const head = stringAt(pull, "head", "sha");
  const base = stringAt(pull, "base", "ref");
  const baseRepository = stringAt(pull, "base", "repo", "full_name");
  const merge = stringAt(pull, "merge_commit_sha");
  const mergedAt = Date.parse(stringAt(pull, "merged_at") ?? "");
  if (number === null || head === null || base === null || baseRepository === null) return null;
  if (merge === null || Number.isNaN(mergedAt)) return null;
  return { number, author: idAt(pull, "user", "id"), head, base, baseRepository, merge, mergedAt };
}
