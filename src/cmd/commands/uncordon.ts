import { oneLine } from "../../shell/reconcile/one-line.ts";
import type { AuthoredFile } from "../../shell/reconcile/ports.ts";
import { type DeliveryOptions, deliver } from "../deliver.ts";
import { changedFile, uncordoned } from "../edits/cordon.ts";
import { calledOff } from "../edits/evictions-of.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { memberFile, unsupported } from "../member-file.ts";
import { filesWithout } from "../pruned-files.ts";
import type { Terminal } from "../terminal.ts";
import { openWorkplace, readRecord } from "../workplace.ts";

/** What `flotilla uncordon` is given. */
export interface UncordonOptions extends DeliveryOptions {
  readonly cluster: string;
}

/** Lets placements on a cluster again, and removes the evictions from it that came to nothing. */
export async function uncordon(options: UncordonOptions, terminal: Terminal): Promise<ExitCode> {
  const { cluster } = options;
  const workplace = await openWorkplace(options);
  const member = memberFile(workplace, cluster, terminal);
  if (member === null) return exitCodes.usage;
  const edit = uncordoned(member);
  if (edit.kind === "unsupported") return unsupported(member, "remove the taint", terminal);
  const ledger = await readRecord(options, terminal.environment);
  const { files: dropped, stuck } = filesWithout(calledOff(workplace, ledger, cluster));
  for (const path of stuck)
    terminal.err(`warning: ${oneLine(path)} cannot be edited; remove the eviction in it by hand\n`);
  const files: readonly AuthoredFile[] = [...changedFile(member, edit), ...dropped];
  if (files.length === 0) {
    terminal.out(`${cluster} has no taint of a drain, and no eviction there waits\n`);
    return exitCodes.done;
  }
  const written = { files, subject: `Uncordon ${cluster}`, slug: `uncordon-${cluster}` };
  return deliver(workplace.author, written, options, terminal);
}
