import { Buffer } from "node:buffer";
import type { Problem } from "../model/problem.ts";
import { type BlobId, compareText } from "../model/value.ts";
import { confirmationPath } from "./confirmation.ts";
import type { DecodedFile } from "./documents.ts";
import { isFleetPath } from "./fleet-file.ts";
import type { ProblemCode } from "./problem-codes.ts";

/** A file of a commit as the intent is read from it. */
export interface SourceFile {
  readonly path: string;
  readonly blob: BlobId;
  readonly kind: "file" | "link" | "submodule";
  /** Null for links, submodules and whatever {@link isRead} does not want. */
  readonly decoded: DecodedFile | null;
}

/** Whether a path may hold documents: YAML, and not in a folder whose name begins with a dot. */
export const isRead = (path: string): boolean => /\.ya?ml$/i.test(path) && !/(?:^|\/)\.[^/]*\//.test(path);

/** Folders with a meaning of their own, whatever stands in them. */
const isSpecial = (path: string): boolean => path.startsWith("approvals/") || path.startsWith("trust/");

/** Whether a path lies in one of the roots; no root means everywhere. */
export const isUnder = (path: string, roots: readonly string[]): boolean =>
  roots.length === 0 || roots.some((it) => path.startsWith(`${it}/`));

/** Whether objects are read from a path: in a root, in no special folder, or the settings themselves. */
export const isSource = (path: string, roots: readonly string[]): boolean =>
  isRead(path) && (isFleetPath(path) || (isUnder(path, roots) && !isSpecial(path)));

/** Whether the state branch has to keep a file for the intent to be read again from it. */
export const isKept = ({ path, kind }: SourceFile, roots: readonly string[]): boolean =>
  kind === "file" && (isSource(path, roots) || confirmationPath(path) !== null);

/** What is wrong with paths: what is never followed, and what another system could not hold (B-30 … B-33). */
export function pathProblems(files: readonly SourceFile[], roots: readonly string[]): readonly Problem[] {
  const inside = files.filter(({ path }) => isUnder(path, roots) && !/(?:^|\/)\./.test(path));
  return [
    ...inside.flatMap(({ path, kind }) => linkProblem(path, kind)),
    ...inside.filter(({ path }) => isRead(path) && isAwkward(path)).map(({ path }) => awkward(path)),
    ...collisions(inside.filter(({ path }) => isRead(path)).map(({ path }) => path)),
    ...(files.some(({ path }) => path.startsWith("trust/")) ? [trustFolder] : []),
    ...files
      .filter(({ path }) => isRead(path) && path.startsWith("approvals/") && confirmationPath(path) === null)
      .map(({ path }) => notReadYet(path, "only approvals/deletions is read so far; this file is ignored")),
  ];
}

/** A problem of a file as a whole. */
export const fileProblem = (
  severity: Problem["severity"],
  code: ProblemCode,
  path: string,
  [message, fix]: readonly [string, string],
): Problem => ({ code, severity, path, line: 0, column: 0, message, fix });

function linkProblem(path: string, kind: SourceFile["kind"]): readonly Problem[] {
  switch (kind) {
    case "file":
      return [];
    case "link":
      return [fileProblem("warning", "FLT1101", path, ["symbolic links are not followed", "commit the file itself"])];
    case "submodule":
      return [fileProblem("warning", "FLT1102", path, ["submodules are not read", "commit the files themselves"])];
  }
}

/** Backslashes, colons, trailing dots and blanks, device names, control characters; too long or too deep. */
const isAwkward = (path: string): boolean =>
  Buffer.byteLength(path) > 1024 ||
  path.split("/").length > 32 ||
  path.split("/").some((it) => awkwardName.test(it) || Buffer.byteLength(it) > 255 || it === "..");

const awkwardName = /[\\:*?"<>|\u0000-\u001f\u007f\ufffd]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

const awkward = (path: string): Problem =>
  fileProblem("warning", "FLT1103", path, ["not every system can hold this path", "rename it"]);

/** Paths that differ only in case or in the way accents are written are one file on some systems. */
function collisions(paths: readonly string[]): readonly Problem[] {
  const first = new Map<string, string>();
  return [...paths].sort(compareText).flatMap((path) => {
    const folded = path.normalize("NFC").toLowerCase();
    const other = first.get(folded);
    if (other === undefined) first.set(folded, path);
    if (other === undefined || other === path) return [];
    return [
      fileProblem("warning", "FLT1104", path, [`on some systems this is the same file as ${other}`, "rename one"]),
    ];
  });
}

const notReadYet = (path: string, message: string): Problem =>
  fileProblem("note", "FLT1902", path, [message, "wait for a later version"]);

const trustFolder = notReadYet("trust/", "the rules of who may approve are not read yet; the folder is ignored");
