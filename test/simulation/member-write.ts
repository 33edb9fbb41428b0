import type { JsonObject } from "../../src/core/model/json.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Commit } from "../../src/core/model/value.ts";
import type { WireResponse } from "../../src/shell/kube/client/transport.ts";
import type { Judge } from "./judge.ts";
import type { Simulation } from "./simulation.ts";
import type { Attempt } from "./world/attempt.ts";
import type { Request } from "./world/call.ts";
import type { Claim, Entry, Seen } from "./world/observed-objects.ts";
import type { Reconciler } from "./world/reconciler.ts";
import type { Site } from "./world/site.ts";

/** What one pass was told by the world, as far as judges care. */
export interface PassFacts {
  readonly process: Reconciler;
  readonly attempt: Attempt;
  /** Virtual time, in milliseconds. */
  readonly beganAt: number;
  /** By how much its own clock was ahead of the members' then. */
  readonly skew: number;
  /** When it was last let go on; 0 when it never stood still. */
  resumed: number;
  /** When it last wrote something down in an inventory, by member. */
  readonly claimed: Map<string, number>;
  /** When it last looked at something and was told: `site what` → event. */
  readonly looks: Map<string, number>;
  /** Members that told who they are. */
  readonly answered: Set<string>;
  /** What was up on members at every look at their lists: member → `placement key` → what it said. */
  readonly up: Map<string, ReadonlyMap<string, string>>;
  /** Everything it was told came without trouble. */
  isSmooth: boolean;
}

/** The pass that first said that all clusters of a stage have ended. */
export interface Landing {
  /** By the members' clocks; -Infinity if nobody could see. */
  readonly at: number;
  /** By how much our clock was ahead of the members'. */
  readonly skew: number;
}

/** One request that reached a cluster, with what stood there before and after. */
export interface MemberWrite {
  readonly simulation: Simulation;
  readonly facts: PassFacts;
  readonly site: Site;
  readonly request: Request;
  readonly incoming: WireResponse;
  readonly event: number;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** The inventory before. */
  readonly entries: readonly Entry[];
  readonly claims: readonly Claim[];
  /** What was in the namespace that goes; empty for everything else. */
  readonly inside: readonly Seen[];
  /** What the process decided upon. */
  readonly ledger: Ledger | null;
  readonly stateCommit: Commit | null;
  /**
   * Its sender was held up since its claim stood, or it was delivered late: no server can tell that it is old. What is
   * claimed afterwards has to pass the fence.
   */
  readonly isStale: boolean;
}

/** A promise about one request. */
export type MemberWriteRule = (write: MemberWrite, judge: Judge) => Iterable<string>;
