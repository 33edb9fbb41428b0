import { count } from "../../core/plan/explain.ts";
import { oneLine } from "../../shell/reconcile/one-line.ts";
import { type DeliveryOptions, deliver } from "../deliver.ts";
import { type Finished, finishedIn } from "../edits/finished.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { filesWithout } from "../pruned-files.ts";
import type { Terminal } from "../terminal.ts";
import { openWorkplace, readRecord } from "../workplace.ts";

/** Removes from the source what is over: ended runs and the answers to them, judged evictions and confirmations. */
export async function prune(options: DeliveryOptions, terminal: Terminal): Promise<ExitCode> {
  const workplace = await openWorkplace(options);
  const ledger = await readRecord(options, terminal.environment);
  const finished = finishedIn(ledger, workplace);
  const { files, stuck } = filesWithout(Object.values(finished).flat());
  for (const path of stuck)
    terminal.err(`warning: ${oneLine(path)} cannot be edited; remove what is over in it by hand\n`);
  if (files.length === 0) {
    terminal.out("nothing to prune\n");
    return exitCodes.done;
  }
  return deliver(workplace.author, { files, subject: subjectOf(finished, stuck), slug: "prune" }, options, terminal);
}

function subjectOf(finished: Finished, stuck: readonly string[]): string {
  const parts = (["run", "eviction", "approval", "confirmation"] as const).flatMap((noun) => {
    const number = finished[`${noun}s`].filter((it) => !stuck.includes(it.path)).length;
    return number === 0 ? [] : [count(number, noun)];
  });
  return `Prune ${parts.join(", ")}`;
}
