import type { Command } from "commander";
import { type Finish, withCommitting } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands that take a cluster out of service and back. */
export function addClusters(program: Command, terminal: Terminal, finish: Finish): void {
  withCommitting(program.command("evict"))
    .description("write an eviction: remove a placement from a cluster once, as its disruption budget allows")
    .argument("<placement>")
    .argument("<cluster>")
    .action(async (placement, cluster, options) =>
      finish(await (await import("./drain.ts")).evictPlacement({ placement, cluster, ...options }, terminal)),
    );
  withCommitting(program.command("drain"))
    .description(
      "taint a cluster so that nothing new is placed there, evict every placement from it, and wait for the results",
    )
    .argument("<cluster>")
    .option("--no-wait", "do not wait for the results")
    .option("--confirm", "then also commit the confirmation that its deletions need", false)
    .action(async (cluster, options) =>
      finish(await (await import("./drain.ts")).drain({ cluster, ...options }, terminal)),
    );
  withCommitting(program.command("uncordon"))
    .description(
      "remove the taint of a drain, and evictions that were not executed; evicted placements come back as their policies say",
    )
    .argument("<cluster>")
    .action(async (cluster, options) =>
      finish(await (await import("./drain.ts")).uncordon({ cluster, ...options }, terminal)),
    );
}
