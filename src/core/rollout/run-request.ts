import { digestOf } from "../model/json.ts";
import type { Request } from "../model/trust.ts";
import type { RunPlan, RunRecord } from "../model/update-run.ts";
import type { Digest } from "../model/value.ts";

/** One Approval task of a run, as it is asked for. */
export interface GateRequest extends Pick<Request, "nonce" | "rules" | "authors"> {
  /** Names the fleet for good: an approval does not carry over to another one (`trust/README.md#t-03`). */
  readonly fleet: string;
  readonly run: Pick<RunRecord, "uid" | "key">;
  readonly stage: string;
  readonly when: "before" | "after";
  readonly root: RunPlan["root"];
}

/**
 * Names what a person approves: this stage of this very run with this very plan, asked under these rules
 * (`rollout/README.md#b-22`).
 *
 * Nobody can know it before it is asked for, because of the nonce (`trust/README.md#t-04`). A run that is created again
 * has another uid, so no answer carries over (`#t-01`); neither does one to the same stage under another rule.
 */
export const requestDigest = ({ fleet, run, stage, when, root, nonce, rules, authors }: GateRequest): Digest =>
  digestOf({
    fleet,
    uid: run.uid,
    run: run.key,
    stage,
    when,
    root,
    nonce,
    rules,
    authors: { principals: authors.principals, unknown: authors.unknown },
  });
