import { Defect } from "../../core/model/assert.ts";
import type { Problem } from "../../core/model/intent.ts";
import type { Reason } from "../../core/model/reason.ts";
import { oneLine, partsOfKey } from "../../core/model/value.ts";
import { someNames } from "../../core/report/phrases.ts";
import { weightOf } from "../../core/report/reason-text.ts";
import { didYouMean } from "../../core/yaml/nearest.ts";
import { problemText } from "../../core/yaml/problems.ts";
import { Fault } from "../../shell/reconcile/fault.ts";
import type { Receipt } from "../../shell/reconcile/ports.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** How a command ends that found these problems in files. */
export const codeOfProblems = (problems: readonly Problem[]): ExitCode =>
  problems.some((it) => it.severity === "error") ? exitCodes.problems : exitCodes.done;

/**
 * The same for a command that carries things out: what a run, an eviction or a budget is about stands in its status
 * there, and outlives it once it has ended (`intent/README.md#rules-decidable-here`).
 */
export const codeOfFiles = (problems: readonly Problem[]): ExitCode =>
  codeOfProblems(problems.filter((it) => it.code !== "FLT1314"));

/** How a command ends that leaves things as these reasons say. */
export function codeOfReasons(reasons: readonly Reason[], weigh = weightOf): ExitCode {
  if (reasons.some((it) => it.kind === "quarantined")) return exitCodes.defect;
  return reasons.some((it) => weigh(it) === "stuck") ? exitCodes.stuck : exitCodes.done;
}

/** What a failed command prints, and its exit code: what the outside did to us (69), or what we did wrong (70). */
export function thrownText(error: unknown): { readonly text: string; readonly code: ExitCode } {
  if (error instanceof Fault) {
    // A server's words may be several lines; each of them stays recognisable as no line of ours.
    const [first = "", ...more] = error.message.split("\n").map(oneLine);
    const lines = [`error: ${error.during}: ${first}`, ...more.map((it) => `    ${it}`), `  ${error.fix}`, ""];
    return { text: lines.join("\n"), code: exitCodes.repository };
  }
  if (error instanceof Defect) {
    return { text: `defect: ${error.message}; please report this, with the command line\n`, code: exitCodes.defect };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `defect: ${stack}\nplease report this, with the command line\n`, code: exitCodes.defect };
}

/** Problems for people, one a line; on a GitHub runner also as annotations that show in the pull request. */
export function printProblems(problems: readonly Problem[], { err, environment }: Terminal): void {
  for (const problem of problems) {
    err(`${problemText(problem)}\n`);
    if (environment["GITHUB_ACTIONS"] === "true") err(`${annotation(problem)}\n`);
  }
}

const levels = { error: "error", warning: "warning", note: "notice" } as const;

/** GitHub's workflow command; its data and properties have their own escapes, so that a message cannot end the line. */
function annotation({ severity, path, line, column, code, message, fix }: Problem): string {
  const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const where = `file=${property(path)},line=${Math.max(line, 1)},col=${Math.max(column, 1)},title=${property(code)}`;
  return `::${levels[severity]} ${where}::${data(`${message}; ${fix}`)}`;
}

/** What acting on one member amounted to, in Kubernetes' words; null when it was nothing. */
export function receiptText({ cluster, created, configured, deleted, released, failed }: Receipt): string | null {
  const parts = Object.entries({ created, configured, deleted, released, failed }).flatMap(([verb, number]) =>
    number === 0 ? [] : [`${number} ${verb}`],
  );
  return parts.length === 0 ? null : `${cluster}: ${parts.join(", ")}`;
}

/** Members that broke off what they were told to do. No plan knows of it: it shows only when we act. */
export const interruptionLines = (receipts: readonly Receipt[]): readonly string[] =>
  receipts.flatMap(({ cluster, interrupted }) =>
    interrupted === null ? [] : [`stuck: ${cluster}: ${oneLine(interrupted)}`],
  );

/** That nothing is recorded of `what`, which ends with what was typed, and what may have been meant. */
export function unknownText(what: string, known: readonly string[]): string {
  const word = what.split(" ").at(-1) ?? "";
  const [, own] = partsOfKey(word);
  const elsewhere = known.find((it) => partsOfKey(it)[1] === own);
  const meant = elsewhere === undefined ? didYouMean(word, known, "") : `did you mean "${elsewhere}"?`;
  const recorded = `recorded are: ${known.length === 0 ? "none" : someNames(known)}`;
  return `error: there is no record of ${what}; ${meant === "" ? "" : `${meant} `}${recorded}\n`;
}
