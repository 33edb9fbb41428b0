import { type Command, InvalidArgumentError, Option } from "commander";
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
  withTrustAnchor(withHubAndOutput(program.command("simulate")), terminal.environment)
    .description("how a rollout would go: order, waits, earliest end, who is not available when; nothing is written")
    .argument("<name>", "of a run or a placement: name, or namespace/name")
    .addOption(new Option("--kind <kind>", "which, where both have that name").choices(["run", "placement"]))
    .option("--strategy <name>", "of an External placement: as if a run by that strategy were created now")
    .addOption(
      new Option(
        "--fail <cluster[@duration]>",
        "what is brought there fails; or all that is there, that long after now",
      )
        .argParser((text: string, all: readonly AssumedFailure[]) => [...all, failingOf(text)])
        .default([], "none; repeatable"),
    )
    .addOption(
      new Option("--silent <cluster>", "it does not answer")
        .argParser((text: string, all: readonly string[]) => [...all, text])
        .default([], "none; repeatable"),
    )
    .addOption(spanOption("--landing <duration>", "how long what is brought to a cluster takes").default(30_000, "30s"))
    .addOption(spanOption("--approve-after <duration>", "how long after a request").default(null, "at once"))
    .addOption(new Option("--no-approvals", "nobody approves"))
    .addOption(spanOption("--until <duration>", "how far to look").default(30 * 86_400_000, "720h"))
    .action(async (name, options) =>
      finish(await (await import("./simulate.ts")).simulate({ name, ...options }, terminal)),
    );
}

/** `east`, or `east@10m`. */
function failingOf(text: string): AssumedFailure {
  const [cluster = "", after, ...rest] = text.split("@");
  if (cluster === "" || rest.length > 0) throw new InvalidArgumentError("expected CLUSTER or CLUSTER@DURATION");
  return { cluster, after: after === undefined ? null : parseSpan(after) };
}

function addRun(program: Command, terminal: Terminal, finish: Finish): void {
  const run = program.command("run").description("writes staged update runs and commits them");
  withCommitting(run.command("create"))
    .description("writes the file of a new run")
    .argument("<name>")
    .requiredOption("--placement <name>", "what is rolled out: a placement of type External")
    .requiredOption("--strategy <name>", "in which stages")
    .option("--index <number>", "which resource snapshot; without it what the placement selects when the run begins")
    .addOption(
      new Option("--state <state>", "Initialize only makes the plan")
        .choices(["Initialize", "Run", "Stop"])
        .default("Initialize"),
    )
    .addOption(namespaceOption())
    .action(async (name, options) =>
      finish(await (await import("./run.ts")).createRun({ name, ...options }, terminal)),
    );
  const states = [
    ["start", "Run", "sets a run's state to Run: it begins, or goes on"],
    ["stop", "Stop", "sets a run's state to Stop: what has begun is finished, and nothing new begins"],
  ] as const;
  for (const [verb, state, description] of states)
    withCommitting(run.command(verb))
      .description(description)
      .argument("<name>", "name, or namespace/name")
      .addOption(namespaceOption())
      .action(async (name, options) =>
        finish(await (await import("./run.ts")).setRunState({ name, ...options }, state, terminal)),
      );
}

function addRollback(program: Command, terminal: Terminal, finish: Finish): void {
  withCommitting(program.command("rollback"))
    .description("writes a run that rolls an older version out")
    .argument("<placement>", "name, or namespace/name")
    .option("--to <index>", "resource snapshot to go back to; without it the version before the present one")
    .option("--strategy <name>", "in which stages; without it as in the placement's last run")
    .action(async (placement, options) =>
      finish(await (await import("./run.ts")).rollback({ placement, ...options }, terminal)),
    );
}

function addPrune(program: Command, terminal: Terminal, finish: Finish): void {
  withCommitting(program.command("prune"))
    .description(
      "removes ended runs and the answers to them, judged evictions and confirmations; of each placement three runs stay, and what a rollback needs",
    )
    .action(async (options) => finish(await (await import("./prune.ts")).prune(options, terminal)));
}

const namespaceOption = (): Option => new Option("-n, --namespace <name>", "of a StagedUpdateRun");
