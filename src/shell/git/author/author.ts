import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Fault } from "../../reconcile/fault.ts";
import type { Author, AuthoredChange, AuthoredCommit, AuthoredFile } from "../../reconcile/ports.ts";
import { addressOf } from "../model/address.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { gitOutput, gitOutputOrNull, literalPathspec, type PersonGit, personGit } from "./person-git.ts";
import { pullRequestPage, pushHead, pushOnce, pushTarget } from "./person-push.ts";
import { type PersonKey, personKey, personSignature } from "./person-signature.ts";
import { readWorkTree } from "./worktree.ts";

/** Opens the work tree that a folder lies in, for a person who has files written there. */
export async function openAuthor(folder: string): Promise<Author> {
  const during = `opening the work tree at ${folder}`;
  if (addressOf(folder, null).kind !== "path") {
    const fix = "clone it, and give the folder of the clone";
    throw repositoryFault("RepositoryUnsupported", during, "files are written in a work tree, not behind a URL", {
      fix,
    });
  }
  const git = personGit(resolve(folder));
  const answer = await git(["rev-parse", "--show-toplevel"], { during });
  if (answer.code !== 0) {
    const fix = "run it in a clone of the fleet's repository, or name one with --repo";
    throw repositoryFault("RepositoryNotFound", during, answer.stderr, { fix });
  }
  const top = answer.output.replace(/\r?\n$/, "");
  const branch = await gitOutputOrNull(git, ["symbolic-ref", "--quiet", "--short", "HEAD"], { during });
  return new WorkTreeAuthor(top, branch);
}

/** The email address of the author that `git commit` would use in a folder; null when git has none. */
export async function identityAt(folder: string): Promise<string | null> {
  const during = "asking git who you are";
  const asked = gitOutputOrNull(personGit(resolve(folder)), ["var", "GIT_AUTHOR_IDENT"], { during });
  return /<([^<>]+)>/.exec((await asked.catch(() => null)) ?? "")?.[1] ?? null;
}

/** The key with which git would sign a commit in a folder; null where none is configured, or its public half is not available. */
export const signingKeyAt = async (folder: string): Promise<PersonKey | null> => {
  const { name } = await openAuthor(folder);
  return personKey(personGit(name), name);
};

/** How many earlier versions of a file are read. */
const pastLimit = 50;

/** Earlier versions of a file on the current branch, the newest first. */
export async function pastTexts(folder: string, path: string): Promise<readonly string[]> {
  const during = `reading earlier versions of ${path}`;
  const git = personGit((await openAuthor(folder)).name);
  const commits = await gitOutputOrNull(git, ["log", `-n${pastLimit}`, "--format=%H", "--", literalPathspec(path)], {
    during,
  });
  const texts: string[] = [];
  for (const commit of commits?.split("\n") ?? []) {
    const { code, output } = await git(["cat-file", "blob", `${commit}:${path}`], { during });
    if (code === 0) texts.push(output);
  }
  return texts;
}

const nothingAgainst = async (): Promise<null> => null;

/** Path segments that cannot be part of a work tree file. */
const notAName = /^(?:\.{0,2}|\.git)$/i;

class WorkTreeAuthor implements Author {
  readonly name: string;
  readonly branch: string | null;
  readonly #git: PersonGit;

  constructor(name: string, branch: string | null) {
    this.name = name;
    this.branch = branch;
    this.#git = personGit(name);
  }

  files(): readonly { readonly path: string; readonly text: string }[] {
    // A byte order mark is part of the text: it is written back.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    return readWorkTree(this.name, (path) => /\.ya?ml$/i.test(path))
      .filter((it) => it.kind === "file")
      .map(({ path, bytes }) => ({ path, text: decoder.decode(bytes) }));
  }

