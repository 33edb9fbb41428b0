import type { Binding } from "../model/binding.ts";
import type { ClusterName } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";

/** A binding as rollout sees it. ReportDiff is not known here: a binding either carries its objects or does not. */
export interface RolloutBinding {
  readonly cluster: ClusterName;
  readonly state: Binding["state"];
  /**
   * Removal was admitted and is not confirmed. Together with the state Scheduled: picked again, and waiting until what
   * was there before is gone (`rollout/README.md#b-10`).
   */
  readonly removing: boolean;
  /**
   * Nothing is to be rolled out to it today: the target is the latest version already (resources, overrides and apply
   * strategy, `rollout/README.md#b-9`), or that version cannot be rendered for it. Such a cluster takes no other's
   * turn.
   */
  readonly upToDate: boolean;
  readonly readiness: Readiness;
}

/** The policy wants the placement there. */
export const isTargeted = ({ state }: RolloutBinding): boolean => state !== "Unscheduled";

/** Something may be there. A Scheduled cluster carries nothing, unless it was picked again while being removed. */
export const isHolding = ({ state, removing }: RolloutBinding): boolean => state !== "Scheduled" || removing;

/** It is there, works, and is not on the way out. */
export const isReady = (it: RolloutBinding): boolean =>
  isHolding(it) && !it.removing && it.readiness.kind === "available";
