import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { DurationMs } from "../core/model/value.ts";
import { addApprovals } from "./approval-commands.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { outputOption, withForge, withHub, withHubAndOutput, withSigningKey, withTrustAnchor } from "./options.ts";
import { addRollouts } from "./rollout-commands.ts";
import type { Terminal } from "./terminal.ts";
import { addTrust } from "./trust-commands.ts";

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
    const failure = (await import("./failure.ts")).failureText(error);
    terminal.err(failure.text);
    return failure.code;
  }
}

type Finish = (code: ExitCode) => void;

function programOf(terminal: Terminal, finish: Finish): Command {
  const program = new Command("flotilla")
    .description("Places Kubernetes resources on a fleet of clusters; a Git repository is the hub.")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(flotilla --help tells more)")
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .addHelpText("after", exitCodeHelp);
  addTrying(program, terminal, finish);
  addActing(program, terminal, finish);
  addReading(program, terminal, finish);
  addRollouts(program, terminal, finish);
  addApprovals(program, terminal, finish);
  addTrust(program, terminal, finish);
  return program;
}

// Each command's module is loaded when it runs: `--version` pays for none of them. A file more costs a millisecond.

function addTrying(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("demo")
    .description(
      "a whole fleet in one process: placed, updated, overridden, broken and healed; a staged rollout, and the way back",
    )
    .action(async () => finish(await (await import("./commands/demo.ts")).demo(terminal)));
  program
    .command("embedded")
    .description("simulated clusters in a process of their own, for trying things out")
    .requiredOption("--clusters <names>", "comma-separated names")
    .requiredOption("--kubeconfig <file>", "where to write the kubeconfig that leads to them")
    .option("--port <number>", "port on 127.0.0.1; 0 takes a free one", "0")
    .addOption(durationOption("--available-after <duration>", "how long workloads take to become available", "50ms"))
    .addHelpText("after", durationHelp)
    .action(async (options) => finish(await (await import("./commands/embedded.ts")).embedded(options, terminal)));
}

function addActing(program: Command, terminal: Terminal, finish: Finish): void {
  const { environment } = terminal;
  program
    .command("validate")
    .description("problems in a hub's files, with file:line:col; exit code 1 if there are errors")
    .argument("[path]", "folder of the hub's files, or one of them", ".")
    .option("-v, --verbose", "also list the objects that no placement selects", false)
    .addOption(outputOption())
    .action(async (path, options) =>
      finish(await (await import("./commands/validate.ts")).validate({ path, ...options }, terminal)),
    );
  withTrustAnchor(withHubAndOutput(program.command("plan")), terminal.environment)
    .description("what the next reconcile would decide; contacts members only when --kubeconfig is given")
    .addOption(kubeconfigOption("contexts that lead to the members", "no member is asked"))
    .option("--expect-no-change", "end with exit code 2 if anything would change", false)
    .action(async (options) => finish(await (await import("./commands/plan.ts")).planCommand(options, terminal)));
  withForge(withSigningKey(withTrustAnchor(withHubAndOutput(program.command("reconcile")), environment), environment))
    .description("passes until everything that can be done now is done; with --watch, for ever")
    .addOption(kubeconfigOption("contexts that lead to the members", "KUBECONFIG or ~/.kube/config"))
    .option("--watch", "keep reconciling: a daemon")
    .addOption(waitOption())
    .addOption(periodOption("--poll <duration>", "with --watch: how often the branches are looked at", "5s"))
    .addOption(periodOption("--resync <duration>", "with --watch: how often the members are looked at", "60s"))
    .addOption(periodOption("--deadline <duration>", "how long one member may take to answer", "30s"))
    .option("--accept-rewrite <old..new>", "accept one rewritten history of the source branch")
    .addHelpText("after", durationHelp)
    .action(async (options) =>
      finish(await (await import("./commands/reconcile.ts")).reconcile({ watch: false, ...options }, terminal)),
    );
}

function addReading(program: Command, terminal: Terminal, finish: Finish): void {
  withTrustAnchor(withHubAndOutput(program.command("verify")), terminal.environment)
    .description(
      "judges the state branch again: its chain, signatures, approvals, plans; asks no member, works offline",
    )
    .option("--full", "all of its history, and what rendered/ shows; otherwise the last 100 commits", false)
    .action(async (options) => finish(await (await import("./commands/verify.ts")).verify(options, terminal)));
  withHub(program.command("get"))
    .description("what is recorded: placements, clusters, bindings, runs, evictions, approvals or deletions")
    .argument("<kind>", "placements, clusters, bindings, runs, evictions, approvals or deletions")
    .argument("[name]", "only this one; for bindings, those of this placement")
    .addOption(outputOption(["text", "wide", "name", "json", "yaml"]))
    .action(async (kind, name, options) =>
      finish(await (await import("./commands/get.ts")).get({ kind, name: name ?? null, ...options }, terminal)),
    );
  withHubAndOutput(program.command("explain"))
    .description("why a placement is where it is, and why not elsewhere")
    .argument("<placement>", "name, or namespace/name")
    .option("--cluster <name>", "only this cluster")
    .action(async (placement, options) =>
      finish(await (await import("./commands/explain.ts")).explain({ placement, ...options }, terminal)),
    );
}

const kubeconfigOption = (description: string, preset: string): Option =>
  new Option("--kubeconfig <file>", description).default(null, preset);

const waitOption = (): Option =>
  new Option("--wait <duration>", "sleep through timers and health, at most so long")
    .argParser(duration)
    .conflicts("watch");

const durationOption = (flags: string, description: string, preset: string): Option =>
  new Option(flags, description).argParser(duration).default(duration(preset), preset);

/** A duration that has to pass between two things: none would be no pause at all. */
const periodOption = (flags: string, description: string, preset: string): Option =>
  durationOption(flags, description, preset).argParser(period);

const durationHelp = "\nA duration is written like 500ms, 90s or 1h30m.";

const exitCodeHelp = `
Exit codes:
  0   everything that can be done now is done
  1   there are problems in files; everything else was still done
  2   there is a change (plan --expect-no-change)
  3   something is stuck
  64  the command line is wrong
  69  the repository cannot be read or written
  70  a defect of flotilla's`;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The longest that a timer of Node's can be set to: 24 days. */
const longest = 2 ** 31 - 1;

/** `500ms`, `90s`, `1h30m`: at least one number with its unit. */
function duration(text: string): DurationMs {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map((it) => it[0]).join("") !== text)
    throw new InvalidArgumentError("expected a duration such as 500ms, 90s or 10m");
  const sum = Math.round(parts.reduce((all, it) => all + Number(it[1]) * (units[it[2] ?? ""] ?? 0), 0));
  if (sum > longest) throw new InvalidArgumentError("expected a duration of at most 24 days");
  return sum as DurationMs;
}

function period(text: string): DurationMs {
  const sum = duration(text);
  if (sum === 0) throw new InvalidArgumentError("expected a duration such as 500ms, more than nothing");
  return sum;
}
