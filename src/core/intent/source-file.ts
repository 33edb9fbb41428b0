import { Buffer } from "node:buffer";
import type { Problem } from "../model/intent.ts";
import { remembered } from "../model/memo.ts";
import type { BlobId } from "../model/value.ts";
import type { ProblemCode } from "../yaml/problems.ts";
import type { DecodedFile } from "./documents.ts";
import { isApprovalPath } from "./kinds/approval.ts";
import { confirmationPath } from "./kinds/deletion-confirmation.ts";
import { isFleetPath } from "./kinds/fleet.ts";
import { trustPath } from "./trust/trust-file.ts";

/**
 * A file of a commit as the intent is read from it. Whoever reads one commit after the other gives the same object while
 * path and blob are the same: what was made of it is then found again.
 */
export interface SourceFile {
  readonly path: string;
  readonly blob: BlobId;
  readonly kind: "file" | "link" | "submodule";
  /** Null for links, submodules and whatever {@link isYamlPath} does not want. */
  readonly decoded: DecodedFile | null;
  /** Only of `trust/root.yaml`: its exact text; null where it is no UTF-8 or too large. */
  readonly text?: string | null;
}

/** Whether a path may hold documents: YAML, and not in a folder whose name begins with a dot. */
export const isYamlPath = (path: string): boolean => /\.ya?ml$/i.test(path) && !/(?:^|\/)\.[^/]*\//.test(path);

/** Whether a file says who may approve, in whatever form: that it is there counts, and it need not be YAML. */
export const isTrustPath = (path: string): boolean => path.startsWith("trust/");

/** Whether a file is a signature under the trust file, whatever stands in it. */
export const isTrustSignature = ({ path, kind }: SourceFile): boolean =>
  kind === "file" && path.startsWith("trust/sigs/");

/** How many signatures count. Each is verified, and whoever may write files may write any number. */
export const maxTrustSignatures = 256;

/** Folders with a meaning of their own, whatever stands in them. */
const isSpecial = (path: string): boolean => path.startsWith("approvals/") || isTrustPath(path);

/** Whether a path lies in one of the roots; no root means everywhere. */
export const isUnderRoots = (path: string, roots: readonly string[]): boolean =>
  roots.length === 0 || roots.some((it) => path.startsWith(`${it}/`));

/** Whether objects are read from a file: in a root, in no special folder, or the settings themselves. */
export function isSourceFile(file: SourceFile, roots: readonly string[]): boolean {
  const place = pathFacts(file);
  return place.isSource && (place.isFleet || isUnderRoots(file.path, roots));
}

/**
 * Whether the state branch has to keep a file: for the intent to be read again from it, and for anybody to verify again
 * who might approve. Of signatures, the first {@link maxTrustSignatures} by path are kept.
 */
export const isKeptInState = (file: SourceFile, roots: readonly string[]): boolean =>
  file.kind === "file" &&
  (isSourceFile(file, roots) || pathFacts(file).isAnswer || file.path === trustPath || isTrustSignature(file));

/** What a file's path says, looked at once. */
interface PathFacts {
  /** Objects are read from there, if a root holds it. */
  readonly isSource: boolean;
  readonly isFleet: boolean;
  /** A confirmation or an approval. */
  readonly isAnswer: boolean;
  /** As systems see it that do not tell case and accents apart; null for what is not read, or stands behind a dot. */
  readonly folded: string | null;
  /** What is wrong with the path in a root. */
  readonly inside: readonly Problem[];
  /** What is wrong with the path wherever it is. */
  readonly anywhere: readonly Problem[];
}

const pathFacts = remembered(({ path, kind }: SourceFile): PathFacts => {
  const isYaml = isYamlPath(path);
  const isAnswer = confirmationPath(path) !== null || isApprovalPath(path);
  const isDotted = /(?:^|\/)\./.test(path);
  return {
    isSource: isYaml && !isSpecial(path),
    isFleet: isFleetPath(path),
    isAnswer,
    folded: isYaml && !isDotted ? path.normalize("NFC").toLowerCase() : null,
    inside:
      isDotted || path === trustPath
        ? []
        : [...linkProblem(path, kind), ...(isYaml && isAwkward(path) ? [awkward(path)] : [])],
    anywhere: isYaml && path.startsWith("approvals/") && !isAnswer ? [strayAnswer(path)] : [],
  };
});

/**
 * What is wrong with paths: what is never followed, and what another system could not hold (`yaml/README.md#b-30` …
 * `#b-33`). `files` are ordered by path.
 */
export function pathProblems(files: readonly SourceFile[], roots: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  const first = new Map<string, string>();
  for (const file of files) {
    const { folded, inside, anywhere } = pathFacts(file);
    problems.push(...anywhere);
    if (!isUnderRoots(file.path, roots)) continue;
    problems.push(...inside);
    const other = folded === null ? undefined : first.get(folded);
    if (other !== undefined) problems.push(collision(file.path, other));
    else if (folded !== null) first.set(folded, file.path);
  }
  return problems;
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
const collision = (path: string, other: string): Problem =>
  fileProblem("warning", "FLT1104", path, [`on some systems this is the same file as ${other}`, "rename one"]);

const strayAnswer = (path: string): Problem =>
  fileProblem("note", "FLT1350", path, ["not a confirmation; this file is ignored", confirmationsPlace]);

const confirmationsPlace = "confirmations are read from approvals/deletions/<digest>.yaml";
