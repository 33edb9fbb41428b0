import { type Command, Option } from "commander";
import { keyNamed, type NamespaceOptions, withNamespace } from "../../terminal/namespaces.ts";
import { type Finish, withCommitting, withTrustAnchor } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { DecisionOptions } from "./approve.ts";

type Given = Omit<DecisionOptions, "run" | "stage"> & NamespaceOptions & { readonly revoke?: boolean };

/** Commands with which people answer what a run, or a change of what is protected, asks for. */
export function addApprovals(program: Command, terminal: Terminal, finish: Finish): void {
  const answer = async (
    run: string | undefined,
    stage: string | undefined,
    options: Given,
    decision: "Approve" | "Reject" | "Revoke",
  ): Promise<void> => {
    const { submitDecision: command } = await import("./approve.ts");
    const { change } = options;
    const meant = change === undefined ? {} : { change: keyNamed(change, options) };
    const key = run === undefined ? null : keyNamed(run, options);
    finish(await command({ ...options, ...meant, run: key, stage: stage ?? null }, decision, terminal));
  };
  asked(program.command("approve"))
    .description("show what a run is waiting to do, and commit a signed approval of exactly that")
    .option("--comment <text>", "for those who read it later")
    .option("--revoke", "withdraw your approval, as long as the gate has not opened")
    .action((run, stage, options) => answer(run, stage, options, options.revoke === true ? "Revoke" : "Approve"));
  asked(program.command("reject"))
    .description("commit a signed rejection: the run ends, and clusters keep what they have")
    .requiredOption("--comment <text>", "why")
    .action((run, stage, options) => answer(run, stage, options, "Reject"));
  withTrustAnchor(withCommitting(program.command("confirm")), terminal.environment)
    .description("show deletions that wait for a confirmation, and commit the file that confirms exactly these, once")
    .argument("[digest]", "digest of the deletions, or its first digits; default: the only ones that wait")
    .action(async (digest, options) =>
      finish(await (await import("./confirm.ts")).confirm({ digest: digest ?? null, ...options }, terminal)),
    );
}

const asked = (command: Command): Command =>
  withNamespace(withCommitting(command), "a StagedUpdateRun, or of a ResourcePlacement with --change")
    .argument("[run]", "name, or namespace/name")
    .argument("[stage]", "which one, if the run waits for several approvals")
    .addOption(new Option("--before", "the approval before the stage").conflicts("after"))
    .option("--after", "the approval after it")
    .option("--change <placement>", "instead of a run: a change to something protected")
    .option("--as <principal>", "in whose name; default: the principal whom your signing key belongs to")
    .option("--detached", "put a signature into the file as well: a squash or a rebase loses the commit's")
    .option("--force", "write it even if it would not count");
