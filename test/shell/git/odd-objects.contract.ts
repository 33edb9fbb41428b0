import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit } from "../../../src/core/model/value.ts";
import type { Repository } from "../../../src/shell/reconcile/ports.ts";
import { type Hub, hubWithSource } from "./hub.ts";
import type { Way } from "./repository.contract.ts";

/** What every adapter makes of objects that no git writes, and that whoever may push can make: what git itself makes of them. */
export function oddObjectsContract(way: Way): void {
  describe(`odd objects, ${way.name}`, () => {
    let hub: Hub;
    let repository: Repository;
    let tree: string;
    let parent: Commit;
    let other: Commit;

    beforeEach(async () => {
      hub = hubWithSource(way.hubName);
      repository = await way.open(hub);
      parent = hub.git("rev-parse", "refs/heads/main") as Commit;
      tree = hub.git("rev-parse", "refs/heads/main^{tree}");
      other = written(
        "commit",
        headOf(hub.git("rev-parse", "refs/heads/main~1^{tree}"), []) + "\nelsewhere\n",
      ) as Commit;
    });
    afterEach(async () => {
      await repository.close();
      hub.remove();
    });

    const people = "author A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n";
    const headOf = (root: string, parents: readonly string[]): string =>
      `tree ${root}\n${parents.map((it) => `parent ${it}\n`).join("")}${people}`;
    const written = (type: "commit" | "tree", bytes: string): string =>
      execFileSync("git", ["hash-object", "-t", type, "-w", "--literally", "--stdin"], {
        cwd: join(hub.folder, hub.name),
        input: Buffer.from(bytes, "latin1"),
      })
        .toString()
        .trim();
    const pushed = async (bytes: string): Promise<Commit> => {
      const commit = written("commit", bytes);
      hub.git("update-ref", "refs/heads/main", commit);
      expect((await repository.heads()).source).toBe(commit);
      return commit as Commit;
    };
    const filesByGit = (commit: string): readonly string[] =>
      hub
        .git("ls-tree", "-r", "-z", commit)
        .split("\0")
        .slice(0, -1)
        .map((it) => `${it.slice(it.lastIndexOf("\t") + 1)} ${it.split(/[ \t]/)[2]}`)
        .sort();

    const bytesOf = (name: string): string => Buffer.from(hub.git("rev-parse", name), "hex").toString("latin1");

    /** Everything that is read of a commit, beside what git reads. */
    const readsAsGit = async (commit: Commit): Promise<void> => {
      const files = await repository.files(commit);
      expect(files.map((it) => `${it.path} ${it.blob}`).sort()).toEqual(filesByGit(commit));
      const changes = (await repository.changes?.(null, commit)) ?? [];
      expect(changes.map((it) => `${it.path} ${it.file?.blob}`).sort()).toEqual(filesByGit(commit));
      const history = (await repository.history(commit, null, 100)) ?? [];
      const walked = hub.git("rev-list", commit).split("\n").sort();
      expect(history.map((it) => it.commit).sort()).toEqual(walked);
      for (const it of [parent, other])
        expect([it, await repository.descends(commit, it)]).toEqual([it, walked.includes(it)]);
    };

    test.each([
      ["a second tree, further down", (): string => `${headOf(tree, [parent])}tree ${elsewhere()}\n\nShip it\n`],
      ["a second parent, further down", (): string => `${headOf(tree, [])}parent ${parent}\n\nShip it\n`],
      ["a second parent behind a first", (): string => `${headOf(tree, [other])}parent ${parent}\n\nShip it\n`],
      [
        "ids in capitals",
        (): string => `${headOf(tree.toUpperCase(), [parent.toUpperCase()])}tree ${elsewhere()}\n\nShip it\n`,
      ],
      ["no empty line", (): string => headOf(tree, [parent])],
      ["nobody's name", (): string => `tree ${tree}\nparent ${parent}\n\nShip it\n`],
    ])("T-35: a commit with %s is what git says it is", async (_, bytes) => {
      const commit = await pushed(bytes());
      expect(hub.git("rev-parse", `${commit}^{tree}`)).toBe(tree);
      await readsAsGit(commit);
    });

    const elsewhere = (): string => hub.git("rev-parse", "refs/heads/main~1^{tree}");

    test("modes as old tools wrote them stop nobody: they are what git takes them for", async () => {
      const root = written("tree", `0160000 module\0${"0".repeat(20)}0040000 old\0${bytesOf("refs/heads/main:")}`);
      await readsAsGit(await pushed(`${headOf(root, [parent])}\nOld tools\n`));
    });

    test.each([
      ["two files of one name", "100644 a\0", "100644 a\0", 'two entries have the name "a"'],
      ["names out of order", "100644 b\0", "100644 a\0", 'its entries are out of order at "a"'],
    ])("a folder with %s is named with what to do, and the next sound commit is read", async (_, one, two, because) => {
      const file =
        hub
          .git("ls-tree", "-r", "refs/heads/main")
          .split("\n")
          .find((it) => it.startsWith("100644")) ?? "";
      const id = bytesOf(/[0-9a-f]{40}/.exec(file)?.[0] ?? "");
      const root = written("tree", `${one}${id}${two}${id}`);
      const commit = await pushed(`${headOf(root, [parent])}\nTwice\n`);
      const refused = repository.changes?.(null, commit) ?? repository.files(commit);
      await expect(refused).rejects.toMatchObject({
        code: "ObjectUnsound",
        message: expect.stringContaining(`tree ${root}: ${because}`),
        fix: expect.stringContaining("git commit-tree SOUND^{tree} -p origin/BRANCH"),
      });
      // What the fix says, and what was pushed in its place: either helps.
      const back = hub.git("commit-tree", `${parent}^{tree}`, "-p", commit, "-m", "Go back");
      hub.git("update-ref", "refs/heads/main", back);
      expect((await repository.heads()).source).toBe(back);
      await readsAsGit(back as Commit);
      const history = (await repository.history(back as Commit, parent, 100)) ?? [];
      expect(history.map((it) => it.commit)).toEqual([commit, back]);
      for (const { changes } of history) expect(changes.map((it) => it.path)).toContain("a");
      await readsAsGit(await pushed(`${headOf(tree, [parent])}\nSound again\n`));
    });
  });
}
