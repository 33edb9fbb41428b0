import { type Command, Option } from "commander";
import { type Finish, withCommitting, withHubAndOutput } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands about `trust/root.yaml`: who may approve what, and who may change that. */
export function addTrust(program: Command, terminal: Terminal, finish: Finish): void {
  const trust = program.command("trust").description("writes, signs and shows trust/root.yaml: who may approve what");
  addInit(trust, terminal, finish);
  addNext(trust, terminal, finish);
  addRevoke(trust, terminal, finish);
  withCommitting(trust.command("sign"))
    .description("adds your signature under the version in the work tree, where you are a root")
    .action(async (options) => finish(await (await import("./trust-sign.ts")).trustSign(options, terminal)));
  withHubAndOutput(trust.command("show"))
    .description("the trust file of the source branch: version, digest, roots, keys, rules; and which is in force")
    .action(async (options) => finish(await (await import("./trust-show.ts")).trustShow(options, terminal)));
}

function addInit(trust: Command, terminal: Terminal, finish: Finish): void {
  withKeys(withCommitting(trust.command("init")))
    .description("writes version 1, with one person who may change it and approve; the key is the one git signs with")
    .requiredOption("--name <name>", "who: a name for people, such as ada")
    .addOption(listOption("--approves <placement/stage>", "which gates; * at the end of either means any", "all"))
    .addOption(new Option("--expires <duration|date>", "when approvals end without a new version").default("400d"))
    .action(async (options) => finish(await (await import("./trust-init.ts")).trustInit(options, terminal)));
}

function addNext(trust: Command, terminal: Terminal, finish: Finish): void {
  withNext(withKeys(withCommitting(trust.command("add"))))
    .description("the next version: with another principal, or with more of one that is there")
    .argument("<name>")
    .option("--machine", "a machine: it may sign, and never approve")
    .option("--github <id>", "number of the account on GitHub")
    .option("--root", "may change the trust file")
    .option("--approver", "may approve whatever a rule allows somebody to")
    .action(async (name, options) =>
      finish(await (await import("./trust-change.ts")).trustAdd({ name, ...options }, terminal)),
    );
  withNext(withKeys(withCommitting(trust.command("rotate"))))
    .description("the next version: a new key for an old one, which is revoked; retired where nothing else is said")
    .argument("<name>")
    .addOption(new Option("--retire <fingerprint>", "the old key").conflicts("compromised"))
    .option("--compromised <fingerprint>", "the old key, which somebody else may have")
    .action(async (name, options) =>
      finish(await (await import("./trust-change.ts")).trustRotate({ name, ...options }, terminal)),
    );
}

function addRevoke(trust: Command, terminal: Terminal, finish: Finish): void {
  withNext(withCommitting(trust.command("revoke")))
    .description("the next version: keys that do not count any more")
    .argument("<key|name>", "a fingerprint, or a principal with all their keys")
    .addOption(new Option("--retired", "from now on").conflicts("compromised"))
    .option("--compromised", "what it approved and is not over does not count either")
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
    .option("--expires <duration|date>", "another end, such as 400d or 2027-10-01")
    .option("--new-anchor", "nobody can sign it: the operator vouches for it by its digest");

const listOption = (flags: string, description: string, preset: string): Option =>
  new Option(flags, description)
    .argParser((text: string, all: readonly string[]) => [...all, text])
    .default([], `${preset}; repeatable`);
