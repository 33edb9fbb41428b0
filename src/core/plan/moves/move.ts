import type { Binding, Target } from "../../model/binding.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { RenderedManifest } from "../../model/plan.ts";
import type { Request } from "../../model/trust.ts";
import type { Rendering } from "../../render/render.ts";

/**
 * A change of what one cluster carries of one placement: wanted by now, whether its turn has come or not.
 *
 * Everything that changes a member is one of these, whatever brings it about; so whoever has to judge changes sees all of
 * them (`plan/README.md#a-pass`).
 */
export interface Move {
  readonly record: PlacementRecord;
  readonly cause: MoveCause;
  /** The cluster, what it carries, and what leaves it already. */
  readonly binding: Binding;
  /** What it leads to; null where the placement leaves the cluster. */
  readonly to: Destination | null;
  /** How far the approval gate before its stage covers it; null without one. */
  readonly gate: StageGate | null;
}

/**
 * What brings a move about: the rolling update, an update run, a placement whose file was removed, an eviction, or a
 * cluster that is picked again while its removal waits for a confirmation.
 */
type MoveCause = "rollout" | "run" | "removal" | "eviction" | "return";

/** What a cluster is to carry. */
export interface Destination {
  readonly target: Target;
  /** What the target holds, made when it is first asked for; null when something that it names is not kept any more. */
  readonly rendering: () => Rendering | { readonly kind: "failed"; readonly message: string } | null;
  /** What becomes of objects that were there before us, should they leave: deleted (true), or released. */
  readonly deleteAdopted: boolean;
}

/** The gate before a stage. */
interface StageGate {
  readonly hasApprovalTask: boolean;
  /** What was asked; null before. */
  readonly request: Request | null;
}

/** What a move brings, where that can be had. */
export function manifestsOf({ to }: Pick<Move, "to">): readonly RenderedManifest[] {
  const rendering = to?.rendering() ?? null;
  return rendering?.kind === "rendered" ? rendering.manifests : none;
}

const none: readonly never[] = [];
