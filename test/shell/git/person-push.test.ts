// A person's commit that is pushed after others were faster, with real git and a real key.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openAuthor } from "../../../src/shell/git/author/author.ts";
import type { AuthoredFile, DeliveryObjection } from "../../../src/shell/reconcile/ports.ts";
import { type Clone, clonesWith } from "./clone.ts";
import { gitIn } from "./hub.ts";

const clones = clonesWith({ "clusters/east.yaml": "east\n", "notes.txt": "one\n" });
let place: Clone;
let rival: string;
beforeEach(() => {
  place = clones();
  rival = join(place.hub.folder, "rival");
  gitIn(place.hub.folder, ["clone", "--quiet", "hub.git", "rival"]);
  const key = join(place.hub.folder, "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  git("config", "gpg.format", "ssh");
  git("config", "user.signingKey", `${key}.pub`);
});
afterEach(() => place.remove());

const git = (...args: readonly string[]): string => place.git(...args);
const inHub = (...args: readonly string[]): string => place.inHub(...args);
const status = (): string => git("status", "--porcelain");

/** Somebody else pushes a file. */
function others(path: string, text: string): string {
  gitIn(rival, ["pull", "--quiet"]);
  mkdirSync(dirname(join(rival, path)), { recursive: true });
  writeFileSync(join(rival, path), text);
  gitIn(rival, ["add", "."]);
  gitIn(rival, ["commit", "--quiet", "-m", `Write ${path}`]);
  gitIn(rival, ["push", "--quiet", "origin", "main"]);
  return gitIn(rival, ["rev-parse", "HEAD"]);
}

/** Somebody else is faster each time that we push: as often as `times` says. Gives a count of our pushes. */
function alwaysFaster(times: number): () => number {
  const hook = join(place.path, ".git/hooks/pre-push");
  const log = join(place.hub.folder, "pushes");
  mkdirSync(dirname(hook), { recursive: true });
  const push = `git -C ${rival} commit --quiet --allow-empty -m "Faster" && git -C ${rival} push --quiet origin main`;
  const alone = "unset $(git rev-parse --local-env-vars)";
  writeFileSync(hook, `#!/bin/sh\necho x >> ${log}\n[ $(wc -l < ${log}) -gt ${times} ] || { ${alone}; ${push}; }\n`);
  chmodSync(hook, 0o755);
  for (const [key, value] of Object.entries({ "user.name": "Eve", "user.email": "eve@example.com" }))
    gitIn(rival, ["config", key, value]);
  return () => readFileSync(log, "utf8").length / 2;
}

const fresh: AuthoredFile = { path: "approvals/r.yaml", text: "fine by me\n", before: null };
const edited: AuthoredFile = { path: "clusters/east.yaml", text: "east, tainted\n", before: "east\n" };

const push = async (
  files: readonly AuthoredFile[],
  more: { signed?: boolean; objection?: () => Promise<DeliveryObjection | null> } = {},
) => {
  const { signed = true, objection } = more;
  const delivery = { kind: "push" as const, ...(objection === undefined ? {} : { objection }) };
  return (await openAuthor(place.path)).commit({ files, message: "Do it\n\nFor a reason", signed, delivery });
};
const refusal = (message: RegExp, fix: RegExp) =>
  expect.objectContaining({
    code: "RepositoryRefused",
    message: expect.stringMatching(message),
    fix: expect.stringMatching(fix),
  });
const isSigned = (commit: string): boolean => inHub("cat-file", "commit", commit).includes("BEGIN SSH SIGNATURE");

describe("a push that others were faster than", () => {
  test("makes the commit anew on top of theirs, signed as it was, and touches nothing else that is under way", async () => {
    const theirs = others("runs/other.yaml", "other\n");
    place.write("notes.txt", "mine, staged\n");
    git("add", "notes.txt");
    place.write("new.txt", "mine\n");
    const before = status();
    const done = await push([fresh, edited]);
    expect([done.integrated, inHub("rev-parse", "main"), inHub("rev-parse", "main~1")]).toEqual([
      "rebased",
      done.commit,
      theirs,
    ]);
    expect(inHub("show", "--format=%an: %B", "--name-status", "main")).toBe(
      "Ada: Do it\n\nFor a reason\n\n\nA\tapprovals/r.yaml\nM\tclusters/east.yaml",
    );
    expect(isSigned("main")).toBe(true);
    expect([git("rev-parse", "HEAD"), git("branch", "--show-current"), status()]).toEqual([
      done.commit,
      "main",
      before,
    ]);
    expect(readFileSync(join(place.path, "runs/other.yaml"), "utf8")).toBe("other\n");
  });

  test("keeps the message as it was, whatever git is set up to show of signatures", async () => {
    others("runs/other.yaml", "other\n");
    git("config", "log.showSignature", "true");
    const { commit } = await push([fresh]);
    expect(inHub("cat-file", "commit", commit).replace(/^[\s\S]*?\n\n/, "")).toBe("Do it\n\nFor a reason");
  });

  test("leaves a commit without a signature where the person signs nothing", async () => {
    others("runs/other.yaml", "other\n");
    const done = await push([fresh], { signed: false });
    expect([done.integrated, isSigned("main")]).toEqual(["rebased", false]);
  });

  test("merges where more waits to be pushed than the commit: every signature stays", async () => {
    place.write("mine.txt", "mine\n");
    git("add", "mine.txt");
    git("commit", "--quiet", "-S", "-m", "Mine");
    const theirs = others("runs/other.yaml", "other\n");
    const done = await push([fresh]);
    expect([done.integrated, inHub("rev-parse", "main", "main^2")]).toEqual(["merged", `${done.commit}\n${theirs}`]);
    expect(inHub("log", "--format=%s", "--first-parent", "main")).toBe(
      "Merge what others pushed meanwhile\nDo it\nMine\nfirst",
    );
    expect([isSigned("main^1"), isSigned("main^1^1"), status()]).toEqual([true, true, ""]);
  });

  test("merges where git is set up to fast-forward alone, as nothing else could bring both together", async () => {
    git("config", "merge.ff", "only");
    git("commit", "--quiet", "--allow-empty", "-m", "Mine");
    const theirs = others("runs/other.yaml", "other\n");
    const done = await push([fresh]);
    expect([done.integrated, inHub("rev-parse", "main", "main^2")]).toEqual(["merged", `${done.commit}\n${theirs}`]);
  });

  test.each([1, 2, 3])("tries again as long as somebody is faster: %i times", async (times) => {
    const pushes = alwaysFaster(times);
    const done = await push([fresh]);
    expect([pushes(), inHub("rev-parse", "main"), isSigned("main")]).toEqual([times + 1, done.commit, true]);
    expect(inHub("rev-list", "--count", "main")).toBe(String(times + 2));
  });

  test("gives up after the third, and names the command that keeps the signature; it works", async () => {
    const pushes = alwaysFaster(9);
    await expect(push([fresh])).rejects.toEqual(
      refusal(/rejected/, /^it is committed here as [0-9a-f]{10}: git pull --no-rebase .*then git push$/),
    );
    expect(pushes()).toBe(4);
    rmSync(join(place.path, ".git/hooks/pre-push"));
    git("pull", "--quiet", "--no-rebase", "--no-edit");
    git("push", "--quiet");
    expect(inHub("log", "--format=%s", "--", "approvals/r.yaml")).toBe("Do it");
    expect(isSigned(inHub("rev-list", "--max-count=1", "main", "--", "approvals/r.yaml"))).toBe(true);
  });
});

describe("nothing is pushed, and the commit is taken back", () => {
  const gone = (): void => {
    expect([status(), git("log", "--format=%s", "-1"), existsSync(join(place.path, fresh.path))]).toEqual([
      "",
      "first",
      false,
    ]);
    expect(inHub("log", "--format=%s", "-1", "main")).toMatch(/^Write /);
  };

  test("where something speaks against it by then", async () => {
    others("runs/other.yaml", "other\n");
    const objection = async () => ({ message: "it is not asked for any more", fix: "look again" });
    await expect(push([fresh], { objection })).rejects.toEqual(
      refusal(/^it is not asked for any more$/, /^nothing was committed or pushed: look again$/),
    );
    gone();
  });

  test("where it is not signed again, as somebody who enters no passphrase has it", async () => {
    others("runs/other.yaml", "other\n");
    const program = join(place.hub.folder, "sign-once");
    writeFileSync(
      program,
      `#!/bin/sh\n[ -e "$0.used" ] && { echo "no passphrase" >&2; exit 1; }\ntouch "$0.used"\nexec ssh-keygen "$@"\n`,
    );
    chmodSync(program, 0o755);
    git("config", "gpg.ssh.program", program);
    await expect(push([fresh])).rejects.toEqual(
      refusal(/no passphrase/, /^nothing was committed or pushed: do what git says above, then run it again$/),
    );
    gone();
  });

  test("where that speaks against it only after what others pushed was merged", async () => {
    git("commit", "--quiet", "--allow-empty", "-m", "Mine");
    alwaysFaster(9);
    let asked = 0;
    const objection = async () => (++asked < 2 ? null : { message: "it is moot", fix: "look again" });
    await expect(push([fresh], { objection })).rejects.toEqual(
      refusal(/^it is moot$/, /^nothing was committed or pushed: look again$/),
    );
    expect([status(), git("log", "--format=%s"), existsSync(join(place.path, fresh.path))]).toEqual([
      "",
      "Mine\nfirst",
      false,
    ]);
  });

  test.each([
    ["another file", fresh, "approvals/r.yaml", "not by me\n"],
    ["the very same file", fresh, "approvals/r.yaml", "fine by me\n"],
    ["another edit", edited, "clusters/east.yaml", "west\n"],
    ["a folder", fresh, "approvals/r.yaml/x.yaml", "x\n"],
  ])("where others pushed %s at its path", async (_, file, path, text) => {
    others(path, text);
    await expect(push([file])).rejects.toEqual(
      refusal(
        /^others pushed changes to .*\.yaml in the meantime$/,
        /^nothing was committed or pushed: git pull, then run/,
      ),
    );
    gone();
  });
});

test("where files of the person's are in the way of what others pushed, all stays as it is, and that is said", async () => {
  others("new.txt", "theirs\n");
  place.write("new.txt", "mine\n");
  await expect(push([fresh])).rejects.toEqual(
    refusal(/new\.txt/, /^it is committed here as [0-9a-f]{10} and not pushed: .*git pull --no-rebase/),
  );
  expect([status(), git("log", "--format=%s", "-1"), readFileSync(join(place.path, "new.txt"), "utf8")]).toEqual([
    "?? new.txt",
    "Do it",
    "mine\n",
  ]);
});

/** The person goes on with the file that we wrote, while we push. */
function editedAmid(): void {
  const hook = join(place.path, ".git/hooks/pre-push");
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\necho "more by me" >> ${join(place.path, fresh.path)}\n`);
  chmodSync(hook, 0o755);
}

test.each([
  ["others pushed another file at its path", fresh.path, undefined, /^others pushed changes to approvals\/r\.yaml/],
  [
    "something speaks against it by then",
    "runs/other.yaml",
    { message: "it is moot", fix: "look again" },
    /^it is moot$/,
  ],
] as const)(
  "what the person made of the file meanwhile stays, and so does the commit, where %s",
  async (_, path, against, message) => {
    others(path, "not by me\n");
    editedAmid();
    const objection = async () => against ?? null;
    await expect(push([fresh], { objection })).rejects.toEqual(
      refusal(
        message,
        /^nothing was pushed, and it stays committed here as [0-9a-f]{10} \(git reset --soft [0-9a-f]{10} drops it\): /,
      ),
    );
    expect([readFileSync(join(place.path, fresh.path), "utf8"), git("log", "--format=%s", "-1")]).toEqual([
      "fine by me\nmore by me\n",
      "Do it",
    ]);
  },
);

test("where the branch cannot be moved, its index and work tree are not either", async () => {
  others("runs/other.yaml", "other\n");
  const hooks = join(place.path, ".git/hooks");
  mkdirSync(hooks, { recursive: true });
  const marker = join(place.hub.folder, "pushing");
  writeFileSync(join(hooks, "pre-push"), `#!/bin/sh\ntouch ${marker}\n`);
  const refuse = "grep -q refs/heads/main && { echo 'main is held' >&2; exit 1; }";
  writeFileSync(
    join(hooks, "reference-transaction"),
    `#!/bin/sh\n[ "$1" = prepared ] && [ -e ${marker} ] || exit 0\n${refuse}\nexit 0\n`,
  );
  for (const it of ["pre-push", "reference-transaction"]) chmodSync(join(hooks, it), 0o755);
  await expect(push([fresh])).rejects.toEqual(
    refusal(/main is held/, /^it is committed here as [0-9a-f]{10} and not pushed: .*git pull --no-rebase/),
  );
  expect([status(), git("log", "--format=%s", "-1")]).toEqual(["", "Do it"]);
});

test("no objection is asked for where nobody was faster", async () => {
  const done = await push([fresh], { objection: () => Promise.reject(new Error("asked")) });
  expect([done.integrated, inHub("rev-parse", "main")]).toEqual([null, done.commit]);
});
