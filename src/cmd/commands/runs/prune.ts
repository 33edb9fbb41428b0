import { oneLine } from "../../../core/model/one-line.ts";
import { count } from "../../../core/report/phrases.ts";
import { type Finished, finishedIn } from "../../edits/finished.ts";
import { filesWithout, type TextFile } from "../../edits/found-document.ts";
import { type DeliveryOptions, deliver } from "../../hub/commit-files.ts";
import { readWhole } from "../../hub/record.ts";
import { blobOf } from "../../hub/wire.ts";
import { openWorkplace } from "../../hub/work-tree.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/**
 * Removes from the source what is over: ended runs, judged evictions and confirmations, and answers that do not count or
 * answer nothing any more.
 */
export async function prune(options: DeliveryOptions, terminal: Terminal): Promise<ExitCode> {
  const workplace = await openWorkplace(options);
  const { ledger, accepted } = await readWhole(options, terminal.environment);
  const wasRead = ({ path, text }: TextFile): boolean => accepted.get(path) === blobOf(text);
  const finished = finishedIn(ledger, { ...workplace, wasRead });
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
