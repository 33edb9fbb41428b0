import type { ClusterName, Digest, Instant, RunKey } from "./value.ts";

/**
 * Whether our clock agrees with the members' (`rollout/README.md#i-06`). While fewer than three of them tell the time
 * nobody can see a jump: waits end by our clock, and the status says so.
 */
export type ClockTrust = "sound" | "unsound" | "unseen";

/** What a run waits for, or what keeps it: why it is not further. */
export type RunWait =
  /** What its plan would be made from is not there yet (`rollout/README.md#b-21`). */
  | { readonly kind: "planning"; readonly message: string }
  | {
      readonly kind: "approval";
      readonly stage: string;
      readonly when: "before" | "after";
      readonly digest: Digest;
      /** Why an answer that was given does not count; null when there is none. */
      readonly because: string | null;
    }
  | { readonly kind: "timer"; readonly stage: string; readonly until: Instant; readonly clock: ClockTrust }
  /** Clusters under way, and those that wait for a free place. */
  | {
      readonly kind: "clusters";
      readonly stage: string;
      readonly active: readonly ClusterName[];
      readonly waiting: readonly ClusterName[];
      readonly maxConcurrency: number;
    }
  /**
   * More clusters of the stage failed than it allows, or were taken over by a newer run before they came up: nothing
   * new starts (`rollout/README.md#b-4`, `#b-13`).
   */
  | {
      readonly kind: "failures";
      readonly stage: string;
      readonly failed: readonly ClusterName[];
      readonly allowed: number;
    }
  /** Under way for more than five minutes: a report and nothing else (`rollout/README.md#b-1`). */
  | { readonly kind: "stuck"; readonly stage: string; readonly clusters: readonly ClusterName[] }
  /** Nothing new starts, whatever was approved: who approved it may not have been who they said. */
  | { readonly kind: "held"; readonly because: string }
  | { readonly kind: "stopped"; readonly stage: string | null; readonly active: readonly ClusterName[] }
  /** Picked since the plan was made: not in this run (`rollout/README.md#b-22`). */
  | { readonly kind: "joined"; readonly clusters: readonly ClusterName[] }
  | {
      readonly kind: "superseded";
      readonly stage: string;
      readonly clusters: readonly ClusterName[];
      readonly by: RunKey;
    };
