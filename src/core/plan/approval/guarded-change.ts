import type { Binding, Target } from "../../model/binding.ts";
import type { ChangeRequest, PlacementRecord } from "../../model/ledger.ts";
import type { Reason, RenderedManifest } from "../../model/plan.ts";
import type { Instant } from "../../model/value.ts";

/** Something that would change what a member carries of a placement. */
export interface Change {
  readonly record: PlacementRecord;
  readonly binding: Binding;
  /** What it would carry; null where the placement leaves. */
  readonly next: Next | null;
}

interface Next {
  readonly target: NextTarget;
  readonly manifests: Manifests;
  /** What is said of objects that were there before us, where that is not what the placement says: by a run's plan. */
  readonly deleteAdopted?: boolean;
}

/** Without an index it is of the newest snapshot. */
type NextTarget = Pick<Target, "digest" | "applyStrategy"> & Partial<Pick<Target, "resourceIndex">>;

type Manifests = readonly Pick<RenderedManifest, "id">[];

/**
 * The one place where every change of what a member carries is held against what is protected, whatever path it takes:
 * a run, a rolling update, an override, a new placement, an eviction, a deletion (`trust/README.md#d-17`,
 * `plan/README.md#i-59`; `trust/README.md#t-32` to `#t-34`).
 */
export interface Protection {
  /** Whether a change may go ahead now. What may not is asked for, together with all else that the placement waits for. */
  readonly permits: (change: Change) => boolean;
  /** Whether anything was put to `permits` that needs an approval: its placement has to be decided, and asks for it. */
  readonly isAsked: (key: PlacementRecord["key"]) => boolean;
  /** What a placement asks for, once all of its changes of this pass were put to `permits`. */
  readonly askedFor: (record: PlacementRecord) => AskedChange;
}

/** What becomes of a placement's request. */
export interface AskedChange {
  readonly change: ChangeRequest | null;
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/** Nothing is protected. */
export const unprotected: Protection = {
  permits: () => true,
  isAsked: () => false,
  askedFor: () => ({ change: null, reasons: [], wakeAt: null }),
};
