import type { CascadedDeletion, ObjectFate } from "../../model/deletion.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { ProtectedTarget } from "../../model/trust.ts";
import type { ClusterName, Digest } from "../../model/value.ts";
import { begun } from "./begin.ts";
import type { PlanContext } from "./context.ts";
import type { Move } from "./move.ts";

/** One placement on its way through a pass: what became of it so far, and by which moves. */
export interface PlacementProgress {
  readonly record: PlacementRecord;
  /** Every move that was proposed. */
  readonly moves: readonly Move[];
  /** Those that begin in this pass. */
  readonly begun: readonly Move[];
  /** Those whose deletions the guard counts now: decided anew, or by another commit than before. */
  readonly counted: readonly Move[];
  readonly guarded: Guarded;
}

/** What protection says of the moves of one placement so far. */
export interface Guarded {
  /** Moves that may not begin yet. */
  readonly waiting: ReadonlySet<Move>;
  /** What people have to approve, or approved: by cluster, since the first move there decides. */
  readonly asked: ReadonlyMap<ClusterName, ProtectedMove>;
  /** Clusters of moves that wait, and that nobody can be asked about yet. */
  readonly unasked: ReadonlySet<ClusterName>;
}

/** A move of what is protected, as people are asked about it. */
export interface ProtectedMove {
  /** Of what the cluster is to carry and how it is applied; null where it is to carry nothing. */
  readonly digest: Digest | null;
  /** What becomes of what the cluster loses. */
  readonly leaves: readonly ObjectFate[];
  /** What of others is deleted with what leaves already; a move itself takes nothing of others along. */
  readonly others: readonly CascadedDeletion[];
  /** Of the resource snapshot; null where the placement leaves. */
  readonly index: number | null;
  readonly targets: readonly ProtectedTarget[];
  readonly isGranted: boolean;
}

/** A placement of which nothing was proposed yet. */
export const unmoved = (record: PlacementRecord): PlacementProgress => ({
  record,
  moves: [],
  begun: [],
  counted: [],
  guarded: { waiting: new Set(), asked: new Map(), unasked: new Set() },
});

/** Lets moves begin: their bindings get their targets, or their removals. */
export function begin(progress: PlacementProgress, moves: readonly Move[], context: PlanContext): PlacementProgress {
  if (moves.length === 0) return progress;
  const { record } = progress;
  const bindings = new Map(record.bindings);
  for (const move of moves) {
    const binding = begun(move, context);
    if (binding === null) bindings.delete(move.binding.cluster);
    else bindings.set(binding.cluster, binding);
  }
  return { ...progress, record: { ...record, bindings }, begun: [...progress.begun, ...moves] };
}
