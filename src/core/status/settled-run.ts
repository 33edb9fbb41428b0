import { settleConditions, type Verdict } from "../model/condition.ts";
import type { DeletionProgress, RunRecord, RunWait, StageProgress } from "../model/update-run.ts";
import type { Instant } from "../model/value.ts";
import { deletionVerdicts, runVerdicts, stageVerdicts } from "./run-conditions.ts";

/**
 * Gives a run, its stages and its deletion stage the conditions that follow from its progress and from what it waits
 * for; the same run (`===`) when they have them.
 */
export function settledRun(run: RunRecord, waits: readonly RunWait[], now: Instant): RunRecord {
  const settled = <T extends StageProgress | DeletionProgress | RunRecord>(it: T, verdicts: readonly Verdict[]): T => {
    const conditions = settleConditions(it.conditions, verdicts, now);
    return conditions === it.conditions ? it : { ...it, conditions };
  };
  const stages = run.stages.map((it, at) => settled(it, stageVerdicts(run, at, waits)));
  const isSame = stages.every((it, at) => it === run.stages[at]);
  const deletion = settled(run.deletion, deletionVerdicts(run, waits));
  const next = isSame && deletion === run.deletion ? run : { ...run, stages: isSame ? run.stages : stages, deletion };
  return settled(next, runVerdicts(run, waits));
}
