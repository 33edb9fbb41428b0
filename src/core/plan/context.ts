import type { Ledger } from "../model/ledger.ts";
import type { ObjectId } from "../model/manifest.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { World } from "../model/plan.ts";
import type { ClusterName, PlacementKey, Sequence } from "../model/value.ts";
import type { Rendering } from "../render/render.ts";
import type { Candidate } from "../schedule/framework/cycle.ts";
import type { ConditionsOf } from "../status/conditions-at.ts";
import type { Consent } from "./approval/consent.ts";
import type { Protection } from "./approval/guarded-change.ts";
import type { Reached, Roster } from "./roster.ts";
import type { Content } from "./version.ts";

/** What all placements of one plan share. */
export interface PlanContext {
  readonly world: World;
  /** The ledger with everything that the members told us written down. */
  readonly ledger: Ledger;
  readonly roster: Roster;
  readonly voices: ReadonlyMap<ClusterName, Reached>;
  /** Every member as the scheduler sees it, in order of names. */
  readonly candidates: readonly Candidate[];
  /** Of the commit in which new decisions will stand. */
  readonly sequence: Sequence;
  readonly content: Content;
  /** All override snapshots, those of earlier targets included. */
  readonly overrides: readonly OverrideSnapshot[];
  /** The newest snapshot of every override. */
  readonly latestOverrides: readonly OverrideSnapshot[];
  /** The intent is another one than that of the last decision: what it takes away has not been counted yet. */
  readonly isNewCommit: boolean;
  readonly consent: Consent;
  readonly protection: Protection;
  /** Whether an object waits for a confirmation, by the guard's ledger as it was before this pass. */
  readonly isHeld: (cluster: ClusterName, placement: PlacementKey, id: ObjectId) => boolean;
  /** Whether anything of a placement stands in a set that waits for a confirmation, or had to. */
  readonly isNamed: (placement: PlacementKey) => boolean;
  readonly conditionsOf: ConditionsOf;
}

/** Whether a rendering failed, and why. */
export type FailedRendering = Extract<Rendering, { kind: "failed" }>;
