import { type Command, InvalidArgumentError, Option } from "commander";
import { keyNamed, withNamespace } from "../../terminal/namespaces.ts";
import {
  type Finish,
  parseSpan,
  spanOption,
  withCommitting,
  withHubAndOutput,
  withTrustAnchor,
} from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { AssumedFailure } from "./simulate.ts";

/** Commands about rollouts: how one would go, and the files of update runs. */
export function addRuns(program: Command, terminal: Terminal, finish: Finish): void {
  addSimulate(program, terminal, finish);
  addRun(program, terminal, finish);
  addRollback(program, terminal, finish);
  addPrune(program, terminal, finish);
}

function addSimulate(program: Command, terminal: Terminal, finish: Finish): void {
  withNamespace(withTrustAnchor(withHubAndOutput(program.command("simulate")), terminal.environment), either)
    .description("forecast a rollout: order, waits, earliest end, which clusters are unavailable when; writes nothing")
    .argument("<name>", "run or placement: name, or namespace/name")
    .addOption(new Option("--kind <kind>", "which one, if both have that name").choices(["run", "placement"]))
    .option("--strategy <name>", "for an External placement: as if a run with that strategy were created now")
    .addOption(
      new Option(
        "--fail <cluster[@duration]>",
        "assume that updates fail there, or that everything there fails, that long from now",
      )
        .argParser((text: string, all: readonly AssumedFailure[]) => [...all, failingOf(text)])
        .default([], "none; repeatable"),
    )
    .addOption(
      new Option("--silent <cluster>", "assume that it does not answer")
        .argParser((text: string, all: readonly string[]) => [...all, text])
        .default([], "none; repeatable"),
    )
    .addOption(spanOption("--landing <duration>", "how long an update of a cluster takes").default(30_000, "30s"))
    .addOption(
      spanOption("--approve-after <duration>", "how long after each request it is approved").default(null, "at once"),
    )
    .addOption(new Option("--no-approvals", "assume that nobody approves"))
    .addOption(spanOption("--until <duration>", "how far to look ahead").default(30 * 86_400_000, "720h"))
    .action(async (name, options) =>
      finish(await (await import("./simulate.ts")).simulate({ ...options, name: keyNamed(name, options) }, terminal)),
    );
}

/** `east`, or `east@10m`. */
function failingOf(text: string): AssumedFailure {
  const [cluster = "", after, ...rest] = text.split("@");
  if (cluster === "" || rest.length > 0) throw new InvalidArgumentError("expected CLUSTER or CLUSTER@DURATION");
  return { cluster, after: after === undefined ? null : parseSpan(after) };
}

function addRun(program: Command, terminal: Terminal, finish: Finish): void {
  const run = program.command("run").description("write staged update runs and commit them");
  withNamespace(withCommitting(run.command("create")), "a StagedUpdateRun, with its placement and strategy")
    .description("write the file of a new run")
    .argument("<name>", "name, or namespace/name")
    .requiredOption("--placement <name>", "placement to roll out, of type External")
    .requiredOption("--strategy <name>", "the stages to go through")
    .option("--index <number>", "resource snapshot; default: what the placement selects when the run begins")
    .addOption(
      new Option("--state <state>", "Initialize only creates the plan")
        .choices(["Initialize", "Run", "Stop"])
        .default("Initialize"),
    )
    .action(async (name, options) =>
      finish(await (await import("./run.ts")).createRun({ name, ...options }, terminal)),
    );
  const states = [
    ["start", "Run", "set a run's state to Run: it begins, or continues"],
    ["stop", "Stop", "set a run's state to Stop: clusters in progress finish, and no new ones start"],
  ] as const;
  for (const [verb, state, description] of states)
    withNamespace(withCommitting(run.command(verb)), "a StagedUpdateRun")
      .description(description)
      .argument("<name>", "name, or namespace/name")
      .action(async (name, options) =>
        finish(await (await import("./run.ts")).setRunState({ name, ...options }, state, terminal)),
      );
}

function addRollback(program: Command, terminal: Terminal, finish: Finish): void {
  withNamespace(withCommitting(program.command("rollback")), "a ResourcePlacement")
    .description("write a run that rolls out an older version")
    .argument("<placement>", "name, or namespace/name")
    .option("--to <index>", "resource snapshot to go back to; default: the previous version")
    .option("--strategy <name>", "the stages to go through; default: those of the placement's last run")
    .action(async (placement, options) =>
      finish(
        await (await import("./run.ts")).rollback({ ...options, placement: keyNamed(placement, options) }, terminal),
      ),
    );
}

function addPrune(program: Command, terminal: Terminal, finish: Finish): void {
  withCommitting(program.command("prune"))
    .description(
      "remove ended runs with their approvals, and processed evictions and confirmations; keeps three runs of each placement, and what a rollback needs",
    )
    .action(async (options) => finish(await (await import("./prune.ts")).prune(options, terminal)));
}

const either = "a StagedUpdateRun or a ResourcePlacement";
