import type { World } from "../../core/model/plan.ts";
import type { Commit } from "../../core/model/value.ts";

/** How one process reconciles: what the command line says, and nothing that the repository says. */
export interface Settings {
  /** Ask the members, or plan from the record alone. */
  readonly members: "ask" | "record";
  readonly patience: World["patience"];
  /** The one rewrite of history that an operator accepted: from the accepted commit to the new head. */
  readonly acceptRewrite: { readonly from: Commit; readonly to: Commit } | null;
}
