import type { ChangeRequest, Ledger, PlacementRecord } from "../../model/ledger.ts";
import type { ProtectedTarget, Request, Trust } from "../../model/trust.ts";
import type { PlannedStage, RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName, Digest } from "../../model/value.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import { type RequestSubject, targetsReached } from "../../trust/protected.ts";
import { protectedCluster } from "./former-names.ts";
import { changeDigest, gateDigest } from "./request-digest.ts";

/** Something that people were asked for, as the ledger has it. */
export type Ask = GateAsk | ChangeAsk;

/** An Approval task of a run. */
export interface GateAsk {
  readonly kind: "gate";
  readonly run: RunRecord;
  readonly plan: RunPlan;
  readonly stage: PlannedStage;
  readonly when: "before" | "after";
  readonly request: Request;
}

/** A placement's change of what is protected. */
export interface ChangeAsk {
  readonly kind: "change";
  readonly record: PlacementRecord;
  readonly change: ChangeRequest;
  readonly request: Request;
}

/** Everything that a run has asked for, in the order of its stages. */
export function gateAsks(run: RunRecord): readonly GateAsk[] {
  const { plan } = run;
  if (plan === null) return [];
  return plan.stages.flatMap((stage, at) =>
    (["before", "after"] as const).flatMap((when): readonly GateAsk[] => {
      const request = run.stages[at]?.[when] ?? null;
      return request === null ? [] : [{ kind: "gate", run, plan, stage, when, request }];
    }),
  );
}

/** What a placement asks for; null when it asks nothing. */
export function changeAsk(record: PlacementRecord): ChangeAsk | null {
  const { change } = record;
  const request = change?.request ?? null;
  return change === null || request === null ? null : { kind: "change", record, change, request };
}

/** Everything that a ledger has asked for: runs first. */
export const asksIn = ({ runs, placements }: Pick<Ledger, "runs" | "placements">): readonly Ask[] => [
  ...[...runs.values()].flatMap(gateAsks),
  ...[...placements.values()].flatMap((it) => changeAsk(it) ?? []),
];

/** Whether somebody may still answer. */
export function askState(ask: Ask): "open" | "answered" | "moot" {
  if (ask.request.approval !== null) return "answered";
  return ask.kind === "gate" && ask.run.end !== null ? "moot" : "open";
}

/** The placement that it is about; null when it is no longer on record. */
export const askedPlacement = (ask: Ask, { placements }: Pick<Ledger, "placements">): PlacementRecord | null =>
  ask.kind === "change" ? ask.record : (placements.get(ask.run.spec.placement) ?? null);

/**
 * Whether the record says just what its digest was made over: by the same function as the planner's
 * (`trust/README.md#t-21`).
 */
export const isGenuine = (ask: Ask, ledger: Pick<Ledger, "fleet" | "clusters">): boolean =>
  ask.request.digest === recomputed(ask, ledger);

function recomputed(ask: Ask, ledger: Pick<Ledger, "fleet" | "clusters">): Digest {
  if (ask.kind === "gate") return gateDigest(ledger.fleet, { ...ask, stage: ask.stage.name }, ask.request);
  return changeDigest(ledger, { ...ask.change, record: ask.record }, ask.request);
}

/**
 * What it is about, as far as the record alone can tell.
 *
 * A stage is taken to reach whatever the objects of the two versions reach, those included that an override drops: what
 * is shown may take one approval more than is needed, and never one less.
 */
export function askSubject(ask: Ask, ledger: Ledger, trust: Pick<Trust, "protectedTargets">): RequestSubject {
  const record = askedPlacement(ask, ledger);
  if (ask.kind === "gate") {
    const clusters = ask.when === "after" ? [] : ask.stage.clusters.map((it) => it.cluster);
    const targets = record === null ? [] : reached(record, clusters, { to: ask.plan.resourceIndex, ledger, trust });
    return { placement: ask.run.spec.placement, stage: ask.stage.name, targets };
  }
  const all = [...ask.change.clusters.keys()];
  return { placement: ask.record.key, stage: null, targets: reached(ask.record, all, { to: null, ledger, trust }) };
}

interface Reaching {
  /** Which version arrives; null where all of a cluster counts. */
  readonly to: number | null;
  readonly ledger: Ledger;
  readonly trust: Pick<Trust, "protectedTargets">;
}

function reached(
  record: PlacementRecord,
  clusters: readonly ClusterName[],
  { to, ledger, trust }: Reaching,
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
