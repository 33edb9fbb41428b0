import { conditionOf } from "../model/condition.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Gate, StageTask } from "../model/stage-task.ts";
import { isAnyRecorded } from "../model/stage-task.ts";
import type { ClusterProgress, PlannedStage, RunRecord, StageProgress } from "../model/update-run.ts";
import { type ClusterName, type Instant, instantText } from "../model/value.ts";
import { gateRequestsOf } from "../plan/approval/approval-request.ts";
import { taskType } from "../rollout/tasks/tasks.ts";
import { passedText } from "../status/run-conditions.ts";
import { waitText } from "../status/run-words.ts";
import type { GateRef } from "./approval-files.ts";
import { approvalContext } from "./approval-status.ts";
import { quantity, someNames } from "./phrases.ts";
import { answerLines, verdictText } from "./request-text.ts";
import { chooseRollback } from "./rollback-choice.ts";
import {
  allowedFailures,
  clusterCounts,
  clusterTroubles,
  concurrencyLimit,
  hasFailed,
  runSummary,
} from "./run-state.ts";

interface RunView {
  readonly run: RunRecord;
  readonly ledger: Ledger;
  readonly now: Instant;
}

/** A run as a tree of stages, clusters and tasks: what is done, what waits for whom until when, what fails. */
export function runTree(view: RunView): TreeNode {
  const { run } = view;
  const { word, message } = runSummary(run);
  const head = leafNode(`${run.key}: ${word}${message === "" ? "" : `: ${message}`}`);
  if (run.plan === null) return { ...head, below: [leafNode(wishOf(run))] };
  const stages = run.plan.stages.flatMap((stage, at) => {
    const progress = run.stages[at];
    return progress === undefined ? [] : [stageBranch(view, stage, progress)];
  });
  const below = [planLeaf(run), ...stages, ...deletionBranch(view), ...joinedBranch(view), ...failureDetails(view)];
  return { ...head, below: [leafNode(wishOf(run)), ...below] };
}

function wishOf({ spec, plan }: RunRecord): string {
  const unnamed = plan === null ? "what it selects" : "what it selected then";
  const version = spec.resourceIndex === null ? unnamed : `resource snapshot ${spec.resourceIndex}`;
  return `${spec.placement}: ${version} by ${spec.strategy}; desired state ${spec.state}`;
}

function planLeaf(run: RunRecord): TreeNode {
  const { ended, all } = clusterCounts(run);
  const { resourceIndex = 0, root = "", stages = [] } = run.plan ?? {};
  const size = `${ended} of ${quantity(all, "cluster")} done in ${quantity(stages.length, "stage")}`;
  return leafNode(`plan ${root.slice(0, 12)}: resource snapshot ${resourceIndex}; ${size}`);
}

function stageBranch(view: RunView, stage: PlannedStage, progress: StageProgress): TreeNode {
  const at = (when: GateRef["when"]): GateRef => ({ run: view.run, stage: stage.name, when });
  return {
    text: `stage ${stage.name}: ${stageState(view, stage, progress)}`,
    below: [
      ...stage.before.map((it) => taskBranch(view, it, at("before"), progress)),
      ...stage.clusters.map((it) => clusterBranch(view, it.cluster, progress.clusters.get(it.cluster) ?? null)),
      ...stage.after.map((it) => taskBranch(view, it, at("after"), progress)),
    ],
  };
}

function stageState(view: RunView, stage: PlannedStage, progress: StageProgress): string {
  if (progress.endedAt !== null && progress.isPassedOver)
    return `passed over at ${instantText(progress.endedAt)}: ${passedText(progress)}`;
  if (progress.endedAt !== null) return `done at ${instantText(progress.endedAt)}`;
  if (progress.finishedAt !== null) return `all clusters done at ${instantText(progress.finishedAt)}`;
  if (progress.startedAt === null)
    return !isAnyRecorded(progress.before) || view.run.end !== null ? "not started" : "waits";
  const since = `in progress since ${instantText(progress.startedAt)}`;
  return view.run.end === null ? `${since}: ${stageNumbers(view, stage, progress)}` : since;
}

