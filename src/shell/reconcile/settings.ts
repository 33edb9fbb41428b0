import type { World } from "../../core/model/plan.ts";
import type { Commit, Digest } from "../../core/model/value.ts";

/** How one process reconciles: what the command line says, and nothing that the repository says. */
export interface Settings {
  /** Ask the members, or plan from the record alone. */
  readonly members: "ask" | "record";
  readonly patience: World["patience"];
  /** The one rewrite of history that an operator accepted: from the accepted commit to the new head. */
  readonly acceptRewrite: { readonly from: Commit; readonly to: Commit } | null;
  /** The SHA-256 of the trust file that the operator vouches for, whatever the repository says; null without one. */
  readonly trustAnchor: Digest | null;
  /** Absent: this process does not sign, and takes the state branch as it is. */
  readonly stateSigning?: StateSigning;
}

/** The key with which a process signs its commits, and what the operator accepts. */
export interface StateSigning {
  /** Of its own key: `SHA256:…`. */
  readonly fingerprint: string;
  /** A commit of the state branch that the operator has checked and accepts; null without one. */
  readonly accepted: Commit | null;
}
