import { emitYaml } from "../../core/codec/canonical.ts";
import { approvalRequestName } from "../../core/codec/layout.ts";
import { flotillaGroup } from "../../core/model/names.ts";
import type { Gate, RunRecord } from "../../core/model/run-record.ts";

/** Which request of a run: a stage, and whether it is asked before or after it. */
export interface GateAt {
  readonly run: Pick<RunRecord, "namespace" | "name">;
  readonly stage: string;
  readonly when: "before" | "after";
}

/**
 * The file whose commit to the source branch approves a request, ready to be copied.
 *
 * `approvals/deletions/` is for confirmations: nothing there answers a request, also of a run that is called so.
 */
export function approvalFile(
  at: GateAt,
  { digest }: Pick<Gate, "digest">,
  principal: string,
): { readonly path: string; readonly text: string } {
  const { run, stage, when } = at;
  const own = run.namespace === null ? run.name : `${run.namespace}/${run.name}`;
  const folder = /^deletions(?:\/|$)/.test(own) ? `runs/${own}` : own;
  const spec = { requestDigest: digest, decision: "Approve", principal, comment: "" };
  return {
    path: `approvals/${folder}/${stage}-${when}.yaml`,
    text: emitYaml({
      apiVersion: `${flotillaGroup}/v1alpha1`,
      kind: "Approval",
      metadata: { name: approvalRequestName(run.name, when, stage) },
      spec,
    }),
  };
}

/** A request that nobody has answered yet. */
export interface OpenRequest extends GateAt {
  readonly gate: Gate;
}

/** What a run asks people for, in the order of its stages; nothing once it has ended. */
export const openRequests = (run: RunRecord): readonly OpenRequest[] =>
  run.end !== null ? [] : requestsOf(run).filter((it) => it.gate.approval === null);

/** Everything that a run has asked people for. */
export const requestsOf = (run: RunRecord): readonly OpenRequest[] =>
  (run.plan?.stages ?? []).flatMap(({ name: stage }, at) => {
    const { before = null, after = null } = run.stages[at] ?? {};
    return [
      ...(before === null ? [] : [{ run, stage, when: "before" as const, gate: before }]),
      ...(after === null ? [] : [{ run, stage, when: "after" as const, gate: after }]),
    ];
  });
