import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blobIdOf, readWorkTree } from "../../../src/shell/git/author/worktree.ts";
import { gitIn, temporaryFolder } from "./hub.ts";

describe("a work tree", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  };
  const read = (root = folder.path) =>
    readWorkTree(root).map((it) => [it.path, it.kind, Buffer.from(it.bytes).toString("utf8")]);

  const fault = (code: string) => expect.objectContaining({ code }) as Error;

  test("files come ordered by path, without dot-folders and node_modules; links are not followed", () => {
    write("b.yaml", "b\n");
    write("a/ü.yaml", "ü\n");
    write("a-b/c.yaml", "");
    write(".gitignore", "b.yaml\n");
    write(".git/config", "x");
    write(".github/workflow.yaml", "x");
    write("a/node_modules/x/y.yaml", "x");
    symlinkSync("/etc", join(folder.path, "outside"));
    symlinkSync("nowhere", join(folder.path, "dangling"));
    expect(read()).toEqual([
      [".gitignore", "file", "b.yaml\n"],
      ["a-b/c.yaml", "file", ""],
      ["a/ü.yaml", "file", "ü\n"],
      ["b.yaml", "file", "b\n"],
      ["dangling", "link", "nowhere"],
      ["outside", "link", "/etc"],
    ]);
  });

  test("it may be one file", () => {
    write("a/b.yaml", "b\n");
    expect(read(join(folder.path, "a/b.yaml"))).toEqual([["b.yaml", "file", "b\n"]]);
  });

  test("files that are not wanted are not read", () => {
    write("a.yaml", "a\n");
    write("large.bin", "");
    truncateSync(join(folder.path, "large.bin"), 200 << 20);
    const files = readWorkTree(folder.path, (path) => path.endsWith(".yaml"));
    expect(files.map((it) => it.path)).toEqual(["a.yaml"]);
  });

  test("one that is not there is not found", () => {
    expect(() => read(join(folder.path, "nowhere"))).toThrow(fault("RepositoryNotFound"));
  });

  test("more than 100 MiB are refused before they are read", () => {
    write("large.bin", "");
    truncateSync(join(folder.path, "large.bin"), (100 << 20) + 1);
    expect(() => read()).toThrow(fault("RepositoryUnsupported"));
  });

  test("more than 20,000 files are refused", () => {
    // Names of one file cost a tenth of what as many files do.
    write("0", "");
    for (let at = 1; at <= 20_000; at++) linkSync(join(folder.path, "0"), join(folder.path, String(at)));
    expect(() => read()).toThrow(fault("RepositoryUnsupported"));
  });

  test.each(["", "a\n", "größe 東\0\n"])("the id of %j is git's", (text) => {
    expect(blobIdOf(Buffer.from(text))).toBe(gitIn(folder.path, ["hash-object", "--stdin"], text));
  });
});
