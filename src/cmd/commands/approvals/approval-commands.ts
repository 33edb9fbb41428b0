import { type Command, Option } from "commander";
import { type Finish, withCommitting, withTrustAnchor } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { DecisionOptions } from "./approve.ts";

type Given = Omit<DecisionOptions, "run" | "stage"> & { readonly revoke?: boolean };

/** Commands with which people answer what a run, or a change of what is protected, asks for. */
export function addApprovals(program: Command, terminal: Terminal, finish: Finish): void {
  const answer = async (
    run: string | undefined,
    stage: string | undefined,
    options: Given,
    decision: "Approve" | "Reject" | "Revoke",
  ): Promise<void> => {
    const { submitDecision: command } = await import("./approve.ts");
    finish(await command({ ...options, run: run ?? null, stage: stage ?? null }, decision, terminal));
  };
  asked(program.command("approve"))
    .description("shows what a run waits to do, and commits a signed approval of just that")
    .option("--comment <text>", "for whoever looks at it later")
    .option("--revoke", "takes your approval back, as long as the gate has not opened")
    .action((run, stage, options) => answer(run, stage, options, options.revoke === true ? "Revoke" : "Approve"));
  asked(program.command("reject"))
    .description("the same with a rejection: it ends the run, and clusters keep what they have")
    .requiredOption("--comment <text>", "why")
    .action((run, stage, options) => answer(run, stage, options, "Reject"));
  withTrustAnchor(withCommitting(program.command("confirm")), terminal.environment)
    .description("shows deletions that wait for a person, and commits the file that lets just these go, once")
    .argument("[digest]", "of the deletions, or its beginning; without it the only ones that wait")
    .action(async (digest, options) =>
      finish(await (await import("./confirm.ts")).confirm({ digest: digest ?? null, ...options }, terminal)),
    );
}

const asked = (command: Command): Command =>
  withCommitting(command)
    .argument("[run]", "name, or namespace/name")
    .argument("[stage]", "which, where the run waits for several answers")
    .addOption(new Option("--before", "the request before the stage").conflicts("after"))
    .option("--after", "the request after it")
    .option("--change <placement>", "instead of a run: a change of what is protected")
    .option("--as <principal>", "in whose name; without it whoever the trust file lists your signing key for")
    .option("--detached", "put a signature into the file, too: a squash or a rebase loses the commit's")
    .option("--force", "write it even if it would not count");
