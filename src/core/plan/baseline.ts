import type { Binding, Ledger, PlacementRecord } from "../model/ledger.ts";
import type { RunRecord } from "../model/run-record.ts";
import type { ClusterName, Commit } from "../model/value.ts";
import { snapshotOf } from "./version.ts";

/**
 * The source commit of the newest version that any run brought to a cluster; null when none did, or it is forgotten. With
 * `upTo`, of the newest index up to that one: whoever goes back may go to what nobody ever approved for it.
 */
export function rolledOutOn(
  cluster: ClusterName,
  record: PlacementRecord,
  { runs, but = null, upTo }: Pick<Ledger, "runs"> & { readonly but?: RunRecord | null; readonly upTo: number },
): Commit | null {
  const indexes = [...runs.values()].flatMap(({ key, spec, plan, stages }) => {
    const isDone = stages.some((it) => it.clusters.get(cluster)?.end?.kind === "succeeded");
    return spec.placement === record.key && key !== but?.key && isDone ? (plan?.resourceIndex ?? []) : [];
  });
  const index = Math.max(...indexes.filter((it) => it <= upTo));
  return snapshotOf(record, index)?.commit ?? null;
}

/** Whether a run has begun to move a cluster: what it carries is what the run is asked about. */
export const isMovedBy = ({ stages }: RunRecord, { cluster, target }: Binding): boolean =>
  target !== null && stages.some((it) => it.clusters.get(cluster)?.sequence === target.sequence);
