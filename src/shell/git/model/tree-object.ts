import { Buffer } from "node:buffer";
import { assert } from "../../../core/model/assert.ts";
import type { TreeEntry } from "./tree-changes.ts";

/** A tree as read, or what is wrong with it. */
type TreeReading =
  | { readonly kind: "read"; readonly entries: readonly TreeEntry[] }
  | { readonly kind: "refused"; readonly because: string };

/**
 * Takes a tree apart as git stores it: `<mode> <name>\0` and the twenty bytes of the id, entry after entry, modes as
 * git reads them (`get_mode`, `canon_mode`). Refused is what git cannot read, and what `git fsck` calls an error
 * because programs read it differently: names that come twice, are out of order, or are no names
 * (`signature/README.md#b-37`, `#b-38`).
 * Where it need not be exact, all that git reads is given, in the order in which it stands there.
 */
export function readTree(tree: Uint8Array<ArrayBuffer>, isExact = true): TreeReading {
  const bytes = Buffer.from(tree.buffer, tree.byteOffset, tree.byteLength);
  const entries: TreeEntry[] = [];
  const order = newOrder();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const end = space < 0 ? -1 : bytes.indexOf(0, space);
    if (end < 0 || end + 21 > bytes.length) return refused("it is truncated");
    const mode = modeOf(bytes.subarray(at, space));
    if (mode === null) return refused("an entry has an invalid mode");
    const kind = kindOf(mode);
    const flaw = order.flawOf(bytes.subarray(space + 1, end), kind);
    if (flaw !== null && isExact) return refused(flaw);
    const isExecutable = kind === "file" && (mode & 0o100) !== 0;
    const id = bytes.toString("hex", end + 1, end + 21);
    entries.push({ name: bytes.toString("utf8", space + 1, end), id, kind, isExecutable });
    at = end + 21;
  }
  return { kind: "read", entries };
}

const refused = (because: string): TreeReading => ({ kind: "refused", because });

/** Octal digits, as many as there are, in 32 bits; null where anything else stands there, or nothing. */
function modeOf(digits: Uint8Array): number | null {
  if (digits.length === 0) return null;
  let mode = 0;
  for (const it of digits) {
    if (it < 48 || it > 55) return null;
    mode = ((mode << 3) | (it - 48)) >>> 0;
  }
  return mode;
}

/** By the file type bits alone; as in git, an unknown type is a submodule. */
function kindOf(mode: number): TreeEntry["kind"] {
  switch (mode & 0o170000) {
    case 0o040000:
      return "folder";
    case 0o100000:
      return "file";
    case 0o120000:
      return "link";
    default:
      return "submodule";
  }
}

/** Checks the names of one tree, in order. */
function newOrder(): { readonly flawOf: (name: Buffer, kind: TreeEntry["kind"]) => string | null } {
  let last: Buffer | null = null;
  const names = new Set<string>();
  return {
    flawOf(name, kind) {
      const text = name.toString("latin1");
      if (text === "" || text === "." || text === ".." || text.includes("/"))
        return `an entry has the name ${shown(name)}`;
      if (names.has(text)) return `two entries have the name ${shown(name)}`;
      names.add(text);
      // Git orders folders as if their names ended with a slash.
      const key = kind === "folder" ? Buffer.concat([name, slash]) : Buffer.from(name);
      const isBefore = last !== null && Buffer.compare(key, last) <= 0;
      last = key;
      return isBefore ? `its entries are out of order at ${shown(name)}` : null;
    },
  };
}

const slash = Uint8Array.of(47);

const shown = (name: Buffer): string => JSON.stringify(name.toString("utf8").slice(0, 80));

/** Asserts that a path may stand in a tree that we write: one that leads out of it or into `.git` is our mistake. */
export function assertTreePath(path: string): void {
  const parts = path.split("/");
  const isSound =
    !path.includes("\0") && parts.every((it) => it !== "" && it !== "." && it !== ".." && !/^\.git$/i.test(it));
  assert(isSound, `a path that no tree may hold: ${JSON.stringify(path.slice(0, 200))}`);
}
