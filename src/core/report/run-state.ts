import type { BindingFacts } from "../model/binding.ts";
import { conditionOf } from "../model/condition.ts";
import type { ContactFailure, Ledger, PlacementRecord } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import type { CountOrPercent } from "../model/placement.ts";
import type { ClusterProgress, PlannedStage, RunRecord, StageProgress } from "../model/update-run.ts";
import { type ClusterName, type Instant, instantText, later } from "../model/value.ts";
import { inOrder, taskType } from "../rollout/tasks/tasks.ts";
import { quantity } from "./phrases.ts";

/** The state of a run, in one word and a short message. */
interface RunSummary {
  readonly word:
    | "Succeeded"
    | "Superseded"
    | "Failed"
    | "Initializing"
    | "Initialized"
    | "Stopped"
    | "Waiting"
    | "Stuck"
    | "Progressing";
  /** Empty when there is nothing to add. */
  readonly message: string;
}

export function runSummary(run: RunRecord): RunSummary {
  if (run.end?.kind === "succeeded") return { word: "Succeeded", message: `at ${instantText(run.end.at)}` };
  if (run.end?.kind === "superseded")
    return { word: "Superseded", message: `at ${instantText(run.end.at)} by run ${run.end.by}` };
  if (run.end !== null) return { word: "Failed", message: `${run.end.code}: ${run.end.message}` };
  if (run.plan === null)
    return { word: "Initializing", message: conditionOf(run.conditions, "Initialized")?.message ?? "" };
  if (run.spec.state === "Initialize") return { word: "Initialized", message: "begins once its state is Run" };
  const active = activeCount(run);
  // Nothing new starts: that is all a stop does, and it does it at once (`rollout/README.md#b-6`).
  if (run.spec.state === "Stop") return { word: "Stopped", message: active === 0 ? "" : `${active} in progress` };
  const standing = conditionOf(run.conditions, "Progressing");
  if (standing?.reason === "UpdateRunStuck") return { word: "Stuck", message: standing.message };
  const at = currentStage(run);
  if (at === null) return { word: "Progressing", message: "" };
  const { stage, progress } = at;
  const wait = openTask(stage, progress);
  // Clusters that failed within the allowance are still in progress.
  if (wait !== null) return { word: "Waiting", message: `${stage.name}: ${wait}` };
  return { word: "Progressing", message: stage.name };
}

/** The stage at which the run is; null when all stages have ended, or there is no plan. */
function currentStage({
  plan,
  stages,
}: RunRecord): { readonly stage: PlannedStage; readonly progress: StageProgress } | null {
  for (const [at, stage] of (plan?.stages ?? []).entries()) {
    const progress = stages[at];
    if (progress !== undefined && progress.endedAt === null) return { stage, progress };
  }
  return null;
}

/** Clusters that have started and not ended. */
const activeCount = ({ stages, deletion }: RunRecord): number =>
  [...stages, deletion]
    .flatMap((it) => [...it.clusters.values()])
    .filter((it) => it.startedAt !== null && it.end === null).length;

/** How many of the planned clusters have ended. Those that a newer run took over do not count. */
export function clusterCounts({ plan, stages, deletion }: RunRecord): { readonly ended: number; readonly all: number } {
  const ended = [...stages, deletion]
    .flatMap((it) => [...it.clusters.values()])
    .filter((it) => it.end !== null && it.end.kind !== "superseded").length;
  const planned = (plan?.stages ?? []).reduce((sum, it) => sum + it.clusters.length, 0);
  return { ended, all: planned + (plan?.deletions.length ?? 0) };
}

/** How many clusters of a stage may fail; a percentage rounds down (`rollout/README.md#b-13`). */
export const allowedFailures = (limit: CountOrPercent, clusters: number): number =>
  "count" in limit ? limit.count : Math.floor((clusters * limit.percent) / 100);

/** How many clusters of a stage may be in progress at a time: a percentage rounds down, to at least one. */
export const concurrencyLimit = (limit: CountOrPercent, clusters: number): number =>
  Math.max(1, "count" in limit ? limit.count : Math.floor((clusters * limit.percent) / 100));

