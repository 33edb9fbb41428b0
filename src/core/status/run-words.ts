import type { ClusterProgress, RunEnd, RunWait } from "../model/update-run.ts";
import { firstOf } from "../model/value.ts";
import { taskType } from "../rollout/tasks/tasks.ts";

// KubeFleet shows three clusters of those that are stuck.
const most = 3;

/** Names for a message, in the order given: the first three, and how many more there are. */
export const firstNames = (names: readonly string[]): string => firstOf(names, most);

/** A number of things: `1 stage`, `2 stages`. */
export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Why a run failed, its code first. */
export const runFailureText = ({ code, message }: Extract<RunEnd, { kind: "failed" }>): string => `${code}: ${message}`;

/** What a run waits for, without the stage. */
export function waitText(wait: RunWait): string {
  switch (wait.kind) {
    case "planning":
      return wait.message;
    case "task":
      return taskType(wait.task).waitText(wait);
    case "clusters":
      return clustersText(wait);
    case "failures":
      return `starts nothing new: ${firstNames(wait.failed)} did not come up, and ${wait.allowed} may fail`;
    case "stuck":
      return `in progress for more than five minutes: ${firstNames(wait.clusters)}`;
    case "held":
      return `starts nothing new: ${wait.because}`;
    case "stopped":
      return wait.active.length === 0 ? "stopped" : `stopped; in flight: ${firstNames(wait.active)}`;
    case "joined":
      return `skipped, since picked after the plan was made: ${firstNames(wait.clusters)}; the next run brings it there`;
    case "superseded":
      return `run ${wait.by} has taken over ${firstNames(wait.clusters)}`;
  }
}

function clustersText({ active, waiting, maxConcurrency }: Extract<RunWait, { kind: "clusters" }>): string {
  const inProgress = active.length === 0 ? [] : [`in progress: ${firstNames(active)}`];
  const rest = waiting.length === 0 ? [] : [`waiting, ${maxConcurrency} at a time: ${firstNames(waiting)}`];
  return [...inProgress, ...rest].join("; ");
}

/** How the clusters of a stage ended: `2 updated, 1 skipped`. Those that have not ended are not counted. */
export function endsText(clusters: Iterable<ClusterProgress>, succeeded: string): string {
  const counts = { succeeded: 0, skipped: 0, superseded: 0 };
  for (const { end } of clusters) if (end !== null) counts[end.kind] += 1;
  const others = (["skipped", "superseded"] as const).filter((it) => counts[it] > 0);
  return [`${countText(counts.succeeded, "cluster")} ${succeeded}`, ...others.map((it) => `${counts[it]} ${it}`)].join(
    ", ",
  );
}
