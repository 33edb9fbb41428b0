// The first lines of a commit, read where git reads them.
import { expect, test } from "vitest";
import { commitLines } from "../../../src/core/model/commit.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));
const [tree, one, two] = ["a", "b", "c"].map((it) => it.repeat(40)) as [string, string, string];
const people = "author A <a> 0 +0000\ncommitter B <b> 0 +0000\n";
const told = { author: "A <a> 0 +0000", committer: "B <b> 0 +0000" };

test("a commit names its tree, parents and people in its head, whatever its message says", () => {
  const raw = bytes(`tree ${tree}\nparent ${one}\nparent ${two}\n${people}\ntree ${one}\nparent ${tree}\n`);
  expect(commitLines(raw)).toEqual({ tree, parents: [one, two], ...told });
});

test.each([
  ["another tree", `tree ${one}\n`],
  ["another parent", `parent ${two}\n`],
  ["another committer", "committer C <c> 0 +0000\n"],
])("T-35: %s in a header further down is text, as it is to git", (_, header) => {
  const raw = bytes(`tree ${tree}\nparent ${one}\n${people}${header}\nShip it\n`);
  expect(commitLines(raw)).toEqual({ tree, parents: [one], ...told });
});

test("T-35: ids in capitals are read as git reads them", () => {
  const raw = bytes(`tree ${tree.toUpperCase()}\nparent ${one.toUpperCase()}\n${people}tree ${two}\n\nShip it\n`);
  expect(commitLines(raw)).toEqual({ tree, parents: [one], ...told });
});

test("a commit without an empty line, or without people, is read as far as git reads it", () => {
  expect(commitLines(bytes(`tree ${tree}\n${people}`))).toEqual({ tree, parents: [], ...told });
  expect(commitLines(bytes(`tree ${tree}\n\n`))).toEqual({ tree, parents: [], author: null, committer: null });
  expect(commitLines(bytes(`tree ${tree}\ncommitter C <c> 0 +0000\n`))?.committer).toBeNull();
});

test.each([
  ["nothing", ""],
  ["no tree", people],
  ["a tree and nothing else", `tree ${tree}\n`],
  ["a parent and nothing behind it", `tree ${tree}\nparent ${one}\n`],
  ["a tree by a short id", `tree ${tree.slice(1)}\n${people}`],
  ["a tree by no id", `tree ${"g".repeat(40)}\n${people}`],
  ["a parent by no id", `tree ${tree}\nparent ${"-".repeat(40)}\n${people}`],
  ["a parent with more on its line", `tree ${tree}\nparent ${one} \n${people}`],
])("%s is no commit to git", (_, text) => {
  expect(commitLines(bytes(text))).toBeNull();
});
