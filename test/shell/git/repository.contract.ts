import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Defect } from "../../../src/core/model/assert.ts";
import { type BlobId, type Commit, compareText, type Instant } from "../../../src/core/model/value.ts";
import { blobIdOf } from "../../../src/shell/git/author/worktree.ts";
import type { Edit, Proposal, Repository, TreeChange, TreeFile } from "../../../src/shell/reconcile/ports.ts";
import { walkLength } from "../../long-walks.ts";
import { emptyHub, filesUnder, gitIn, type Hub, hubWithSource, largeText, repositoriesUnder } from "./hub.ts";

/** One way to reach a hub. */
export interface Way {
  readonly name: string;
  /** The name of the repository's folder: `hub.git` is bare, `hub` has a work tree. */
  readonly hubName: string;
  open(hub: Hub): Promise<Repository>;
}

const stateRef = "refs/heads/fleet/state";
const writes = walkLength("WRITES", { short: 3, full: 6 });
const at = Date.UTC(2026, 10, 21, 12, 30, 15, 999) as Instant;

/** What every adapter of the repository port promises, against a real repository. */
export function repositoryContract(way: Way): void {
  describe(`the repository, ${way.name}`, () => {
    let hub: Hub;
    let repository: Repository;

    const begin = async (make: (name?: string) => Hub): Promise<void> => {
      hub = make(way.hubName);
      repository = await way.open(hub);
    };
    const headOf = (ref: string): Commit | null =>
      (hub.git("for-each-ref", "--format=%(objectname)", ref) || null) as Commit;
    const commit = async (proposal: Partial<Proposal>): Promise<Commit> => {
      const { state } = await repository.heads();
      const committed = await repository.commit({ parent: state, edits: [], message: "a decision\n", at, ...proposal });
      if (committed.kind === "superseded") throw new Error("superseded");
      return committed.commit;
    };
    const listing = (id: string): readonly string[] => {
      const text = hub.git("ls-tree", "-r", "-t", "-z", id);
      return text
        .split("\0")
        .slice(0, -1)
        .map((it) => `${it.slice(0, 6)} ${it.slice(it.indexOf("\t") + 1)}`);
    };

    beforeEach(() => begin(hubWithSource));
    afterEach(async () => {
      await repository.close();
      hub.remove();
    });

    const restart = async (make: (name?: string) => Hub): Promise<void> => {
      await repository.close();
      hub.remove();
      await begin(make);
    };

    describe("reading", () => {
      test("a hub without branches has no heads", async () => {
        await restart(emptyHub);
        expect(await repository.heads()).toEqual({ source: null, state: null });
        expect((await repository.branches?.())?.there).toEqual([]);
      });

      test("a state branch that was never founded is null", async () => {
        expect(await repository.heads()).toEqual({ source: headOf("refs/heads/main"), state: null });
      });

      test("a missing source branch is null, and the state branch is still found", async () => {
        const state = await commit({});
        hub.git("update-ref", "-d", "refs/heads/main");
        expect(await repository.heads()).toEqual({ source: null, state });
      });

      test("branches are told by name, the default one first", async () => {
        await commit({});
        for (const it of ["trunk", "a/b"]) hub.git("update-ref", `refs/heads/${it}`, "main");
        hub.git("update-ref", "refs/tags/trunk", "main");
        const names = { source: "main", state: "fleet/state" };
        expect(await repository.branches?.()).toEqual({ ...names, there: ["main", "a/b", "fleet/state", "trunk"] });
        hub.git("update-ref", "-d", "refs/heads/main");
        expect(await repository.branches?.()).toEqual({ ...names, there: ["a/b", "fleet/state", "trunk"] });
        hub.git("symbolic-ref", "HEAD", "refs/heads/trunk");
        expect((await repository.branches?.())?.there).toEqual(["trunk", "a/b", "fleet/state"]);
      });

      test("branches with longer names are not mistaken for ours", async () => {
        hub.git("update-ref", "refs/heads/fleet/state-of-old", "main");
        hub.git("update-ref", "refs/tags/fleet/state", "main");
        expect((await repository.heads()).state).toBeNull();
      });

      test("heads follow pushes, rewrites and deletions", async () => {
        const first = hub.git("rev-parse", "main~1");
        const second = hub.git("rev-parse", "main");
        const seen: unknown[] = [];
        for (const move of [
          ["refs/heads/main", first],
          ["refs/heads/main", second],
          [stateRef, first],
          ["-d", stateRef],
        ]) {
          hub.git("update-ref", ...move);
          seen.push(await repository.heads());
        }
        expect(seen).toEqual([
          { source: first, state: null },
          { source: second, state: null },
          { source: second, state: first },
          { source: second, state: null },
        ]);
      });

      test("files come ordered by path with their kinds, whatever they are called", async () => {
        const { source } = await repository.heads();
        const files = await repository.files(source as Commit);
        expect(files.map((it) => [it.path, it.kind])).toEqual([
          ["a.yaml", "file"],
          ["clusters/east.yaml", "file"],
          ["clusters/größe/東.yaml", "file"],
          ['clusters/with "quotes".yaml', "file"],
          ["empty.yaml", "file"],
          ["large.txt", "file"],
          ["link.yaml", "link"],
          ["run.sh", "file"],
          ["vendored", "submodule"],
        ]);
        const listed = new Map(
          hub
            .git("ls-tree", "-r", "-l", "-z", "main")
            .split("\0")
            .map((it) => [it.slice(it.indexOf("\t") + 1), it.slice(0, it.indexOf("\t")).split(/ +/).slice(2)]),
        );
        for (const { path, blob, size } of files) {
          const [id, bytes] = listed.get(path) ?? [];
          expect([path, blob, size]).toEqual([path, id, size === null ? null : Number(bytes)]);
        }
      });

      test.each([
        ["clusters", ["clusters/east.yaml", "clusters/größe/東.yaml", 'clusters/with "quotes".yaml']],
        ["clusters/größe/", ["clusters/größe/東.yaml"]],
        ["cluster", []],
        ["clusters/*", []],
        ["a.yaml", []],
      ])("under %s there are %j", async (under, want) => {
        const { source } = await repository.heads();
        expect((await repository.files(source as Commit, under)).map((it) => it.path)).toEqual(want);
      });

      test("an older commit still reads as it was", async () => {
        await repository.heads();
        const first = hub.git("rev-parse", "main~1") as Commit;
        expect((await repository.files(first)).map((it) => it.path)).toEqual(["a.yaml", "clusters/east.yaml"]);
      });

      test("changes of everything are all files", async () => {
        const { source } = await repository.heads();
        const files = await repository.files(source as Commit);
        const changes = await repository.changes?.(null, source as Commit);
        expect(changes).toEqual(files.map((file) => ({ path: file.path, file: { ...file, size: null } })));
        expect(await repository.changes?.(source, source as Commit)).toEqual([]);
        const outside = await repository.changes?.(null, source as Commit, (it) => it !== "clusters/größe/");
        expect(outside?.map((it) => it.path)).toEqual(
          files.map((it) => it.path).filter((it) => !it.startsWith("clusters/größe/")),
        );
      });

      test("changes are what two listings differ in, whatever became a folder, a file or nothing", async () => {
        const write = (path: string, text = path): Edit => ({ kind: "write", path, text });
        const remove = (path: string): Edit => ({ kind: "remove", path });
        const steps: readonly (readonly Edit[])[] = [
          [write("a/b/c"), write("a/b/d"), write("a.b"), write("a0"), write("deep/er/and/er"), write("z")],
          [write("a/b/c", "other"), remove("a0")],
          [remove("a/b/c"), remove("a/b/d"), write("a/b")],
          [remove("a/b"), write("a/b/c/d"), write("z/folder"), remove("z")],
          [remove("deep/er/and/er"), write("deep"), write("a/x")],
          [],
        ];
        const commits: Commit[] = [];
        for (const edits of steps)
          commits.push(await commit({ edits: [...edits].sort((a, b) => compareText(a.path, b.path)) }));
        const listed = await Promise.all(commits.map(async (it) => [it, await repository.files(it)] as const));
        for (const [from, before] of listed)
          for (const [to, after] of listed)
            expect(await repository.changes?.(from, to)).toEqual(differences(before, after));
      });

      test("changes of a commit that is not there are a fault", async () => {
        const { source } = await repository.heads();
        const unknown = "1234567890123456789012345678901234567890" as Commit;
        for (const [from, to] of [[null, unknown] as const, [unknown, source as Commit] as const])
          await expect(repository.changes?.(from, to)).rejects.toMatchObject({ code: "RepositoryCorrupt" });
      });

      test("blobs come with their exact bytes, each once", async () => {
        const { source } = await repository.heads();
        const files = (await repository.files(source as Commit)).filter((it) => it.kind !== "submodule");
        const ids = files.map((it) => it.blob);
        const blobs = await repository.blobs([...ids, ...ids]);
        expect([...blobs.keys()].sort()).toEqual([...new Set(ids)].sort());
        for (const [id, bytes] of blobs) expect(blobIdOf(bytes)).toBe(id);
        const text = (path: string): string =>
          Buffer.from(blobs.get(files.find((it) => it.path === path)?.blob as BlobId) as Uint8Array).toString("utf8");
        expect([text("clusters/größe/東.yaml"), text("empty.yaml"), text("link.yaml")]).toEqual([
          "größe: 東\n",
          "",
          "a.yaml",
        ]);
        expect(text("large.txt")).toBe(largeText);
        expect(await repository.blobs([])).toEqual(new Map());
      });

      test("with a limit, of what is longer comes one byte more than that, and the rest is whole", async () => {
        const { source } = await repository.heads();
        const files = (await repository.files(source as Commit)).filter((it) => it.kind === "file");
        const blobs = await repository.blobs(
          files.map((it) => it.blob),
          12,
        );
        const sizes = files.map((it) => [it.path, blobs.get(it.blob)?.length]);
        expect(Object.fromEntries(sizes)).toEqual({
          "a.yaml": 5,
          "clusters/east.yaml": 11,
          "clusters/größe/東.yaml": 13,
          'clusters/with "quotes".yaml': 13,
          "empty.yaml": 0,
          "large.txt": 13,
          "run.sh": 10,
        });
      });

      test("a blob that the repository does not hold is a fault, and so is a commit", async () => {
        const { source } = await repository.heads();
        const known = (await repository.files(source as Commit))[0]?.blob as BlobId;
        const unknown = "1234567890123456789012345678901234567890";
        for (const id of [unknown, "main", "--batch-all-objects", `${known}\n${known}`, ""]) {
          const asked = repository.blobs([known, id as BlobId]);
          await expect(asked, id).rejects.toMatchObject({ code: "RepositoryCorrupt" });
        }
        await expect(repository.files(unknown as Commit)).rejects.toMatchObject({ code: "RepositoryCorrupt" });
        expect((await repository.blobs([known])).size).toBe(1);
      });

      test("reading goes on after the repository was repacked and pruned", async () => {
        const state = await commit({ edits: [{ kind: "write", path: "x.yaml", text: "x: 1\n" }] });
        const before = await repository.blobs([blobIdOf(Buffer.from("x: 1\n"))]);
        const inside = [pathOf(hub), ...repositoriesUnder(hub.folder)];
        for (const args of [
          ["gc", "--quiet", "--prune=now"],
          ["repack", "-a", "-d", "-f", "--quiet"],
        ]) {
          for (const folder of inside) gitIn(folder, args);
          const next = await commit({ edits: [{ kind: "write", path: "y.yaml", text: `${args[0]}\n` }] });
          expect(await repository.blobs([blobIdOf(Buffer.from("x: 1\n"))])).toEqual(before);
          expect((await repository.files(next)).map((it) => it.path)).toEqual(["x.yaml", "y.yaml"]);
          expect(await repository.descends(next, state)).toBe(true);
        }
      });

      test("a commit descends from itself and its ancestors, and from nothing else", async () => {
        const { source } = await repository.heads();
        const first = hub.git("rev-parse", "main~1") as Commit;
        const state = await commit({});
        const elsewhere = "1234567890123456789012345678901234567890" as Commit;
        const asked: readonly [Commit, Commit][] = [
          [source as Commit, source as Commit],
          [source as Commit, first],
          [first, source as Commit],
          [state, first],
          [source as Commit, elsewhere],
          [source as Commit, "main" as Commit],
        ];
        const answers = await Promise.all(asked.map(([commit, ancestor]) => repository.descends(commit, ancestor)));
        expect(answers).toEqual([true, true, false, false, false, false]);
        await expect(repository.descends(elsewhere, first)).rejects.toMatchObject({ code: "RepositoryCorrupt" });
      });
    });

    describe("committing", () => {
      test("a founding commit is an orphan with exactly the message and date that were asked for", async () => {
        const edits: readonly Edit[] = [
          { kind: "write", path: "README.md", text: "größe\n" },
          { kind: "write", path: "ledger.yaml", text: "" },
        ];
        const message = 'Places "web" on 3 clusters\n\nnew: größe\n\nSource-Commit: abc\nLedger-Sequence: 1\n';
        const founded = await commit({ edits, message });
        expect(hub.git("cat-file", "commit", founded)).toBe(
          [
            `tree ${hub.git("rev-parse", `${founded}^{tree}`)}`,
            "author flotilla <flotilla@localhost> 1795264215 +0000",
            "committer flotilla <flotilla@localhost> 1795264215 +0000",
            "",
            message.trimEnd(),
          ].join("\n"),
        );
        expect(founded).toBe(foundedId);
        expect(await repository.heads()).toEqual({ source: headOf("refs/heads/main"), state: founded });
      });

      test("edits write, link and remove, and leave the rest alone", async () => {
        const source = (await repository.heads()).source as Commit;
        const east = (await repository.files(source)).find((it) => it.path === "clusters/east.yaml")?.blob as BlobId;
        const founded = await commit({
          edits: [
            { kind: "write", path: "a/b/c.yaml", text: "c\n" },
            { kind: "write", path: "a/b/d.yaml", text: "d\n" },
            { kind: "write", path: "a.yaml", text: "a\n" },
            { kind: "write", path: 'odd "name" größe.yaml', text: "odd\n" },
            { kind: "write", path: "swap", text: "a file\n" },
            { kind: "write", path: "turn/inner.yaml", text: "in a folder\n" },
          ],
        });
        const next = await commit({
          edits: [
            { kind: "link", path: "accepted/clusters/east.yaml", blob: east },
            { kind: "remove", path: "a/b/c.yaml" },
            { kind: "remove", path: "a/b/d.yaml" },
            { kind: "remove", path: "not-there.yaml" },
            { kind: "remove", path: "nor/there.yaml" },
            { kind: "remove", path: "swap" },
            { kind: "write", path: "swap/inner.yaml", text: "now a folder\n" },
            { kind: "write", path: "turn", text: "now a file\n" },
            { kind: "remove", path: "turn/inner.yaml" },
          ],
        });
        expect(hub.git("rev-parse", `${next}^`)).toBe(founded);
        expect(listing(next)).toEqual([
          "100644 a.yaml",
          "040000 accepted",
          "040000 accepted/clusters",
          "100644 accepted/clusters/east.yaml",
          '100644 odd "name" größe.yaml',
          "040000 swap",
          "100644 swap/inner.yaml",
          "100644 turn",
        ]);
        expect(hub.git("rev-parse", `${next}:accepted/clusters/east.yaml`)).toBe(east);
        expect(hub.git("rev-parse", `${next}^{tree}`)).toBe(treeOfGit(hub, next));
        expect(hub.git("fsck", "--strict", "--no-dangling")).toBe("");
      });

      test("removing the last file leaves an empty tree", async () => {
        await commit({ edits: [{ kind: "write", path: "a/b.yaml", text: "b\n" }] });
        const next = await commit({ edits: [{ kind: "remove", path: "a/b.yaml" }] });
        expect(await repository.files(next)).toEqual([]);
        expect(hub.git("rev-parse", `${next}^{tree}`)).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
      });

      test("many files in many folders make the tree that git makes", async () => {
        const path = (at: number): string => `placements/p${at % 17}/${at % 3}/file-${at}.yaml`;
        const texts = Array.from(
          { length: 300 },
          (_, at): Edit => ({ kind: "write", path: path(at), text: `n: ${at}\n` }),
        );
        await commit({ edits: texts });
        const next = await commit({ edits: texts.slice(0, 150).map(({ path }): Edit => ({ kind: "remove", path })) });
        expect(listing(next).filter((it) => it.startsWith("100644")).length).toBe(150);
        expect(hub.git("rev-parse", `${next}^{tree}`)).toBe(treeOfGit(hub, next));
      });

      test("a path that no tree may hold is a mistake of ours, and moves nothing", async () => {
        const founded = await commit({});
        const edits: readonly Edit[] = [{ kind: "write", path: "a/.git/config", text: "x" }];
        const refused = repository.commit({ parent: founded, edits, message: "m\n", at });
        await expect(refused).rejects.toThrowError("a path that no tree may hold");
        await expect(refused).rejects.toBeInstanceOf(Defect);
        expect(headOf(stateRef)).toBe(founded);
      });

      test("linking a blob that does not exist is a fault and moves nothing", async () => {
        const founded = await commit({});
        const blob = "1234567890123456789012345678901234567890" as BlobId;
        const proposal: Proposal = { parent: founded, edits: [{ kind: "link", path: "a", blob }], message: "m\n", at };
        await expect(repository.commit(proposal)).rejects.toMatchObject({ code: "RepositoryCorrupt" });
        expect(headOf(stateRef)).toBe(founded);
        expect(filesUnder(hub.folder).filter((it) => it.includes("crash"))).toEqual([]);
      });
    });

    describe("losing a race", () => {
      const proposal = (parent: Commit | null): Proposal => {
        const edits: readonly Edit[] = [{ kind: "write", path: "mine.yaml", text: "mine\n" }];
        return { parent, edits, message: "mine\n", at };
      };
      const refs = (): string =>
        [pathOf(hub), ...repositoriesUnder(hub.folder)].map((it) => gitIn(it, ["for-each-ref"])).join("\n");

      test("a branch that moved is superseded", async () => {
        const founded = await commit({});
        const theirs = hub.git("commit-tree", "-p", founded, "-m", "theirs", `${founded}^{tree}`);
        hub.git("update-ref", stateRef, theirs);
        expect(await repository.commit(proposal(founded))).toEqual({ kind: "superseded" });
        expect(headOf(stateRef)).toBe(theirs);
        expect((await repository.heads()).state).toBe(theirs);
        expect(refs()).not.toContain("refs/flotilla/write");
      });

      test("a branch that somebody founded meanwhile is superseded", async () => {
        await repository.heads();
        hub.git("update-ref", stateRef, "main");
        expect(await repository.commit(proposal(null))).toEqual({ kind: "superseded" });
        expect(headOf(stateRef)).toBe(headOf("refs/heads/main"));
        expect(refs()).not.toContain("refs/flotilla/write");
      });

      test("a branch that was deleted is superseded, and is not founded again", async () => {
        const founded = await commit({});
        hub.git("update-ref", "-d", stateRef);
        expect(await repository.commit(proposal(founded))).toEqual({ kind: "superseded" });
        expect(headOf(stateRef)).toBeNull();
        expect(refs()).not.toContain("refs/flotilla/write");
      });

      test("a branch that was rewound to an ancestor is superseded", async () => {
        const founded = await commit({});
        const second = await commit({ message: "second\n" });
        hub.git("update-ref", stateRef, founded);
        expect(await repository.commit(proposal(second))).toEqual({ kind: "superseded" });
        expect(headOf(stateRef)).toBe(founded);
      });

      test(`two writers of ${writes} commits each lose no update`, async () => {
        const other = await way.open(hub);
        const write = async (writer: Repository, name: string): Promise<void> => {
          for (let at = 0; at < writes; ) {
            const { state } = await writer.heads();
            const edits: readonly Edit[] = [{ kind: "write", path: `${name}/${at}.yaml`, text: `${at}\n` }];
            const done = await writer.commit({ parent: state, edits, message: `${name} ${at}\n`, at: 0 as Instant });
            if (done.kind === "committed") at++;
          }
        };
        await Promise.all([write(repository, "one"), write(other, "other")]);
        await other.close();
        expect(hub.git("rev-list", "--count", stateRef)).toBe(`${2 * writes}`);
        expect(listing(stateRef).filter((it) => it.startsWith("100644")).length).toBe(2 * writes);
        expect(hub.git("fsck", "--strict", "--no-dangling")).toBe("");
      }, 60_000);
    });
  });
}

