import type { Command } from "commander";
import { keyNamed, withNamespace, withNamespaces } from "../../terminal/namespaces.ts";
import { type Finish, outputOption, withHub, withHubAndOutput, withTrustAnchor } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands that show or check what the state branch records. */
export function addReading(program: Command, terminal: Terminal, finish: Finish): void {
  withTrustAnchor(withHubAndOutput(program.command("verify")), terminal.environment)
    .description(
      "check the state branch again: its chain, signatures, approvals and plans; contacts no member, works offline",
    )
    .option("--full", "all of its history, and rendered/; default: the last 100 commits", false)
    .action(async (options) => finish(await (await import("./verify.ts")).verify(options, terminal)));
  withNamespaces(withHub(program.command("get")), "placements, bindings, runs and approvals")
    .description("show what is recorded: placements, clusters, bindings, runs, evictions, approvals or deletions")
    .argument("<kind>", "placements, clusters, bindings, runs, evictions, approvals or deletions")
    .argument("[name]", "only this one; for bindings, those of this placement")
    .addOption(outputOption(["text", "wide", "name", "json", "yaml"]))
    .action(async (kind, name, options) =>
      finish(await (await import("./get.ts")).get({ kind, name: name ?? null, ...options }, terminal)),
    );
  withNamespace(withHubAndOutput(program.command("explain")), "a ResourcePlacement")
    .description("show why a placement is where it is, and why not elsewhere")
    .argument("<placement>", "name, or namespace/name")
    .option("--cluster <name>", "only this cluster")
    .action(async (placement, options) =>
      finish(
        await (await import("./explain.ts")).explain({ ...options, placement: keyNamed(placement, options) }, terminal),
      ),
    );
  withNamespace(withHubAndOutput(program.command("describe")), "a StagedUpdateRun")
    .description(
      "show one run as a tree: what is done, what waits, for whom and until when; or all that is known of a cluster",
    )
    .argument("<kind>", "run or cluster")
    .argument("<name>", "name, or namespace/name")
    .action(async (kind, name, options) =>
      finish(await (await import("./describe.ts")).describe({ kind, name, ...options }, terminal)),
    );
}
