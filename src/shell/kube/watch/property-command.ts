import { setMaxListeners } from "node:events";
import { canonicalJson } from "../../../core/model/json.ts";
import { inSlotWithin, limiter } from "../client/concurrency.ts";
import { runProgram } from "../client/run-program.ts";
import type { PropertyCommand } from "./collect.ts";
import { collectionDeadlineMs } from "./missing-facts.ts";

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
 * collected there, as JSON, and has ten seconds, or `deadlineMs` where that is less; it waits no longer than that for its
 * turn. Null where there is none.
 */
export function openPropertyCommand(program: string | undefined, deadlineMs: number): PropertyCommands | null {
  if (program === undefined) return null;
  const closing = new AbortController();
  // As many programs may listen to it as there are slots.
  setMaxListeners(0, closing.signal);
  const slots = limiter(maxConcurrent);
  const ms = Math.min(deadlineMs, collectionDeadlineMs);
  return {
    of: (context) => async (known) => {
      const input = canonicalJson({ context, properties: Object.fromEntries(known) });
      const call = { program, args: [], env: process.env, input };
      const end = await inSlotWithin(slots, ms, () => runProgram(call, ms, closing.signal));
      return end ?? { kind: "failed", why: `waited longer than ${Math.ceil(ms / 1000)} s for those of other members` };
    },
    close: () => closing.abort(),
  };
}
