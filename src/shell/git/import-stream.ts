import type { Edit, Proposal } from "../reconcile/ports.ts";
import { signatureLine } from "./signature-line.ts";
import { assertTreePath } from "./tree-path.ts";

/** Pieces are gathered to about this many characters, so that a hundred thousand edits are not as many writes. */
const pieceSize = 64 << 10;

/**
 * Gives a proposal as input of `git fast-import`: one commit on `ref`, whose id is then printed.
 *
 * What goes, goes first: a file may become a folder in the same commit, and a folder a file.
 */
export function* importStream(proposal: Proposal, ref: string): Generator<string> {
  let piece = head(proposal, ref);
  for (const edit of removalsFirst(proposal.edits)) {
    piece += statement(edit);
    if (piece.length < pieceSize) continue;
    yield piece;
    piece = "";
  }
  yield `${piece}\nget-mark :1\ndone\n`;
}

/** The edits with removals in front, otherwise in their order. */
const removalsFirst = (edits: readonly Edit[]): readonly Edit[] => [
  ...edits.filter((it) => it.kind === "remove"),
  ...edits.filter((it) => it.kind !== "remove"),
];

function head({ parent, message, at }: Proposal, ref: string): string {
  const signature = signatureLine(at);
  const from = parent === null ? "" : `from ${parent}\n`;
  return `commit ${ref}\nmark :1\nauthor ${signature}\ncommitter ${signature}\n${data(message)}${from}`;
}

function statement(edit: Edit): string {
  assertTreePath(edit.path);
  const path = quoted(edit.path);
  switch (edit.kind) {
    case "write":
      return `M 100644 inline ${path}\n${data(edit.text)}`;
    case "link":
      return `M 100644 ${edit.blob} ${path}\n`;
    case "remove":
      return `D ${path}\n`;
  }
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

const quoted = (path: string): string =>
  `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
