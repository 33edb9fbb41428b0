import { at } from "../../ledger/codec/codec.ts";
import { transition, trueCondition, trueConditionIn } from "../../ledger/codec/conditions.ts";
import { notesOf, requestNotes, requestOf } from "../../ledger/codec/requests.ts";
import { digestOf } from "../../model/json.ts";
import { approvalRequestName, type Gate, type TaskSide } from "../../model/stage-task.ts";
import { type Approval, approversText, type GateAnswer, type Request } from "../../model/trust.ts";
import type { RunPlan, RunRecord } from "../../model/update-run.ts";
import { type BlobId, type Digest, earliest, type Instant, instantText, later } from "../../model/value.ts";
import { error } from "../../yaml/problems.ts";
import type { ApprovalEvent, RequestRules, StageTaskResult, TaskContext, TaskType } from "./task-type.ts";

/** Waits until people approve the stage (`trust/README.md#the-request`). */
export const approval: TaskType<"Approval"> = {
  sides: ["before", "after"],
  otherwise: "",
  problems: ({ waitTime }, place) =>
    waitTime === undefined
      ? []
      : [error("FLT1313", [...place, "waitTime"], "does not go with an Approval", "remove it, or use a TimedWait")],
  task: () => ({ kind: "Approval" }),

  advance: (_, requested, context) => advanceRequest(requested, context),
  /** A request made before it turned out that nothing changes is withdrawn. */
  withdraw: (gate) => (gate?.approval == null ? null : gate),
  endsBy: "people",

  parameters: {},
  recorded: (when) => {
    const notes = at(["notes", when], requestNotes);
    return {
      put(into, request, { stage, run }) {
        into["approvalRequestName"] = approvalRequestName(run.name, when, stage);
        if (request === null) return;
        const { requestedAt, approval: given } = request;
        const asked = { reason: `${created}Created`, message: "the approval is asked for", at: requestedAt };
        const conditions = [trueCondition(requested, asked, run)];
        if (given !== null) {
          const answer = { reason: `${created}Approved`, message: "the approval was given", at: given.at };
          conditions.push(trueCondition(approved, answer, run));
        }
        into["conditions"] = conditions;
        notes.put(into, notesOf(request), null);
      },
      take(from, context) {
        const asked = trueConditionIn(from, requested, context);
        if (asked === null) return null;
        const answered = trueConditionIn(from, approved, context);
        const requestedAt = transition(asked, context);
        const approvedAt = answered === null ? null : transition(answered, context);
        return requestOf(notes.take(from, context), { requestedAt, approvedAt }, context);
      },
    };
  },

  waitKind: "approval",
  waitText({ when, digest, because }) {
    const asked = `waits for the ${when}-stage approval of request digest ${digest}`;
    return because === null ? asked : `${asked}; ${because}`;
  },
  whoCanAct: "an approver: commit the file that flotilla describe run shows",
  commands: ({ stage }, run) => `details: flotilla describe run ${run}; to approve: flotilla approve ${run} ${stage}`,
  describe({ record: gate, stage, when, progress, hasRunEnded }) {
    const name = `approval ${when} ${stage}`;
    if (gate === null && progress.isPassedOver) return `${name}: not needed, since nothing changes`;
    if (gate === null) return `${name}: not requested yet`;
    if (gate.approval !== null)
      return `${name}: given at ${instantText(gate.approval.at)} by ${approversText(gate.approval)}`;
    const since = instantText(gate.requestedAt);
    return hasRunEnded
      ? `${name}: requested at ${since}, no longer needed: the run has ended`
      : `${name}: waits for an approver since ${since}; digest ${gate.digest}`;
  },
  pendingText: ({ record: gate, when }) =>
    gate === null || gate.approval !== null
      ? null
      : `approval ${when} it, requested at ${instantText(gate.requestedAt)}`,
  changes: (was, gate, when) => [
    ...(gate !== null && was?.digest !== gate.digest ? [`requests an approval ${when} it: ${gate.digest}`] : []),
    ...(gate?.approval != null && was?.approval == null ? [`was approved by ${approversText(gate.approval)}`] : []),
  ],

  passesAt: (_, gate, { approveAfter }) =>
    gate === null || gate.approval !== null || approveAfter === null ? null : later(gate.requestedAt, approveAfter),
  passed: (_, gate, since) => (gate === null ? null : { ...gate, approval: forecastApproval(since) }),
  events(_, { stage, when }, { was, is }) {
    const [old, gate] = [was?.[when].Approval ?? null, is[when].Approval];
    return [
      ...(gate !== null && old === null ? [{ kind: "approvalNeeded", stage, when } as const] : []),
      ...(gate?.approval != null && old?.approval == null ? [{ kind: "approved", stage, when } as const] : []),
    ];
  },
};

