import { changeRequestName } from "../ledger/layout.ts";
import { flotillaGroup } from "../model/names.ts";
import { approvalRequestName, type Gate } from "../model/stage-task.ts";
import type { ApprovalFile } from "../model/trust.ts";
import type { RunRecord } from "../model/update-run.ts";
import type { ApprovalRequest } from "../plan/approval/approval-request.ts";
import { emitYaml } from "../yaml/canonical.ts";

/** An approval of a run: the stage, and whether it comes before or after it. */
export interface GateRef {
  readonly run: Pick<RunRecord, "namespace" | "name">;
  readonly stage: string;
  readonly when: "before" | "after";
}

/** The file whose commit approves a request, ready to be copied; never in `approvals/deletions/`, for confirmations. */
export function approvalFile(
  at: GateRef,
  { digest }: Pick<Gate, "digest">,
  principal: string,
): { readonly path: string; readonly text: string } {
  const { run, stage, when } = at;
  const text = approvalFileText(approvalRequestName(run.name, when, stage), {
    digest,
    decision: "Approve",
    principal,
    comment: "",
    signature: null,
  });
  return { path: `${approvalFolder(run)}/${stage}-${when}.yaml`, text };
}

/**
 * The folder where people look for the approvals of a run or a placement: no two names share one, and none lies where
 * another one has a file, since files end with `.yaml` and names of namespaces have no dot.
 */
export const approvalFolder = ({ namespace, name }: GateRef["run"]): string => {
  if (namespace !== null) return `approvals/namespaces/${namespace}/${name}`;
  return name === "deletions" ? "approvals/runs/deletions" : `approvals/${name}`;
};

export const approvalFileText = (
  name: string,
  { digest, decision, principal, comment, signature }: Omit<ApprovalFile, "path" | "blob">,
): string =>
  emitYaml({
    apiVersion: `${flotillaGroup}/v1alpha1`,
    kind: "Approval",
    metadata: { name },
    spec: { requestDigest: digest, decision, principal, comment, ...(signature === null ? {} : { signature }) },
  });

/** The name of the request's object on the state branch, without its namespace. */
export const requestObjectName = (ask: ApprovalRequest): string =>
  ask.kind === "gate"
    ? approvalRequestName(ask.run.name, ask.when, ask.stage.name)
    : changeRequestName(ask.record.name);

/** The same with its namespace in front, if it has one: what `flotilla get approvals` takes. */
export function requestKey(ask: ApprovalRequest): string {
  const { namespace } = ask.kind === "gate" ? ask.run : ask.record;
  return namespace === null ? requestObjectName(ask) : `${namespace}/${requestObjectName(ask)}`;
}

/** The path of a new answer: one that was never used, since each is judged once (`trust/README.md#the-request`). */
export function newApprovalPath(ask: ApprovalRequest, principal: string, isTaken: (path: string) => boolean): string {
  const base = `${approvalPathPrefix(ask)}.${fileName(principal)}`;
  let path = `${base}.yaml`;
  for (let n = 2; isTaken(path); n += 1) path = `${base}.${n}.yaml`;
  return path;
}

/** How the usual paths of answers to a request begin. Answers at any other path count as well. */
export const approvalPathPrefix = (ask: ApprovalRequest): string =>
  ask.kind === "gate"
    ? `${approvalFolder(ask.run)}/${ask.stage.name}-${ask.when}`
    : `${approvalFolder(ask.record)}/change`;

/** Principals may be email addresses, or anything else. */
const fileName = (principal: string): string => principal.replaceAll(/[^A-Za-z0-9._@+-]+/g, "-").slice(0, 100);

export const approveCommand = (ask: ApprovalRequest, verb = "approve"): string =>
  ask.kind === "gate"
    ? `flotilla ${verb} ${ask.run.key} ${ask.stage.name}`
    : `flotilla ${verb} --change ${ask.record.key}`;

/** What approving it allows. */
export function requestEffect(ask: ApprovalRequest): string {
  if (ask.kind === "change") return `let ${ask.record.key} change what is protected`;
  return `let stage ${ask.stage.name} of run ${ask.run.key} ${ask.when === "before" ? "begin" : "end"}`;
}

/** A request of a run, with its gate. */
export interface GateRequest extends GateRef {
  readonly gate: Gate;
}

/** The open requests of a run, in the order of its stages; none once it has ended. */
export const openGateRequests = (run: RunRecord): readonly GateRequest[] =>
  run.end !== null ? [] : gateRequests(run).filter((it) => it.gate.approval === null);

/** All requests of a run, answered or not. */
export const gateRequests = (run: RunRecord): readonly GateRequest[] =>
  (run.plan?.stages ?? []).flatMap(({ name: stage }, at) => {
    return sides.flatMap((when) => {
      const gate = run.stages[at]?.[when].Approval ?? null;
      return gate === null ? [] : [{ run, stage, when, gate }];
    });
  });

const sides = ["before", "after"] as const;
