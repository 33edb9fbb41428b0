import { expect, test } from "vitest";
import { commitLinesOf, entriesOf } from "../../../src/shell/git/tree-object.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, "latin1"));
const id = "\u0011".repeat(20);
const hex = "11".repeat(20);

test("a tree is taken apart into its entries, whatever they are", () => {
  const tree = ["100644 a b", "100755 run", "120000 link", "160000 module", "40000 folder", "040000 old"];
  expect(entriesOf(bytes(tree.map((it) => `${it}\0${id}`).join("")))).toEqual([
    { name: "a b", id: hex, kind: "file", isExecutable: false },
    { name: "run", id: hex, kind: "file", isExecutable: true },
    { name: "link", id: hex, kind: "link", isExecutable: false },
    { name: "module", id: hex, kind: "submodule", isExecutable: false },
    { name: "folder", id: hex, kind: "folder", isExecutable: false },
    { name: "old", id: hex, kind: "folder", isExecutable: false },
  ]);
  expect(entriesOf(bytes(""))).toEqual([]);
});

test.each(["100644", "100644 a", "100644 a\0", `100644 a\0${id.slice(1)}`, `100644 a\0${id}40000`])(
  "a tree that breaks off is none: %j",
  (text) => {
    expect(entriesOf(bytes(text))).toBeNull();
  },
);

test("a commit names its tree and its parents in its head, whatever its message says", () => {
  const [tree, one, two] = ["a", "b", "c"].map((it) => it.repeat(40));
  const head = `tree ${tree}\nparent ${one}\nparent ${two}\nauthor A <a> 0 +0000\ncommitter A <a> 0 +0000\n`;
  expect(commitLinesOf(bytes(`${head}\nparent ${tree}\n`))).toEqual({ tree, parents: [one, two] });
});