const requested = "ApprovalRequestCreated";
const approved = "ApprovalRequestApproved";
const created = "StageTaskApprovalRequest";

export const approvalEventText = ({ kind, stage, when }: ApprovalEvent): string =>
  `stage ${stage} ${kind === "approved" ? "is approved" : "needs an approval"} ${when === "before" ? "to begin" : "to end"}`;

/** An approval that is not judged: a forecast does not ask whether it counts. */
const forecastApproval = (since: Instant): Approval => ({
  at: since,
  by: [{ principal: "the forecast", path: "approvals/forecast.yaml", blob: "" as BlobId, commit: null, proofs: [] }],
});

/**
 * Requests the approval, and takes in the answer.
 *
 * An accepted answer is final (`rollout/README.md#u7`). An answer cannot precede its request, whose nonce nobody knows
 * before (`trust/README.md#t-04`, against `rollout/README.md#u43`). An open request is replaced when the rules that it
 * has to meet change, or when it has been open for as long as they allow.
 */
function advanceRequest(asked: Gate | null, context: TaskContext): StageTaskResult<"Approval"> {
  if (asked !== null && asked.approval !== null) return done(asked);
  const { stage, when } = context;
  const rules = context.requestRulesOf(stage, when);
  const isOpen = asked !== null && asked.rules === rules.rules && !isTooOld(asked, rules, context.now);
  const gate = isOpen ? asked : newGate(rules, context);
  const answer: GateAnswer = isOpen ? context.answerTo(stage, when, gate) : { kind: "none" };
  const wait = { kind: "task", task: "Approval", stage: stage.name, when, digest: gate.digest } as const;
  const wakeAt = earliest(tooOldAt(gate, rules), answer.kind === "void" ? answer.wakeAt : null);
  switch (answer.kind) {
    case "approved":
      return done({ ...gate, approval: answer.approval });
    case "rejected":
      return { record: gate, wait: null, rejection: rejectionText(stage.name, when, answer), wakeAt: null };
    case "void":
      return { record: gate, wait: { ...wait, because: answer.because }, rejection: null, wakeAt };
    case "none":
      return { record: gate, wait: { ...wait, because: null }, rejection: null, wakeAt };
  }
}

const done = (record: Gate): StageTaskResult<"Approval"> => ({ record, wait: null, rejection: null, wakeAt: null });

function newGate(of: RequestRules, { run, root, fleet, now, stage, when, nonceFor }: TaskContext): Gate {
  const { rules } = of;
  const nonce = nonceFor(stage, when);
  const authors = of.authors();
  const digest = requestDigest({ fleet, run, stage: stage.name, when, root, nonce, rules, authors });
  return { requestedAt: now, nonce, digest, rules, authors, approval: null };
}

/** From then on an answer comes too late: people have to be asked about the present state instead. */
const tooOldAt = ({ requestedAt }: Gate, { maxAge }: RequestRules): Instant | null =>
  maxAge === null ? null : later(requestedAt, maxAge);

const isTooOld = (gate: Gate, rules: RequestRules, now: Instant): boolean => {
  const end = tooOldAt(gate, rules);
  return end !== null && now >= end;
};

function rejectionText(
  stage: string,
  when: TaskSide,
  { by, comment, path }: { readonly by: string; readonly comment: string; readonly path: string },
): string {
  const line = commentLine(comment);
  const said = line === "" ? "" : `: ${line}`;
  return (
    `the ${when}-stage approval of stage ${stage} was rejected by ${by} (${path})${said}; ` +
    "clusters keep what they have; create a new run to go on (flotilla run create)"
  );
}

/** What a request for an approval is about. */
interface GateSubject extends Pick<Request, "nonce" | "rules" | "authors"> {
  /** Names the fleet for good: an approval does not carry over to another one (`trust/README.md#t-03`). */
  readonly fleet: string;
  readonly run: Pick<RunRecord, "uid" | "key">;
  readonly stage: string;
  readonly when: TaskSide;
  readonly root: RunPlan["root"];
}

/**
 * Identifies what a person approves: this stage of this run with this plan, under these rules
 * (`rollout/README.md#b-22`).
 *
 * Because of the nonce nobody can know it before the request exists (`trust/README.md#t-04`). A recreated run has
 * another uid, so no answer carries over (`#t-01`), nor does an answer under other rules.
 */
export const requestDigest = ({ fleet, run, stage, when, root, nonce, rules, authors }: GateSubject): Digest =>
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
