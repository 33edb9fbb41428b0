import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { commitLines } from "../../core/model/commit.ts";
import type { Commit } from "../../core/model/value.ts";
import { orRejected, type Rejected, SignatureError } from "./signature-error.ts";

/** A commit taken apart. Everything in it comes from the same bytes that its signature is over. */
export interface CommitBytes {
  readonly kind: "commit";
  readonly tree: string;
  readonly parents: readonly Commit[];
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  /** Read as UTF-8, whatever `encoding` says: for people to look at. */
  readonly message: string;
  /** The bytes that were signed: all of them but the `gpgsig` header and its continuation lines. */
  readonly payload: Uint8Array;
  /** The value of `gpgsig`, as git hands it to whoever verifies; null without one. */
  readonly signature: Uint8Array | null;
  /** There is a `gpgsig-sha256`. Git leaves it out of what it verifies, so nobody vouches for it. */
  readonly hasForeignSignature: boolean;
}

/** Somebody, by the commit's own words; `seconds` since the epoch are theirs too, and prove nothing. */
interface CommitPerson {
  readonly name: string;
  readonly email: string;
  readonly seconds: number;
  readonly zone: string;
}

/** Of a commit that anybody reads (`trust/README.md#step-2`). */
export const maxCommitBytes = 64 * 1024;
const mostParents = 16;

/**
 * Takes the content of a commit object apart (without the `commit <size>` that git puts before it), byte by byte.
 *
 * Stricter than git, which takes the first of several trees, and leaves headers that it does not know alone: whatever
 * two programs could read differently is refused (`trust/README.md#step-2`; `#t-16`, `signature/README.md#b-37`,
 * `#b-38`). Nobody else may say what was signed: a library that rebuilds it from the parsed commit accepts one with
 * another message (`#signature-which-key-signed-these-bytes`).
 */
export const commitBytes = (raw: Uint8Array): CommitBytes | Rejected => orRejected(() => read(raw));

/** The id that git gives to a commit of these bytes. What was fetched under another id is not that commit. */
export const commitId = (raw: Uint8Array): Commit =>
  createHash("sha1").update(`commit ${raw.length}\0`).update(raw).digest("hex") as Commit;

function read(raw: Uint8Array): CommitBytes {
  if (raw.length > maxCommitBytes)
    throw new SignatureError("Malformed", `the commit is larger than ${maxCommitBytes} bytes`);
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (bytes.includes(0)) throw new SignatureError("Malformed", "the commit has a zero byte in it");
  const { headers, end } = headersOf(bytes);
  const parents = headers.filter((it) => it.name === "parent");
  if (parents.length > mostParents)
    throw new SignatureError("Malformed", `the commit has more than ${mostParents} parents`);
  const lines = commitLines(bytes);
  if (lines === null) throw new SignatureError("Malformed", "the commit does not begin with its tree and its parents");
  for (const { value } of [...headers.slice(0, 1), ...parents]) checkId(value);
  const signature = headers.find((it) => it.name === "gpgsig");
  return {
    kind: "commit",
    tree: lines.tree,
    parents: lines.parents as readonly Commit[],
    author: personOf(lines.author ?? ""),
    committer: personOf(lines.committer ?? ""),
    message: bytes.toString("utf8", end + 1),
    payload:
      signature === undefined
        ? bytes
        : Buffer.concat([bytes.subarray(0, signature.start), bytes.subarray(signature.end)]),
    signature: signature === undefined ? null : Buffer.from(`${signature.value}\n`, "latin1"),
    hasForeignSignature: headers.some((it) => it.name === "gpgsig-sha256"),
  };
}

/** In small letters only: programs differ about others. */
function checkId(value: string): void {
  if (!/^[0-9a-f]{40}$/.test(value))
    throw new SignatureError("Malformed", "the commit names an object by something else than its id");
}

