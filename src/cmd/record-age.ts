import { type Commit, type DurationMs, type Instant, instantText } from "../core/model/value.ts";
import type { Heads, Repository } from "../shell/reconcile/ports.ts";
import { commitBytes } from "../shell/signature/commit-bytes.ts";
import type { Terminal } from "./terminal.ts";

/** What is looked at: the record at `state`, made from `sourceCommit`, while the source branch is at `source`. */
export interface RecordInSight extends Heads {
  readonly sourceCommit: Commit | null;
  /** The name of the source branch. */
  readonly branch: string;
  readonly now: Instant;
}

/**
 * Says on stderr how old the record is that somebody is shown, and whether the source branch has moved on since. The time
 * is that of the state commit, by the clock of whoever wrote it. Nothing is said where there is no record.
 */
export async function noteAge(
  repository: Pick<Repository, "lineage">,
  seen: RecordInSight,
  { err }: Pick<Terminal, "err">,
): Promise<void> {
  if (seen.state === null) return;
  const [head] = (await repository.lineage?.(seen.state, 1)) ?? [];
  const read = head === undefined ? null : commitBytes(head.raw);
  err(`note: ${ageText(seen, read?.kind === "commit" ? ((read.committer.seconds * 1000) as Instant) : null)}\n`);
}

/** The age of a record in words; `at` null: when it was written is not known. */
export function ageText({ source, sourceCommit, branch, now }: RecordInSight, at: Instant | null): string {
  const from = sourceCommit === null ? "before any source commit" : `at source commit ${short(sourceCommit)}`;
  const when = at === null ? "recorded" : `recorded ${agoText((now - at) as DurationMs)} (${instantText(at)})`;
  const isBehind = source !== null && source !== sourceCommit;
  return `${when} ${from}${isBehind ? `; ${branch} is at ${short(source)}, which no pass has recorded yet` : ""}`;
}

/** In the largest unit of which there are two. Commits carry whole seconds, and clocks differ: what seems to come is now. */
function agoText(age: DurationMs): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
  ] as const;
  const [length, name] = units.find(([it]) => age >= 2 * it) ?? [1000, "s"];
  return `${Math.max(Math.round(age / length), 0)} ${name} ago`;
}

const short = (commit: Commit): string => commit.slice(0, 7);
