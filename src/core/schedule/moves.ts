import type { ClusterDecision } from "../model/ledger.ts";
import type { ClusterName } from "../model/value.ts";
import { type Classes, type Standing, wantedState } from "./cycle.ts";

/** What one cycle changes about the bindings of a placement. */
export interface Changes {
  /**
   * Clusters newly picked, best first: bindings in the state Scheduled. Where an earlier binding is still being
   * removed, the new one has to wait for that (`rollout/README.md#b-10`).
   */
  readonly create: readonly ClusterDecision[];
  /** Bindings judged again and wanted: under the latest snapshot, with a fresh decision. */
  readonly keep: readonly Kept[];
  /** Bindings to mark Unscheduled: not picked again, trimmed, or on a cluster that left. Ordered by name. */
  readonly drop: readonly ClusterName[];
}

/** What one cycle changes, and what it leaves alone. */
export interface Moves extends Changes {
  /** Selected and untouched: Scheduled ones, then Bound ones. */
  readonly stay: readonly Standing[];
}

/** An obsolete binding that is kept, or an Unscheduled one that is wanted again. */
export interface Kept {
  readonly decision: ClusterDecision;
  /** What its state is to be: the one it has, or the one it had before it was marked Unscheduled. */
  readonly state: "Scheduled" | "Bound";
}

/**
 * Tells what picking these clusters means for the bindings there are (`schedule/README.md#bindings`).
 *
 * Obsolete bindings are kept if picked and dropped otherwise; Unscheduled ones are revived if picked and left alone
 * otherwise; everything else that was picked is new. Dangling bindings always go.
 */
export function crossReference(picked: readonly ClusterDecision[], classes: Classes): Changes {
  const decisions = new Map(picked.map((it) => [it.cluster, it]));
  const judged = [...classes.obsolete, ...classes.unscheduled];
  const known = new Set(judged.map((it) => it.cluster));
  return {
    create: picked.filter((it) => !known.has(it.cluster)),
    keep: judged.flatMap((standing) => {
      const decision = decisions.get(standing.cluster);
      return decision === undefined ? [] : [{ decision, state: wantedState(standing) }];
    }),
    drop: namesOf([...classes.dangling, ...classes.obsolete.filter((it) => !decisions.has(it.cluster))]),
  };
}

/** The clusters of these standings, ordered by name. */
export const namesOf = (standings: readonly Standing[]): readonly ClusterName[] =>
  standings.map((it) => it.cluster).sort();
