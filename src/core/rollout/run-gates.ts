import { digestOf } from "../model/json.ts";
import type { GateAnswer, Request } from "../model/trust.ts";
import type { Gate, PlannedStage, RunPlan, RunRecord, RunWait, StageProgress, StageTask } from "../model/update-run.ts";
import { type Digest, earliest, type Instant, later } from "../model/value.ts";
import type { GateTerms, RunScene } from "./run-context.ts";

/** The run that a stage belongs to, and the world around it. */
export interface StageContext {
  readonly run: RunRecord;
  readonly root: RunPlan["root"];
  readonly scene: RunScene;
}

/** How one Approval task stands. */
export interface GateResult {
  /** Null without such a task. */
  readonly gate: Gate | null;
  readonly wait: RunWait | null;
  /** Why the run is over; null when nobody rejected it. */
  readonly rejection: string | null;
  /** When it is asked for anew; null when it is not. */
  readonly wakeAt: Instant | null;
}

/**
 * Asks for the approval of a stage where it has such a task, and hears the answer.
 *
 * An answer that was accepted stands for good (`rollout/README.md#u7`). One that was given before it was asked for is
 * none: nobody can know the nonce of a request before it is there (`trust/README.md#t-04`, against
 * `rollout/README.md#u43`). A request that is still open is made anew when the rules that it has to meet have changed,
 * or when it has stood for as long as they allow.
 */
export function advanceGate(
  stage: PlannedStage,
  when: "before" | "after",
  before: StageProgress,
  course: StageContext,
): GateResult {
  const asked = before[when];
  if (!stage[when].some((it) => it.kind === "Approval")) return open(asked);
  if (asked !== null && asked.approval !== null) return open(asked);
  const { scene } = course;
  const terms = scene.termsOf(stage, when);
  const isStanding = asked !== null && asked.rules === terms.rules && !isTooOld(asked, terms, scene);
  const gate = isStanding ? asked : newGate(stage, when, terms, course);
  const answer: GateAnswer = isStanding ? scene.answerTo(stage, when, gate) : { kind: "none" };
  const wait = { kind: "approval", stage: stage.name, when, digest: gate.digest } as const;
  const wakeAt = earliest(tooOldAt(gate, terms), answer.kind === "void" ? answer.wakeAt : null);
  switch (answer.kind) {
    case "approved":
      return open({ ...gate, approval: answer.approval });
    case "rejected":
      return { gate, wait: null, rejection: rejectionText(stage.name, when, answer), wakeAt: null };
    case "void":
      return { gate, wait: { ...wait, because: answer.because }, rejection: null, wakeAt };
    case "none":
      return { gate, wait: { ...wait, because: null }, rejection: null, wakeAt };
  }
}

const open = (gate: Gate | null): GateResult => ({ gate, wait: null, rejection: null, wakeAt: null });

function newGate(
  stage: PlannedStage,
  when: "before" | "after",
  terms: GateTerms,
  { run, root, scene }: StageContext,
): Gate {
  const { rules } = terms;
  const nonce = scene.nonceFor(stage, when);
  const authors = terms.authors();
  const digest = requestDigest({ fleet: scene.fleet, run, stage: stage.name, when, root, nonce, rules, authors });
  return { requestedAt: scene.now, nonce, digest, rules, authors, approval: null };
}

/** From then on an answer would come too late: somebody who looks at it has to be asked about what is now. */
const tooOldAt = ({ requestedAt }: Gate, { maxAge }: GateTerms): Instant | null =>
  maxAge === null ? null : later(requestedAt, maxAge);

const isTooOld = (gate: Gate, terms: GateTerms, { now }: RunScene): boolean => {
  const end = tooOldAt(gate, terms);
  return end !== null && now >= end;
};

function rejectionText(
  stage: string,
  when: "before" | "after",
  { by, comment, path }: { readonly by: string; readonly comment: string; readonly path: string },
): string {
  const line = commentLine(comment);
  const said = line === "" ? "" : `: ${line}`;
  return (
    `the ${when}-stage approval of stage ${stage} was rejected by ${by} (${path})${said}; ` +
    "clusters keep what they have; create a new run to go on (flotilla run create)"
  );
}

/**
 * What the timed wait of a stage still waits for; null when it is over, or there is none.
 *
 * It runs from the end of the last cluster and is over exactly at its instant (`rollout/README.md#b-14`, `#b-15`),
 * provided that our clock can be believed (`#i-06`).
 */
export function timerOf(stage: PlannedStage, finishedAt: Instant, { now, clock }: RunScene): RunWait | null {
  const task = stage.after.find(isTimedWait);
  if (task === undefined) return null;
  const until = later(finishedAt, task.wait);
  return now >= until && clock !== "unsound" ? null : { kind: "timer", stage: stage.name, until, clock };
}

const isTimedWait = (task: StageTask): task is Extract<StageTask, { kind: "TimedWait" }> => task.kind === "TimedWait";

/** One Approval task of a run, as it is asked for. */
interface GateRequest extends Pick<Request, "nonce" | "rules" | "authors"> {
  /** Names the fleet for good: an approval does not carry over to another one (`trust/README.md#t-03`). */
  readonly fleet: string;
  readonly run: Pick<RunRecord, "uid" | "key">;
  readonly stage: string;
  readonly when: "before" | "after";
  readonly root: RunPlan["root"];
}

/**
 * Names what a person approves: this stage of this very run with this very plan, asked under these rules
 * (`rollout/README.md#b-22`).
 *
 * Nobody can know it before it is asked for, because of the nonce (`trust/README.md#t-04`). A run that is created again
 * has another uid, so no answer carries over (`#t-01`); neither does one to the same stage under another rule.
 */
export const requestDigest = ({ fleet, run, stage, when, root, nonce, rules, authors }: GateRequest): Digest =>
  digestOf({
    fleet,
    uid: run.uid,
    run: run.key,
    stage,
    when,
    root,
    nonce,
    rules,
    authors: { principals: authors.principals, unknown: authors.unknown },
  });

const longest = 256;

/** What somebody commented: people write as much as they like, on as many lines; of it, one line is kept. */
export const commentLine = (comment: string): string =>
  [...comment.replaceAll(/[\p{C}\s]+/gu, " ").trim()].slice(0, longest).join("");
