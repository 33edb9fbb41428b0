import type { Problem } from "../model/intent.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Refusal } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { RunWait } from "../model/update-run.ts";
import { instantText, oneLine } from "../model/value.ts";
import { taskType } from "../rollout/tasks/tasks.ts";
import { confirmationFile, deletionLines } from "./deletion-text.ts";
import { quantity } from "./phrases.ts";
import { reasonText, weightOf } from "./reason-text.ts";

export type WeighReason = typeof weightOf;

/**
 * Reasons for people: stuck, waiting, then notices. Answers that do not count are listed when they are new, and only
 * counted afterwards. What is only foretold has no recorded request to show.
 */
export function reasonLines(
  reasons: readonly Reason[],
  when: "recorded" | "foretold",
  weigh: WeighReason = weightOf,
): readonly string[] {
  const of = (weight: ReturnType<WeighReason>): readonly string[] =>
    reasons
      .filter((it) => weigh(it) === weight && !isOldDenial(it))
      .flatMap((it) => [`${weight}: ${oneLine(reasonText(it))}`, ...remedy(it, when)]);
  const old = reasons.filter(isOldDenial).length;
  const denied = `notice: ${quantity(old, "file")} under approvals/ ${old === 1 ? "does" : "do"} not count, as reported before`;
  const counted =
    old === 0
      ? []
      : [`${denied}: flotilla get approvals shows why, and flotilla prune removes ${old === 1 ? "it" : "them"}`];
  return [...of("stuck"), ...of("waiting"), ...of("notice"), ...counted];
}

const isOldDenial = (reason: Reason): boolean => reason.kind === "answerDenied" && !reason.isNew;

/** The reasons of the last of several passes, with what was new in any of them. */
export const reasonsOfAll = (last: readonly Reason[], newPaths: ReadonlySet<string>): readonly Reason[] =>
  last.map((it) => (it.kind === "answerDenied" && newPaths.has(it.path) ? { ...it, isNew: true } : it));

/** The paths of answers that a pass newly found not to count. */
export const newlyDenied = (reasons: readonly Reason[]): readonly string[] =>
  reasons.flatMap((it) => (it.kind === "answerDenied" && it.isNew ? [it.path] : []));

function remedy(reason: Reason, when: "recorded" | "foretold"): readonly string[] {
  if (reason.kind === "run" && reason.wait.kind === "task" && when === "recorded") {
    const commands = taskType(reason.wait.task).commands(reason.wait, reason.run);
    return commands === null ? [] : [`  ${commands}`];
  }
  if (reason.kind === "protected" && reason.digest !== null && when === "recorded")
    return [`  to approve: flotilla approve --change ${reason.placement}`];
  if (reason.kind !== "confirmationNeeded") return [];
  const shown = deletionLines(reason, "short").map((it) => `  ${oneLine(it)}`);
  // The request that is open says how it is approved.
  if (reason.because === "protected") return shown;
  const { path, text } = confirmationFile(reason.digest);
  const file = text.trimEnd().split("\n");
  return [
    ...shown,
    `  to confirm them: flotilla confirm ${reason.digest}`,
    `  or commit this file to the source branch: ${path}`,
    ...file.map((it) => `    ${it}`),
  ];
}

/** Reasons for programs: facts, instants as Kubernetes writes them, weight, and the sentence for people. */
export const reasonValues = (reasons: readonly Reason[], weigh: WeighReason = weightOf): Json =>
  reasons.map((it) => ({
    ...(it as unknown as JsonObject),
    ...(it.kind === "run" ? { wait: waitValue(it.wait) } : {}),
    ...("since" in it ? { since: instantText(it.since) } : {}),
    ...("until" in it && it.until !== null ? { until: instantText(it.until) } : {}),
    weight: weigh(it),
    text: reasonText(it),
  }));

function waitValue(wait: RunWait): Json {
  if (wait.kind !== "task") return wait as unknown as Json;
  const { kind: _, task, ...more } = wait;
  return { kind: taskType(task).waitKind, ...more };
}

/** Why the planner refuses to do anything, and what to do about it. */
export const planRefusalText = ({ message, fix }: Refusal): string => `error: ${message}\n  ${fix}\n`;

/** How many problems there are of each severity, in words. */
export function problemSummary(problems: readonly Problem[]): string {
  const of = (severity: Problem["severity"]): number => problems.filter((it) => it.severity === severity).length;
  return [quantity(of("error"), "error"), quantity(of("warning"), "warning"), quantity(of("note"), "note")].join(", ");
}
