import type { ChangeRequest, Ledger, PlacementRecord } from "../../model/ledger.ts";
import type { ProtectedTarget, Request, Trust } from "../../model/trust.ts";
import type { PlannedStage, RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName, Digest } from "../../model/value.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import { type RequestSubject, targetsReached } from "../../trust/protected.ts";
import { protectedCluster } from "./former-names.ts";
import { changeDigest, gateDigest } from "./request-digest.ts";

/** An approval request, as the ledger has it. */
export type ApprovalRequest = GateApprovalRequest | ChangeApprovalRequest;

/** The request of an Approval task of a run. */
export interface GateApprovalRequest {
  readonly kind: "gate";
  readonly run: RunRecord;
  readonly plan: RunPlan;
  readonly stage: PlannedStage;
  readonly when: "before" | "after";
  readonly request: Request;
}

/** A request to change what is protected, for a placement. */
export interface ChangeApprovalRequest {
  readonly kind: "change";
  readonly record: PlacementRecord;
  readonly change: ChangeRequest;
  readonly request: Request;
}

/** The requests of a run, in the order of its stages. */
export function gateRequestsOf(run: RunRecord): readonly GateApprovalRequest[] {
  const { plan } = run;
  if (plan === null) return [];
  return plan.stages.flatMap((stage, at) =>
    (["before", "after"] as const).flatMap((when): readonly GateApprovalRequest[] => {
      const request = run.stages[at]?.[when].Approval ?? null;
      return request === null ? [] : [{ kind: "gate", run, plan, stage, when, request }];
    }),
  );
}

/** The request of a placement; null when it has none. */
export function changeRequestOf(record: PlacementRecord): ChangeApprovalRequest | null {
  const { change } = record;
  const request = change?.request ?? null;
  return change === null || request === null ? null : { kind: "change", record, change, request };
}

/** All requests in a ledger: those of runs first. */
export const requestsIn = ({ runs, placements }: Pick<Ledger, "runs" | "placements">): readonly ApprovalRequest[] => [
  ...[...runs.values()].flatMap(gateRequestsOf),
  ...[...placements.values()].flatMap((it) => changeRequestOf(it) ?? []),
];

/** Whether somebody may still answer. */
export function requestState(ask: ApprovalRequest): "open" | "answered" | "moot" {
  if (ask.request.approval !== null) return "answered";
  return ask.kind === "gate" && ask.run.end !== null ? "moot" : "open";
}

/** The placement that it is about; null when it is no longer on record. */
export const requestedPlacement = (
  ask: ApprovalRequest,
  { placements }: Pick<Ledger, "placements">,
): PlacementRecord | null => (ask.kind === "change" ? ask.record : (placements.get(ask.run.spec.placement) ?? null));

/**
 * Whether the record says just what its digest was made over: by the same function as the planner's
 * (`trust/README.md#t-21`).
 */
export const isGenuine = (ask: ApprovalRequest, ledger: Pick<Ledger, "fleet" | "clusters">): boolean =>
  ask.request.digest === recomputed(ask, ledger);

function recomputed(ask: ApprovalRequest, ledger: Pick<Ledger, "fleet" | "clusters">): Digest {
  if (ask.kind === "gate") return gateDigest(ledger.fleet, { ...ask, stage: ask.stage.name }, ask.request);
  return changeDigest(ledger, { ...ask.change, record: ask.record }, ask.request);
}

/**
 * What it is about, as far as the record alone can tell.
 *
 * A stage is taken to reach whatever the objects of the two versions reach, those included that an override drops: what
 * is shown may take one approval more than is needed, and never one less.
 */
export function requestSubject(
  ask: ApprovalRequest,
  ledger: Ledger,
  trust: Pick<Trust, "protectedTargets">,
): RequestSubject {
  const record = requestedPlacement(ask, ledger);
  if (ask.kind === "gate") {
    const clusters = ask.when === "after" ? [] : ask.stage.clusters.map((it) => it.cluster);
    const targets = record === null ? [] : reached(record, clusters, { to: ask.plan.resourceIndex, ledger, trust });
    return { placement: ask.run.spec.placement, stage: ask.stage.name, targets };
  }
  const all = [...ask.change.clusters.keys()];
  return { placement: ask.record.key, stage: null, targets: reached(ask.record, all, { to: null, ledger, trust }) };
}

interface ReachContext {
  /** Which version arrives; null where all of a cluster counts. */
  readonly to: number | null;
  readonly ledger: Ledger;
  readonly trust: Pick<Trust, "protectedTargets">;
}

function reached(
  record: PlacementRecord,
  clusters: readonly ClusterName[],
  { to, ledger, trust }: ReachContext,
): readonly ProtectedTarget[] {
  const targets = new Set<ProtectedTarget>();
  for (const name of clusters) {
    const spaces = to === null ? [null] : namespacesOn(record, name, to);
    for (const it of targetsReached(trust, protectedCluster(name, ledger), spaces)) targets.add(it);
  }
  return trust.protectedTargets.filter((it) => targets.has(it));
}

function namespacesOn(record: PlacementRecord, cluster: ClusterName, to: number): readonly (string | null)[] {
  const { target = null, leaving = [] } = record.bindings.get(cluster) ?? {};
  const carried = target === null ? [] : (snapshotOf(record, target.resourceIndex)?.resources ?? []);
  const ids = [...carried, ...(snapshotOf(record, to)?.resources ?? []), ...leaving].map((it) => it.id);
  // As the planner does: a Namespace belongs to itself.
  return ids.map(({ group, kind, namespace, name }) => (group === "" && kind === "Namespace" ? name : namespace));
}
