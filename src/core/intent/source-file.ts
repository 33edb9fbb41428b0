import { Buffer } from "node:buffer";
import { remembered } from "../model/identity.ts";
import type { Problem } from "../model/intent.ts";
import { isApprovalPath } from "../model/trust.ts";
import type { BlobId } from "../model/value.ts";
import type { ProblemCode } from "../yaml/problems.ts";
import type { DecodedFile } from "./documents.ts";
import { confirmationPath } from "./kinds/deletion-confirmation.ts";
import { isFleetPath } from "./kinds/fleet.ts";
import { trustPath } from "./trust/trust-file.ts";

/** A file of a commit; the same object (`===`) while path and blob are, so that what was made of it is found. */
export interface SourceFile {
  readonly path: string;
  readonly blob: BlobId;
  readonly kind: "file" | "link" | "submodule";
  /** Null for links, submodules and files without an {@link isYamlPath}. */
  readonly decoded: DecodedFile | null;
  /** Only of `trust/root.yaml`: its exact text; null where it is not UTF-8 or too large. */
  readonly text?: string | null;
}

/** Whether documents are read from a path: YAML, and not in a folder whose name begins with a dot. */
export const isYamlPath = (path: string): boolean => /\.ya?ml$/i.test(path) && !/(?:^|\/)\.[^/]*\//.test(path);

/** Whether a file is in the trust folder: that there is one counts, whatever its files hold. */
export const isTrustPath = (path: string): boolean => path.startsWith("trust/");

/** Whether a file is in the place of a signature of the trust file. */
export const isTrustSignature = ({ path, kind }: SourceFile): boolean =>
  kind === "file" && path.startsWith("trust/sigs/");

/** How many signatures count: each is verified, and anybody who can write files can write any number. */
export const maxTrustSignatures = 256;

/** Folders from which no objects are read. */
const isSpecial = (path: string): boolean => path.startsWith("approvals/") || isTrustPath(path);

/** Whether a path is in one of the roots; no root means everywhere. */
export const isUnderRoots = (path: string, roots: readonly string[]): boolean =>
  roots.length === 0 || roots.some((it) => path.startsWith(`${it}/`));

/** Whether objects are read from a file: one in a root and in no special folder, or fleet.yaml. */
export function isSourceFile(file: SourceFile, roots: readonly string[]): boolean {
  const place = pathFacts(file);
  return place.isSource && (place.isFleet || isUnderRoots(file.path, roots));
}

/**
 * Whether the state branch keeps a file: to read the intent from it again, and to verify again who might approve. Of
 * signatures, it keeps the first {@link maxTrustSignatures} by path.
 */
export const isKeptInState = (file: SourceFile, roots: readonly string[]): boolean =>
  file.kind === "file" &&
  (isSourceFile(file, roots) || pathFacts(file).isDecision || file.path === trustPath || isTrustSignature(file));

interface PathFacts {
  /** Objects are read from there, if a root holds it. */
  readonly isSource: boolean;
  readonly isFleet: boolean;
  /** A confirmation or an approval. */
  readonly isDecision: boolean;
  /** As file systems see it that ignore case and the form of accents; null for what is not read. */
  readonly folded: string | null;
  /** What is wrong with the path in a root. */
  readonly inside: readonly Problem[];
  /** What is wrong with the path wherever it is. */
  readonly anywhere: readonly Problem[];
}

const pathFacts = remembered(({ path, kind }: SourceFile): PathFacts => {
  const isYaml = isYamlPath(path);
  const isDecision = confirmationPath(path) !== null || isApprovalPath(path);
  const isDotted = /(?:^|\/)\./.test(path);
  return {
    isSource: isYaml && !isSpecial(path),
    isFleet: isFleetPath(path),
    isDecision,
    folded: isYaml && !isDotted ? path.normalize("NFC").toLowerCase() : null,
    inside:
      isDotted || path === trustPath
        ? []
        : [
            ...linkProblems[kind].map(([code, ...text]) => fileProblem("warning", code, path, text)),
            ...(isYaml && isAwkward(path) ? [awkward(path)] : []),
          ],
    anywhere: isYaml && path.startsWith("approvals/") && !isDecision ? [strayDecision(path)] : [],
  };
});

/** Links, submodules and paths that some systems cannot hold (`yaml/README.md#b-30` … `#b-33`). Ordered by path. */
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

export const fileProblem = (
  severity: Problem["severity"],
  code: ProblemCode,
  path: string,
  [message, fix]: readonly [string, string],
): Problem => ({ code, severity, path, line: 0, column: 0, message, fix });

const linkProblems: Readonly<Record<SourceFile["kind"], readonly [code: ProblemCode, message: string, fix: string][]>> =
  {
    file: [],
    link: [["FLT1101", "symbolic links are not followed", "commit the file itself"]],
    submodule: [["FLT1102", "submodules are not read", "commit the files themselves"]],
  };

/** Backslashes, colons, trailing dots and blanks, device names, control characters; too long or too deep. */
const isAwkward = (path: string): boolean =>
  Buffer.byteLength(path) > 1024 ||
  path.split("/").length > 32 ||
  path.split("/").some((it) => awkwardName.test(it) || Buffer.byteLength(it) > 255 || it === "..");

const awkwardName = /[\\:*?"<>|\u0000-\u001f\u007f\ufffd]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

const awkward = (path: string): Problem =>
  fileProblem("warning", "FLT1103", path, ["some systems do not allow this path", "rename it"]);

/** Paths that differ only in case or in the way accents are written are one file on some systems. */
const collision = (path: string, other: string): Problem =>
  fileProblem("warning", "FLT1104", path, [`on some systems this is the same file as ${other}`, "rename one"]);

const strayDecision = (path: string): Problem =>
  fileProblem("note", "FLT1350", path, [
    "not a confirmation; this file is ignored",
    "confirmations are read from approvals/deletions/<digest>.yaml",
  ]);
