import type { Binding } from "../../model/binding.ts";
import type { PlacementRecord, ResourceSnapshot } from "../../model/ledger.ts";
import { type ObjectKey, objectKey } from "../../model/manifest.ts";
import type { Commit } from "../../model/value.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import { carriedObjects } from "../moves/begin.ts";
import { type RenderContext, targetRendering } from "../moves/version.ts";

/**
 * Gives the source commit of what a cluster got last; null where nobody can tell, or it has nothing.
 *
 * A version that makes no difference on a cluster gives it its name and nothing else: an override keeps away what is
 * new in it. Nobody was asked about that, so whoever wrote it still counts once the override goes
 * (`trust/README.md#t-06`, `#t-12`).
 */
export function carriedSince(binding: Binding, record: PlacementRecord, context: RenderContext): Commit | null {
  const { target } = binding;
  const carried = target === null ? null : snapshotOf(record, target.resourceIndex);
  if (target === null || carried === null) return null;
  if (target.clusterOverrides.length + target.resourceOverrides.length === 0) return carried.commit;
  const present = new Set(carriedObjects(binding, record, context).map(objectKey));
  const isSame = (earlier: ResourceSnapshot): boolean => {
    if (differing(earlier, carried).every((it) => !present.has(it))) return true;
    const before = { cluster: binding.cluster, target: { ...target, resourceIndex: earlier.index } };
    const rendering = targetRendering(before, record, context);
    return rendering?.kind === "rendered" && rendering.digest === target.digest;
  };
  let since = carried;
  for (const earlier of record.resourceSnapshots.filter((it) => it.index < carried.index).reverse()) {
    if (!isSame(earlier)) return since.commit;
    since = earlier;
  }
  // What came before the oldest that is kept may have been the same as well.
  return since.index === 0 ? since.commit : null;
}

/** The objects that are not the same in both. */
function differing(a: ResourceSnapshot, b: ResourceSnapshot): readonly ObjectKey[] {
  const [here, there] = [a, b].map(({ resources }) => new Map(resources.map((it) => [objectKey(it.id), it.digest])));
  const keys = new Set([...(here?.keys() ?? []), ...(there?.keys() ?? [])]);
  return [...keys].filter((it) => here?.get(it) !== there?.get(it));
}
