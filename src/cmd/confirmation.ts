import { extentOf } from "../core/plan/guard/guard.ts";
import { confirmationFile, count } from "../core/report/explain.ts";
import type { Written } from "./deliver.ts";
import { deletionHeading, deletionLines, type ShownDeletion } from "./show/deletion-text.ts";

/** What somebody who confirms deletions is shown: all of it, since a confirmation covers nothing else. */
export const shownBefore = (set: ShownDeletion): readonly string[] => [
  `${set.digest}: ${deletionHeading(set)}`,
  ...deletionLines(set, "all").map((it) => `  ${it}`),
];

/** The commit that confirms a set of deletions: one file, and nothing else. */
export function confirmationCommit(set: ShownDeletion): Written {
  const { path, text } = confirmationFile(set.digest);
  const { objects, clusters } = extentOf(set);
  const subject = `Confirm ${count(objects, "deletion")} on ${count(clusters.length, "cluster")}`;
  const slug = `confirm-${set.digest.slice(0, 12)}`;
  return { files: [{ path, text, before: null }], subject, slug };
}
