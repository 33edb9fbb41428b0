import { Buffer } from "node:buffer";
import type { TreeEntry } from "./tree-changes.ts";

/**
 * Takes a tree apart as git stores it: `<mode> <name>\0` and the twenty bytes of the id, entry after entry. Null for one
 * that breaks off: nobody checks what stands in a repository on this machine.
 */
export function entriesOf(tree: Uint8Array<ArrayBuffer>): readonly TreeEntry[] | null {
  const bytes = Buffer.from(tree.buffer, tree.byteOffset, tree.byteLength);
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const end = space < 0 ? -1 : bytes.indexOf(0, space);
    if (end < 0 || end + 21 > bytes.length) return null;
    const id = bytes.toString("hex", end + 1, end + 21);
    const mode = bytes.toString("latin1", at, space);
    const kind = kindOf(mode);
    const isExecutable = kind === "file" && isExecutableMode(mode);
    entries.push({ name: bytes.toString("utf8", space + 1, end), id, kind, isExecutable });
    at = end + 21;
  }
  return entries;
}

/** As git reads it: whether the owner may execute the file, whatever else an old tool wrote. */
const isExecutableMode = (mode: string): boolean => (Number.parseInt(mode, 8) & 0o100) !== 0;

function kindOf(mode: string): TreeEntry["kind"] {
  switch (mode) {
    case "40000":
    // As some tools wrote it long ago.
    case "040000":
      return "folder";
    case "120000":
      return "link";
    case "160000":
      return "submodule";
    default:
      return "file";
  }
}

/** What a commit's first lines name: its tree, and the commits it follows. */
export function commitLinesOf(commit: Uint8Array): { readonly tree: string; readonly parents: readonly string[] } {
  const text = Buffer.from(commit).toString("latin1");
  const head = text.slice(0, text.indexOf("\n\n") + 1);
  return {
    tree: /^tree ([0-9a-f]{40})$/m.exec(head)?.[1] ?? "",
    parents: [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map((it) => it[1] ?? ""),
  };
}
