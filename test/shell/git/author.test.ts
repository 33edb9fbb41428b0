import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identityAt, openAuthor } from "../../../src/shell/git/author/author.ts";
import type { AuthoredFile, Delivery } from "../../../src/shell/reconcile/ports.ts";
import { type Clone, clonesWith } from "./clone.ts";
import { gitIn, refusePushes } from "./hub.ts";

const clones = clonesWith({ "clusters/east.yaml": "east\n", "notes.txt": "one\n" });
let place: Clone;
beforeEach(() => {
  place = clones();
});
afterEach(() => place.remove());

const git = (...args: readonly string[]): string => place.git(...args);
const inHub = (...args: readonly string[]): string => place.inHub(...args);
const write = (path: string, text: string): void => place.write(path, text);
const read = (path: string): string => readFileSync(join(place.path, path), "utf8");

const fresh: AuthoredFile = { path: "runs/r.yaml", text: "run\n", before: null };
const edited: AuthoredFile = { path: "clusters/east.yaml", text: "east, tainted\n", before: "east\n" };

async function commit(files: readonly AuthoredFile[], delivery: Delivery = { kind: "commit" }) {
  return (await openAuthor(place.path)).commit({ files, message: "Do it", delivery });
}

const pullRequest: Delivery = { kind: "pullRequest", branch: "flotilla/r", base: "main" };
const refusal = (message: RegExp, code = "RepositoryRefused") =>
  expect.objectContaining({ code, message: expect.stringMatching(message), fix: expect.stringMatching(/./) });

