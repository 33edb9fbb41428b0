import type { Binding } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { Rendering } from "../render/render.ts";
import type { PlanContext } from "./context.ts";
import { renderTarget } from "./version.ts";

/** What renderings of earlier decisions are made from. */
export type RenderContext = Pick<PlanContext, "overrides" | "content" | "world">;

/** What a target holds, by what was recorded with it; null when something that it names is not kept any more. */
export const targetRendering = (
  carrier: Pick<Binding, "cluster" | "target">,
  { resourceSnapshots: snapshots }: PlacementRecord,
  { overrides, content, world }: RenderContext,
): Rendering | null => renderTarget(carrier, { snapshots, overrides, scopes: world.intent.scopes, content });
