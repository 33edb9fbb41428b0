import type { Binding } from "../../model/binding.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import type { RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName, Commit } from "../../model/value.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import { type BindingSubject, type ClusterContent, carriedBy, plannedBy } from "./cluster-content.ts";

/** A version that a run brought to a cluster. */
interface RolledOut {
  /** The source commit that it came with. */
  readonly commit: Commit;
  readonly plan: RunPlan;
}

/**
 * The newest version that any run brought to a cluster; null when none did, or it is forgotten. With `upTo`, of the newest
 * index up to that one: whoever goes back may go to what nobody ever approved for it.
 */
export function rolledOutOn(
  cluster: ClusterName,
  record: PlacementRecord,
  { runs, but = null, upTo }: Pick<Ledger, "runs"> & { readonly but?: RunRecord | null; readonly upTo: number },
): RolledOut | null {
  const brought = [...runs.values()]
    .filter((it) => it.spec.placement === record.key && it.key !== but?.key)
    .filter((it) => it.stages.some(({ clusters }) => clusters.get(cluster)?.end?.kind === "succeeded"))
    .sort((a, b) => a.since - b.since)
    .flatMap((it) => it.plan ?? [])
    .filter((it) => it.resourceIndex <= upTo);
  const index = Math.max(...brought.map((it) => it.resourceIndex));
  // Of runs of one version, the last to begin: overrides may differ.
  const plan = brought.findLast((it) => it.resourceIndex === index);
  const commit = snapshotOf(record, index)?.commit;
  return plan === undefined || commit === undefined ? null : { commit, plan };
}

/** Whether a run has begun to move a cluster: what it carries is what the run is asked about. */
export const isMovedBy = ({ stages }: RunRecord, { cluster, target }: Binding): boolean =>
  target !== null && stages.some((it) => it.clusters.get(cluster)?.sequence === target.sequence);

/** What was decided about a cluster before a change. */
interface Baseline {
  /** The cluster goes back, or is on its way already: what it carries is not what was decided. */
  readonly isBack: boolean;
  /** What any run rolled out, where it goes back; else null. */
  readonly rolledOut: RolledOut | null;
  /** Null: nothing that anybody knows. */
  readonly decided: ClusterContent | null;
}

/**
 * What was decided last about a cluster that is to get the version of an index, from a run where one asks. A null index:
 * whatever is newest.
 */
export function baselineOf(subject: BindingSubject, index: number | null, run: RunRecord | null, runs: Runs): Baseline {
  const { record } = subject;
  const { cluster, target } = subject.binding;
  const binding = record.bindings.get(cluster);
  const isMoved = run !== null && binding !== undefined && isMovedBy(run, binding);
  const isBack = isMoved || (index !== null && (target?.resourceIndex ?? -1) > index);
  if (!isBack) return { isBack, rolledOut: null, decided: carriedBy(subject) };
  const upTo = index ?? Number.POSITIVE_INFINITY;
  const rolledOut = rolledOutOn(cluster, record, { runs, but: run, upTo });
  return { isBack, rolledOut, decided: rolledOut === null ? null : plannedBy(rolledOut.plan, subject) };
}

type Runs = Ledger["runs"];
