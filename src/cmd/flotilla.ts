#!/usr/bin/env node
import { main } from "./main.ts";
import type { Terminal } from "./terminal/terminal.ts";

process.exitCode = await main(process.argv.slice(2), processTerminal());

/** The terminal that this process was started from. */
function processTerminal(): Terminal {
  // Whoever reads us may stop reading (`| head`): what was begun is still brought to its end, and to its exit code.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    environment: process.env,
  };
}