const pathOf = ({ folder, name }: Hub): string => `${folder}/${name}`;

/** Paths at which the second listing has another file than the first, or none. */
function differences(before: readonly TreeFile[], after: readonly TreeFile[]): readonly TreeChange[] {
  const paths = [...new Set([...before, ...after].map((it) => it.path))].sort(compareText);
  const at = (files: readonly TreeFile[], path: string) => files.find((it) => it.path === path) ?? null;
  return paths.flatMap((path) => {
    const [was, is] = [at(before, path), at(after, path)];
    if (was?.blob === is?.blob) return [];
    return [{ path, file: is === null ? null : { ...is, size: null } }];
  });
}

/** What git itself makes of the files of a tree: the id of the tree that a fresh index gives. */
function treeOfGit(hub: Hub, commit: string): string {
  const index = `${hub.folder}/index-${commit}`;
  const entries = hub.git("ls-tree", "-r", "-z", commit);
  gitIn(pathOf(hub), ["update-index", "-z", "--index-info"], entries, { GIT_INDEX_FILE: index });
  return gitIn(pathOf(hub), ["write-tree"], "", { GIT_INDEX_FILE: index });
}

/** Equal for every engine, since a proposal determines every byte of its commit. */
const foundedId = "b48480e4a559d196dfb60c5a110fad9c481871de";
