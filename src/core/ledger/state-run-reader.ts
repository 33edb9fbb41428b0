import type { DeletionProgress, RunPlan, RunRecord, StageProgress } from "../model/update-run.ts";
import { kept, keptEntries, keptMembers, sameList } from "./state-kept.ts";
import type { RunFile } from "./state-run.ts";

/** The files of one run's folder: undefined for those that were not read, null for those that are gone. */
export interface RunParts {
  head: RunFile | null | undefined;
  plan: RunPlan | null | undefined;
}

/** One run put together, null when its files are gone, or which file is wrong. */
export type RunRead =
  | { readonly kind: "read"; readonly run: RunRecord | null }
  | { readonly kind: "wrong"; readonly file: string; readonly message: string };

/**
 * Puts a run together from the files that changed and the run as it was; what reads as it was keeps its identity.
 *
 * A plan that is not the one that `run.yaml` was written for is wrong: what was approved is that one.
 */
export function runReadOf({ head, plan }: RunParts, old: RunRecord | null): RunRead {
  const file = head === undefined ? fileOf(old) : head;
  const nextPlan = plan === undefined ? (old?.plan ?? null) : plan;
  if (file === null && nextPlan !== null) return wrong("run.yaml", "is missing");
  if (file === null) return { kind: "read", run: null };
  const { run, planRoot } = file;
  if (planRoot !== null && nextPlan === null) return wrong("plan.yaml", "is missing");
  if (planRoot !== (nextPlan?.root ?? null)) return wrong("plan.yaml", "is not the plan that run.yaml was written for");
  const [told, planned] = [run.stages.length, nextPlan?.stages.length ?? 0];
  if (told !== planned) return wrong("run.yaml", `tells of ${told} stages, and plan.yaml has ${planned}`);
  return { kind: "read", run: keptRun(old, { ...run, plan: nextPlan }) };
}

const wrong = (file: string, message: string): RunRead => ({ kind: "wrong", file, message });

const fileOf = (old: RunRecord | null): RunFile | null =>
  old === null ? null : { run: old, planRoot: old.plan?.root ?? null };

function keptRun(before: RunRecord | null, after: RunRecord): RunRecord {
  if (before === null) return after;
  const stages = after.stages.map((it, at) => keptProgress(before.stages[at], it));
  const next: RunRecord = {
    ...after,
    plan: kept(before.plan, after.plan),
    stages: sameList(before.stages, stages) ? before.stages : stages,
    deletion: keptProgress(before.deletion, after.deletion),
  };
  return keptMembers(before, next, ["plan", "stages", "deletion"]);
}

const keptProgress = <T extends StageProgress | DeletionProgress>(before: T | undefined, after: T): T =>
  before === undefined
    ? after
    : keptMembers(before, { ...after, clusters: keptEntries(before.clusters, after.clusters) }, ["clusters"]);
