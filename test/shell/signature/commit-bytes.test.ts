import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import type { Instant } from "../../../src/core/model/value.ts";
import { commitBytes } from "../../../src/shell/signature/commit-bytes.ts";
import { signatureOf } from "./workshop.ts";

const id = (digit: string): string => digit.repeat(40);
const tree = `tree ${id("a")}`;
const author = "author Anna <anna@example.com> 1700000000 +0100";
const committer = "committer Bo <bo@example.com> 1700000001 -0230";
const sealed = "gpgsig -----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----";

const commit = (...headers: string[]): Buffer => Buffer.from(`${headers.join("\n")}\n\nHello\n`, "latin1");

test("a commit is taken apart, and what was signed is all but its signature", () => {
  const before = [tree, `parent ${id("1")}`, `parent ${id("2")}`, author, committer, "encoding ISO-8859-1"];
  const raw = commit(...before, `mergetag object ${id("2")}\n type commit\n \n A tag\r`, sealed, "change-id zyx");
  expect(commitBytes(raw)).toEqual({
    kind: "commit",
    tree: id("a"),
    parents: [id("1"), id("2")],
    author: { name: "Anna", email: "anna@example.com", seconds: 1_700_000_000, zone: "+0100" },
    committer: { name: "Bo", email: "bo@example.com", seconds: 1_700_000_001, zone: "-0230" },
    message: "Hello\n",
    payload: commit(...before, `mergetag object ${id("2")}\n type commit\n \n A tag\r`, "change-id zyx"),
    signature: Buffer.from("-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"),
    hasForeignSignature: false,
  });
});

test.each([
  ["git", ["encoding UTF-8", `mergetag object ${id("1")}\n type commit`, sealed]],
  ["JGit", [sealed, "encoding UTF-8"]],
  ["Jujutsu", ["change-id zyxwvuts", sealed]],
  ["GitButler", ["gitbutler-headers-version 2", "gitbutler-change-id 0f0e-1", sealed]],
])("headers may stand where %s puts them", (_, headers) => {
  const read = commitBytes(commit(tree, author, committer, ...headers));
  const rest = headers.filter((it) => it !== sealed);
  expect(read.kind === "commit" && read.payload).toEqual(commit(tree, author, committer, ...rest));
});

test("whoever has no name has an empty one", () => {
  const read = commitBytes(commit(tree, "author  <> 0 +0000", committer));
  expect(read.kind === "commit" && read.author).toEqual({ name: "", email: "", seconds: 0, zone: "+0000" });
});

/** Whatever two programs could read differently (T-16, B-37, B-38). */
const wrong: readonly (readonly [string, Buffer])[] = [
  ["nothing", Buffer.alloc(0)],
  ["no empty line after the headers", Buffer.from(`${tree}\n${author}\n${committer}\n`)],
  ["no tree", commit(author, committer)],
  ["two trees", commit(tree, tree, author, committer)],
  ["a tree that is not first", commit(`parent ${id("1")}`, tree, author, committer)],
  ["no author", commit(tree, committer)],
  ["two authors", commit(tree, author, author, committer)],
  ["two committers", commit(tree, author, committer, committer)],
  ["a parent after the author", commit(tree, author, `parent ${id("1")}`, committer)],
  ["an id in capitals", commit(`tree ${id("A")}`, author, committer)],
  ["an id that is too short", commit(`tree ${"a".repeat(39)}`, author, committer)],
  ["an id of SHA-256", commit(`tree ${"a".repeat(64)}`, author, committer)],
  ["more than one blank before a value", commit(`tree  ${id("a")}`, author, committer)],
  ["a carriage return after a header", commit(`${tree}\r`, author, committer)],
  ["a carriage return in a name", commit(tree, author.replace("Anna", "An\rna"), committer)],
  ["a name of two lines", commit(tree, author.replace("Anna", "Anna\n Bo"), committer)],
  ["a zero byte in a header", commit(tree, author.replace("Anna", "An\0na"), committer)],
  ["a zero byte in the message", Buffer.concat([commit(tree, author, committer), Buffer.alloc(1)])],
  ["a first line that continues nothing", commit(` ${tree}`, author, committer)],
  ["a tree of two lines", commit(`${tree}\n more`, author, committer)],
  ["an author of two lines", commit(tree, `${author}\n more`, committer)],
  ["no e-mail address", commit(tree, "author Anna 1700000000 +0100", committer)],
  ["two e-mail addresses", commit(tree, "author Anna <a> <b> 1700000000 +0100", committer)],
  ["a zone of three digits", commit(tree, "author Anna <a> 1700000000 +010", committer)],
  ["a time before 1970", commit(tree, "author Anna <a> -1 +0000", committer)],
  ["a time beyond all numbers", commit(tree, "author Anna <a> 9223372036854775808 +0000", committer)],
  ["a time with a zero in front", commit(tree, "author Anna <a> 01 +0000", committer)],
  ["two signatures", commit(tree, author, committer, sealed, sealed)],
  ["a signature before the author", commit(tree, sealed, author, committer)],
  ["a signature with a carriage return", commit(tree, author, committer, sealed.replace("AAAA", "AAAA\r"))],
  ["two encodings", commit(tree, author, committer, "encoding UTF-8", "encoding UTF-8")],
  ["an encoding that is none", commit(tree, author, committer, "encoding a b")],
  ["a header that nobody knows", commit(tree, author, committer, "x-approved-by Bo")],
  ["a header named like what every object has", commit(tree, author, committer, "constructor x")],
  ["a header without a value", commit(tree, author, committer, "gpgsig")],
  ["a header in capitals", commit(tree, author, committer, "GPGSIG x")],
  ["17 parents", commit(tree, ...Array.from({ length: 17 }, () => `parent ${id("1")}`), author, committer)],
  ["more than 64 KiB", Buffer.concat([commit(tree, author, committer), Buffer.alloc(65_536, "x")])],
];

test.each(wrong)("refuses a commit with %s", async (_, raw) => {
  expect(commitBytes(raw)).toMatchObject({ kind: "rejected", code: "Malformed" });
  expect(await signatureOf(raw, [], 0 as Instant)).toMatchObject({ kind: "rejected", code: "Malformed" });
});

const sixteen = Array.from({ length: 16 }, () => `parent ${id("1")}`);
const signatures: readonly (readonly [string, readonly string[], string])[] = [
  ["no signature", [], "unsigned"],
  ["as many parents as there may be", [...sixteen], "unsigned"],
  ["a signature for SHA-256 only", ["gpgsig-sha256 x"], "Unsupported"],
  ["a signature of X.509", [sealed.replaceAll("SSH SIGNATURE", "SIGNED MESSAGE")], "Unsupported"],
  ["an OpenPGP message", [sealed.replaceAll("SSH SIGNATURE", "PGP MESSAGE")], "Unsupported"],
  ["an OpenPGP signature of nothing", [sealed.replaceAll("SSH", "PGP")], "Malformed"],
  ["an SSH signature of nothing", [sealed], "Malformed"],
  ["words", ["gpgsig trust me"], "Malformed"],
];

test.each(signatures)("finds %s to be that", async (_, headers, want) => {
  const parents = headers.filter((it) => it.startsWith("parent"));
  const rest = headers.filter((it) => !it.startsWith("parent"));
  const fact = await signatureOf(commit(tree, ...parents, author, committer, ...rest), [], 0 as Instant);
  expect(fact.kind === "rejected" ? fact.code : fact.kind).toBe(want);
});