/** What a stage waits for because of its tasks; what people can end comes first. Null: nothing. */
function openTask({ before, after }: PlannedStage, progress: StageProgress): string | null {
  const pending = [
    ...inOrder(before).map((task) => ({ task, when: "before" as const })),
    ...inOrder(after).map((task) => ({ task, when: "after" as const })),
  ].flatMap(({ task, when }) => {
    const type = taskType(task.kind);
    const text = type.pendingText({ task, when, record: progress[when][task.kind], progress });
    return text === null ? [] : [{ text, isForPeople: type.endsBy === "people" }];
  });
  return (pending.find((it) => it.isForPeople) ?? pending[0])?.text ?? null;
}

interface View {
  readonly run: RunRecord;
  readonly ledger: Ledger;
  readonly now: Instant;
}

/** What delays a cluster in progress, one line each: the member, its objects, its deadline. */
export function clusterTroubles(view: View, cluster: ClusterName, progress: ClusterProgress): readonly string[] {
  const { contactFailure, facts, failsAt } = clusterView(view, cluster, progress);
  const objects = (facts?.objectFailures ?? []).map(
    ({ id, code, message }) => `${objectText(id)}: ${code}: ${message}`,
  );
  const more = (facts?.objectFailureCount ?? 0) - objects.length;
  const lines: string[] = [...objects, ...(more > 0 ? [`and ${quantity(more, "more object")}`] : [])];
  // An unreachable member never counts as failed: no deadline runs.
  if (contactFailure !== null)
    return [`${contactFailure.code} since ${instantText(contactFailure.since)}: ${contactFailure.message}`, ...lines];
  if (facts === null) lines.push("nothing recorded yet");
  if (failsAt === null) return lines;
  const isOver = view.now >= failsAt;
  return [...lines, `${isOver ? "counts as failed since" : "counts as failed from"} ${instantText(failsAt)}`];
}

/** Whether a cluster counts as failed: it says so, or its deadline has passed (`rollout/README.md#b-1`). */
export function hasFailed(view: View, cluster: ClusterName, progress: ClusterProgress): boolean {
  const { contactFailure, facts, failsAt } = clusterView(view, cluster, progress);
  if (contactFailure !== null) return false;
  return saysSo(facts) || (failsAt !== null && view.now >= failsAt);
}

interface ClusterView {
  readonly contactFailure: ContactFailure | null;
  /** What the member reported about the run's target. */
  readonly facts: BindingFacts | null;
  /** When its deadline passes; null when none runs. */
  readonly failsAt: Instant | null;
}

function clusterView({ run, ledger }: View, cluster: ClusterName, progress: ClusterProgress): ClusterView {
  const placement = ledger.placements.get(run.spec.placement) ?? null;
  const { facts: said = null, target = null } = placement?.bindings.get(cluster) ?? {};
  const facts = said?.sequence === progress.sequence ? said : null;
  const isSettled = saysSo(facts) || (facts !== null && isWell(facts));
  // A target of another sequence has its own start.
  const startedAt = target?.sequence === progress.sequence ? target.startedAt : progress.startedAt;
  return {
    contactFailure: ledger.clusters.get(cluster)?.contactFailure ?? null,
    facts,
    failsAt: isSettled || placement === null || startedAt === null ? null : deadlineOf(placement, startedAt, facts),
  };
}

const saysSo = (facts: BindingFacts | null): boolean => facts?.applied === "failed" || facts?.phase === "failed";

const isWell = ({ applied, phase }: BindingFacts): boolean =>
  applied === "applied" && (phase === "available" || phase === "untrackable");

/** As `core/rollout/readiness.ts` has it: what was available until after its deadline gets the same time again. */
function deadlineOf({ spec }: PlacementRecord, startedAt: Instant, facts: BindingFacts | null): Instant {
  const { progressDeadline } = spec.strategy;
  const first = later(startedAt, progressDeadline);
  return facts !== null && facts.since >= first ? later(facts.since, progressDeadline) : first;
}
