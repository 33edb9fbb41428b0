import { setMaxListeners } from "node:events";
import { canonicalJson } from "../../../core/model/json.ts";
import { limiter } from "../client/concurrency.ts";
import { runProgram } from "../client/run-program.ts";
import { collectionDeadlineMs, type PropertyCommand } from "./collect.ts";

/** The operator's command, for any member. */
export interface PropertyCommands {
  /** By the member's context. */
  of(context: string): PropertyCommand;
  /** Kills what still runs. */
  close(): void;
}

/** Processes at the same time, of all members together. */
const maxConcurrent = 8;

/**
 * A program that says properties of members (`members/README.md#providers`): it is told a member's context and what was
 * collected there, as JSON, and has ten seconds, or `deadlineMs` where that is less. Null where there is none.
 */
export function openPropertyCommand(program: string | undefined, deadlineMs: number): PropertyCommands | null {
  if (program === undefined) return null;
  const closing = new AbortController();
  // As many programs may listen to it as there are slots.
  setMaxListeners(0, closing.signal);
  const slots = limiter(maxConcurrent);
  return {
    of: (context) => (known) => {
      const input = canonicalJson({ context, properties: Object.fromEntries(known) });
      const call = { program, args: [], env: process.env, input };
      return slots.run(() => runProgram(call, Math.min(deadlineMs, collectionDeadlineMs), closing.signal));
    },
    close: () => closing.abort(),
  };
}
