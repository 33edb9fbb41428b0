import { Defect } from "../core/model/assert.ts";
import { Fault } from "../shell/reconcile/fault.ts";
import { oneLine } from "../shell/reconcile/one-line.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";

/** What a failed command prints, and its exit code: what the outside did to us (69), or what we did wrong (70). */
export function failureText(error: unknown): { readonly text: string; readonly code: ExitCode } {
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
