import { Defect } from "../core/model/assert.ts";
import { Fault } from "../shell/reconcile/fault.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";

/** What a failed command prints, and its exit code: what the outside did to us (69), or what we did wrong (70). */
export function failureText(error: unknown): { readonly text: string; readonly code: ExitCode } {
  if (error instanceof Fault) {
    const lines = [`error: ${error.during}: ${error.message}`, `  ${error.fix}`, ""];
    return { text: lines.join("\n"), code: exitCodes.repository };
  }
  if (error instanceof Defect) {
    return { text: `defect: ${error.message}; please report this, with the command line\n`, code: exitCodes.defect };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `defect: ${stack}\nplease report this, with the command line\n`, code: exitCodes.defect };
}
