import type { DeliveryObjection } from "../../reconcile/ports.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { type CaughtUp, catchUp, isAncestor, pullAdvice, undoCommit } from "./catch-up.ts";
import { gitOutput, gitOutputOrNull, type PersonGit } from "./person-git.ts";

interface PushTarget {
  readonly remote: string;
  readonly ref: string;
}

/** Where a branch is pushed: to the remote that `git push` would choose. `branch` null: none is checked out. */
export async function pushTarget(git: PersonGit, branch: string | null, during: string): Promise<PushTarget> {
  const of = (key: string): Promise<string | null> =>
    branch === null ? Promise.resolve(null) : gitOutputOrNull(git, ["config", `branch.${branch}.${key}`], { during });
  const followed = await of("remote");
  const preset = await gitOutputOrNull(git, ["config", "remote.pushDefault"], { during });
  const chosen = (await of("pushRemote")) ?? preset ?? followed;
  const remote = chosen === null || chosen === "." ? "origin" : chosen;
  if ((await gitOutputOrNull(git, ["remote", "get-url", "--push", remote], { during })) === null) {
    const fix = "add it (git remote add), or leave --push and --pr out";
    throw repositoryFault("RepositoryRefused", during, `there is no remote ${remote} to push to`, { fix });
  }
  const merge = remote === followed ? await of("merge") : null;
  return { remote, ref: merge ?? `refs/heads/${branch ?? ""}` };
}

/** Pushes, and gives the server's output. `fix`: what to do when it refuses. */
export async function pushOnce(git: PersonGit, remote: string, refspec: string, fix: string): Promise<string> {
  const { during, code, stderr } = await asked(git, remote, refspec);
  if (code === 0) return stderr;
  throw repositoryFault("RepositoryRefused", during, stderr, { fix });
}

async function asked(git: PersonGit, remote: string, refspec: string) {
  const during = `pushing to ${remote}`;
  return { during, ...(await git(["push", "--no-progress", remote, refspec], { during })) };
}

/** How often a push that lost a race is retried. */
const maxRetries = 3;

/** A server's errors when two pushes collide. */
const refLockErrors = /cannot lock ref|failed to update ref|incorrect old value/;

interface Pushed {
  readonly commit: string;
  /** How others' commits were integrated; null where there were none. */
  readonly way: CaughtUp["way"] | null;
}

/**
 * Pushes the head of the checked-out branch. Where others were faster, it is brought onto what they pushed ({@link
 * catchUp}) and pushed again, at most three times, unless `objection` says by then why not: our commit is taken back
 * then.
 */
export async function pushHead(
  git: PersonGit,
  first: string,
  { remote, ref }: PushTarget,
  objection: () => Promise<DeliveryObjection | null>,
): Promise<Pushed> {
  let at: Pushed = { commit: first, way: null };
  for (let again = 0; ; again++) {
    const { commit } = at;
    const { code, stderr, during } = await asked(git, remote, `${commit}:${ref}`);
    if (code === 0) return at;
    const theirs = await headAt(git, remote, ref);
    const isOvertaken = theirs !== null && !(await isAncestor(git, theirs, commit, during));
    const fix = `it is committed here as ${commit.slice(0, 10)}: ${isOvertaken ? pullAdvice : refusedFix(remote)}`;
    if (again === maxRetries || !(isOvertaken || refLockErrors.test(stderr)))
      throw repositoryFault("RepositoryRefused", during, stderr, { fix });
    const against = await objection();
    if (against !== null) {
      const ours = at.way === "merged" ? first : commit;
      const left = await undoCommit(git, { head: commit, ours }, during);
      throw repositoryFault("RepositoryRefused", during, against.message, { fix: `${left}: ${against.fix}` });
    }
    if (theirs !== null && isOvertaken) at = await catchUp(git, commit, theirs, `bringing in what ${remote} has`);
  }
}

const refusedFix = (remote: string): string =>
  "see what the server says above, then git push; " +
  `where nobody may push, git push ${remote} HEAD:refs/heads/<new branch> and open a pull request`;

/** The current head of a remote branch, fetched; null when it cannot be fetched. */
async function headAt(git: PersonGit, remote: string, ref: string): Promise<string | null> {
  const during = `fetching from ${remote}`;
  // Not FETCH_HEAD, which other fetches write as well.
  const own = `refs/flotilla/fetched-${process.pid}`;
  const { code } = await git(["fetch", "--quiet", "--no-tags", remote, `+${ref}:${own}`], { during });
  if (code !== 0) return null;
  const head = await gitOutput(git, ["rev-parse", own], { during });
  await git(["update-ref", "-d", own], { during });
  return head;
}

/** A branch that was pushed in order to be merged. */
interface PushedBranch {
  /** Where it was pushed to; may carry credentials, which go nowhere. */
  readonly url: string;
  readonly base: string;
  readonly branch: string;
  /** What the server said to the push. */
  readonly said: string;
}

/**
 * The page on which a pull request is opened; null when nobody can tell. Forges name it in their answer to a push;
 * those that did not are known by the names of their hosts.
 */
export function pullRequestPage({ url, base, branch, said }: PushedBranch): string | null {
  const named = said.split("\n").flatMap((line) => /^remote: .*?(https?:\/\/\S+)\s*$/.exec(line)?.[1] ?? []);
  return named.find((it) => pages.test(it)) ?? knownPage(url, base, branch);
}

const pages = /\/(?:pull|pulls|compare|merge_requests)\//;

function knownPage(url: string, base: string, branch: string): string | null {
  const [, host, path] = /^(?:\w+:\/\/)?(?:[^/@]*@)?([^/:]+)(?::\d+(?=\/))?[:/]\/?(.+?)(?:\.git)?\/?$/.exec(url) ?? [];
  if (host === undefined || path === undefined || !/^[\w.~/-]+$/.test(path)) return null;
  const [from, to] = [escaped(branch), escaped(base)];
  if (/^(?:github\.com$|github\.)/.test(host)) return `https://${host}/${path}/compare/${to}...${from}?expand=1`;
  if (/^(?:codeberg\.org$|gitea\.|forgejo\.)/.test(host)) return `https://${host}/${path}/compare/${to}...${from}`;
  if (!/^gitlab\./.test(host)) return null;
  const query = `merge_request%5Bsource_branch%5D=${from}&merge_request%5Btarget_branch%5D=${to}`;
  return `https://${host}/${path}/-/merge_requests/new?${query}`;
}

/** A branch's name in a URL: its slashes stay. */
const escaped = (branch: string): string => branch.split("/").map(encodeURIComponent).join("/");