/** `NAME <EMAIL> SECONDS ZONE`, as `git fsck` wants it. */
function personOf(value: string): CommitPerson {
  const match = /^([^<>]*) <([^<>]*)> (0|[1-9][0-9]{0,14}) ([+-][0-9]{4})$/.exec(value);
  if (match === null)
    throw new SignatureError("Malformed", "the commit's author or committer is not NAME <EMAIL> SECONDS ZONE");
  const [, name = "", email = "", seconds = "", zone = ""] = match;
  return { name: fromLatin1(name), email: fromLatin1(email), seconds: Number(seconds), zone };
}

const fromLatin1 = (text: string): string => Buffer.from(text, "latin1").toString("utf8");

/** One header of a commit: where it stands, with its line break, and its value, a character for each byte. */
interface Header {
  readonly name: string;
  /** Continuation lines without the blank that they begin with, after a line break each. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Headers after `committer`: git's, Jujutsu's and GitButler's. Their order differs: JGit signs before `encoding`. */
const known: Readonly<Record<string, RegExp>> = {
  encoding: /^[A-Za-z0-9][-A-Za-z0-9_.:]{0,39}$/,
  gpgsig: /^[\n -~]+$/,
  "gpgsig-sha256": /^[\n -~]+$/,
  mergetag: /^object [0-9a-f]{40}\ntype /,
  "change-id": /^[a-z0-9-]{1,64}$/,
  "gitbutler-change-id": /^[a-z0-9-]{1,64}$/,
  "gitbutler-headers-version": /^[0-9]{1,4}$/,
};
const mayRepeat = new Set(["mergetag"]);
const mayContinue = new Set(["gpgsig", "gpgsig-sha256", "mergetag"]);
const mostHeaders = 64;

/** A commit's headers in git's order, then what is {@link known}. `end` is where the empty line after them stands. */
function headersOf(bytes: Buffer): { readonly headers: readonly Header[]; readonly end: number } {
  const end = bytes.indexOf("\n\n") + 1;
  if (end === 0) throw new SignatureError("Malformed", "the commit has no empty line after its headers");
  const headers = folded(bytes.toString("latin1", 0, end));
  const named = headers.map((it) => it.name);
  const parents = headers.filter((it) => it.name === "parent").length;
  const want = ["tree", ...Array.from({ length: parents }, () => "parent"), "author", "committer"];
  if (want.some((name, at) => named[at] !== name)) {
    throw new SignatureError(
      "Malformed",
      "the commit's headers do not begin with tree, parents, author, committer, in this order",
    );
  }
  const rest = headers.slice(want.length);
  for (const header of rest) checkRest(header);
  const once = rest.map((it) => it.name).filter((it) => !mayRepeat.has(it));
  if (new Set(once).size < once.length) throw new SignatureError("Malformed", "the commit has the same header twice");
  for (const { name, value } of headers) {
    if (name !== "mergetag" && value.includes("\r"))
      throw new SignatureError("Malformed", `${name} has a carriage return in it`);
    if (!mayContinue.has(name) && value.includes("\n"))
      throw new SignatureError("Malformed", `${name} has more than one line`);
  }
  return { headers, end };
}

function checkRest({ name, value }: Header): void {
  const form = Object.hasOwn(known, name) ? known[name] : undefined;
  if (form === undefined)
    throw new SignatureError("Malformed", `the commit has a header that should not be there: ${name}`);
  if (!form.test(value)) throw new SignatureError("Malformed", `the commit's ${name} does not look like one`);
}

function folded(text: string): readonly Header[] {
  const headers: Header[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at) + 1;
    const line = text.slice(at, end - 1);
    const last = headers.at(-1);
    if (line.startsWith(" ") && last !== undefined) {
      headers[headers.length - 1] = { ...last, value: `${last.value}\n${line.slice(1)}`, end };
    } else {
      const [, name, value] = /^([a-z][a-z0-9-]{0,39}) ([^\n]*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new SignatureError("Malformed", "the commit has a header without a name");
      if (headers.length === mostHeaders)
        throw new SignatureError("Malformed", `the commit has more than ${mostHeaders} headers`);
      headers.push({ name, value, start: at, end });
    }
    at = end;
  }
  return headers;
}
