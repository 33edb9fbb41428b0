// What git processes leave behind that died with their machine: nobody but us removes it from a mirror of ours.
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit, Instant } from "../../../src/core/model/value.ts";
import { faultFromGitError } from "../../../src/shell/git/model/repository-fault.ts";
import { openRepository } from "../../../src/shell/git/open.ts";
import { removeStaleLocks } from "../../../src/shell/git/program/mirror-hub.ts";
import type { Repository } from "../../../src/shell/reconcile/ports.ts";
import { filesUnder, gitIn, type Hub, hubWithSource, repositoriesUnder, temporaryFolder } from "./hub.ts";

let hub: Hub;
const opened: Repository[] = [];
beforeEach(() => {
  hub = hubWithSource();
});
afterEach(async () => {
  for (const it of opened.splice(0)) await it.close();
  hub.remove();
});

async function open(repo: string): Promise<Repository> {
  const fixed = { branch: "main", stateBranch: "fleet/state", engine: "program", token: null } as const;
  const repository = await openRepository({ repo, cacheFolder: `${hub.folder}/cache`, ...fixed });
  opened.push(repository);
  return repository;
}

const path = (): string => `${hub.folder}/${hub.name}`;
const mirror = (): string => repositoriesUnder(`${hub.folder}/cache`)[0] ?? "";
const locksIn = (folder: string): readonly string[] => filesUnder(folder).filter((it) => it.endsWith(".lock"));
const found = (repository: Repository) =>
  repository.commit({
    parent: null,
    edits: [{ kind: "write", path: "a", text: "a\n" }],
    message: "m\n",
    at: 0 as Instant,
  });

/** A lock that somebody took so many minutes ago. */
function lock(folder: string, name: string, minutes: number): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), "");
  const then = Date.now() / 1000 - minutes * 60;
  utimesSync(join(folder, name), then, then);
}

/** The next commit of the source branch. */
function pushed(): Commit {
  const tree = hub.git("rev-parse", "main^{tree}");
  hub.git("update-ref", "refs/heads/main", hub.git("commit-tree", "-p", "main", "-m", "next", tree));
  return hub.git("rev-parse", "main") as Commit;
}

describe("in a mirror of ours, locks of the dead", () => {
  const names = [
    "HEAD.lock",
    "config.lock",
    "packed-refs.lock",
    "shallow.lock",
    "refs/flotilla/heads/main.lock",
    "refs/heads/team/shop.lock",
    "objects/maintenance.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/multi-pack-index.lock",
  ];

  test("are removed when it is opened, and all goes on", async () => {
    await (await open(`file://${path()}`)).heads();
    for (const it of names) lock(mirror(), it, 11);
    const head = pushed();
    const repository = await open(`file://${path()}`);
    expect(locksIn(mirror())).toEqual([]);
    expect(await repository.heads()).toEqual({ source: head, state: null });
    expect((await found(repository)).kind).toBe("committed");
    expect(gitIn(mirror(), ["fsck"])).toBe("");
  });

  test("are removed by a process that stays, as soon as they are old enough", async () => {
    const repository = await open(`file://${path()}`);
    await repository.heads();
    lock(mirror(), "refs/flotilla/heads/main.lock", 11);
    const head = pushed();
    expect((await repository.heads()).source).toBe(head);
  });

  test("stay while they may be those of the living, and nothing else is touched", async () => {
    const { path: folder, remove } = temporaryFolder();
    for (const it of [...names, "hooks/pre-commit.lock", "objects/ab/cd.lock"]) lock(folder, it, 9);
    lock(folder, "refs/heads/unlocked", 11);
    lock(folder, "objects/maintenance", 11);
    const before = filesUnder(folder);
    await removeStaleLocks(folder);
    expect(filesUnder(folder)).toEqual(before);
    remove();
  });
});

describe("in a repository of somebody else, a lock", () => {
  test("is never removed, however old: the fault names it and says what to do", async () => {
    const name = `${path()}/refs/heads/fleet/state.lock`;
    lock(path(), "refs/heads/fleet/state.lock", 60);
    lock(path(), "HEAD.lock", 60);
    await expect(open(path()).then(found)).rejects.toMatchObject({
      code: "RepositoryRefused",
      fix: `make sure that no git is at work in that repository, then remove ${name} and try again`,
    });
    expect(existsSync(name) && existsSync(`${path()}/HEAD.lock`)).toBe(true);
  });

  test.each([
    ["error: could not lock config file /srv/fleet/config: File exists", "/srv/fleet/config.lock"],
    [
      "fatal: Unable to create '/srv/o'hara/packed-refs.lock': File exists.\n\nAnother git …",
      "/srv/o'hara/packed-refs.lock",
    ],
    ["remote: error: Unable to create '/srv/hub/refs/heads/main.lock': File exists.", null],
    ["fatal: Unable to create '/srv/fleet/HEAD.lock': Permission denied", null],
  ])("is named where it is on this machine: %j", (complaint, want) => {
    const { fix } = faultFromGitError("reading", complaint);
    expect(/then remove (.+) and try again/.exec(fix)?.[1] ?? null).toBe(want);
  });
});
