import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import type { Commit, Instant } from "../../../src/core/model/value.ts";
import { commitId } from "../../../src/shell/signature/commit-bytes.ts";
import { verifier } from "../../../src/shell/signature/verifier.ts";
import { openWorkshop } from "./workshop.ts";

const id = (digit: string): Commit => digit.repeat(40) as Commit;
const tree = `tree ${id("a")}`;
const anna = "Anna <anna@example.com> 1700000000 +0100";
const commit = (parents: readonly string[], ...more: string[]): Buffer =>
  Buffer.from(
    [tree, ...parents.map((it) => `parent ${it}`), `author ${anna}`, `committer ${anna}`, ...more, "", "Hi\n"].join(
      "\n",
    ),
  );
const factOf = (raw: Buffer, as = commitId(raw)) =>
  verifier.commit({ commit: as, raw, changes: [], merge: null }, [], 0 as Instant);

test("a commit says who its parents and its author are, by its own bytes", async () => {
  expect(await factOf(commit([id("1"), id("2")]))).toEqual({
    commit: commitId(commit([id("1"), id("2")])),
    parents: [id("1"), id("2")],
    signature: { kind: "unsigned" },
    claimedAuthor: "Anna <anna@example.com>",
    changes: [],
    merge: null,
  });
});

const long = Buffer.concat([commit([id("1")]), Buffer.alloc(65_537, "x")]);
const many = Array.from({ length: 17 }, () => id("1"));

test.each([
  ["of a header that nobody knows", commit([id("1")], "x-note hidden"), [id("1")]],
  ["of a zero byte", Buffer.concat([commit([id("1"), id("2")]), Buffer.alloc(1)]), [id("1"), id("2")]],
  ["of an id in capitals, which git reads", commit(["AB".repeat(20)]), ["ab".repeat(20)]],
  ["it has 17 parents", commit(many), many],
  ["a parent stands where git reads none", commit([], `parent ${id("1")}`), []],
])("a commit that is refused because %s hides nothing behind it (T-07)", async (_, raw, parents) => {
  const fact = await factOf(raw);
  expect(fact).toMatchObject({ parents, claimedAuthor: "", signature: { kind: "rejected", code: "Malformed" } });
});

test("a commit of which only the beginning is here hides nothing behind it", async () => {
  const fact = await factOf(long.subarray(0, 65_537), commitId(long));
  expect(fact).toMatchObject({ parents: [id("1")], signature: { kind: "rejected", code: "Malformed" } });
});

test("bytes of another id say nothing, not even where to walk on", async () => {
  const message = `the bytes are not those of ${id("f")}`;
  const fact = await factOf(commit([id("1")]), id("f"));
  expect(fact).toMatchObject({ parents: [], signature: { kind: "rejected", code: "Mismatch", message } });
  expect((await factOf(commit([id("1")], "x-note hidden"), id("f"))).parents).toEqual([]);
});

test("where a commit that is refused leads to is where git walks on", async () => {
  const workshop = openWorkshop();
  try {
    const real = [1, 2].map((it) => {
      workshop.git("commit", "-q", "--allow-empty", "-m", `${it}`);
      return workshop.git("rev-parse", "HEAD");
    });
    const [one = "", two = ""] = real;
    for (const raw of [commit([one, two], "x-note y"), commit([one.toUpperCase(), two]), commit([], `parent ${one}`)]) {
      const planted = workshop.plant(raw);
      const [, ...parents] = workshop.git("rev-list", "--parents", "-1", planted).split(" ");
      expect((await factOf(raw)).parents).toEqual(parents);
    }
  } finally {
    workshop.close();
  }
});
