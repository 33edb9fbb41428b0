import type { Binding } from "../model/binding.ts";
import { conditionOf } from "../model/condition.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Reason } from "../model/reason.ts";
import type { RunWait } from "../model/update-run.ts";
import { type ClusterName, type Instant, instantText } from "../model/value.ts";
import { taskType } from "../rollout/tasks/tasks.ts";

/** A placement as the page shows it: what is recorded of it, and of the members that it is on. */
export interface PlacementContext {
  readonly record: PlacementRecord;
  readonly ledger: Ledger;
}

/** What a placement waits for, and who can do something about it. */
interface Wait {
  readonly what: string;
  readonly who: string;
}

const whoLetsGo = ({ isLettingGo, keeper }: Extract<Reason, { kind: "wantedTwice" }>): string =>
  isLettingGo
    ? `the owner of ${keeper}: let its rollout go on`
    : "the owner of either placement: leave the objects out of one of them";

/** Who can do something about it, and what. */
export function whoCanAct(reason: Reason, at: PlacementContext): string {
  switch (reason.kind) {
    case "unfulfilled":
      return "the fleet's owner: let more clusters qualify, or ask for fewer";
    case "selectionFailed":
    case "selectionWarning":
    case "nothingSelected":
      return "the placement's owner: correct its selectors";
    case "contentLost":
      return "whoever maintains the source branch: commit it again";
    case "renderFailed":
      return "the override's owner: correct it";
    case "applyFailed":
      return "the manifest's owner, or the member's administrator";
    case "contested":
      return "the manifest's owner, or whoever runs the other controller: only one of them can have the field";
    case "unhealthy":
      return "the workload's owner: repair it or roll back";
    case "unreachable":
    case "orphans":
      return "the member's operator";
    case "leaving":
      return reason.stuck ? "the member's operator: something there blocks the deletion" : byItself;
    case "wantedTwice":
      return whoLetsGo(reason);
    case "quarantined":
      return "whoever operates flotilla: report the defect; any commit to the source has it planned again";
    case "confirmationNeeded":
      return `whoever may ${reason.because === "protected" ? "approve the change" : "commit a confirmation"}, or revert`;
    case "confirmationVoid":
      return "whoever committed it: remove the file";
    case "beyondGrant":
      return "the fleet's owner: grant the cluster, or the placement's owner: leave it";
    case "held":
      return reason.because === null ? "the file's owner: make it valid again" : "the owner of that file: repair it";
    case "sourceHeld":
      return "whoever maintains the source branch";
    case "run":
      return whoCanActOnRun(reason.wait, at);
    case "trustRefused":
    case "answerDenied":
    case "answerPending":
      return whoCanAnswer(reason);
    case "protected":
      return whoCanApprove(reason);
    case "runFailed":
      return "the run's owner: fix the cause and create a new run, or roll back";
    case "heldBack":
      return whoCanActOnClusters(at);
    case "awaitingHealth":
      return isUntracked(reason.cluster, at) ? byItself : ownerUnlessBy(reason.until);
    case "waitingForHandOver":
    case "started":
    case "applying":
    case "adopted":
    case "inventoryLost":
    case "left":
      return byItself;
  }
}

function whoCanApprove({ isUnreached, digest }: Extract<Reason, { kind: "protected" }>): string {
  if (isUnreached === true) return "the member's operator";
  if (digest === null) return byItself;
  return "an approver: commit an approval of the placement's request under approvals/";
}

function whoCanActOnRun(wait: RunWait, at: PlacementContext): string {
  switch (wait.kind) {
    case "task":
      return taskType(wait.task).whoCanAct ?? byItself;
    case "failures":
    case "stuck":
      return "the workload's owner: repair it, stop the run or roll back";
    case "held":
      return "the run's owner: create a new run, and have it approved";
    case "joined":
      return "the run's owner: create another run once this one has ended";
    case "stopped":
      return "whoever stopped it: set its state to Run";
    case "clusters":
      return whoCanActOnClusters(at);
    case "planning":
    case "superseded":
      return byItself;
  }
}

const byItself = "nobody: it continues by itself";

/** Whether it will become available is unknown: a broken image looks just like a slow start. */
const ownerUnlessBy = (until: Instant | null): string =>
  `nobody yet; if it is not available${until === null ? "" : ` by ${instantText(until)}`}, the workload's owner`;

const memberOperator = "the member's operator";

/** A rollout continues by itself only if its clusters can become available: an unreachable member cannot. */
function whoCanActOnClusters({ record, ledger }: PlacementContext): string {
  const late = [...record.bindings.values()].filter((it) => it.target !== null && !isServing(it));
  return late.some((it) => isSilent(it.cluster, ledger)) ? memberOperator : ownerUnlessBy(null);
}

/** Unreachable members that the placement waits for: shown on its row. */
export function unreachableMembers({ record, ledger }: PlacementContext): readonly Wait[] {
  const silent = [...record.bindings.values()].filter((it) => isSilent(it.cluster, ledger) && !isServing(it));
  if (silent.length === 0) return [];
  const [first] = silent;
  const more = silent.length > 1 ? ` and ${silent.length - 1} more` : "";
  return [{ what: `no contact with ${first?.cluster}${more}`, who: memberOperator }];
}

/** Versions of an External placement that need a run, and planned runs that were not started. */
export function missingRuns({ record, ledger }: PlacementContext): readonly Wait[] {
  const open = [...ledger.runs.values()].filter(({ spec, end }) => spec.placement === record.key && end === null);
  const planned = open.filter(({ spec, plan }) => spec.state === "Initialize" && plan !== null);
  if (planned.length > 0)
    return planned.map((it) => ({
      what: `run ${it.key}, which has to be started`,
      who: "the run's owner: set its state to Run",
    }));
  const who = "the placement's owner: create an update run";
  if (record.unrolled !== null) return [{ what: "an update run for what is selected now", who }];
  const joined = [...record.bindings.values()].filter((it) => it.state !== "Unscheduled" && it.target === null);
  const [first] = joined;
  if (record.spec.strategy.type !== "External" || open.length > 0 || first === undefined) return [];
  const more = joined.length > 1 ? ` and ${joined.length - 1} more` : "";
  return [{ what: `an update run, for ${first.cluster}${more}`, who }];
}

const isSilent = (cluster: ClusterName, { clusters }: Ledger): boolean => clusters.get(cluster)?.contactFailure != null;

const isUntracked = (cluster: ClusterName, { record }: PlacementContext): boolean =>
  record.bindings.get(cluster)?.facts?.phase === "untrackable";

/** Whether everything is available on a cluster, for its current target. */
export const isServing = ({ conditions, generation }: Binding): boolean => {
  const last = conditionOf(conditions, "Available") ?? conditionOf(conditions, "DiffReported");
  return last?.status === "True" && last.observedGeneration === generation;
};

function whoCanAnswer({ kind }: Extract<Reason, { kind: "trustRefused" | "answerDenied" | "answerPending" }>): string {
  if (kind === "trustRefused") return "whoever maintains the source branch: repair trust/root.yaml";
  if (kind === "answerDenied") return "the approver: write a new file under approvals/";
  return `${byItself}; if it stays so, whoever operates flotilla`;
}