describe("a commit in the work tree", () => {
  test("holds the files and nothing else that is changed or staged, in the name of the person", async () => {
    write("notes.txt", "two\n");
    git("add", "notes.txt");
    write("notes.txt", "three\n");
    write("new.txt", "");
    const before = git("status", "--porcelain");
    const { commit: id, branch } = await commit([fresh, edited]);
    expect(branch).toBe("main");
    expect(git("show", "--format=%H %an <%ae> %cn %s", "--name-status", "HEAD")).toBe(
      `${id} Ada <ada@example.com> Ada Do it\n\nM\tclusters/east.yaml\nA\truns/r.yaml`,
    );
    expect(git("status", "--porcelain")).toBe(before);
    expect([read("runs/r.yaml"), read("clusters/east.yaml"), read("notes.txt")]).toEqual([
      "run\n",
      "east, tainted\n",
      "three\n",
    ]);
    expect(inHub("rev-parse", "main")).toBe(git("rev-parse", "HEAD~1"));
  });

  test("may be the first one, from a folder inside, in a work tree without a remote", async () => {
    const lone = join(place.hub.folder, "lone");
    gitIn(place.hub.folder, ["init", "--quiet", "--initial-branch=trunk", lone]);
    gitIn(lone, ["config", "user.name", "Ada"]);
    gitIn(lone, ["config", "user.email", "ada@example.com"]);
    mkdirSync(join(lone, "inside"));
    const author = await openAuthor(join(lone, "inside"));
    await author.commit({ files: [fresh], message: "Do it", delivery: { kind: "commit" } });
    expect(gitIn(lone, ["show", "trunk:runs/r.yaml"])).toBe("run");
  });

  test("is signed where the person signs", async () => {
    const key = join(place.hub.folder, "key");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
    git("config", "gpg.format", "ssh");
    git("config", "user.signingKey", `${key}.pub`);
    git("config", "commit.gpgSign", "true");
    await commit([edited]);
    expect(git("cat-file", "commit", "HEAD")).toContain("BEGIN SSH SIGNATURE");
    await commit([fresh], pullRequest);
    expect(inHub("cat-file", "commit", "flotilla/r")).toContain("BEGIN SSH SIGNATURE");
  });

  test("leaves everything as it was when a hook of the person's refuses it", async () => {
    const hook = join(place.path, ".git/hooks/pre-commit");
    mkdirSync(join(place.path, ".git/hooks"), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\necho 'not on a Friday' >&2\nexit 1\n");
    chmodSync(hook, 0o755);
    await expect(commit([fresh, edited])).rejects.toEqual(refusal(/not on a Friday/));
    await expect(commit([{ ...edited, text: null }])).rejects.toEqual(refusal(/not on a Friday/));
    expect(git("status", "--porcelain")).toBe("");
    expect(existsSync(join(place.path, "runs/r.yaml"))).toBe(false);
    expect(git("log", "--format=%s")).toBe("first");
  });
});

test("a file that cannot be written is a fault, and the others are as they were", async () => {
  const unwritable = { ...fresh, path: `runs/${"r".repeat(300)}.yaml` };
  await expect(commit([edited, fresh, unwritable])).rejects.toEqual(refusal(/ENAMETOOLONG/));
  expect([git("status", "--porcelain"), git("log", "--format=%s")]).toEqual(["", "first"]);
});

test("a long complaint is cut without half a password left at its beginning", async () => {
  const hook = join(place.path, ".git/hooks/pre-commit");
  mkdirSync(join(place.path, ".git/hooks"), { recursive: true });
  const filler = "x".repeat((8 << 10) - "cret@host/".length);
  writeFileSync(hook, `#!/bin/sh\nprintf 'https://ada:secret@host/${filler}' >&2\nexit 1\n`);
  chmodSync(hook, 0o755);
  const refused = await commit([fresh]).catch((it: Error) => it.message);
  expect(refused).toMatch(/host\/x+$/);
  expect(refused).not.toMatch(/cret@/);
});

test("a path that looks like a pattern means itself", async () => {
  write("runs/[ab].yaml", "before\n");
  write("runs/a.yaml", "before\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "second");
  write("runs/a.yaml", "mine\n");
  await commit([{ path: "runs/[ab].yaml", text: "after\n", before: "before\n" }]);
  expect([git("show", "--format=", "--name-only"), git("status", "--porcelain")]).toEqual([
    "runs/[ab].yaml",
    " M runs/a.yaml",
  ]);
});

describe("what is refused, before anything is written", () => {
  const cases: readonly (readonly [string, () => void, AuthoredFile, RegExp])[] = [
    [
      "a file that was edited",
      () => write("clusters/east.yaml", "mine\n"),
      edited,
      /east\.yaml has uncommitted changes/,
    ],
    [
      "a file that was staged",
      () => {
        write("clusters/east.yaml", "mine\n");
        git("add", ".");
        write("clusters/east.yaml", "east\n");
      },
      edited,
      /east\.yaml has uncommitted changes/,
    ],
    [
      "a file that is there and was never committed",
      () => write("runs/r.yaml", "mine\n"),
      fresh,
      /uncommitted changes/,
    ],
    ["a new file where one is", () => {}, { ...edited, before: null }, /east\.yaml exists already/],
    ["a file that is not as it was read", () => {}, { ...edited, before: "west\n" }, /was changed in the meantime/],
    ["a file that git ignores", () => write(".gitignore", "runs\n"), fresh, /is ignored by git/],
    ["a way out of the work tree", () => symlinkSync("/tmp", join(place.path, "runs")), fresh, /runs is not a folder/],
    [
      "a path that leads out of it",
      () => {},
      { ...fresh, path: "../r.yaml" },
      /"\.\.\/r\.yaml" is not a valid path for a file/,
    ],
    ["a path into git's own folder", () => {}, { ...fresh, path: "x/.Git/r.yaml" }, /is not a valid path for a file/],
    ["a path from the root", () => {}, { ...fresh, path: "/r.yaml" }, /is not a valid path for a file/],
    [
      "a link that leads nowhere, which would be written through",
      () => {
        mkdirSync(join(place.path, "runs"));
        symlinkSync(join(place.hub.folder, "outside"), join(place.path, "runs/r.yaml"));
        git("add", ".");
        git("commit", "--quiet", "-m", "second");
      },
      fresh,
      /runs\/r\.yaml is not a regular file/,
    ],
    [
      "a work tree without a branch",
      () => void git("checkout", "--quiet", "--detach"),
      fresh,
      /no branch is checked out/,
    ],
  ];
  test.each(cases)("%s", async (_, prepare, file, message) => {
    prepare();
    const before = [git("status", "--porcelain"), git("rev-parse", "HEAD")];
    await expect(commit([file])).rejects.toEqual(refusal(message));
    expect([git("status", "--porcelain"), git("rev-parse", "HEAD")]).toEqual(before);
  });

  test("a push without a remote", async () => {
    git("remote", "remove", "origin");
    await expect(commit([fresh], { kind: "push" })).rejects.toEqual(refusal(/no remote origin/));
    expect(git("log", "--format=%s")).toBe("first");
  });

  test("a URL, and a folder without a repository", async () => {
    await expect(openAuthor("https://git.example/fleet.git")).rejects.toEqual(
      refusal(/in a work tree, not behind a URL/, "RepositoryUnsupported"),
    );
    await expect(openAuthor(place.hub.folder)).rejects.toEqual(refusal(/./, "RepositoryNotFound"));
  });
});

describe("pushing", () => {
  test("brings the branch that is checked out to the one that it follows", async () => {
    git("checkout", "--quiet", "-b", "mine", "--track", "origin/main");
    const { commit: id, remote } = await commit([fresh], { kind: "push" });
    expect([remote, inHub("rev-parse", "main")]).toEqual(["origin", id]);
  });

  test.each([
    ["remote.pushDefault", "fork"],
    ["branch.main.pushRemote", "fork"],
  ])("goes to a fork where the person's %s says so", async (key, value) => {
    gitIn(place.hub.folder, ["init", "--quiet", "--bare", "--initial-branch=main", "fork.git"]);
    git("remote", "add", "fork", "../fork.git");
    git("config", key, value);
    const before = inHub("rev-parse", "main");
    const { commit: id, remote } = await commit([fresh], { kind: "push" });
    expect([remote, gitIn(join(place.hub.folder, "fork.git"), ["rev-parse", "main"])]).toEqual(["fork", id]);
    expect(inHub("rev-parse", "main")).toBe(before);
  });

  test("that is refused leaves the commit here, and says so", async () => {
    refusePushes(place.hub, "protected");
    const pushed = commit([fresh], { kind: "push" });
    await expect(pushed).rejects.toEqual(refusal(/protected/));
    await expect(pushed).rejects.toHaveProperty("fix", expect.stringContaining("it is committed here as "));
    await expect(pushed).rejects.toHaveProperty("fix", expect.stringContaining("open a pull request"));
    expect(git("log", "--format=%s", "-1")).toBe("Do it");
  });
});

describe("a branch of its own", () => {
  test("is pushed, and work tree, index and branch stay as they are", async () => {
    write("notes.txt", "two\n");
    git("add", "notes.txt");
    const before = [git("status", "--porcelain"), git("rev-parse", "HEAD"), git("branch", "--show-current")];
    const { commit: id, branch, page } = await commit([fresh, edited], pullRequest);
    expect([branch, page, inHub("rev-parse", "flotilla/r")]).toEqual(["flotilla/r", null, id]);
    expect(inHub("show", "--format=%an %s", "--name-status", "flotilla/r")).toBe(
      "Ada Do it\n\nM\tclusters/east.yaml\nA\truns/r.yaml",
    );
    expect([git("status", "--porcelain"), git("rev-parse", "HEAD"), git("branch", "--show-current")]).toEqual(before);
    expect(existsSync(join(place.path, "runs"))).toBe(false);
  });

  test("that is there already is left alone", async () => {
    git("branch", "flotilla/r");
    await expect(commit([fresh], pullRequest)).rejects.toEqual(refusal(/the branch flotilla\/r exists already/));
    expect(inHub("branch", "--list", "flotilla/r")).toBe("");
  });

  test("goes again when the push is refused", async () => {
    refusePushes(place.hub, "protected");
    await expect(commit([fresh], pullRequest)).rejects.toEqual(refusal(/protected/));
    expect(git("branch", "--list", "flotilla/r")).toBe("");
  });
});

test("files are read as they lie there, with their byte order marks", async () => {
  write("b.yml", "\ufeffb: 1\n");
  expect((await openAuthor(place.path)).files()).toEqual([
    { path: "b.yml", text: "\ufeffb: 1\n" },
    { path: "clusters/east.yaml", text: "east\n" },
  ]);
  expect(await identityAt(place.path)).toBe("ada@example.com");
});
