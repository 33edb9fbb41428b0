import type { Clock } from "../../shell/reconcile/ports.ts";

/** Where a command writes, and what it may assume about the reader. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The time, for commands that wait; the machine's where there is none. */
  readonly clock?: Clock;
}

/** The terminal that this process was started from. */
export function processTerminal(): Terminal {
  // Whoever reads us may stop reading (`| head`): what was begun is still brought to its end, and to its exit code.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    environment: process.env,
  };
}
