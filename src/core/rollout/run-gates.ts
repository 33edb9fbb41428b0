import type { Gate, PlannedStage, RunPlan, RunRecord, StageProgress } from "../model/run-record.ts";
import type { RunWait } from "../model/run-wait.ts";
import type { StageTask } from "../model/update-run.ts";
import { type Instant, later } from "../model/value.ts";
import { requestDigest } from "./run-request.ts";
import type { RunScene } from "./run-scene.ts";

/** The run that a stage belongs to, and the world around it. */
export interface RunCourse {
  readonly run: RunRecord;
  readonly root: RunPlan["root"];
  readonly scene: RunScene;
}

/** How one Approval task stands. */
export interface GateTurn {
  /** Null without such a task. */
  readonly gate: Gate | null;
  readonly wait: RunWait | null;
  /** Why the run is over; null when nobody rejected it. */
  readonly rejection: string | null;
}

/**
 * Asks for the approval of a stage where it has such a task, and hears the answer.
 *
 * An answer that was accepted stands for good (U7). One that was given before it was asked for counts as well: it names
 * the digest of this very request (U43, as `RULINGS.md` B rewrites it).
 */
export function askAt(
  stage: PlannedStage,
  when: "before" | "after",
  before: StageProgress,
  { run, root, scene }: RunCourse,
): GateTurn {
  const asked = before[when];
  if (!stage[when].some((it) => it.kind === "Approval")) return open(asked);
  if (asked !== null && asked.approval !== null) return open(asked);
  const digest = requestDigest({ fleet: scene.fleet, run, stage: stage.name, when, root });
  const gate = asked ?? { requestedAt: scene.now, digest, approval: null };
  const answer = scene.answerTo(gate.digest);
  const wait = { kind: "approval", stage: stage.name, when, digest: gate.digest } as const;
  switch (answer.kind) {
    case "approved":
      return open({ ...gate, approval: answer.approval });
    case "rejected":
      return { gate, wait: null, rejection: rejectionText(stage.name, when, answer) };
    case "void":
      return { gate, wait: { ...wait, because: answer.because }, rejection: null };
    case "none":
      return { gate, wait: { ...wait, because: null }, rejection: null };
  }
}

const open = (gate: Gate | null): GateTurn => ({ gate, wait: null, rejection: null });

/** People write as much as they like, on as many lines; of it, one line is kept. */
const longestComment = 256;
const oneLine = (comment: string): string =>
  [...comment.replaceAll(/[\p{C}\s]+/gu, " ").trim()].slice(0, longestComment).join("");

function rejectionText(
  stage: string,
  when: "before" | "after",
  { by, comment, path }: { readonly by: string; readonly comment: string; readonly path: string },
): string {
  const line = oneLine(comment);
  const said = line === "" ? "" : `: ${line}`;
  return (
    `the ${when}-stage approval of stage ${stage} was rejected by ${by} (${path})${said}; ` +
    "clusters keep what they have; create a new run to go on (flotilla run create)"
  );
}

/**
 * What the timed wait of a stage still waits for; null when it is over, or there is none.
 *
 * It runs from the end of the last cluster and is over exactly at its instant (`RULINGS.md` B 14, 15), provided that
 * our clock can be believed (I-06).
 */
export function timerOf(stage: PlannedStage, finishedAt: Instant, { now, clock }: RunScene): RunWait | null {
  const task = stage.after.find(isTimedWait);
  if (task === undefined) return null;
  const until = later(finishedAt, task.wait);
  return now >= until && clock !== "unsound" ? null : { kind: "timer", stage: stage.name, until, clock };
}

const isTimedWait = (task: StageTask): task is Extract<StageTask, { kind: "TimedWait" }> => task.kind === "TimedWait";
