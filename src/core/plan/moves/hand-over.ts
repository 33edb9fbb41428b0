import type { Binding } from "../../model/binding.ts";
import { remembered } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { ObjectKey } from "../../model/manifest.ts";
import type { PlacementKey } from "../../model/value.ts";
import { selectResources } from "../../render/select.ts";
import type { Owner, PlanContext } from "./context.ts";
import { targetKeys } from "./version.ts";

/**
 * Who is to have an object that leaves a placement on a cluster: another one that wants it there
 * (`plan/README.md#d-9`). Whoever is named already, if it goes on wanting it, then the first by name; before both, who
 * can place anything (`plan/README.md#hand-over`). Null where nobody wants it.
 */
export function nextOwner(
  { cluster, placement }: Owner,
  key: ObjectKey,
  context: PlanContext,
  known: PlacementKey | null = null,
): PlacementKey | null {
  const { wants } = context;
  const canTake = (it: PlacementKey): boolean => canPlace({ cluster, placement: it }, key, context);
  const isNamed = known !== null && known !== placement && wants.isWantedBy(known, cluster, key);
  if (isNamed && canTake(known)) return known;
  const others = wants.wantersOf(cluster, key).filter((it) => it !== placement);
  return others.find(canTake) ?? (isNamed ? known : (others[0] ?? null));
}

/** Whether a placement has been told to carry an object, or its selection is one that can be placed. */
function canPlace({ cluster, placement }: Owner, key: ObjectKey, context: PlanContext): boolean {
  const { ledger, world } = context;
  const asked = world.intent.placements.get(placement);
  if (asked === undefined || selectResources(asked, world.intent).kind === "selected") return true;
  const record = ledger.placements.get(placement);
  const binding = record?.bindings.get(cluster);
  return record !== undefined && binding !== undefined && targetKeys(binding, record, context).has(key);
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
