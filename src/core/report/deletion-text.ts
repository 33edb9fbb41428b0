import type { DeletionGroup, DeletionLedger, HeldDeletion } from "../model/deletion.ts";
import type { Json } from "../model/json.ts";
import { objectKey, objectText } from "../model/manifest.ts";
import { compareText } from "../model/value.ts";
import { extentOf } from "../plan/guard/judge-deletions.ts";
import { quantity, someNames } from "./phrases.ts";
import type { TableRows } from "./tables.ts";

/** A set of deletions that waits for a confirmation, wherever it is known from. */
export type ShownDeletion = Pick<HeldDeletion, "digest" | "because" | "groups" | "others">;

/** How many lines of a set are shown beside other things. */
const shortLines = 40;

/** The size of a set and why it waits, in one line. */
export function deletionHeading(set: ShownDeletion): string {
  const { objects, clusters } = extentOf(set);
  const what = `${quantity(objects, "deletion")} on ${quantity(clusters.length, "cluster")}`;
  return `${what} of ${someNames(placementsOf(set))}: ${heldReasons[set.because]}`;
}

/** What would be deleted, by placement and cluster, with others' objects; `short`: cut, naming the command for all. */
export function deletionLines(set: ShownDeletion, length: "all" | "short"): readonly string[] {
  const lines = set.groups.flatMap((it) => [...groupLines(it, set, length)]);
  if (length === "all" || lines.length <= shortLines) return lines;
  const rest = lines.length - shortLines;
  return [
    ...lines.slice(0, shortLines),
    `and ${quantity(rest, "more line")}: flotilla confirm ${set.digest} --dry-run`,
  ];
}

function* groupLines(
  { placement, clusters, objects }: DeletionGroup,
  { others }: ShownDeletion,
  length: "all" | "short",
): Generator<string> {
  yield `${placement} on ${length === "all" ? clusters.join(", ") : someNames(clusters)}:`;
  for (const id of objects) {
    yield `  ${objectText(id)}`;
    const along = others.filter(
      (it) => it.placement === placement && clusters.includes(it.cluster) && objectKey(it.id) === objectKey(id),
    );
    for (const { cluster, objects: all } of along)
      for (const it of all) yield `    and, of others, on ${cluster}: ${objectText(it)} (uid ${it.uid})`;
  }
}

export function deletionRows({ held }: DeletionLedger, name: string | null): TableRows {
  const rows = held
    .filter((it) => name === null || it.digest === name)
    .map((it) => {
      const { objects, clusters } = extentOf(it);
      const state = it.confirmed ? "Confirmed" : "Waiting";
      return [
        it.digest,
        state,
        reasonWords[it.because],
        `${objects}`,
        `${clusters.length}`,
        someNames(placementsOf(it)),
      ];
    });
  return [["DIGEST", "STATE", "REASON", "OBJECTS", "CLUSTERS", "PLACEMENTS"], rows];
}

const reasonWords: Readonly<Record<HeldDeletion["because"], string>> = {
  bounds: "TooMany",
  kind: "CarriesData",
  foreign: "HoldsOthersObjects",
  protected: "HoldsProtectedObjects",
};

/** The sets of deletions for programs, in the form of Kubernetes objects, named by their digests. */
export const deletionItems = ({ held }: DeletionLedger, name: string | null): readonly Json[] =>
  held
    .filter((it) => name === null || it.digest === name)
    .map(({ digest, because, cause, confirmed, groups, others }) => ({
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "Deletion",
      metadata: { name: digest },
      spec: { because, sourceCommit: cause, groups: groups as unknown as Json, others: others as unknown as Json },
      status: { confirmed },
    }));

const placementsOf = ({ groups }: ShownDeletion): readonly string[] =>
  [...new Set(groups.map((it) => it.placement))].sort(compareText);

export const heldReasons: Readonly<Record<HeldDeletion["because"], string>> = {
  bounds: "more than one commit may delete without confirmation",
  kind: "an edit drops kinds whose deletion takes data along",
  foreign: "they hold objects of others, which would be deleted too",
  protected: "they hold objects of others in a protected place, which no confirmation covers",
};

/** The file that confirms a set of deletions: path and text. */
export function confirmationFile(digest: string): { readonly path: string; readonly text: string } {
  const text = [
    "apiVersion: flotilla.dev/v1alpha1",
    "kind: DeletionConfirmation",
    "metadata:",
    `  name: "${digest.slice(0, 16)}"`,
    "spec:",
    `  digest: "${digest}"`,
    "",
  ];
  return { path: `approvals/deletions/${digest}.yaml`, text: text.join("\n") };
}

/** A set of deletions in full: a confirmation covers exactly what was shown. */
export const deletionSetLines = (set: ShownDeletion): readonly string[] => [
  `${set.digest}: ${deletionHeading(set)}`,
  ...deletionLines(set, "all").map((it) => `  ${it}`),
];
