import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { secretsNote } from "../../../core/intent/advice.ts";
import { decodeBlob } from "../../../core/intent/documents.ts";
import { readIntent, type SourceFile } from "../../../core/intent/intent.ts";
import { isTrustPath, isYamlPath } from "../../../core/intent/source-file.ts";
import { trustNotes, trustPath } from "../../../core/intent/trust/trust-file.ts";
import type { Intent, Problem } from "../../../core/model/intent.ts";
import type { Json } from "../../../core/model/json.ts";
import { objectText, type SourcePosition } from "../../../core/model/manifest.ts";
import { type Commit, compareText } from "../../../core/model/value.ts";
import { currentProblems } from "../../../core/report/current-problems.ts";
import { quantity } from "../../../core/report/phrases.ts";
import { problemSummary } from "../../../core/report/reason-lines.ts";
import { quorumFindings } from "../../../core/trust/quorum.ts";
import { compareProblems } from "../../../core/yaml/problems.ts";
import { blobIdOf, readWorkTree } from "../../../shell/git/author/worktree.ts";
import { exactText } from "../../../shell/reconcile/source.ts";
import { findLedgerNear } from "../../hub/record.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { codeOfProblems, printProblems } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";

export interface ValidateOptions {
  readonly path: string;
  /** Also the objects that no placement selects. */
  readonly verbose: boolean;
  readonly output: Format;
}

/** Checks a folder's files as the reconciler would read them, without problems of what is over by the record. */
export async function validateCommand(
  { path, verbose, output }: ValidateOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const files = readWorkTree(path, (it) => /\.ya?ml$/i.test(it) || isTrustPath(it));
  const source = files.map(({ path: file, bytes, kind }) => ({
    path: file,
    blob: blobIdOf(bytes),
    kind,
    decoded: kind === "file" && isYamlPath(file) ? decodeBlob(bytes) : null,
    ...(file === trustPath ? { text: exactText(bytes) } : {}),
  }));
  const intent = readIntent({ commit: "worktree" as Commit, files: source, accepted: null });
  const { clusters, placements, objects } = intent;
  // As seen from where the command runs: an editor can open it, and a pull request can show it.
  const folder = statSync(path).isFile() ? dirname(path) : path;
  const open =
    intent.problems.length === 0 ? [] : currentProblems(intent, await findLedgerNear(folder, terminal.environment));
  const note = secretsNote(intent);
  const { trust = null, text: trustText = "" } = intent.trust ?? {};
  const quorum = trust === null ? [] : trustNotes(trustText, quorumFindings(trust));
  const tried = await triedRenderings(intent, source);
  const said = [...open, ...tried, ...(note === null ? [] : [note]), ...quorum].sort(compareProblems);
  const problems = said.map((it) => ({ ...it, path: join(folder, it.path) }));
  const idle = verbose ? await idleIn(intent, folder) : null;
  if (output === "text") {
    printProblems(problems, terminal);
    for (const it of idle ?? []) terminal.out(`${it.path}:${it.line}: no placement selects ${it.object}\n`);
    const found = `${quantity(clusters.size, "cluster")}, ${quantity(placements.size, "placement")}, ${quantity(objects.size, "object")}`;
    terminal.out(`${found}: ${problemSummary(problems)}\n`);
  } else
    terminal.out(
      encoded({ problems: problems as unknown as Json, ...(idle === null ? {} : { unselected: idle }) }, output),
    );
  return codeOfProblems(problems);
}

/** What overrides fail at or do not change, and what envelopes stop. Loaded late: most folders have neither. */
async function triedRenderings(intent: Intent, files: readonly SourceFile[]): Promise<readonly Problem[]> {
  const hasEnvelopes = [...intent.objects.values()].some((it) => it.wraps !== undefined);
  if (intent.overrides.length === 0 && !hasEnvelopes) return [];
  const { overrideFindings } = await import("../../../core/render/override-findings.ts");
  const { problemsOfEnvelopes, problemsOfOverrides } = await import("./rendering-problems.ts");
  const decoded = new Map(files.map((it) => [it.path, it.decoded]));
  const documentAt = ({ path, document }: SourcePosition) => decoded.get(path)?.documents[document] ?? null;
  return [
    ...(hasEnvelopes ? problemsOfEnvelopes(intent, documentAt) : []),
    ...problemsOfOverrides(overrideFindings(intent), documentAt),
  ];
}

/** Objects that no placement selects, by path. Loaded late: few ask for them. */
async function idleIn(intent: Intent, folder: string) {
  const { unselectedObjects } = await import("../../../core/render/select.ts");
  return unselectedObjects(intent)
    .map(({ id, source }) => ({ path: join(folder, source.path), line: source.line, object: objectText(id) }))
    .sort((a, b) => compareText(a.path, b.path) || a.line - b.line);
}