  async sign(bytes: Uint8Array, namespace: string): Promise<string> {
    return personSignature(this.#git, this.name, bytes, namespace);
  }

  async commit(change: AuthoredChange): Promise<AuthoredCommit> {
    const during = `writing to ${this.name}`;
    for (const file of change.files) await this.#sureOf(file, during);
    const { delivery } = change;
    if (delivery.kind === "pullRequest") return this.#onItsOwn(change, delivery, during);
    const branch = this.branch ?? this.#detached(during);
    const target = delivery.kind === "push" ? await pushTarget(this.#git, branch, during) : null;
    const own = await this.#inPlace(change, during);
    if (target === null || delivery.kind !== "push")
      return { commit: own, branch, remote: null, page: null, integrated: null };
    const { commit, way } = await pushHead(this.#git, own, target, delivery.objection ?? nothingAgainst);
    return { commit, branch, remote: target.remote, page: null, integrated: way };
  }

  #detached(during: string): never {
    const fix = "check out the branch that is to have it (git switch main), or give --pr";
    throw repositoryFault("RepositoryRefused", during, "no branch is checked out", { fix });
  }

  /** Refuses to overwrite uncommitted work, or to write outside of the work tree. */
  async #sureOf({ path, before }: AuthoredFile, during: string): Promise<void> {
    const refuse = (message: string, fix: string): never => {
      throw repositoryFault("RepositoryRefused", during, message, { fix });
    };
    if (path.split("/").some((it) => notAName.test(it)))
      refuse(`${JSON.stringify(path)} is not a valid path for a file`, "correct spec.roots of fleet.yaml");
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at);
      const entry = await lstat(join(this.name, folder)).catch(() => null);
      if (entry !== null && !entry.isDirectory()) refuse(`${folder} is not a folder`, "move it out of the way");
    }
    // A dangling link reads like a missing file, and would be written through.
    const own = await lstat(join(this.name, path)).catch(() => null);
    if (own !== null && !own.isFile()) refuse(`${path} is not a regular file`, "move it out of the way");
    const there = await readFile(join(this.name, path), "utf8").catch(() => null);
    const status = await gitOutput(
      this.#git,
      ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--", literalPathspec(path)],
      {
        during,
      },
    );
    if (status !== "")
      refuse(`${path} has uncommitted changes (git status: ${status.slice(0, 2)})`, "commit or discard them first");
    if (before === null && there !== null) refuse(`${path} exists already`, "choose another name, or edit it");
    if (before !== null && there !== before) refuse(`${path} was changed in the meantime`, "run it again");
    const ignored = await this.#git(["check-ignore", "--quiet", "--", path], { during });
    if (ignored.code === 0) refuse(`${path} is ignored by git (.gitignore)`, "remove it from .gitignore");
  }

  /** Like `git commit` on the current branch. When git refuses, the files are restored. */
  async #inPlace({ files, message, signed = false }: AuthoredChange, during: string): Promise<string> {
    const paths = files.map((it) => literalPathspec(it.path));
    const fresh = files.filter((it) => it.before === null).map((it) => literalPathspec(it.path));
    const begun: AuthoredFile[] = [];
    try {
      for (const file of files) await this.#write(file, () => begun.push(file));
      if (fresh.length > 0) await gitOutput(this.#git, ["add", "--", ...fresh], { during });
      const how = ["--quiet", "--only", ...(signed ? ["-S"] : []), "--message", message];
      await gitOutput(this.#git, ["commit", ...how, "--", ...paths], { during });
    } catch (error) {
      if (fresh.length > 0)
        await this.#git(["rm", "--cached", "--quiet", "--ignore-unmatch", "--", ...fresh], { during });
      for (const { path, before } of begun)
        if (before === null) await rm(join(this.name, path), { force: true });
        else await writeFile(join(this.name, path), before);
      if (error instanceof Fault) throw error;
      const fix = "see that there is room, and that you may write there";
      throw repositoryFault("RepositoryRefused", during, (error as Error).message, { fix, cause: error });
    }
    return gitOutput(this.#git, ["rev-parse", "HEAD"], { during });
  }

  /** `onOpen`: from here on there is something to undo. A file that somebody else created meanwhile is not opened. */
  async #write({ path, text, before }: AuthoredFile, onOpen: () => void): Promise<void> {
    const full = join(this.name, path);
    if (text === null) {
      onOpen();
      await rm(full);
      return;
    }
    await mkdir(dirname(full), { recursive: true });
    const file = await open(full, before === null ? "wx" : "w");
    onOpen();
    await file.writeFile(text).finally(() => file.close());
  }

  /** As a commit on a new branch, without touching work tree and index. */
  async #onItsOwn(
    change: AuthoredChange,
    { branch, base }: { readonly branch: string; readonly base: string },
    during: string,
  ): Promise<AuthoredCommit> {
    const { remote } = await pushTarget(this.#git, this.branch, during);
    const ref = `refs/heads/${branch}`;
    if ((await gitOutputOrNull(this.#git, ["rev-parse", "--verify", "--quiet", ref], { during })) !== null) {
      const fix = `push it (git push ${remote} ${branch}) or delete it (git branch -D ${branch})`;
      throw repositoryFault("RepositoryRefused", during, `the branch ${branch} exists already`, { fix });
    }
    const parent = await gitOutput(this.#git, ["rev-parse", "--verify", "HEAD^{commit}"], { during });
    const commit = await this.#committed(change, await this.#tree(change.files, parent, during), { parent, during });
    await gitOutput(this.#git, ["update-ref", "-m", "flotilla", ref, commit, ""], { during });
    let said: string;
    try {
      said = await pushOnce(
        this.#git,
        remote,
        `${ref}:${ref}`,
        "nothing was changed here; see that you may push branches there, then run it again",
      );
    } catch (error) {
      await this.#git(["update-ref", "-d", ref, commit], { during });
      throw error;
    }
    const url = await gitOutput(this.#git, ["remote", "get-url", "--push", remote], { during });
    return { commit, branch, remote, page: pullRequestPage({ url, base, branch, said }), integrated: null };
  }

  /** The tree of `parent` with the files in it, made in an index of its own. */
  async #tree(files: readonly AuthoredFile[], parent: string, during: string): Promise<string> {
    const folder = await gitOutput(this.#git, ["rev-parse", "--absolute-git-dir"], { during });
    const index = join(folder, `flotilla-index-${process.pid}-${randomBytes(6).toString("hex")}`);
    const call = { during, environment: { GIT_INDEX_FILE: index } };
    try {
      await gitOutput(this.#git, ["read-tree", parent], call);
      for (const { path, text } of files) {
        if (text === null) {
          await gitOutput(this.#git, ["update-index", "--force-remove", "--", path], call);
          continue;
        }
        const blob = await gitOutput(this.#git, ["hash-object", "-w", "--stdin", "--path", path], {
          ...call,
          input: text,
        });
        const [mode = ""] = (
          await gitOutput(this.#git, ["ls-files", "--stage", "--", literalPathspec(path)], call)
        ).split(" ");
        const entry = `${mode === "" ? "100644" : mode},${blob},${path}`;
        await gitOutput(this.#git, ["update-index", "--add", "--cacheinfo", entry], call);
      }
      return await gitOutput(this.#git, ["write-tree"], call);
    } finally {
      await rm(index, { force: true });
    }
  }

  async #committed(
    { message, signed = false }: AuthoredChange,
    tree: string,
    { parent, during }: { readonly parent: string; readonly during: string },
  ): Promise<string> {
    // Unlike `git commit`, this one has to be told to sign.
    const asked = await gitOutputOrNull(this.#git, ["config", "--type=bool", "commit.gpgSign"], { during });
    const sign = signed || asked === "true" ? ["-S"] : [];
    return gitOutput(this.#git, ["commit-tree", ...sign, "-p", parent, "-F", "-", tree], {
      during,
      input: `${message}\n`,
    });
  }
}
