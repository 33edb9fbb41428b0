import type { MemberCluster } from "../model/fleet.ts";
import { rememberedPair } from "../model/identity.ts";
import type { ClusterRecord } from "../model/ledger.ts";
import { resourcePrefix } from "../model/names.ts";
import { quantityOf } from "../model/quantity.ts";
import { compareText } from "../model/value.ts";

/** A property of which a file declares one value, and the record has another. */
interface DeclaredDifference {
  readonly name: string;
  readonly declared: string;
  readonly recorded: string;
}

/** Where what a MemberCluster's file declares is not what is recorded: that does not count (`members/README.md#precedence`). */
export const declaredDifferences: (
  cluster: MemberCluster,
  recorded: ClusterRecord["properties"],
) => readonly DeclaredDifference[] = rememberedPair((cluster, recorded) =>
  [...declaredValues(cluster)]
    .flatMap(([name, declared]) => {
      const is = recorded.get(name);
      return is === undefined || isSameValue(declared, is) ? [] : [{ name, declared, recorded: is }];
    })
    .sort((a, b) => compareText(a.name, b.name)),
);

function isSameValue(a: string, b: string): boolean {
  const [one, other] = [quantityOf(a), quantityOf(b)];
  return one === null || other === null ? a === b : one.nanos === other.nanos;
}

function declaredValues({ properties, resourceUsage }: MemberCluster): ReadonlyMap<string, string> {
  const values = new Map(Object.entries(properties).map(([name, it]) => [name, it.value]));
  const { capacity, allocatable, available } = resourceUsage;
  for (const [kind, amounts] of Object.entries({ total: capacity, allocatable, available }))
    for (const [resource, value] of Object.entries(amounts)) values.set(`${resourcePrefix}${kind}-${resource}`, value);
  return values;
}
