import { digestOf } from "../model/digest.ts";
import type { RunPlan, RunRecord } from "../model/run-record.ts";
import type { Digest } from "../model/value.ts";

/** One Approval task of a run. */
export interface GateRequest {
  /** Names the fleet for good: an approval does not carry over to another one. */
  readonly fleet: string;
  readonly run: Pick<RunRecord, "uid" | "key">;
  readonly stage: string;
  readonly when: "before" | "after";
  readonly root: RunPlan["root"];
}

/**
 * Names what a person approves: this stage of this very run with this very plan (`RULINGS.md` B 22).
 *
 * It is known as soon as there is a plan, so an answer may be there before it is asked for (U43). A run that is created
 * again has another uid, so no answer carries over.
 */
export const requestDigest = ({ fleet, run, stage, when, root }: GateRequest): Digest =>
  digestOf({ fleet, uid: run.uid, run: run.key, stage, when, root });
