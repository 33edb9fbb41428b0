import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Reason } from "../../src/core/model/reason.ts";
import type { Commit, PlacementKey } from "../../src/core/model/value.ts";
import { evictionsAt, runsAt, type SeenCluster, type SeenRun } from "./rules/recorded-runs.ts";
import type { Hub } from "./world/hub.ts";

/** Kinds of what happens to runs and evictions that a storm has to meet. */
export const rolloutKinds: readonly string[] = [
  "run began",
  "run succeeded",
  "run failed",
  "run stopped midway",
  "run resumed",
  "run put away midway",
  "run superseded",
  "run deleted",
  "rollback",
  "cluster skipped in a run",
  "cluster failed in a run",
  "approval answered",
  "run rejected",
  "run waited for a timer",
  "timed wait held by the clock",
  "eviction executed",
  "eviction refused by the budget",
  "eviction invalid",
  "eviction of what leaves already",
  "eviction beside an update",
];

/** Names what a commit of the state branch shows to have happened to runs and evictions. */
export function* strikesOnRuns(hub: Hub, commit: Commit, after: Ledger): Generator<string> {
  const before = runsAt(hub, hub.commitAt(commit).parent);
  const now = runsAt(hub, commit);
  for (const run of now)
    yield* strikesOnRun(
      run,
      before.find((it) => it.uid === run.uid),
      after,
    );
  for (const it of before) if (isMidway(it) && !now.some(({ uid }) => uid === it.uid)) yield "run put away midway";
  const known = new Set(evictionsAt(hub, hub.commitAt(commit).parent).map((it) => it.name));
  for (const { name, placement, isExecuted, found, message } of evictionsAt(hub, commit)) {
    if (known.has(name)) continue;
    const { bindings = new Map() } = after.placements.get(placement as PlacementKey) ?? {};
    if ([...bindings.values()].some((it) => it.target?.sequence === after.sequence)) yield "eviction beside an update";
    if (isExecuted && found === "leaving") yield "eviction of what leaves already";
    else if (isExecuted) yield "eviction executed";
    else yield message.includes("available") ? "eviction refused by the budget" : "eviction invalid";
  }
}

function* strikesOnRun(run: SeenRun, old: SeenRun | undefined, after: Ledger): Generator<string> {
  const clusters = clustersOf(run);
  const ended = new Map(old === undefined ? [] : clustersOf(old).map((it) => [it.name, it.end]));
  if (clusters.length > 0 && (old === undefined || clustersOf(old).length === 0)) {
    yield "run began";
    const newest = after.placements.get(run.placement as never)?.resourceSnapshots.at(-1)?.index ?? 0;
    if (Number(/resourceIndex: (\d+)/.exec(run.plan ?? "")?.[1]) < newest) yield "rollback";
  }
  for (const { name, end } of clusters) {
    if (end === null || ended.get(name) === end) continue;
    if (end.endsWith("Superseded")) yield "run superseded";
    if (end.endsWith("Skipped")) yield "cluster skipped in a run";
  }
  if (run.deletions.some((it) => it.startedAt !== null)) yield "run deleted";
  if (run.stages.some((it) => it.before?.isApproved === true || it.after?.isApproved === true))
    yield "approval answered";
  if (run.end !== null && old?.end == null) {
    yield run.end === "succeeded" ? "run succeeded" : "run failed";
    if (run.end === "Rejected") yield "run rejected";
    else if (run.end !== "succeeded") yield `run failed: ${run.end}`;
  }
  if (isMidway(run) && run.state === "Stop" && old?.state === "Run") yield "run stopped midway";
  if (isMidway(run) && run.state === "Run" && old?.state === "Stop") yield "run resumed";
}

const clustersOf = ({ stages }: SeenRun): readonly SeenCluster[] => stages.flatMap((it) => it.clusters);

const isMidway = (run: SeenRun): boolean =>
  run.end === null &&
  clustersOf(run).some((it) => it.startedAt !== null) &&
  clustersOf(run).some((it) => it.end === null);

/** Names what a pass says of the waits of runs. */
export function* strikesOnWaits(reasons: readonly Reason[]): Generator<string> {
  for (const it of reasons) {
    if (it.kind !== "run" || it.wait.kind !== "task" || it.wait.task !== "TimedWait") continue;
    yield "run waited for a timer";
    if (it.wait.clock === "unsound") yield "timed wait held by the clock";
  }
}
