import { boundedMessage, settleConditions, type Verdict } from "../model/condition.ts";
import { deletionStage } from "../model/names.ts";
import { isAnyRecorded } from "../model/stage-task.ts";
import type { DeletionProgress, RunEnd, RunPlan, RunRecord, RunWait, StageProgress } from "../model/update-run.ts";
import type { Instant } from "../model/value.ts";
import { countText, endsText, firstNames, runFailureText, waitText } from "./run-words.ts";

// A run in KubeFleet's terms (`status/README.md#update-runs`). The status of clusters and tasks is the ledger's.

/**
 * The conditions of a run: Initialized, Progressing, Succeeded.
 *
 * Without a plan, and not failed, it has none yet. A stopped run counts as stopped once it starts nothing new, and
 * names the clusters in progress: there is no `UpdateRunStopping` (`rollout/README.md#b-6`). A run that failures hold up
 * counts as stuck, since both need somebody (`#b-13`).
 */
export function runVerdicts(run: RunRecord, waits: readonly RunWait[]): readonly Verdict[] {
  const { plan, end, spec } = run;
  const verdict = verdictOf(run);
  if (plan === null) {
    const waiting = waits.find((it) => it.kind === "planning");
    if (end === null && waiting !== undefined)
      return [verdict("Initialized", "Unknown", "UpdateRunInitializing", waitText(waiting))];
    if (end?.kind !== "failed") return [];
    return [verdict("Initialized", "False", "UpdateRunInitializedFailed", runFailureText(end))];
  }
  const initialized = verdict("Initialized", "True", "UpdateRunInitializedSuccessfully", planText(plan));
  if (end !== null) return [initialized, ...endVerdicts(run, plan, end)];
  if (spec.state === "Initialize") return [initialized];
  const [status, reason] = standing(waits);
  return [initialized, verdict("Progressing", status, reason, waitsText(run, plan, waits))];
}

/**
 * The conditions of one stage, by its index in the plan: Progressing, Succeeded. Only the current stage waits, is
 * stopped, or, if it had started, fails with its run; later ones have none.
 */
export function stageVerdicts(run: RunRecord, at: number, waits: readonly RunWait[]): readonly Verdict[] {
  const progress = run.stages[at];
  const stage = run.plan?.stages[at];
  if (progress === undefined || stage === undefined) return [];
  const verdict = verdictOf(run);
  if (progress.endedAt !== null)
    return isSkipped(progress) ? skippedVerdicts(verdict) : updatedVerdicts(progress, verdict);
  return at === currentStage(run) ? currentVerdicts(progress, stage.name, { run, waits }) : [];
}

/** The same for the deletion stage, which is not skipped without clusters, as in KubeFleet. */
export function deletionVerdicts(run: RunRecord, waits: readonly RunWait[]): readonly Verdict[] {
  const { deletion, plan, stages } = run;
  if (plan === null) return [];
  if (deletion.endedAt !== null) return succeededVerdicts(deletion, "removed", verdictOf(run));
  return currentStage(run) === stages.length ? currentVerdicts(deletion, deletionStage, { run, waits }) : [];
}

type MakeVerdict = (type: string, status: Verdict["status"], reason: string, message: string) => Verdict;

const verdictOf =
  ({ generation }: RunRecord): MakeVerdict =>
  (type, status, reason, message) => ({
    type,
    status,
    reason,
    message: boundedMessage(message),
    observedGeneration: generation,
  });

/** The first stage that has not ended; the index after the last one stands for the deletion stage. */
function currentStage({ stages }: RunRecord): number {
  const at = stages.findIndex((it) => it.endedAt === null);
  return at < 0 ? stages.length : at;
}

/** The most important wait of a run. */
function standing(waits: readonly RunWait[]): readonly [Verdict["status"], string] {
  const has = (...kinds: readonly RunWait["kind"][]): boolean => waits.some((it) => kinds.includes(it.kind));
  if (has("stopped")) return ["False", "UpdateRunStopped"];
  if (has("stuck", "failures", "held")) return ["False", "UpdateRunStuck"];
  if (has("task")) return ["False", "UpdateRunWaiting"];
  return ["True", "UpdateRunProgressing"];
}

const planText = ({ stages, deletions, resourceIndex, root }: RunPlan): string => {
  const clusters = stages.reduce((sum, it) => sum + it.clusters.length, 0);
  const removed =
    deletions.length === 0 ? "" : `, and ${countText(deletions.length, "cluster")} will lose the placement`;
  return (
    `${countText(clusters, "cluster")} in ${countText(stages.length, "stage")} will get resource index ${resourceIndex}` +
    `${removed}; plan ${root}`
  );
};

/** The current stage of the run, and what it waits for. */
function waitsText(run: RunRecord, { stages }: RunPlan, waits: readonly RunWait[]): string {
  const at = currentStage(run);
  const stage = stages[at];
  const place = stage === undefined ? "the deletion stage" : `stage ${stage.name} (${at + 1} of ${stages.length})`;
  return `${place}: ${wordsOf(waits)}`;
}

