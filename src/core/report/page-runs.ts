import { runPath } from "../ledger/layout.ts";
import { conditionOf } from "../model/condition.ts";
import type { ClusterProgress, RunRecord } from "../model/update-run.ts";
import { compareText } from "../model/value.ts";

/** Rows of a Markdown table: update runs that are not over, or that failed, the newest first. */
export function runRows(runs: Iterable<RunRecord>, shown: (text: string) => string): readonly string[] {
  return [...runs]
    .filter(({ end }) => end === null || end.kind === "failed")
    .sort((a, b) => b.since - a.since || compareText(a.key, b.key))
    .map((run) => {
      const cells = [
        `[${shown(run.key)}](${runPath(run.key)})`,
        shown(run.spec.placement),
        run.plan === null ? "" : String(run.plan.resourceIndex),
        reachText(run),
        shown(standingText(run)),
      ];
      return `| ${cells.join(" | ")} |`;
    });
}

/** How many of its clusters are through; what a newer run took over is not. */
function reachText({ plan, stages }: RunRecord): string {
  if (plan === null) return "";
  const all = plan.stages.reduce((sum, it) => sum + it.clusters.length, 0);
  const ended = stages.reduce((sum, it) => sum + [...it.clusters.values()].filter(isDone).length, 0);
  return `${ended}/${all}`;
}

const isDone = ({ end }: ClusterProgress): boolean => end !== null && end.kind !== "superseded";

/** What it says of itself. */
function standingText({ conditions, spec }: RunRecord): string {
  const said = conditionOf(conditions, "Succeeded") ?? conditionOf(conditions, "Progressing");
  if (said !== null) return said.message;
  const initialized = conditionOf(conditions, "Initialized");
  if (initialized !== null && initialized.status !== "True") return initialized.message;
  if (initialized === null) return "it has no plan yet";
  return `planned; its state is ${spec.state}`;
}
