import { describe, expect, test } from "vitest";
import type { BlobId, Commit, Instant } from "../../../src/core/model/value.ts";
import { importStream } from "../../../src/shell/git/program/import-stream.ts";
import type { Edit } from "../../../src/shell/reconcile/ports.ts";
import { emptyHub } from "./hub.ts";

const base = { parent: null, message: "m\n", at: 1_700_000_000_999 as Instant };
const streamOf = (edits: readonly Edit[], parent: Commit | null = null): string =>
  [...importStream({ ...base, parent, edits }, "refs/x")].join("");

describe("the stream for fast-import", () => {
  test("says everything about a commit, each text once, removals first", () => {
    const blob = "1234567890123456789012345678901234567890" as BlobId;
    const edits: readonly Edit[] = [
      { kind: "write", path: "a/b", text: "ü" },
      { kind: "link", path: "c", blob },
      { kind: "remove", path: "d" },
      { kind: "write", path: "e", text: "ü" },
      { kind: "write", path: "f", text: "f" },
    ];
    expect(streamOf(edits, "abc" as Commit)).toBe(
      [
        "blob",
        "mark :2",
        "data 2",
        "ü",
        "blob",
        "mark :3",
        "data 1",
        "f",
        "commit refs/x",
        "mark :1",
        "author flotilla <flotilla@localhost> 1700000000 +0000",
        "committer flotilla <flotilla@localhost> 1700000000 +0000",
        "data 2",
        "m",
        "",
        "from abc",
        'D "d"',
        'M 100644 :2 "a/b"',
        `M 100644 ${blob} "c"`,
        'M 100644 :2 "e"',
        'M 100644 :3 "f"',
        "",
        "get-mark :1",
        "done",
        "",
      ].join("\n"),
    );
  });

  test.each(['quote".yaml', "back\\slash.yaml", "line\nbreak.yaml", " blank .yaml", "größe/東.yaml", '"'])(
    "git reads the path %j as it was meant",
    (path) => {
      const hub = emptyHub();
      hub.feed(streamOf([{ kind: "write", path, text: "x\n" }]), "fast-import", "--quiet", "--done");
      expect(hub.git("ls-tree", "-r", "-z", "--name-only", "refs/x")).toBe(`${path}\0`);
      hub.remove();
    },
  );

  test("a text that looks like a command is content", () => {
    const hub = emptyHub();
    const text = "x\n\nM 100644 inline evil\ndata 1\nx\ndone\n";
    hub.feed(streamOf([{ kind: "write", path: "a", text }]), "fast-import", "--quiet", "--done");
    expect(hub.git("ls-tree", "-r", "--name-only", "refs/x")).toBe("a");
    expect(hub.git("cat-file", "blob", "refs/x:a")).toBe(text.trimEnd());
    hub.remove();
  });

  test.each(["", "/a", "a/", "a//b", "../a", "a/../b", "./a", ".git/config", "a/.GIT/b", "a\0b"])(
    "the path %j is a mistake of ours",
    (path) => {
      expect(() => streamOf([{ kind: "write", path, text: "" }])).toThrowError("a path that no tree may hold");
    },
  );
});
