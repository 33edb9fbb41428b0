import type { Buffer } from "node:buffer";
import { Flawed } from "./flawed.ts";

/** One header of a commit: where it stands, with its line break, and its value, a character for each byte. */
export interface Header {
  readonly name: string;
  /** Continuation lines without the blank that they begin with, after a line break each. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Headers after `committer`: those of git, and those by which tools that sign tell apart the versions of a change
 * (Jujutsu, GitButler). Their order differs: git writes `gpgsig` last, JGit before `encoding`.
 */
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

/**
 * The headers of a commit, in the order that git writes them: `tree`, `parent`s, `author`, `committer`, then what is
 * {@link known}. `end` is where the empty line after them stands.
 */
export function headersOf(bytes: Buffer): { readonly headers: readonly Header[]; readonly end: number } {
  const end = bytes.indexOf("\n\n") + 1;
  if (end === 0) throw new Flawed("Malformed", "the commit has no empty line after its headers");
  const headers = folded(bytes.toString("latin1", 0, end));
  const named = headers.map((it) => it.name);
  const parents = headers.filter((it) => it.name === "parent").length;
  const want = ["tree", ...Array.from({ length: parents }, () => "parent"), "author", "committer"];
  if (want.some((name, at) => named[at] !== name)) {
    throw new Flawed(
      "Malformed",
      "the commit's headers do not begin with tree, parents, author, committer, in this order",
    );
  }
  const rest = headers.slice(want.length);
  for (const header of rest) checkRest(header);
  const once = rest.map((it) => it.name).filter((it) => !mayRepeat.has(it));
  if (new Set(once).size < once.length) throw new Flawed("Malformed", "the commit has the same header twice");
  for (const { name, value } of headers) {
    if (name !== "mergetag" && value.includes("\r"))
      throw new Flawed("Malformed", `${name} has a carriage return in it`);
    if (!mayContinue.has(name) && value.includes("\n")) throw new Flawed("Malformed", `${name} has more than one line`);
  }
  return { headers, end };
}

function checkRest({ name, value }: Header): void {
  const form = Object.hasOwn(known, name) ? known[name] : undefined;
  if (form === undefined) throw new Flawed("Malformed", `the commit has a header that should not be there: ${name}`);
  if (!form.test(value)) throw new Flawed("Malformed", `the commit's ${name} does not look like one`);
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
        throw new Flawed("Malformed", "the commit has a header without a name");
      if (headers.length === mostHeaders)
        throw new Flawed("Malformed", `the commit has more than ${mostHeaders} headers`);
      headers.push({ name, value, start: at, end });
    }
    at = end;
  }
  return headers;
}
