import type { JsonObject } from "../model/json.ts";
import type { ClusterEnd, ClusterProgress } from "../model/update-run.ts";
import type { ClusterName, Instant, RunKey, Sequence } from "../model/value.ts";
import { conditionJson } from "./state-condition.ts";
import { choiceAt, countAt, type Findings, filled, find, given, instantAt, objectsAt, textAt } from "./state-fields.ts";

/** How far each cluster is, those that have begun or ended. */
export type ClustersProgress = ReadonlyMap<ClusterName, ClusterProgress>;

/** What a stage does to its clusters, in words. */
export interface StageWords {
  readonly started: string;
  readonly succeeded: string;
}

export const updating: StageWords = {
  started: "the cluster is to carry the version of the run",
  succeeded: "the cluster carries the version of the run",
};
export const deleting: StageWords = {
  started: "the cluster is to lose the placement",
  succeeded: "the cluster has lost the placement",
};

const reasons = {
  succeeded: "ClusterUpdatingSucceeded",
  skipped: "ClusterUpdatingSkipped",
  superseded: "ClusterUpdatingSuperseded",
} as const satisfies Record<ClusterEnd["kind"], string>;

/**
 * A cluster's conditions: its progress, in KubeFleet's words (`status/README.md#update-runs`).
 *
 * A cluster that left, or that a newer run moved, is done with: `Succeeded` is True, for reasons that KubeFleet does
 * not have (`rollout/README.md#b-4`, `#b-22`). Nothing is ever False: whoever fails may recover (`#b-1`).
 */
export function clusterConditionsJson(
  { startedAt, end }: ClusterProgress,
  generation: number,
  words: StageWords,
): readonly JsonObject[] {
  const yes = (type: string, reason: string, message: string, at: Instant): JsonObject =>
    conditionJson({ type, status: "True", reason, message, observedGeneration: generation, lastTransitionTime: at });
  return [
    ...(startedAt === null ? [] : [yes("Started", "ClusterUpdatingStarted", words.started, startedAt)]),
    ...(end === null ? [] : [yes("Succeeded", reasons[end.kind], endText(end, words), end.at)]),
  ];
}

function endText(end: ClusterEnd, words: StageWords): string {
  switch (end.kind) {
    case "succeeded":
      return words.succeeded;
    case "skipped":
      return end.because;
    case "superseded":
      return "a newer run has moved the cluster, or is moving it";
  }
}

/** What KubeFleet's status of clusters has no field for, by cluster; null when there is nothing. */
export function clusterNotesJson(clusters: ClustersProgress): JsonObject {
  const sequences: Record<string, number> = {};
  const supersededBy: Record<string, string> = {};
  for (const [cluster, { sequence, end }] of clusters) {
    if (sequence !== null) sequences[cluster] = sequence;
    if (end?.kind === "superseded") supersededBy[cluster] = end.by;
  }
  const some = (notes: JsonObject): JsonObject | null => (filled(Object.keys(notes)) === null ? null : notes);
  return given({ sequences: some(sequences), supersededBy: some(supersededBy) });
}

/** The notes of one stage, as they were read. */
export interface ClusterNotes {
  readonly sequences: JsonObject;
  readonly supersededBy: JsonObject;
}

/** The inverse of {@link clusterConditionsJson} and {@link clusterNotesJson}, over a stage's `clusters`. */
export function clustersOf(findings: Findings, stage: JsonObject, notes: ClusterNotes): ClustersProgress {
  const clusters = new Map<ClusterName, ClusterProgress>();
  for (const entry of objectsAt(findings, stage, "clusters")) {
    const cluster = textAt(findings, entry, "clusterName") as ClusterName;
    const progress = progressOf(findings, cluster, { entry, notes });
    const { startedAt, sequence, end } = progress;
    if (startedAt !== null || sequence !== null || end !== null) clusters.set(cluster, progress);
  }
  return clusters;
}

function progressOf(
  findings: Findings,
  cluster: ClusterName,
  { entry, notes }: { readonly entry: JsonObject; readonly notes: ClusterNotes },
): ClusterProgress {
  const started = trueAt(findings, entry, "Started");
  const ended = trueAt(findings, entry, "Succeeded");
  return {
    startedAt: started === null ? null : instantAt(findings, started, "lastTransitionTime"),
    sequence: Object.hasOwn(notes.sequences, cluster)
      ? (countAt(findings, notes.sequences, cluster) as Sequence)
      : null,
    end: ended === null ? null : endOf(findings, cluster, { ended, notes }),
  };
}

function endOf(
  findings: Findings,
  cluster: ClusterName,
  { ended, notes }: { readonly ended: JsonObject; readonly notes: ClusterNotes },
): ClusterEnd {
  const at = instantAt(findings, ended, "lastTransitionTime");
  switch (choiceAt(findings, ended, "reason", [reasons.succeeded, reasons.skipped, reasons.superseded])) {
    case reasons.succeeded:
      return { kind: "succeeded", at };
    case reasons.skipped:
      return { kind: "skipped", at, because: textAt(findings, ended, "message") };
    case reasons.superseded:
      return { kind: "superseded", at, by: textAt(findings, notes.supersededBy, cluster) as RunKey };
  }
}

/** The condition of that type, which is True or not there. */
export function trueAt(findings: Findings, entry: JsonObject, type: string): JsonObject | null {
  const condition = objectsAt(findings, entry, "conditions").find((it) => it["type"] === type);
  if (condition !== undefined && condition["status"] !== "True") find(findings, type, "is there and not True");
  return condition ?? null;
}
