import type { Json, JsonObject } from "../model/json.ts";
import type { ClusterEnd, ClusterProgress, PlannedCluster } from "../model/update-run.ts";
import type { ClusterName, Instant, RunKey } from "../model/value.ts";
import { namespacedName } from "./api-types.ts";
import {
  at,
  type Draft,
  type Field,
  group,
  listIfAny,
  nullable,
  type ReadContext,
  readWithin,
  unlessEmpty,
} from "./codec/codec.ts";
import { type OfRun, type TrueCondition, transition, trueCondition, trueConditionIn } from "./codec/conditions.ts";
import { choice, clusterName, jsonObject, sequence, string, stringOf } from "./codec/scalars.ts";
import { present } from "./document.ts";

/** A member that stands as a condition: True, or not there. */
const asCondition = <T, W extends OfRun>(
  type: string,
  write: (value: T, whole: W, into: Draft) => TrueCondition,
  read: (from: JsonObject, entry: JsonObject, context: ReadContext) => T,
): Field<T | null, W> => ({
  put(into, value, whole) {
    if (value === null) return;
    const known = (into["conditions"] ?? []) as readonly Json[];
    into["conditions"] = [...known, trueCondition(type, write(value, whole, into), whole)];
  },
  take(from, context) {
    const found = trueConditionIn(from, type, context);
    return found === null ? null : read(found, from, context);
  },
});

/** What a stage does to its clusters, in words. */
interface StageWords {
  readonly started: string;
  readonly succeeded: string;
}

const endReasons = {
  succeeded: "ClusterUpdatingSucceeded",
  skipped: "ClusterUpdatingSkipped",
  superseded: "ClusterUpdatingSuperseded",
} as const satisfies Record<ClusterEnd["kind"], string>;

const endReason = at(["reason"], choice(endReasons.succeeded, endReasons.skipped, endReasons.superseded));
const supersededBy = at(["supersededBy"], stringOf<RunKey>());

function endOf(found: JsonObject, entry: JsonObject, context: ReadContext): ClusterEnd {
  const since = transition(found, context);
  switch (endReason.take(found, context)) {
    case endReasons.succeeded:
      return { kind: "succeeded", at: since };
    case endReasons.skipped:
      return { kind: "skipped", at: since, because: at(["message"], string).take(found, context) };
    case endReasons.superseded:
      return { kind: "superseded", at: since, by: supersededBy.take(entry, context) };
  }
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

interface WrittenProgress extends ClusterProgress, OfRun {
  readonly words: StageWords;
}

/**
 * A cluster's progress as conditions, in KubeFleet's words (`status/README.md#update-runs`), and what it has no field for.
 *
 * A cluster that left, or that a newer run moved, is done with: `Succeeded` is True, for reasons that KubeFleet does
 * not have (`rollout/README.md#b-4`, `#b-22`). Nothing is ever False: whoever fails may recover (`#b-1`).
 */
const clusterProgress = group<ClusterProgress, WrittenProgress>({
  startedAt: asCondition<Instant, WrittenProgress>(
    "Started",
    (since, { words }) => ({ reason: "ClusterUpdatingStarted", message: words.started, at: since }),
    (found, _, context) => transition(found, context),
  ),
  sequence: at(["sequence"], nullable(sequence)),
  end: asCondition<ClusterEnd, WrittenProgress>(
    "Succeeded",
    (end, { words }, into) => {
      if (end.kind === "superseded") supersededBy.put(into, end.by, null);
      return { reason: endReasons[end.kind], message: endText(end, words), at: end.at };
    },
    endOf,
  ),
});

/** How far each cluster is, those that have begun or ended. */
type ClustersProgress = ReadonlyMap<ClusterName, ClusterProgress>;

/** The clusters of a stage in their order, with what they carry of overrides, and what its words are. */
export interface StageClusters extends OfRun {
  readonly planned: readonly (Pick<PlannedCluster, "cluster"> & Partial<PlannedCluster>)[];
  readonly words: StageWords;
}

const plannedOverrides = group<Pick<PlannedCluster, "resourceOverrides" | "clusterOverrides">>({
  resourceOverrides: at(["resourceOverrideSnapshots"], listIfAny(namespacedName)),
  clusterOverrides: at(["clusterResourceOverrideSnapshots"], listIfAny(string)),
});

const entriesIn = at(["clusters"], listIfAny(jsonObject));
const nameIn = at(["clusterName"], clusterName);
const sequencesIn = at(["notes", "sequences"], unlessEmpty(jsonObject));
const supersededIn = at(["notes", "supersededBy"], unlessEmpty(jsonObject));

/** The clusters of a stage, and by cluster, in its notes, what KubeFleet has no field for. */
export const stageClusters: Field<ClustersProgress, StageClusters> = {
  put(into, clusters, { planned, words, generation }) {
    const sequences: Draft = {};
    const superseded: Draft = {};
    const entries = planned.map(({ cluster, resourceOverrides = [], clusterOverrides = [] }) => {
      const draft: Draft = { clusterName: cluster };
      plannedOverrides.put(draft, { resourceOverrides, clusterOverrides }, null);
      const progress = clusters.get(cluster);
      if (progress === undefined) return draft;
      const written: WrittenProgress = { ...progress, words, generation };
      clusterProgress.put(draft, written, null);
      const { sequence, supersededBy, ...entry } = draft;
      if (sequence !== undefined) sequences[cluster] = sequence;
      if (supersededBy !== undefined) superseded[cluster] = supersededBy;
      return entry;
    });
    entriesIn.put(into, entries, null);
    sequencesIn.put(into, sequences, null);
    supersededIn.put(into, superseded, null);
  },
  take(from, context) {
    const sequences = sequencesIn.take(from, context);
    const superseded = supersededIn.take(from, context);
    const clusters = new Map<ClusterName, ClusterProgress>();
    for (const [index, entry] of entriesIn.take(from, context).entries()) {
      const cluster = nameIn.take(entry, context);
      const notes = present({ sequence: sequences[cluster], supersededBy: superseded[cluster] });
      const progress = readWithin(["clusters", index], context, () =>
        clusterProgress.take({ ...entry, ...notes }, context),
      );
      if (progress.startedAt !== null || progress.sequence !== null || progress.end !== null)
        clusters.set(cluster, progress);
    }
    return clusters;
  },
};
