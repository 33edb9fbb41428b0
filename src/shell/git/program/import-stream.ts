import type { Edit, Proposal } from "../../reconcile/ports.ts";
import { identityLine } from "../model/commits.ts";
import { assertTreePath } from "../model/tree-object.ts";

/** Output is batched to about this many characters, so that a hundred thousand edits do not need as many writes. */
const pieceSize = 64 << 10;

/**
 * A proposal as input of `git fast-import`: the texts, generated as they are read and equal ones once, then one commit
 * on `ref`, whose id is printed. Removals come first: a file may become a folder, and a folder a file.
 */
export function* importStream(proposal: Proposal, ref: string): Generator<string> {
  const texts: Texts = { marks: new Map(), next: commitMark + 1, room: sharedSize };
  const marks: number[] = [];
  let piece = "";
  for (const edit of proposal.edits) {
    if (edit.kind !== "write") continue;
    piece += blob(edit.text, texts, marks);
    if (piece.length < pieceSize) continue;
    yield piece;
    piece = "";
  }
  piece += head(proposal, ref);
  const written = marks.values();
  const rest: string[] = [];
  for (const edit of proposal.edits) {
    if (edit.kind === "remove") piece += `D ${quoted(edit.path)}\n`;
    else rest.push(`M 100644 ${edit.kind === "link" ? edit.blob : `:${written.next().value}`} ${quoted(edit.path)}\n`);
  }
  yield piece;
  for (let at = 0; at < rest.length; at += linesAtOnce) yield rest.slice(at, at + linesAtOnce).join("");
  yield `\nget-mark :${commitMark}\ndone\n`;
}

const commitMark = 1;

const linesAtOnce = 1000;

/** Longer texts are not deduplicated: V8 hashes long strings by their length alone. */
const longestShared = 16_000;

/** Limit in characters for texts that are kept for deduplication. */
const sharedSize = 32 << 20;

/** Texts that were written, with their marks. */
interface Texts {
  readonly marks: Map<string, number>;
  next: number;
  room: number;
}

/** The blob statement of a text, empty when it was written before; notes its mark either way. */
function blob(text: string, texts: Texts, marks: number[]): string {
  const known = text.length <= longestShared ? texts.marks.get(text) : undefined;
  marks.push(known ?? texts.next);
  if (known !== undefined) return "";
  const mark = texts.next++;
  if (text.length <= Math.min(longestShared, texts.room)) {
    texts.marks.set(text, mark);
    texts.room -= text.length;
  }
  return `blob\nmark :${mark}\n${data(text)}`;
}

function head({ parent, message, at }: Proposal, ref: string): string {
  const signature = identityLine(at);
  const from = parent === null ? "" : `from ${parent}\n`;
  return `commit ${ref}\nmark :${commitMark}\nauthor ${signature}\ncommitter ${signature}\n${data(message)}${from}`;
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

function quoted(path: Edit["path"]): string {
  assertTreePath(path);
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
