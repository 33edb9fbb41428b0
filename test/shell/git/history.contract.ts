import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit } from "../../../src/core/model/value.ts";
import { blobIdOf } from "../../../src/shell/git/author/worktree.ts";
import type { HistoricCommit, Repository } from "../../../src/shell/reconcile/ports.ts";
import { emptyHub, gitIn, type Hub, repositoriesUnder } from "./hub.ts";
import type { Way } from "./repository.contract.ts";

/** What an engine is able to do beyond what all promise. */
interface Ability {
  /** Merges of branches that both have something of their own are made again, and found clean. */
  readonly mergesAgain: boolean;
}

/** A file as `100644 text`, by path; null where it goes. */
type Files = Readonly<Record<string, string | null>>;

const far = 1000;

/** Of git, as somebody may like it. */
const settings: Readonly<Record<string, string>> = {
  "diff.ignoreSubmodules": "all",
  "diff.renames": "copies",
  "diff.orderFile": "/dev/null",
  "merge.renames": "false",
  "merge.renormalize": "true",
  "merge.directoryRenames": "true",
};

/** What every adapter promises of `Repository.history`, against real commits. */
export function historyContract(way: Way, { mergesAgain }: Ability): void {
  describe(`the history, ${way.name}`, () => {
    let hub: Hub;
    let repository: Repository;
    let made = 0;

    beforeEach(async () => {
      hub = emptyHub(way.hubName);
      repository = await way.open(hub);
    });
    afterEach(async () => {
      await repository.close();
      hub.remove();
    });

    /** Texts of files so far, by their blobs. */
    const texts = new Map<string, string>();
    /** Commits on `main`, wherever that is: the files of the first parent, and these. */
    const commit = (parents: readonly Commit[], files: Files, second = 1_700_000_000 + made): Commit => {
      const lines = Object.entries(files).map(([path, file]) => {
        if (file === null) return `D "${path}"\n`;
        const [mode, text] = [file.slice(0, 6), file.slice(7)];
        if (mode === "160000") return `M ${mode} ${text} "${path}"\n`;
        texts.set(blobIdOf(Buffer.from(text)), text);
        return `M ${mode} inline "${path}"\ndata ${Buffer.byteLength(text)}\n${text}\n`;
      });
      const message = `change ${made++}`;
      const from = parents.map((it, at) => `${at === 0 ? "from" : "merge"} ${it}\n`).join("");
      const head = `commit refs/heads/main\nmark :1\ncommitter ada <ada@example.com> ${second} +0000\n`;
      const stream = `reset refs/heads/main\n${head}data ${message.length}\n${message}\n${from}${lines.join("")}get-mark :1\n`;
      return hub.feed(stream, "fast-import", "--quiet", "--force") as Commit;
    };
    const history = async (head: Commit, base: Commit | null, limit = far) => {
      await repository.heads();
      return repository.history(head, base, limit);
    };
    const told = async (head: Commit, base: Commit | null): Promise<readonly unknown[]> =>
      ((await history(head, base)) ?? []).map(toldOf);
    const shouldBe = (clean: boolean): "clean" | "unclean" => (clean ? "clean" : "unclean");

    test("commits come parents first, each with what it changed and the bytes of its id", async () => {
      const one = commit([], { "a.yaml": "100644 1", "größe/東.yaml": "100644 x" });
      const two = commit([one], { "a.yaml": "100644 2" });
      const three = commit([two], { "a.yaml": null, "b/c.yaml": "100644 new" });
      const all = (await history(three, null)) ?? [];
      expect(all.map(toldOf)).toEqual([
        [one, null, ["a.yaml", null, "1"], ["größe/東.yaml", null, "x"]],
        [two, null, ["a.yaml", "1", "2"]],
        [three, null, ["a.yaml", "2", null], ["b/c.yaml", null, "new"]],
      ]);
      expect(all.map((it) => idOf(it.raw))).toEqual([one, two, three]);
      expect(await told(three, one)).toEqual(all.slice(1).map(toldOf));
    });

    test("what the base has is not told again", async () => {
      const one = commit([], { a: "100644 1" });
      const two = commit([one], { a: "100644 2" });
      expect([await history(two, two), await history(one, two)]).toEqual([[], []]);
    });

    test("more commits than the limit are null, and as many are not", async () => {
      const one = commit([], { a: "100644 1" });
      const three = commit([commit([one], { a: "100644 2" })], { a: "100644 3" });
      expect([await history(three, null, 2), await history(three, one, 1)]).toEqual([null, null]);
      expect((await history(three, null, 3))?.length).toBe(3);
      expect((await history(three, one, 2))?.length).toBe(2);
    });

    test("an empty commit changes nothing", async () => {
      const one = commit([], {});
      const two = commit([one], {});
      expect(await told(two, null)).toEqual([
        [one, null],
        [two, null],
      ]);
    });

    test("a renamed file is gone here and new there", async () => {
      const one = commit([], { "a.yaml": "100644 the same text, long enough to be found again" });
      const two = commit([one], { "a.yaml": null, "b.yaml": "100644 the same text, long enough to be found again" });
      const text = "the same text, long enough to be found again";
      expect(await told(two, one)).toEqual([[two, null, ["a.yaml", text, null], ["b.yaml", null, text]]]);
    });

    test("links, submodules, modes, and folders in the place of files are changes too", async () => {
      const [old, young] = ["1".repeat(40), "2".repeat(40)];
      const one = commit([], { run: "100644 x", link: "120000 to", vendored: `160000 ${old}`, "file.a": "100644 f" });
      const two = commit([one], { run: "100755 x", link: "100644 to", vendored: `160000 ${young}` });
      const three = commit([two], { "file.a": null, "file.a/inner": "100644 f" });
      const [, second, third] = (await history(three, null)) ?? [];
      expect(second?.changes.map((it) => [it.path, it.before, it.after])).toEqual([
        ["link", blobIdOf(Buffer.from("to")), blobIdOf(Buffer.from("to"))],
        ["run", blobIdOf(Buffer.from("x")), blobIdOf(Buffer.from("x"))],
        ["vendored", old, young],
      ]);
      expect(toldOf(third as HistoricCommit).slice(2)).toEqual([
        ["file.a", "f", null],
        ["file.a/inner", null, "f"],
      ]);
    });

    describe("merges", () => {
      const fork = (): readonly [one: Commit, main: Commit, side: Commit] => {
        const one = commit([], { a: "100644 1", s: "100644 1" });
        return [one, commit([one], { a: "100644 2" }), commit([one], { s: "100644 2" })];
      };

      test("a clean merge changes nothing of its own", async () => {
        const [one, main, side] = fork();
        const merge = commit([main, side], { s: "100644 2" });
        expect(await told(merge, one)).toEqual([
          [main, null, ["a", "1", "2"]],
          [side, null, ["s", "1", "2"]],
          [merge, shouldBe(mergesAgain)],
        ]);
      });

      test("a branch that had all of the first parent merges cleanly to what it is", async () => {
        const one = commit([], { a: "100644 1" });
        const side = commit([one], { a: "100644 2" });
        const merge = commit([one, side], { a: "100644 2" });
        expect(await told(merge, one)).toEqual([
          [side, null, ["a", "1", "2"]],
          [merge, "clean"],
        ]);
      });

      test("a merge that leaves out what a branch brings is not clean, though nothing of it differs from every parent", async () => {
        const [one, main, side] = fork();
        const ours = commit([main, side], {});
        expect((await told(ours, one)).at(-1)).toEqual([ours, "unclean"]);
        const back = commit([one, main], {});
        expect((await told(back, one)).at(-1)).toEqual([back, "unclean"]);
      });

      test("a merge that brings, changes or removes something itself is not clean, and says what", async () => {
        const [one, main, side] = fork();
        const evil = commit([main, side], { s: null, a: "100644 evil", "trust/root.yaml": "100644 evil" });
        expect((await told(evil, one)).at(-1)).toEqual([
          evil,
          "unclean",
          ["a", "2", "evil"],
          ["s", "1", null],
          ["trust/root.yaml", null, "evil"],
        ]);
        const mode = commit([main, side], { s: "100755 2", a: "100755 2" });
        expect((await told(mode, one)).at(-1)).toEqual([mode, "unclean", ["a", "2", "2"], ["s", "1", "2"]]);
      });

      test("a conflict that somebody resolved is not clean, even where a driver of the tree would have taken both", async () => {
        const one = commit([], { a: "100644 1\n", ".gitattributes": "100644 * merge=union\n" });
        const [main, side] = [commit([one], { a: "100644 2\n" }), commit([one], { a: "100644 3\n" })];
        const merge = commit([main, side], { a: "100644 2\n3\n" });
        expect((await told(merge, one)).at(-1)).toEqual([merge, "unclean", ["a", "2\n", "2\n3\n"]]);
      });

      test("a merge of three is never clean, and tells what no parent has", async () => {
        const [one, main, side] = fork();
        const third = commit([one], { t: "100644 t" });
        const merge = commit([main, side, third], { s: "100644 2", t: "100644 t", new: "100644 n" });
        expect((await told(merge, one)).at(-1)).toEqual([merge, "unclean", ["new", null, "n"]]);
      });

      test("many merges are told apart in one go", async () => {
        let [at, side] = fork().slice(1) as [Commit, Commit];
        const want: string[] = [];
        for (let round = 0; round < 6; round++) {
          at = commit([at, side], {
            s: `100644 ${round + 2}`,
            ...(round % 3 === 1 ? { a: `100644 evil ${round}` } : {}),
          });
          want.push(round % 3 === 1 ? "unclean" : "clean");
          side = commit([at], { s: `100644 ${round + 3}` });
        }
        // The first is of two branches that went apart.
        want[0] = shouldBe(mergesAgain);
        const merges = ((await history(at, null)) ?? []).filter((it) => it.merge !== null);
        expect(merges.map((it) => it.merge)).toEqual(want);
      });
    });

    test("what people set up for themselves has no say, and nothing is left behind", async () => {
      const [old, young] = ["1".repeat(40), "2".repeat(40)];
      const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
      const one = commit([], { a: `100644 ${lines}`, vendored: `160000 ${old}` });
      const main = commit([one], { a: null, b: `100644 ${lines}` });
      const side = commit([one], { a: `100644 ${lines}more\n`, vendored: `160000 ${young}` });
      const merge = commit([main, side], { b: `100644 ${lines}more\n`, vendored: `160000 ${young}` });
      await repository.heads();
      for (const gitDir of repositoriesUnder(hub.folder))
        for (const [key, value] of Object.entries(settings)) gitIn(gitDir, ["config", key, value]);
      const objects = () => repositoriesUnder(hub.folder).map((it) => gitIn(it, ["count-objects", "-v"]));
      const before = objects();
      const all = (await repository.history(merge, one, far)) ?? [];
      expect(all.map((it) => [it.commit, it.merge, it.changes.map(({ path }) => path)])).toEqual([
        [main, null, ["a", "b"]],
        [side, null, ["a", "vendored"]],
        // To the first parent it is new, to the second it was called otherwise.
        [merge, shouldBe(mergesAgain), ["b"]],
      ]);
      expect(objects()).toEqual(before);
    });

    test("a branch from before the base brings its own commits and none that the base has", async () => {
      const one = commit([], { a: "100644 1" });
      const two = commit([one], { a: "100644 2" });
      const side = commit([one], { s: "100644 1" });
      const base = commit([two], { a: "100644 3" });
      const merge = commit([base, side], { s: "100644 1" });
      expect(await told(merge, base)).toEqual([
        [side, null, ["s", null, "1"]],
        [merge, shouldBe(mergesAgain)],
      ]);
      expect((await history(merge, base, 1)) ?? null).toBeNull();
    });

    test("dates that run backwards bring nothing that the base has", async () => {
      let at: Commit | null = null;
      const early: Commit[] = [];
      for (let count = 0; count < 12; count++) {
        at = commit(at === null ? [] : [at], { [`f${count}`]: "100644 x" }, 1_700_000_000 + count);
        early.push(at);
      }
      let base = at as unknown as Commit;
      for (let count = 0; count < 12; count++) base = commit([base], { old: `100644 ${count}` }, 1000 + count);
      const merge = commit([base, early[8] as Commit], {}, 1_800_000_000);
      expect((await told(merge, base)).map((it) => (it as readonly unknown[])[0])).toEqual([merge]);
    });

    test("T-17: replaced objects, grafts and a forged edge of the history have no say", async () => {
      const one = commit([], { a: "100644 1" });
      const two = commit([one], { a: "100644 2" });
      const three = commit([two], { a: "100644 3" });
      const before = await told(three, null);
      for (const gitDir of repositoriesUnder(hub.folder)) {
        gitIn(gitDir, ["replace", "-f", two, one]);
        mkdirSync(`${gitDir}/info`, { recursive: true });
        writeFileSync(`${gitDir}/info/grafts`, `${three}\n`);
        writeFileSync(`${gitDir}/shallow`, `${three}\n`);
      }
      expect(((await repository.history(three, null, far)) ?? []).map(toldOf)).toEqual(before);
    });

    test("a long commit comes with its beginning", async () => {
      const one = commit([], {});
      const head = `tree ${hub.git("rev-parse", `${one}^{tree}`)}\nparent ${one}\n`;
      const person = "ada <ada@example.com> 1700000000 +0000";
      const text = `${head}author ${person}\ncommitter ${person}\n\n${"x".repeat(100_000)}`;
      const two = hub.feed(text, "hash-object", "-t", "commit", "-w", "--stdin") as Commit;
      hub.git("update-ref", "refs/heads/main", two);
      const [long] = (await history(two, one)) ?? [];
      expect(Buffer.from(long?.raw ?? []).toString()).toBe(text.slice(0, 65_537));
    });

    test("a commit that is not there is a fault", async () => {
      const one = commit([], {});
      const unknown = "1234567890123456789012345678901234567890" as Commit;
      await repository.heads();
      for (const [head, base] of [
        [unknown, null],
        [one, unknown],
        ["main", null],
        [one, "--all"],
      ] as [Commit, Commit | null][])
        await expect(repository.history(head, base, far)).rejects.toMatchObject({ code: "RepositoryCorrupt" });
    });

    /** Blobs by their text, as far as a test wrote it. */
    const toldOf = ({ commit, merge, changes }: HistoricCommit): readonly unknown[] => [
      commit,
      merge,
      ...changes.map((it) => [it.path, textOf(it.before), textOf(it.after)]),
    ];
    const textOf = (blob: string | null): string | null => (blob === null ? null : (texts.get(blob) ?? blob));
  });
}

const idOf = (raw: Uint8Array): string => createHash("sha1").update(`commit ${raw.length}\0`).update(raw).digest("hex");
