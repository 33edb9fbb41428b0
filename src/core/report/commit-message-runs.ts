import { conditionOf } from "../model/condition.ts";
import type { Ledger } from "../model/ledger.ts";
import type { EvictionRecord } from "../model/placement.ts";
import { noTaskRecords } from "../model/stage-task.ts";
import type { RunEnd, RunRecord, StageProgress } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import { taskKinds, taskType } from "../rollout/tasks/tasks.ts";
import { quantity, someNames } from "./phrases.ts";

/** Changes of update runs and evictions, in words. */
export function* rolloutLines(before: Ledger, after: Ledger): Generator<string> {
  if (before.runs !== after.runs) {
    for (const [key, run] of after.runs) yield* runLines(before.runs.get(key), run);
    for (const key of before.runs.keys()) if (!after.runs.has(key)) yield `run ${key} is no longer recorded`;
  }
  if (before.evictions !== after.evictions)
    for (const [name, it] of after.evictions) if (!before.evictions.has(name)) yield evictionLine(it);
}

function* runLines(was: RunRecord | undefined, run: RunRecord): Generator<string> {
  const { key, plan, spec, end } = run;
  if (was === run) return;
  if (plan !== null && was?.plan == null) {
    const clusters = plan.stages.reduce((sum, it) => sum + it.clusters.length, 0);
    const leaves = plan.deletions.length === 0 ? "" : `, ${quantity(plan.deletions.length, "cluster")} to leave`;
    yield `run ${key} of ${spec.placement} is planned: resource snapshot ${plan.resourceIndex} on ${quantity(clusters, "cluster")} in ${quantity(plan.stages.length, "stage")}${leaves}`;
  }
  if (was !== undefined && was.spec.state !== spec.state) yield `run ${key} is set to ${spec.state}`;
  for (const [at, stage] of run.stages.entries())
    yield* stageLines(`stage ${plan?.stages[at]?.name ?? at} of run ${key}`, was?.stages[at], stage);
  const standing = standingOf(run);
  if (standing !== null && standing.reason !== standingOf(was)?.reason)
    yield `run ${key} ${standing.word}: ${standing.message}`;
  if (end === null || was?.end != null) return;
  yield endLine(run.key, end);
}

function endLine(key: RunRecord["key"], end: RunEnd): string {
  switch (end.kind) {
    case "succeeded":
      return `run ${key} is done`;
    case "superseded":
      return `run ${key} has ended: run ${end.by} has taken over its clusters`;
    case "failed":
      return `run ${key} failed: ${end.code}: ${end.message}`;
  }
}

/** Why a run is stuck or stopped; null if it is neither. */
function standingOf(run: RunRecord | undefined): {
  readonly reason: string;
  readonly word: string;
  readonly message: string;
} | null {
  const condition = conditionOf(run?.conditions ?? [], "Progressing");
  const word = standingWords[condition?.reason ?? ""];
  return condition === null || word === undefined
    ? null
    : { reason: condition.reason, word, message: condition.message };
}

const standingWords: Readonly<Record<string, string>> = {
  UpdateRunStuck: "is stuck",
  UpdateRunStopped: "is stopped",
};

function* stageLines(name: string, was: StageProgress | undefined, stage: StageProgress): Generator<string> {
  for (const when of ["before", "after"] as const) {
    const [old, records] = [was?.[when] ?? noTaskRecords, stage[when]];
    for (const kind of taskKinds)
      for (const change of taskType(kind).changes(old[kind], records[kind], when)) yield `${name} ${change}`;
  }
  yield* ends(name, was, stage);
  if (stage.endedAt !== null && was?.endedAt == null) yield `${name} has ended`;
}

/** Clusters that were skipped, one line per reason. */
function* ends(name: string, was: StageProgress | undefined, stage: StageProgress): Generator<string> {
  const said = new Map<string, ClusterName[]>();
  for (const [cluster, { end }] of stage.clusters) {
    if (end === null || end.kind === "succeeded" || was?.clusters.get(cluster)?.end != null) continue;
    const what = end.kind === "skipped" ? `because ${end.because}` : `which run ${end.by} has updated`;
    const list = said.get(what);
    if (list === undefined) said.set(what, [cluster]);
    else list.push(cluster);
  }
  for (const [what, clusters] of said) yield `${name} skips ${someNames(clusters)}, ${what}`;
}

function evictionLine({ name, placement, cluster, conditions }: EvictionRecord): string {
  const verdict = conditions.find((it) => it.type === "Executed") ?? conditions[0];
  const outcome =
    verdict?.type === "Valid" ? "is invalid" : verdict?.status === "True" ? "was executed" : "was refused";
  return `eviction ${name} of ${placement} from ${cluster} ${outcome}: ${verdict?.message ?? ""}`;
}