/** A stage in numbers: done, in progress, failed, and what is allowed (`rollout/README.md#b-7`). */
function stageNumbers(view: RunView, stage: PlannedStage, progress: StageProgress): string {
  const all = stage.clusters.length;
  const over = [...progress.clusters.values()].filter((it) => it.end !== null);
  const superseded = over.filter((it) => it.end?.kind === "superseded");
  const lost = superseded.filter((it) => it.startedAt !== null).length;
  const done = over.length - superseded.length;
  const begun = [...progress.clusters].filter(([, it]) => it.startedAt !== null && it.end === null);
  const failed = begun.filter(([cluster, it]) => hasFailed(view, cluster, it)).length;
  const waiting = all - over.length - begun.length;
  const allowed = allowedFailures(stage.maxFailures, all);
  const taken = lost === 0 ? "" : `, ${lost} taken over before they were available`;
  return [
    `${done} of ${quantity(all, "cluster")} done`,
    `${begun.length - failed} in progress, at most ${concurrencyLimit(stage.maxConcurrency, all)} at a time, ${waiting} waiting`,
    `${failed + lost > allowed ? "nothing new starts: " : ""}${failed} failed${taken}, ${allowed} may fail`,
  ].join("; ");
}

function taskBranch(view: RunView, task: StageTask, at: GateRef, progress: StageProgress): TreeNode {
  const { run, now } = view;
  const { stage, when } = at;
  const record = progress[when][task.kind];
  const text = taskType(task.kind).describe({
    task,
    record,
    stage,
    when,
    progress,
    hasRunEnded: run.end !== null,
    now,
  });
  const gate = progress[when].Approval;
  if (task.kind !== "Approval" || gate === null || gate.approval !== null || run.end !== null) return leafNode(text);
  return { text, below: [...answersTo(view, at), ...objectionsTo(view, at, { gate, progress })] };
}

/** The answers so far, with their keys. */
function answersTo({ run, ledger }: RunView, { stage, when }: GateRef): readonly TreeNode[] {
  const ask = gateRequestsOf(run).find((it) => it.stage.name === stage && it.when === when);
  return ask === undefined ? [] : answerLines(ask, ledger).map(leafNode);
}

/** What is missing or does not count: by the status of the stage, else by the recorded answers. */
function objectionsTo(
  { run, ledger, now }: RunView,
  { stage, when }: GateRef,
  { gate, progress }: { readonly gate: Gate; readonly progress: StageProgress },
): readonly TreeNode[] {
  const asked = waitText({ kind: "task", task: "Approval", stage, when, digest: gate.digest, because: null });
  const [, more = ""] = (conditionOf(progress.conditions, "Progressing")?.message ?? "").split(`${asked}; `);
  // Other waits of the stage follow, on separate lines.
  if (more !== "") return [leafNode(more)];
  const context = approvalContext(ledger, now);
  const ask = gateRequestsOf(run).find((it) => it.stage.name === stage && it.when === when);
  return context === null || ask === undefined ? [] : [leafNode(verdictText(ask, context))];
}

function clusterBranch(view: RunView, cluster: ClusterName, progress: ClusterProgress | null): TreeNode {
  const { end = null, startedAt = null } = progress ?? {};
  if (end !== null) return leafNode(`${cluster}: ${endText(end)}`);
  if (progress === null || startedAt === null) return leafNode(`${cluster}: ${unbegun(view)}`);
  return {
    text: `${cluster}: ${hasFailed(view, cluster, progress) ? "failed; started" : "in progress since"} ${instantText(startedAt)}`,
    below: clusterTroubles(view, cluster, progress).map(leafNode),
  };
}

const unbegun = ({ run }: RunView): string => (run.end === null ? "waits for its turn" : "not started");

