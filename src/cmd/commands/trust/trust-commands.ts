import { type Command, Option } from "commander";
import { type Finish, withCommitting, withHubAndOutput } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands about `trust/root.yaml`: who may approve what, and who may change that. */
export function addTrust(program: Command, terminal: Terminal, finish: Finish): void {
  const trust = program.command("trust").description("write, sign and show trust/root.yaml: who may approve what");
  addInit(trust, terminal, finish);
  addNext(trust, terminal, finish);
  addRevoke(trust, terminal, finish);
  withCommitting(trust.command("sign"))
    .description("sign the version in the work tree, if you are a root")
    .action(async (options) => finish(await (await import("./trust-sign.ts")).trustSign(options, terminal)));
  withHubAndOutput(trust.command("show"))
    .description(
      "show the trust file of the source branch: version, digest, roots, keys, rules; and which version is in force",
    )
    .action(async (options) => finish(await (await import("./trust-show.ts")).trustShow(options, terminal)));
}

function addInit(trust: Command, terminal: Terminal, finish: Finish): void {
  withKeys(withCommitting(trust.command("init")))
    .description("write version 1, with one person who may change it and approve; default key: the one Git signs with")
    .requiredOption("--name <name>", "name of that person, such as ada")
    .addOption(listOption("--approves <placement/stage>", "which gates; * at the end of either matches any", "all"))
    .addOption(
      new Option("--expires <duration|date>", "when approvals end, unless there is a new version").default("400d"),
    )
    .action(async (options) => finish(await (await import("./trust-init.ts")).trustInit(options, terminal)));
}

function addNext(trust: Command, terminal: Terminal, finish: Finish): void {
  withNext(withKeys(withCommitting(trust.command("add"))))
    .description("write the next version, with another principal, or with more of an existing one")
    .argument("<name>")
    .option("--machine", "a machine: it may sign, and never approve")
    .option("--github <id>", "numeric id of the GitHub account")
    .option("--root", "may change the trust file")
    .option("--approver", "may approve under every rule there is")
    .action(async (name, options) =>
      finish(await (await import("./trust-change.ts")).trustAdd({ name, ...options }, terminal)),
    );
  withNext(withKeys(withCommitting(trust.command("rotate"))))
    .description("write the next version, with a new key for an old one, which is revoked (by default as retired)")
    .argument("<name>")
    .addOption(new Option("--retire <fingerprint>", "the old key").conflicts("compromised"))
    .option("--compromised <fingerprint>", "the old key, which somebody else may have")
    .action(async (name, options) =>
      finish(await (await import("./trust-change.ts")).trustRotate({ name, ...options }, terminal)),
    );
}

function addRevoke(trust: Command, terminal: Terminal, finish: Finish): void {
  withNext(withCommitting(trust.command("revoke")))
    .description("write the next version, with keys revoked")
    .argument("<key|name>", "a fingerprint, or a principal with all their keys")
    .addOption(new Option("--retired", "from now on").conflicts("compromised"))
    .option("--compromised", "also for what it approved that has not ended")
    .action(async (what, options) =>
      finish(await (await import("./trust-change.ts")).trustRevoke({ what, ...options }, terminal)),
    );
}

const withKeys = (command: Command): Command =>
  command
    .addOption(listOption("--key <file>", "OpenSSH public keys, such as ~/.ssh/id_ed25519.pub", "none"))
    .addOption(listOption("--openpgp <file>", "an armored OpenPGP public key", "none"));

const withNext = (command: Command): Command =>
  command
    .option("--expires <duration|date>", "new expiry, such as 400d or 2027-10-01")
    .option("--new-anchor", "for a version that nobody can sign: the operator vouches for its digest");

const listOption = (flags: string, description: string, preset: string): Option =>
  new Option(flags, description)
    .argParser((text: string, all: readonly string[]) => [...all, text])
    .default([], `${preset}; repeatable`);
