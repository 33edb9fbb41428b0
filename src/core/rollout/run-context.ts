import type { PlacementRecord } from "../model/ledger.ts";
import type { RunPlan, RunRecord } from "../model/update-run.ts";
import type { ClusterName, Instant, RunKey, Sequence } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";
import type { TaskInputs } from "./tasks/task-type.ts";

/** Everything besides the run itself that decides how far it goes now. */
export interface RunContext extends TaskInputs {
  /**
   * Waits start from here: `now`, or the members' time when that is later and our clock is `unsound`
   * (`rollout/README.md#i-06`).
   */
  readonly latest: Instant;
  /** Of the state commit that will record what starts now. */
  readonly sequence: Sequence;
  /** The run's placement as it is now; null when it is gone or being removed. */
  readonly placement: PlacementRecord | null;
  /** Where the placement is, or is to be. A cluster that is missing has left. */
  readonly bindings: ReadonlyMap<ClusterName, RunBinding>;
  /** Whether the cluster can get exactly what the plan says now, or lose it (`rollout/README.md#i-12`). */
  readonly canGetPlannedVersion: (cluster: ClusterName) => boolean;
  /** The newest later run that has moved the cluster or is moving it; null when there is none. */
  readonly newerOn: (cluster: ClusterName) => RunKey | null;
}

/** Everything that decides how far one stage of a run goes now. */
export interface StageContext extends RunContext {
  readonly run: RunRecord;
  readonly root: RunPlan["root"];
}

/** A binding as a run sees it. */
export interface RunBinding {
  readonly cluster: ClusterName;
  readonly state: "Scheduled" | "Bound" | "Unscheduled";
  /** Its removal was decided and is not confirmed. */
  readonly removing: boolean;
  /** Of the target; null without one. */
  readonly sequence: Sequence | null;
  /** It is Bound, and its target is exactly what the plan says. */
  readonly isOn: boolean;
  /** Its target has the content that the plan says, perhaps under other snapshots: nothing has to be written. */
  readonly hasPlannedContent: boolean;
  /** Another run brought what it carries, and the tasks of that stage are not done. */
  readonly isOnTrial: boolean;
  readonly readiness: Readiness;
}
