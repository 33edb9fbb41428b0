import type { Problem } from "../core/model/intent.ts";
import type { Reason } from "../core/model/plan.ts";
import { weightOf } from "../core/report/explain.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";

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
export const codeOfReasons = (reasons: readonly Reason[], weigh = weightOf): ExitCode =>
  reasons.some((it) => weigh(it) === "stuck") ? exitCodes.stuck : exitCodes.done;
