import type { Command } from "commander";
import { durationHelp, durationOption, type Finish } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands to try things out with: they need nothing but git. */
export function addDemos(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("demo")
    .description(
      "run a whole fleet in one process: placements, updates, overrides, a failure and its repair, a staged rollout and a rollback",
    )
    .action(async () => finish(await (await import("./demo.ts")).demo(terminal)));
  program
    .command("embedded")
    .description("serve simulated clusters in a process of their own, for trying things out")
    .requiredOption("--clusters <names>", "comma-separated names")
    .requiredOption("--kubeconfig <file>", "where to write the kubeconfig, with one context per cluster")
    .option("--declared <folder>", "MemberClusters in its files: nodes are simulated as their status declares them")
    .option("--port <number>", "port on 127.0.0.1; 0 takes a free one", "0")
    .addOption(durationOption("--available-after <duration>", "how long workloads take to become available", "50ms"))
    .addHelpText("after", durationHelp)
    .action(async (options) => finish(await (await import("./embedded.ts")).serveEmbedded(options, terminal)));
}
