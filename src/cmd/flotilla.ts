#!/usr/bin/env node
import { main } from "./main.ts";
import type { Terminal } from "./terminal/terminal.ts";

process.exitCode = await main(process.argv.slice(2), processTerminal());

/** The terminal that this process was started from. */
function processTerminal(): Terminal {
  // The reader may close the pipe (`| head`): the command still completes, with its exit code.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    environment: process.env,
  };
}
