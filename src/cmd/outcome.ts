import type { Reason } from "../core/model/plan.ts";
import type { Problem } from "../core/model/problem.ts";
import { weightOf } from "../core/plan/explain.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";

/** How a command ends that found these problems in files. */
export const codeOfProblems = (problems: readonly Problem[]): ExitCode =>
  problems.some((it) => it.severity === "error") ? exitCodes.problems : exitCodes.done;

/** How a command ends that leaves things as these reasons say. */
export const codeOfReasons = (reasons: readonly Reason[]): ExitCode =>
  reasons.some((it) => weightOf(it) === "stuck") ? exitCodes.stuck : exitCodes.done;
