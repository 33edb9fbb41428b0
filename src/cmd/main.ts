import { Command, CommanderError } from "commander";
import { addApprovals } from "./commands/approvals/approval-commands.ts";
import { addClusters } from "./commands/clusters/cluster-commands.ts";
import { addDemos } from "./commands/demo/demo-commands.ts";
import { addReconciling } from "./commands/reconcile/reconcile-commands.ts";
import { addReading } from "./commands/record/record-commands.ts";
import { addRuns } from "./commands/runs/run-commands.ts";
import { addTrust } from "./commands/trust/trust-commands.ts";
import { type ExitCode, exitCodes } from "./terminal/exit-code.ts";
import type { Finish } from "./terminal/options.ts";
import type { Terminal } from "./terminal/terminal.ts";

declare const FLOTILLA_VERSION: string | undefined;
const version = typeof FLOTILLA_VERSION === "string" ? FLOTILLA_VERSION : "development";

/** Runs one command line and gives its exit code. Never throws: what goes wrong is printed, with what to do. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  const program = programOf(terminal, (it) => {
    code = it;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const failure = (await import("./terminal/outcome.ts")).thrownText(error);
    terminal.err(failure.text);
    return failure.code;
  }
}

// Each command's module is loaded when it runs: `--version` pays for none of them.
function programOf(terminal: Terminal, finish: Finish): Command {
  const program = new Command("flotilla")
    .description("Places Kubernetes resources on a fleet of clusters; a Git repository is the hub.")
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .addHelpText("after", exitCodeHelp);
  addDemos(program, terminal, finish);
  addReconciling(program, terminal, finish);
  addReading(program, terminal, finish);
  addRuns(program, terminal, finish);
  addClusters(program, terminal, finish);
  addApprovals(program, terminal, finish);
  addTrust(program, terminal, finish);
  nameOwnHelp(program, program.name());
  return program;
}

/** What is wrong with the words for a command is followed by where the help of that very command is. */
function nameOwnHelp(command: Command, words: string): void {
  command.showHelpAfterError(`(see ${words} --help)`);
  for (const it of command.commands) nameOwnHelp(it, `${words} ${it.name()}`);
}

const exitCodeHelp = `
Exit codes:
  0   everything that can be done now is done
  1   there are problems in files; everything else was still done
  2   there is a change (plan --expect-no-change)
  3   something is stuck
  64  the command line is wrong
  69  the repository cannot be read or written
  70  a bug in flotilla`;