function endText(end: NonNullable<ClusterProgress["end"]>): string {
  switch (end.kind) {
    case "succeeded":
      return `done at ${instantText(end.at)}`;
    case "skipped":
      return `skipped at ${instantText(end.at)}: ${end.because}`;
    case "superseded":
      return `taken over by run ${end.by} at ${instantText(end.at)}`;
  }
}

function deletionBranch(view: RunView): readonly TreeNode[] {
  const { plan, deletion } = view.run;
  if (plan === null || plan.deletions.length === 0) return [];
  const state = deletion.endedAt !== null ? `done at ${instantText(deletion.endedAt)}` : "after all stages";
  const clusters = plan.deletions.map((cluster) => {
    const { startedAt = null, end = null } = deletion.clusters.get(cluster) ?? {};
    if (end !== null) return leafNode(`${cluster}: ${endText(end)}`);
    return leafNode(
      `${cluster}: ${startedAt === null ? unbegun(view) : `being removed since ${instantText(startedAt)}`}`,
    );
  });
  return [{ text: `removal from clusters that are no longer picked: ${state}`, below: clusters }];
}

/** Clusters picked after the plan was made, which another run serves (`rollout/README.md#b-22`). */
function joinedBranch({ run, ledger }: RunView): readonly TreeNode[] {
  const { plan } = run;
  const record = ledger.placements.get(run.spec.placement);
  if (plan === null || record === undefined || isFollowed(run, ledger)) return [];
  const planned = new Set([
    ...plan.stages.flatMap((it) => it.clusters.map(({ cluster }) => cluster)),
    ...plan.deletions,
  ]);
  const joined = [...record.bindings.values()].filter(
    ({ cluster, state, target }) =>
      state !== "Unscheduled" && !planned.has(cluster) && (run.end === null || target === null),
  );
  if (joined.length === 0) return [];
  const below = joined.map(({ cluster }) => leafNode(`${cluster}: skipped: it was picked after the plan was made`));
  return [{ text: "clusters that joined since: they wait for the next run", below }];
}

const isFollowed = ({ spec, since }: RunRecord, { runs }: Ledger): boolean =>
  [...runs.values()].some((it) => it.spec.placement === spec.placement && it.since > since && it.plan !== null);

/** After a failure: which clusters run what now, and the command that rolls back (`status/README.md#b-23`). */
function failureDetails({ run, ledger }: RunView): readonly TreeNode[] {
  const record = ledger.placements.get(run.spec.placement);
  if (run.end?.kind !== "failed" || record === undefined || run.plan === null) return [];
  const byIndex = new Map<number, string[]>();
  for (const { cluster, target } of record.bindings.values())
    if (target !== null) byIndex.set(target.resourceIndex, [...(byIndex.get(target.resourceIndex) ?? []), cluster]);
  const versions = [...byIndex].sort(([a], [b]) => a - b);
  const below = versions.map(([index, clusters]) => leafNode(`resource snapshot ${index}: ${someNames(clusters)}`));
  const back = chooseRollback(ledger, record, { index: null, strategy: null });
  const command = `to roll back: flotilla rollback ${record.key} --to ${back.kind === "chosen" ? back.index : ""}`;
  return [{ text: "what the clusters run now", below }, ...(back.kind === "chosen" ? [leafNode(command)] : [])];
}

/** A line of a tree, with the lines below it. */
interface TreeNode {
  readonly text: string;
  readonly below: readonly TreeNode[];
}

const leafNode = (text: string): TreeNode => ({ text, below: [] });

/** A tree as lines, drawn with box characters. */
export const treeLines = ({ text, below }: TreeNode): readonly string[] => [text, ...forest(below)];

const forest = (branches: readonly TreeNode[]): readonly string[] =>
  branches.flatMap((it, at) => {
    const isLast = at === branches.length - 1;
    const [first = "", ...more] = treeLines(it);
    return [`${isLast ? "└─ " : "├─ "}${first}`, ...more.map((line) => `${isLast ? "   " : "│  "}${line}`)];
  });
