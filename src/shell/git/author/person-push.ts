import type { DeliveryObjection } from "../../reconcile/ports.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { type CaughtUp, catchUp, isWithin, keepingPull, takeBack } from "./catch-up.ts";
import { type PersonGit, printed, printedOrNull } from "./person-git.ts";

/** A branch of a remote. */
export interface PushTarget {
  readonly remote: string;
  readonly ref: string;
}

/** Where a branch goes when it is pushed: to the remote that `git push` would choose. `branch` null: none is checked out. */
export async function pushTarget(git: PersonGit, branch: string | null, during: string): Promise<PushTarget> {
  const of = (key: string): Promise<string | null> =>
    branch === null ? Promise.resolve(null) : printedOrNull(git, ["config", `branch.${branch}.${key}`], { during });
  const followed = await of("remote");
  const preset = await printedOrNull(git, ["config", "remote.pushDefault"], { during });
  const chosen = (await of("pushRemote")) ?? preset ?? followed;
  const remote = chosen === null || chosen === "." ? "origin" : chosen;
  if ((await printedOrNull(git, ["remote", "get-url", "--push", remote], { during })) === null) {
    const fix = "add it (git remote add), or leave --push and --pr out";
    throw repositoryFault("RepositoryRefused", during, `there is no remote ${remote} to push to`, { fix });
  }
  const merge = remote === followed ? await of("merge") : null;
  return { remote, ref: merge ?? `refs/heads/${branch ?? ""}` };
}

/** What the server said to a push. `fix`: what to do when it refuses. */
export async function pushOnce(git: PersonGit, remote: string, refspec: string, fix: string): Promise<string> {
  const { during, code, complaint } = await asked(git, remote, refspec);
  if (code === 0) return complaint;
  throw repositoryFault("RepositoryRefused", during, complaint, { fix });
}

async function asked(git: PersonGit, remote: string, refspec: string) {
  const during = `pushing to ${remote}`;
  return { during, ...(await git(["push", "--no-progress", remote, refspec], { during })) };
}

/** How often a push that came too late is tried again. */
const triesAgain = 3;

/** A server's words where two pushes met at the very same moment. */
const contended = /cannot lock ref|failed to update ref|incorrect old value/;

/** A commit that was pushed. */
export interface Pushed {
  readonly commit: string;
  /** How it got past what others had pushed; null where nobody had. */
  readonly way: CaughtUp["way"] | null;
}

/**
 * Pushes the head of the branch that is checked out. Where others were faster, it is brought onto what they pushed
 * ({@link catchUp}) and pushed again, at most three times.
 *
 * `objection` is asked before that: what speaks against it by now, with what to do. Then nothing is pushed, and our
 * commit is taken back.
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
    const { code, complaint, during } = await asked(git, remote, `${commit}:${ref}`);
    if (code === 0) return at;
    const theirs = await headAt(git, remote, ref);
    const isOvertaken = theirs !== null && !(await isWithin(git, theirs, commit, during));
    const fix = `it is committed here as ${commit.slice(0, 10)}: ${isOvertaken ? keepingPull : refusedFix(remote)}`;
    if (again === triesAgain || !(isOvertaken || contended.test(complaint)))
      throw repositoryFault("RepositoryRefused", during, complaint, { fix });
    const against = await objection();
    if (against !== null) {
      const ours = at.way === "merged" ? first : commit;
      const left = await takeBack(git, { head: commit, ours }, during);
      throw repositoryFault("RepositoryRefused", during, against.message, { fix: `${left}: ${against.fix}` });
    }
    if (theirs !== null && isOvertaken) at = await catchUp(git, commit, theirs, `bringing in what ${remote} has`);
  }
}

const refusedFix = (remote: string): string =>
  "see what the server says above, then git push; " +
  `where nobody may push, git push ${remote} HEAD:refs/heads/<new branch> and open a pull request`;

/** Where a branch is by now, with its commits brought here; null where that cannot be had. */
async function headAt(git: PersonGit, remote: string, ref: string): Promise<string | null> {
  const during = `fetching from ${remote}`;
  // Not FETCH_HEAD, which other fetches write as well.
  const own = `refs/flotilla/fetched-${process.pid}`;
  const { code } = await git(["fetch", "--quiet", "--no-tags", remote, `+${ref}:${own}`], { during });
  if (code !== 0) return null;
  const head = await printed(git, ["rev-parse", own], { during });
  await git(["update-ref", "-d", own], { during });
  return head;
}
