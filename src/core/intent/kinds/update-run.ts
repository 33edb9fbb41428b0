import type { ClusterStagedUpdateRun as WrittenRun } from "#schemas/cluster-staged-update-run";
import schema from "../../../../schemas/cluster-staged-update-run.json" with { type: "json" };
import type { Scope } from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import { placementKey } from "../../model/placement.ts";
import { runKey, strategyKey, type UpdateRun } from "../../model/update-run.ts";
import { error, type FieldProblems } from "../../yaml/problems.ts";
import { immutableProblems } from "./fields.ts";
import { type ContentOf, type ReadKind, selectsNothing } from "./kind.ts";
import { commonProblems, dnsLabelProblems, dnsSubdomainProblems } from "./metadata.ts";

/** Staged runs. */
export const updateRunKind: ReadKind<WrittenRun, ContentOf<"run">> = {
  names: [
    {
      group: placementGroup,
      kind: "ClusterStagedUpdateRun",
      scope: "Cluster",
      versions: ["v1", "v1alpha1", "v1beta1"],
    },
    { group: placementGroup, kind: "StagedUpdateRun", scope: "Namespaced", versions: ["v1", "v1beta1"] },
  ],
  schema,
  ownPlace: null,
  rules: (it) => updateRunProblems(it),
  content: (it, scope) => ({ kind: "run", run: updateRunFrom(it, scope) }),
  updateRules: (before, after) => updateRunUpdateProblems(before.run.spec, after.run.spec),
  selectionRules: selectsNothing,
};

/** A checked update run after defaults. An empty index is none (`intent/README.md#v-ur-08`). */
function updateRunFrom({ metadata, spec }: WrittenRun, scope: Scope): Omit<UpdateRun, "source"> {
  const namespace = scope === "Cluster" ? null : (metadata.namespace ?? null);
  const { placementName, resourceSnapshotIndex = "", stagedRolloutStrategyName, state = "Initialize" } = spec;
  return {
    key: runKey(namespace, metadata.name),
    scope,
    namespace,
    name: metadata.name,
    spec: {
      placement: placementKey(namespace, placementName),
      resourceIndex: resourceSnapshotIndex === "" ? null : resourceSnapshotIndex,
      strategy: strategyKey(namespace, stagedRolloutStrategyName),
      state,
    },
  };
}

/**
 * Checks an update run by the rules of its kind (`intent/README.md#v-ur-01` … `#v-ur-03`, `#v-ur-08`). v1alpha1's names
 * of 127 characters, required index and missing state are not taken over: all versions are the same here.
 */
const updateRunProblems = (run: WrittenRun): FieldProblems => [
  ...commonProblems(run, { maxName: 63 }),
  ...dnsLabelProblems(run.spec.placementName, ["spec", "placementName"]),
  ...dnsSubdomainProblems(run.spec.stagedRolloutStrategyName, ["spec", "stagedRolloutStrategyName"]),
  ...indexProblems(run.spec.resourceSnapshotIndex ?? ""),
];

/** An index that no snapshot can have; whether there is one, the run finds out (`rollout/README.md#u19`). */
function indexProblems(index: string): FieldProblems {
  if (/^[0-9]{0,9}$/.test(index)) return [];
  const fix = 'write it in digits, such as "3", or leave it out to roll out what is selected now';
  return [error("FLT1302", ["spec", "resourceSnapshotIndex"], "is not a snapshot index", fix, JSON.stringify(index))];
}

/** `intent/README.md#v-ur-04`: a run is for one version of one placement. An absent index is an empty one. */
function updateRunUpdateProblems(before: UpdateRun["spec"], after: UpdateRun["spec"]): FieldProblems {
  const changed = immutableProblems("a run", [
    ["placementName", before.placement, after.placement],
    ["resourceSnapshotIndex", before.resourceIndex ?? "none", after.resourceIndex ?? "none"],
    ["stagedRolloutStrategyName", before.strategy, after.strategy],
  ]);
  const next = nextState[before.state];
  if (after.state === before.state || after.state === next) return changed;
  const message = `cannot change from ${before.state} to ${after.state}`;
  return [...changed, error("FLT1315", ["spec", "state"], message, `from ${before.state} it can only go to ${next}`)];
}

/** `intent/README.md#v-ur-06`: what has begun can be stopped and resumed, and never becomes a plan again. */
const nextState = { Initialize: "Run", Run: "Stop", Stop: "Run" } as const;
