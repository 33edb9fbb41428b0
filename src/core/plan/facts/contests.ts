import { fightEnd, roundedRepairs } from "../../apply/fight.ts";
import type { Binding, BindingFacts, ContestedObject } from "../../model/binding.ts";
import { remembered } from "../../model/identity.ts";
import type { InventoryPlacement } from "../../model/inventory.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../../model/manifest.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../../model/value.ts";
import type { Reached } from "./members.ts";

const contestsKept = 100;

/** Where objects are fought over, and what was said of it last. */
interface FightInput {
  readonly member: Reached;
  readonly before: BindingFacts | null;
}

/** Who fights over what. Who was seen first stays named, so that two others who take turns are no news each time. */
export function contestsOf(
  keys: readonly ObjectKey[],
  { entries }: InventoryPlacement,
  { member, before }: FightInput,
): readonly ContestedObject[] {
  const known = new Map(before?.contested?.map((it) => [objectKey(it.id), it]));
  return [...keys]
    .sort(compareText)
    .slice(0, contestsKept)
    .flatMap((key) => {
      const repairs = entries.get(key)?.repairs;
      if (repairs === undefined) return [];
      const { count, since } = repairs;
      const by = known.get(key)?.by ?? member.objects.get(key)?.rival ?? null;
      return [{ id: objectIdOf(key), by, repairs: roundedRepairs(count), since }];
    });
}

/** When the first fight that the record tells of is over, as its member has it; null when it tells of none. */
export function calmFrom(
  record: PlacementRecord,
  trustedObservations: ReadonlyMap<ClusterName, Reached>,
): Instant | null {
  let first: Instant | null = null;
  for (const { cluster, facts } of contestedBindings(record.bindings)) {
    const carried = trustedObservations.get(cluster)?.inventory.placements.get(record.key);
    for (const { id } of facts?.contested ?? []) {
      const repairs = carried?.entries.get(objectKey(id))?.repairs;
      if (repairs !== undefined) first = earliest(first, fightEnd(repairs));
    }
  }
  return first;
}

const contestedBindings = remembered((bindings: PlacementRecord["bindings"]): readonly Binding[] => {
  const contested: Binding[] = [];
  for (const it of bindings.values()) if (it.facts?.contested !== undefined) contested.push(it);
  return contested.length === 0 ? none : contested;
});

const none: readonly never[] = [];
