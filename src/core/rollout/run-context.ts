import type { PlacementRecord } from "../model/ledger.ts";
import type { Authors, GateAnswer } from "../model/trust.ts";
import type { ClockTrust, Gate, PlannedStage } from "../model/update-run.ts";
import type { ClusterName, Digest, DurationMs, Instant, RunKey, Sequence } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";

/** Everything that decides how far a run goes now, besides the run itself. */
export interface RunScene {
  readonly now: Instant;
  /** A wait may end by our clock unless it is `unsound`. */
  readonly clock: ClockTrust;
  /**
   * What waits run from: `now`, or by the members' clocks when those are later and ours is `unsound`
   * (`rollout/README.md#i-06`).
   */
  readonly latest: Instant;
  /** Of the commit in which what starts now will stand. */
  readonly sequence: Sequence;
  /** Names the fleet in request digests. */
  readonly fleet: string;
  /** The run's placement as it is now; null when it is gone, or going. */
  readonly placement: PlacementRecord | null;
  /** Where the placement is, or is to be. One that is missing has left. */
  readonly bindings: ReadonlyMap<ClusterName, RunBinding>;
  /** Whether just what the plan says of the cluster can be brought there now (`rollout/README.md#i-12`). */
  readonly isAtHand: (cluster: ClusterName) => boolean;
  /** Under which rules an approval of a stage is asked for now. */
  readonly termsOf: (stage: PlannedStage, when: "before" | "after") => GateTerms;
  /** 32 hexadecimal digits for a request of this run: others for every stage, and in every pass. */
  readonly nonceFor: (stage: PlannedStage, when: "before" | "after") => string;
  /** What people said to a request that was made in an earlier pass. */
  readonly answerTo: (stage: PlannedStage, when: "before" | "after", gate: Gate) => GateAnswer;
  /** The newest of the newer runs that has moved the cluster or is moving it; null when there is none. */
  readonly newerOn: (cluster: ClusterName) => RunKey | null;
}

/** Under which rules people are asked. */
export interface GateTerms {
  /** Of all rules that have to be met; null where nobody set up who may approve. */
  readonly rules: Digest | null;
  /** How long a request may stand unanswered before it is made anew; null: for ever. */
  readonly maxAge: DurationMs | null;
  /** Who changed what would be approved. Looked up when it is asked for, and not again. */
  readonly authors: () => Authors;
}

/** A binding as a run sees it. */
export interface RunBinding {
  readonly cluster: ClusterName;
  readonly state: "Scheduled" | "Bound" | "Unscheduled";
  /** A removal was decided and is not confirmed. */
  readonly removing: boolean;
  /** Of the target; null without one. */
  readonly sequence: Sequence | null;
  /** The target is exactly what the run's plan says for the cluster, and the binding is Bound. */
  readonly isOn: boolean;
  /** It carries what the plan says, perhaps under other names: nothing has to be written. */
  readonly isAlike: boolean;
  /** Another run brought what it carries, and has not got to the end of that stage: its tasks have not been met. */
  readonly isOnTrial: boolean;
  readonly readiness: Readiness;
}
