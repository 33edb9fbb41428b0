import type { Commit } from "../../core/model/value.ts";
import { Fault } from "./fault.ts";
import type { Change, Repository } from "./ports.ts";

/** What differs at a commit. */
export interface Since {
  /** From which commit on; null: the changes are everything. */
  readonly from: Commit | null;
  readonly changes: readonly Change[];
}

/** Where and up to where changes are asked for. */
export interface SinceQuestion {
  readonly to: Commit;
  /** Which folders are looked into. An adapter that lists instead may give more. */
  readonly enters: (folder: string) => boolean;
}

/** Asks what differs from a commit that was read before, or for everything where that is not to be had. */
export async function changesSince(
  repository: Repository,
  from: Commit | null,
  { to, enters }: SinceQuestion,
): Promise<Since> {
  if (repository.changes === undefined) {
    const files = await repository.files(to);
    return { from: null, changes: files.map((file) => ({ path: file.path, file })) };
  }
  try {
    return { from, changes: await repository.changes(from, to, enters) };
  } catch (error) {
    // A branch that somebody set back may have taken with it what we knew.
    if (from === null || !(error instanceof Fault) || error.code !== "RepositoryCorrupt") throw error;
    return { from: null, changes: await repository.changes(null, to, enters) };
  }
}
