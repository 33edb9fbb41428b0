import type { Binding } from "../../model/binding.ts";
import { remembered } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
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
  if (known !== null && known !== placement && wants.isWantedBy(known, cluster, key)) return known;
  return wants.wantersOf(cluster, key).find((it) => it !== placement) ?? null;
}

/** Whether something leaves a cluster, and all of that waits for its next owner. */
export const isOnlyHandingOver = ({ leaving }: Pick<Binding, "leaving">): boolean =>
  leaving.length > 0 && leaving.every((it) => it.handOver !== undefined);

/** Who is to take what leaves a placement, anywhere. */
export const nextOwnersOf = remembered((bindings: PlacementRecord["bindings"]): readonly PlacementKey[] => {
  const owners = new Set<PlacementKey>();
  for (const { leaving } of bindings.values())
    for (const { handOver } of leaving) if (handOver !== undefined) owners.add(handOver.to);
  return owners.size === 0 ? nobody : [...owners];
});

const nobody: readonly never[] = [];
