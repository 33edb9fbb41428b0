import { type Digest, oneLine } from "../../../core/model/value.ts";
import { extentOf } from "../../../core/plan/guard/judge-deletions.ts";
import { confirmationFile, deletionSetLines, type ShownDeletion } from "../../../core/report/deletion-text.ts";
import { quantity } from "../../../core/report/phrases.ts";
import { whatIf } from "../../../shell/reconcile/what-if.ts";
import { type CommitOptions, commitFiles, type FilesToCommit, usageError } from "../../hub/commit-files.ts";
import { readRecordedLedger } from "../../hub/record.ts";
import { openWorkTree, originUrl, readableHub, withPorts } from "../../hub/wire.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { recheckDeletions } from "./approval-record.ts";
import { type SelectedDeletion, selectDeletion } from "./request-selection.ts";

export interface ConfirmOptions extends CommitOptions {
  /** Of what waits, or the beginning of it; null: the only one that waits. */
  readonly digest: string | null;
  /** As `plan` has it: what is only foretold depends on it. */
  readonly trustAnchor: Digest | null;
}

/** Shows deletions that wait, and commits the file that lets just these go, once (`plan/README.md#d-3`). */
export async function confirm(options: ConfirmOptions, terminal: Terminal): Promise<ExitCode> {
  const author = await openWorkTree(options);
  const { deletions } = await readRecordedLedger(options, terminal.environment);
  const recorded = selectDeletion(deletions, options.digest);
  const isForetold = recorded.kind === "unknown";
  const chosen = isForetold ? await foretold(options, terminal) : recorded;
  if (chosen.kind !== "chosen") return asked(chosen, options, terminal);
  const { set } = chosen;
  for (const line of deletionSetLines(set)) terminal.out(`${oneLine(line)}\n`);
  const { path } = confirmationFile(set.digest);
  const isLocal = (await originUrl(options)) === null;
  if (author.files().some((it) => it.path === path)) {
    const next = `it counts once flotilla has read it on ${options.branch}`;
    return usageError(
      `${path} already exists`,
      isLocal ? next : `${next}; if origin does not have it: git push`,
      terminal,
    );
  }
  const objection = recheckDeletions(set, isForetold, options, terminal.environment);
  const code = await commitFiles(author, { ...confirmationCommit(set), objection }, options, terminal);
  if (options.dryRun === true) return code;
  if (isForetold) terminal.out(`${together}\n`);
  terminal.out(`once flotilla has read it on ${options.branch}, exactly these are deleted; it counts once\n`);
  if (options.push !== true && options.pr !== true && !isLocal) terminal.out("origin does not have it yet: git push\n");
  return code;
}

const together =
  "none of this is recorded yet: the file counts only if it is merged together with what deletes these, or later";

/** What the head of the source branch would take away, as `plan` foretells it without asking any member. */
async function foretold(options: ConfirmOptions, terminal: Terminal): Promise<SelectedDeletion> {
  return withPorts(await readableHub(options, terminal), null, terminal.environment, async (ports) => {
    const { trustAnchor, digest } = options;
    const settings = { members: "record", patience: "none", acceptRewrite: null, trustAnchor } as const;
    const { plan, world } = await whatIf(ports, settings);
    const known = new Set(world.ledger.deletions.held.map((it) => it.digest));
    const held = plan.ledger.deletions.held.filter((it) => !known.has(it.digest));
    return selectDeletion({ ...plan.ledger.deletions, held }, digest);
  });
}

/** Says which may be meant, or that nothing is. */
function asked(
  chosen: Exclude<SelectedDeletion, { kind: "chosen" }>,
  { digest, branch }: ConfirmOptions,
  terminal: Terminal,
): ExitCode {
  switch (chosen.kind) {
    case "refused":
      return usageError(chosen.message, chosen.fix, terminal);
    case "unknown": {
      const under = digest === null ? "" : ` under ${digest}`;
      const fix = `flotilla get deletions lists what waits; flotilla plan shows what ${branch} would delete`;
      return usageError(`no deletion waits for a confirmation${under}`, fix, terminal);
    }
    case "several": {
      for (const set of chosen.sets) for (const line of deletionSetLines(set)) terminal.out(`${oneLine(line)}\n`);
      const each = chosen.sets.map((it) => `flotilla confirm ${it.digest}`);
      return usageError(`${chosen.sets.length} sets of deletions wait`, `choose one: ${each.join(" or ")}`, terminal);
    }
  }
}

/** The commit that confirms a set of deletions: one file, and nothing else. */
export function confirmationCommit(set: ShownDeletion): FilesToCommit {
  const { path, text } = confirmationFile(set.digest);
  const { objects, clusters } = extentOf(set);
  const subject = `Confirm ${quantity(objects, "deletion")} on ${quantity(clusters.length, "cluster")}`;
  const slug = `confirm-${set.digest.slice(0, 12)}`;
  return { files: [{ path, text, before: null }], subject, slug };
}
