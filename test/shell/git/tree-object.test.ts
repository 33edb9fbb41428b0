import { expect, test } from "vitest";
import { readTree } from "../../../src/shell/git/model/tree-object.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, "latin1"));
const id = "\u0011".repeat(20);
const hex = "11".repeat(20);
const treeOf = (...entries: readonly string[]) => bytes(entries.map((it) => `${it}\0${id}`).join(""));

test("a tree is taken apart into its entries, whatever they are, and whatever old tools wrote into their modes", () => {
  const tree = [
    "100644 a b",
    "40000 folder",
    "120000 link",
    "160000 module",
    "0100664 odd",
    "0040000 old",
    "100755 run",
  ];
  expect(readTree(treeOf(...tree, "0160000 sub", "777 x"))).toEqual({
    kind: "read",
    entries: [
      { name: "a b", id: hex, kind: "file", isExecutable: false },
      { name: "folder", id: hex, kind: "folder", isExecutable: false },
      { name: "link", id: hex, kind: "link", isExecutable: false },
      { name: "module", id: hex, kind: "submodule", isExecutable: false },
      { name: "odd", id: hex, kind: "file", isExecutable: false },
      { name: "old", id: hex, kind: "folder", isExecutable: false },
      { name: "run", id: hex, kind: "file", isExecutable: true },
      { name: "sub", id: hex, kind: "submodule", isExecutable: false },
      { name: "x", id: hex, kind: "submodule", isExecutable: false },
    ],
  });
  expect(readTree(bytes(""))).toEqual({ kind: "read", entries: [] });
});

test.each(["100644", "100644 a", "100644 a\0", `100644 a\0${id.slice(1)}`, `100644 a\0${id}40000`])(
  "a tree that breaks off is refused: %j",
  (text) => {
    expect(readTree(bytes(text))).toEqual({ kind: "refused", because: "it is truncated" });
  },
);

test.each([
  ["no mode", treeOf(" a"), "an entry has an invalid mode"],
  ["a mode of other digits", treeOf("100648 a"), "an entry has an invalid mode"],
  ["a sign before the mode", treeOf("+100644 a"), "an entry has an invalid mode"],
  ["no name", treeOf("100644 "), 'an entry has the name ""'],
  ["the folder itself", treeOf("40000 ."), 'an entry has the name "."'],
  ["the folder above", treeOf("40000 .."), 'an entry has the name ".."'],
  ["a path for a name", treeOf("100644 a/b"), 'an entry has the name "a/b"'],
  ["a name twice", treeOf("100644 a", "100644 a"), 'two entries have the name "a"'],
  ["a file and a folder of one name", treeOf("100644 a", "40000 a"), 'two entries have the name "a"'],
  ["names out of order", treeOf("100644 b", "100644 a"), 'its entries are out of order at "a"'],
  ["a folder out of order", treeOf("40000 a", "100644 a.b"), 'its entries are out of order at "a.b"'],
])("a tree with %s is refused: git fsck calls that an error, and programs read it differently", (_, tree, because) => {
  expect(readTree(tree)).toEqual({ kind: "refused", because });
});
