import type { ObjectKey } from "../../model/manifest.ts";
import type { PlacementKey } from "../../model/value.ts";
import type { Owner, PlanContext } from "./context.ts";

/**
 * Who is to have an object that leaves a placement on a cluster: another one that wants it there (`plan/README.md#d-9`). The
 * first by name, unless somebody is named already who goes on wanting it. Null where nobody does.
 */
export function nextOwner(
  { cluster, placement }: Owner,
  key: ObjectKey,
  { wants }: PlanContext,
  known: PlacementKey | null = null,
): PlacementKey | null {
  const others = wants.wantersOf(cluster, key).filter((it) => it !== placement);
  return known !== null && others.includes(known) ? known : (others[0] ?? null);
}
