import { digestOf } from "../model/json.ts";
import type { GateAnswer, Request } from "../model/trust.ts";
import type { Gate, PlannedStage, RunPlan, RunRecord, RunWait, StageProgress, StageTask } from "../model/update-run.ts";
import { type Digest, earliest, type Instant, later } from "../model/value.ts";
import type { RequestRules, RunContext } from "./run-context.ts";

/** Everything that decides how far one stage of a run goes now. */
export interface StageContext extends RunContext {
  readonly run: RunRecord;
  readonly root: RunPlan["root"];
}

/** The state of one Approval task after this pass. */
export interface GateResult {
  /** Null without such a task. */
  readonly gate: Gate | null;
  readonly wait: RunWait | null;
  /** Why the run has failed; null unless somebody rejected it. */
  readonly rejection: string | null;
  /** When a new request replaces it; null when none will. */
  readonly wakeAt: Instant | null;
}

/**
 * Requests the approval of a stage that has such a task, and takes in the answer.
 *
 * An accepted answer is final (`rollout/README.md#u7`). An answer cannot precede its request, whose nonce nobody knows
 * before (`trust/README.md#t-04`, against `rollout/README.md#u43`). An open request is replaced when the rules that it
 * has to meet change, or when it has been open for as long as they allow.
 */
export function advanceGate(
  stage: PlannedStage,
  when: "before" | "after",
  before: StageProgress,
  context: StageContext,
): GateResult {
  const asked = before[when];
  if (!stage[when].some((it) => it.kind === "Approval")) return open(asked);
  if (asked !== null && asked.approval !== null) return open(asked);
  const terms = context.requestRulesOf(stage, when);
  const isOpen = asked !== null && asked.rules === terms.rules && !isTooOld(asked, terms, context);
  const gate = isOpen ? asked : newGate(stage, when, terms, context);
  const answer: GateAnswer = isOpen ? context.answerTo(stage, when, gate) : { kind: "none" };
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
  terms: RequestRules,
  { run, root, fleet, now, nonceFor }: StageContext,
): Gate {
  const { rules } = terms;
  const nonce = nonceFor(stage, when);
  const authors = terms.authors();
  const digest = requestDigest({ fleet, run, stage: stage.name, when, root, nonce, rules, authors });
  return { requestedAt: now, nonce, digest, rules, authors, approval: null };
}

/** From then on an answer comes too late: people have to be asked about the present state instead. */
const tooOldAt = ({ requestedAt }: Gate, { maxAge }: RequestRules): Instant | null =>
  maxAge === null ? null : later(requestedAt, maxAge);

const isTooOld = (gate: Gate, terms: RequestRules, { now }: RunContext): boolean => {
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
 * The timed wait of a stage while it lasts; null when it is over, or there is none.
 *
 * It starts when the last cluster has ended and is over exactly at its instant (`rollout/README.md#b-14`, `#b-15`),
 * provided that our clock can be trusted (`#i-06`).
 */
export function timerOf(stage: PlannedStage, finishedAt: Instant, { now, clock }: RunContext): RunWait | null {
  const task = stage.after.find(isTimedWait);
  if (task === undefined) return null;
  const until = later(finishedAt, task.wait);
  return now >= until && clock !== "unsound" ? null : { kind: "timer", stage: stage.name, until, clock };
}

const isTimedWait = (task: StageTask): task is Extract<StageTask, { kind: "TimedWait" }> => task.kind === "TimedWait";

/** What a request for an approval is about. */
interface GateRequest extends Pick<Request, "nonce" | "rules" | "authors"> {
  /** Names the fleet for good: an approval does not carry over to another one (`trust/README.md#t-03`). */
  readonly fleet: string;
  readonly run: Pick<RunRecord, "uid" | "key">;
  readonly stage: string;
  readonly when: "before" | "after";
  readonly root: RunPlan["root"];
}

/**
 * Identifies what a person approves: this stage of this run with this plan, under these rules
 * (`rollout/README.md#b-22`).
 *
 * Because of the nonce nobody can know it before the request exists (`trust/README.md#t-04`). A recreated run has
 * another uid, so no answer carries over (`#t-01`), nor does an answer under other rules.
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

const maxCommentLength = 256;

/** A comment as one line of bounded length. */
export const commentLine = (comment: string): string =>
  [...comment.replaceAll(/[\p{C}\s]+/gu, " ").trim()].slice(0, maxCommentLength).join("");