const wordsOf = (waits: readonly RunWait[]): string =>
  waits.length === 0 ? "in progress" : waits.map(waitText).join("; ");

function endVerdicts(run: RunRecord, plan: RunPlan, end: RunEnd): readonly Verdict[] {
  const verdict = verdictOf(run);
  if (end.kind === "superseded") {
    const what = `run ${end.by} has taken over what was left: ${endsText(clustersOf(run), "updated")}`;
    return [
      verdict("Progressing", "False", "UpdateRunStopped", "nothing is left to do"),
      verdict("Succeeded", "False", "UpdateRunSuperseded", what),
    ];
  }
  if (end.kind === "succeeded") {
    const done = `${countText(plan.stages.length, "stage")} done: ${endsText(clustersOf(run), "updated")}`;
    const removed = run.deletion.clusters.size === 0 ? "" : `; ${endsText(run.deletion.clusters.values(), "removed")}`;
    return [
      verdict("Progressing", "False", "UpdateRunSucceeded", "nothing is left to do"),
      verdict("Succeeded", "True", "UpdateRunSucceeded", `${done}${removed}`),
    ];
  }
  return [
    verdict("Progressing", "False", "UpdateRunFailed", "the run is over: create a new one to go on"),
    verdict("Succeeded", "False", "UpdateRunFailed", `${runFailureText(end)}; ${reachText(run, plan)}`),
  ];
}

/** How far a failed run came, and how to go back (`status/README.md#b-23`). It undoes nothing by itself. */
function reachText({ spec, stages }: RunRecord, { resourceIndex }: RunPlan): string {
  const reached = stages.flatMap(({ clusters }) =>
    [...clusters].flatMap(([cluster, { startedAt, end }]) =>
      startedAt !== null && end?.kind !== "superseded" ? [cluster] : [],
    ),
  );
  if (reached.length === 0) return "no cluster was touched";
  return (
    `resource index ${resourceIndex} reached ${countText(reached.length, "cluster")} (${firstNames(reached)}); ` +
    `the way back is: flotilla rollback ${spec.placement}`
  );
}

const clustersOf = ({ stages }: RunRecord) => stages.flatMap((it) => [...it.clusters.values()]);

interface StageContext {
  readonly run: RunRecord;
  readonly waits: readonly RunWait[];
}

function currentVerdicts(
  progress: StageProgress | DeletionProgress,
  name: string,
  { run, waits }: StageContext,
): readonly Verdict[] {
  const verdict = verdictOf(run);
  const hasBegun = progress.startedAt !== null || ("before" in progress && isAnyRecorded(progress.before));
  if (run.end?.kind === "failed")
    return hasBegun
      ? [
          verdict("Progressing", "False", "StageUpdatingFailed", "the run failed"),
          verdict("Succeeded", "False", "StageUpdatingFailed", runFailureText(run.end)),
        ]
      : [];
  const here = waits.filter((it) => "stage" in it && (it.stage === name || it.stage === null));
  const progressing = (status: Verdict["status"], reason: string): readonly Verdict[] => [
    verdict("Progressing", status, reason, wordsOf(here)),
  ];
  if (here.some((it) => it.kind === "stopped")) return progressing("False", "StageUpdatingStopped");
  if (here.some((it) => it.kind === "task")) return progressing("False", "StageUpdatingWaiting");
  return progress.startedAt === null ? [] : progressing("True", "StageUpdatingStarted");
}

/** Nothing was started: it had no clusters, or newer runs took all of them (`rollout/README.md#u16`, `#u17`). */
const isSkipped = ({ startedAt, endedAt, clusters }: StageProgress): boolean =>
  startedAt === endedAt && [...clusters.values()].every((it) => it.startedAt === null);

const skippedVerdicts = (verdict: MakeVerdict): readonly Verdict[] => [
  verdict("Progressing", "False", "StageUpdatingSkippedNoClusters", "skipped with its tasks"),
  verdict("Succeeded", "True", "StageUpdatingSkippedNoClusters", "there was no cluster to update"),
];

const updatedVerdicts = (progress: StageProgress, verdict: MakeVerdict): readonly Verdict[] =>
  progress.isPassedOver
    ? [
        verdict("Progressing", "False", "StageUpdatingSucceeded", "passed over: nothing changes, so nothing was asked"),
        verdict("Succeeded", "True", "StageUpdatingSucceeded", passedText(progress)),
      ]
    : succeededVerdicts(progress, "updated", verdict);

/** The message of a stage in which nothing changed. */
export const passedText = ({ clusters }: StageProgress): string =>
  `${endsText(clusters.values(), "unchanged")}: no approval was asked for, and no wait ran`;

const succeededVerdicts = (
  { clusters }: StageProgress | DeletionProgress,
  done: string,
  verdict: MakeVerdict,
): readonly Verdict[] => [
  verdict("Progressing", "False", "StageUpdatingSucceeded", "nothing is left to do"),
  verdict("Succeeded", "True", "StageUpdatingSucceeded", endsText(clusters.values(), done)),
];

/** A run with the conditions that follow from progress and waits; the same run (`===`) if it has them. */
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
