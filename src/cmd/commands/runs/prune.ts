import { oneLine } from "../../../core/model/value.ts";
import { quantity } from "../../../core/report/phrases.ts";
import { type FinishedDocuments, finishedDocuments } from "../../edits/finished.ts";
import { filesWithout, type TextFile } from "../../edits/found-document.ts";
import { type CommitOptions, commitFiles } from "../../hub/commit-files.ts";
import { readRecordedState } from "../../hub/record.ts";
import { blobIdOfText } from "../../hub/wire.ts";
import { loadWorkTree } from "../../hub/work-tree.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Removes ended runs, processed evictions and confirmations, and answers without effect. */
export async function prune(options: CommitOptions, terminal: Terminal): Promise<ExitCode> {
  const workTree = await loadWorkTree(options);
  const { ledger, accepted } = await readRecordedState(options, terminal.environment);
  const wasRead = ({ path, text }: TextFile): boolean => accepted.get(path) === blobIdOfText(text);
  const finished = finishedDocuments(ledger, { ...workTree, wasRead });
  const { files, stuck } = filesWithout(Object.values(finished).flat());
  for (const path of stuck)
    terminal.err(`warning: ${oneLine(path)} cannot be edited; remove what has ended in it by hand\n`);
  if (files.length === 0) {
    terminal.out("nothing to prune\n");
    return exitCodes.done;
  }
  return commitFiles(workTree.author, { files, subject: subjectOf(finished, stuck), slug: "prune" }, options, terminal);
}

function subjectOf(finished: FinishedDocuments, stuck: readonly string[]): string {
  const parts = (["run", "eviction", "approval", "confirmation"] as const).flatMap((noun) => {
    const number = finished[`${noun}s`].filter((it) => !stuck.includes(it.path)).length;
    return number === 0 ? [] : [quantity(number, noun)];
  });
  return `Prune ${parts.join(", ")}`;
}
