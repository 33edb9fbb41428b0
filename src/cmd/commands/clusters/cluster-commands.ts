import type { Command } from "commander";
import { type Finish, withCommitting } from "../../terminal/options.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Commands that take a cluster out of service and back. */
export function addClusters(program: Command, terminal: Terminal, finish: Finish): void {
  withCommitting(program.command("evict"))
    .description("writes an eviction: a placement leaves a cluster, once, as its disruption budget allows")
    .argument("<placement>")
    .argument("<cluster>")
    .action(async (placement, cluster, options) =>
      finish(await (await import("./drain.ts")).evict({ placement, cluster, ...options }, terminal)),
    );
  withCommitting(program.command("drain"))
    .description(
      "taints a cluster, so that nothing new is placed there, evicts every placement from it, and waits for the verdicts",
    )
    .argument("<cluster>")
    .option("--no-wait", "do not wait for what becomes of it")
    .option("--confirm", "then commit the confirmation too that its deletions need", false)
    .action(async (cluster, options) =>
      finish(await (await import("./drain.ts")).drain({ cluster, ...options }, terminal)),
    );
  withCommitting(program.command("uncordon"))
    .description(
      "removes the taint of a drain, and evictions that came to nothing; what was evicted comes back as its policy says",
    )
    .argument("<cluster>")
    .action(async (cluster, options) =>
      finish(await (await import("./drain.ts")).uncordon({ cluster, ...options }, terminal)),
    );
}
