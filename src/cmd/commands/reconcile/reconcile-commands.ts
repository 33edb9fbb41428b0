import { type Command, Option } from "commander";
import {
  durationHelp,
  type Finish,
  instantOption,
  outputOption,
  parseDuration,
  periodOption,
  withForge,
  withHubAndOutput,
  withSigningKey,
  withTrustAnchor,
} from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands that read the source files and decide by them. */
export function addReconciling(program: Command, terminal: Terminal, finish: Finish): void {
  const { environment } = terminal;
  program
    .command("validate")
    .description("show problems in a hub's files, with file:line:col; exit code 1 if there are errors")
    .argument("[path]", "folder of the hub's files, or one of them", ".")
    .option("-v, --verbose", "also list the objects that no placement selects", false)
    .addOption(outputOption())
    .action(async (path, options) =>
      finish(await (await import("./validate.ts")).validateCommand({ path, ...options }, terminal)),
    );
  program
    .command("schedule")
    .description(
      "run the scheduler alone over objects of a KubeFleet hub; prints the snapshot and its bindings after it",
    )
    .requiredOption("-f, --file <file...>", "MemberClusters, a policy snapshot and its bindings; - for stdin")
    .addOption(
      new Option("--profile <profile>", "how the scheduler decides")
        .choices(["default", "kubefleet"])
        .default("default"),
    )
    .addOption(instantOption("--now <time>", "when it decides, in RFC 3339", "now"))
    .option("--jsonl", "one JSON List per line; prints one List, or an error, for each", false)
    .addOption(new Option("-o, --output <format>", "output format").choices(["yaml", "json"]).default("yaml"))
    .action(async (options) => finish(await (await import("./schedule.ts")).scheduleCommand(options, terminal)));
  withTrustAnchor(withHubAndOutput(program.command("plan")), terminal.environment)
    .description("show what the next reconcile would decide; contacts members only when --kubeconfig is given")
    .addOption(kubeconfigOption("with one context per cluster", "no cluster is contacted"))
    .option("--property-command <program>", "with --kubeconfig: says properties of each member, as for reconcile")
    .option("--expect-no-change", "end with exit code 2 if anything would change", false)
    .action(async (options) => finish(await (await import("./plan.ts")).planCommand(options, terminal)));
  withForge(withSigningKey(withTrustAnchor(withHubAndOutput(program.command("reconcile")), environment), environment))
    .description("reconcile until everything that can be done now is done; with --watch, continuously")
    .addOption(kubeconfigOption("with one context per cluster", "KUBECONFIG or ~/.kube/config"))
    .option("--watch", "keep reconciling, as a daemon")
    .addOption(waitOption())
    .addOption(periodOption("--poll <duration>", "with --watch: how often to check the branches", "5s"))
    .addOption(periodOption("--resync <duration>", "with --watch: how often to check the members", "60s"))
    .addOption(periodOption("--deadline <duration>", "how long one member may take to answer", "30s"))
    .option("--property-command <program>", "says properties of each member: JSON in, JSON out")
    .option("--accept-rewrite <old..new>", "accept one rewritten history of the source branch")
    .addHelpText("after", durationHelp)
    .action(async (options) =>
      finish(await (await import("./reconcile.ts")).reconcile({ watch: false, ...options }, terminal)),
    );
}

const kubeconfigOption = (description: string, preset: string): Option =>
  new Option("--kubeconfig <file>", description).default(null, preset);

const waitOption = (): Option =>
  new Option("--wait <duration>", "wait for timers and health, at most this long")
    .argParser(parseDuration)
    .conflicts("watch");
