import { askedPath, renderedPath } from "../../core/ledger/layout.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import { firstOf } from "../../core/model/value.ts";
import { type Ask, askedPlacement } from "../../core/plan/approval/ask.ts";
import { sharesOf } from "../../core/plan/approval/asked-content.ts";
import { folderOf } from "../../shell/reconcile/asked.ts";
import type { AskedLook } from "../asked-look.ts";
import { movesIn } from "./asked-rows.ts";

/** The commits that brought what is asked for. */
export const broughtLines = (look: AskedLook | null): readonly string[] =>
  look === null || look.commitLines.length === 0 ? [] : ["brought by:", ...look.commitLines.map((it) => `  ${it}`)];

/**
 * What clusters would get against what they carry, as it was read from the state branch and found to be what the digest of
 * the request was made over; or that it was not, and where to look.
 */
export async function contentLines(
  ask: Ask,
  ledger: Ledger,
  look: AskedLook | null,
  { stateBranch }: { readonly stateBranch: string },
): Promise<readonly string[]> {
  if (ask.kind === "gate" && ask.when === "after") return [];
  const folder = folderOf(ask);
  const { groups, unknown } = movesIn(ask, look, ledger);
  const { differenceLines } = await import("./manifest-diff.ts");
  const shown = await differenceLines(groups, look === null ? "" : wholeText(ask, ledger, look));
  if (unknown.length === 0) return shown;
  return [
    ...shown,
    "",
    `what ${firstOf(unknown, 10)} would get is not shown: ${folder} on ${stateBranch} does not have it as the digest says;`,
    "it was left out there, asked for by an earlier version, or somebody changed it (flotilla verify); see the commits",
  ];
}

/** How to see all of it with git, where a clone has fetched the state branch. */
function wholeText(ask: Ask, ledger: Ledger, { state }: AskedLook): string {
  const [share, ...others] = sharesOf(ask);
  const record = askedPlacement(ask, ledger);
  if (share === undefined || record === null) return "";
  const [cluster] = share.clusters;
  const at = state.slice(0, 12);
  const after = `${at}:${askedPath(folderOf(ask), cluster, record.key)}`;
  const isNew = (record.bindings.get(cluster)?.target ?? null) === null;
  const command = isNew ? `git show ${after}` : `git diff ${at}:${renderedPath(cluster, record.key)} ${after}`;
  return others.length === 0
    ? command
    : `${command}, which is for ${cluster}; git ls-tree -r ${at} ${folderOf(ask)} has the others`;
}
