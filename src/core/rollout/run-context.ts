import type { PlacementRecord } from "../model/ledger.ts";
import type { Authors, GateAnswer } from "../model/trust.ts";
import type { ClockTrust, Gate, PlannedStage } from "../model/update-run.ts";
import type { ClusterName, Digest, DurationMs, Instant, RunKey, Sequence } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";

/** Everything besides the run itself that decides how far it goes now. */
export interface RunContext {
  readonly now: Instant;
  /** Waits may end by our clock unless it is `unsound`. */
  readonly clock: ClockTrust;
  /**
   * Waits start from here: `now`, or the members' time when that is later and our clock is `unsound`
   * (`rollout/README.md#i-06`).
   */
  readonly latest: Instant;
  /** Of the state commit that will record what starts now. */
  readonly sequence: Sequence;
  /** Names the fleet in request digests. */
  readonly fleet: string;
  /** The run's placement as it is now; null when it is gone or being removed. */
  readonly placement: PlacementRecord | null;
  /** Where the placement is, or is to be. A cluster that is missing has left. */
  readonly bindings: ReadonlyMap<ClusterName, RunBinding>;
  /** Whether the cluster can get exactly what the plan says now, or lose it (`rollout/README.md#i-12`). */
  readonly canGetPlannedVersion: (cluster: ClusterName) => boolean;
  /** The rules under which an approval of a stage is requested now. */
  readonly requestRulesOf: (stage: PlannedStage, when: "before" | "after") => RequestRules;
  /** 32 hexadecimal digits for a request of this run: different for every stage and pass. */
  readonly nonceFor: (stage: PlannedStage, when: "before" | "after") => string;
  /** The answer to a request that was made in an earlier pass. */
  readonly answerTo: (stage: PlannedStage, when: "before" | "after", gate: Gate) => GateAnswer;
  /** The newest later run that has moved the cluster or is moving it; null when there is none. */
  readonly newerOn: (cluster: ClusterName) => RunKey | null;
}

/** The rules under which an approval is requested. */
export interface RequestRules {
  /** Of all rules that have to be met; null without a trust file. */
  readonly rules: Digest | null;
  /** How long a request may stay open before a new one replaces it; null: for ever. */
  readonly maxAge: DurationMs | null;
  /** Who changed what would be approved. Looked up once, when the request is made. */
  readonly authors: () => Authors;
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
