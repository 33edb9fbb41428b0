import type { PlacementRecord } from "../../model/ledger.ts";
import type { PlannedStage, RunRecord } from "../../model/update-run.ts";
import type { ClusterName } from "../../model/value.ts";
import { protectionRule } from "../../trust/protected.ts";
import { isMetBy } from "../../trust/rules.ts";
import { isUnknown } from "../approval/former-names.ts";
import { unprotected } from "../approval/guarded-change.ts";
import { targetsOf } from "../approval/protection.ts";
import type { PlanContext } from "../context.ts";
import type { Mover } from "./run-moves.ts";

// What a run changes of protected targets: covered by the gate before its stage, or asked for like every other change.

/** A run whose clusters are looked at. */
export interface RunMoves {
  readonly run: RunRecord;
  readonly record: PlacementRecord | null;
  readonly mover: Mover;
}

/** Whether a run may bring its version to a cluster, as far as protection goes. */
export function isPermitted(cluster: ClusterName, { run, record, mover }: RunMoves, context: PlanContext): boolean {
  const { consent, protection } = context;
  if (protection === unprotected) return true;
  const at = run.plan?.stages.findIndex((it) => it.clusters.some((planned) => planned.cluster === cluster)) ?? -1;
  const stage = run.plan?.stages[at];
  const binding = record?.bindings.get(cluster);
  if (record === null || stage === undefined || binding === undefined) return false;
  const move = mover.moveOf(cluster);
  // What the cluster carries already under other names is no change.
  if (move.kind !== "moved" || move.manifests === null || move.binding.target === null) return true;
  const deleteAdopted = run.plan?.deleteAdopted === true;
  const next = { target: move.binding.target, manifests: move.manifests, deleteAdopted };
  const change = { record, binding, next };
  const gate = run.stages[at]?.before ?? null;
  const trust = consent.record?.trust ?? null;
  if (trust === null || isUnknown(cluster, context.ledger)) return protection.permits(change);
  const targets = targetsOf(change, trust, context);
  if (targets.length === 0) return true;
  // What is approved in this very pass is acted upon in the next one, and is nobody else's question until then.
  if (isGated(stage) && gate?.approval == null) return false;
  if (gate !== null && targets.every((it) => isMetBy(protectionRule(it), gate))) return true;
  return protection.permits(change);
}

const isGated = ({ before }: PlannedStage): boolean => before.some((it) => it.kind === "Approval");

/** Whether the deletion stage may take the placement off a cluster. */
export function mayLeave(cluster: ClusterName, record: PlacementRecord | null, context: PlanContext): boolean {
  const binding = record?.bindings.get(cluster);
  return record === null || binding === undefined || context.protection.permits({ record, binding, next: null });
}

/**
 * Asks for all that a run is going to change of what is protected, as far as no gate of its stages does: so that people
 * are asked once, and not for every cluster when its turn comes.
 */
export function askAhead(run: RunRecord, record: PlacementRecord | null, mover: Mover, context: PlanContext): void {
  const { plan, stages, spec, end } = run;
  // Clusters are rendered to be looked at: a whole fleet of them in every pass, where nothing is protected for nothing.
  if (context.protection === unprotected) return;
  if (plan === null || record === null || end !== null || spec.state !== "Run") return;
  for (const [at, stage] of plan.stages.entries()) {
    const progress = stages[at];
    // A gate that is still closed asks for these itself.
    if ((isGated(stage) && progress?.before?.approval == null) || progress?.endedAt != null) continue;
    for (const { cluster } of stage.clusters)
      if (progress?.clusters.get(cluster)?.end == null) isPermitted(cluster, { run, record, mover }, context);
  }
  for (const cluster of plan.deletions) {
    const binding = record.bindings.get(cluster);
    if (binding?.state === "Unscheduled" && binding.removal === null) mayLeave(cluster, record, context);
  }
}
