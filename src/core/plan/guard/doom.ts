import type { Binding } from "../../model/binding.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, objectKey } from "../../model/manifest.ts";
import type { ClusterName } from "../../model/value.ts";
import type { PlanContext } from "../context.ts";
import { carriedObjects, deletableOf } from "../transition.ts";
import { isCurrent, objectsOf, type Version } from "../version.ts";
import type { Doom } from "./guard.ts";

/** What the removal of a whole placement takes away: everything that leaves with it, unless it is only let go. */
export function doomsOf(record: PlacementRecord, binding: Binding): readonly Doom[] {
  if (binding.removal?.propagation === "Abandon") return [];
  const { cluster, leaving } = binding;
  const goes = leaving.filter((it) => !it.released);
  return goes.map(({ id }) => ({ cluster, placement: record.key, id, whole: true }));
}

/**
 * What a decision will take away wherever its turn comes, now or later: counted at once, so that a rollout does not
 * delete in small bites what would not have passed as a whole (`plan/README.md#d-3`). A cluster that the placement
 * leaves loses everything; any other what its latest version has not. Counted anew with every commit, and when a
 * cluster is picked again or keeps what it was to lose.
 */
export function foreseenDooms(
  record: PlacementRecord,
  versions: ReadonlyMap<ClusterName, Version>,
  context: PlanContext,
): readonly Doom[] {
  const before = context.ledger.placements.get(record.key)?.bindings;
  return [...record.bindings.values()].flatMap((binding) => {
    const whole = binding.state === "Unscheduled";
    const was = before?.get(binding.cluster);
    // A removal that is called off brings back what was gone already: whatever of it goes again has not been counted.
    const isBack = was !== undefined && was.removal !== null && binding.removal === null;
    const isCounted = !context.isNewCommit && !isBack && (was?.state === "Unscheduled") === whole;
    if (isCounted || (whole && record.spec.strategy.propagationPolicy === "Abandon")) return [];
    const ids = doomedObjects(binding, versions.get(binding.cluster), record, context);
    return ids.filter(deletableOf(record.spec.strategy.deleteAdopted, binding.facts)).map((id) => ({
      cluster: binding.cluster,
      placement: record.key,
      id,
      whole,
    }));
  });
}

/** Objects that a cluster carries and is to lose, although nothing of that has begun. */
export function doomedObjects(
  binding: Binding,
  version: Version | undefined,
  record: PlacementRecord,
  context: PlanContext,
): readonly ObjectId[] {
  if (binding.removal !== null) return [];
  if (binding.state === "Unscheduled") return carriedObjects(binding, record, context);
  return version === undefined ? [] : supersededObjects(binding, version, record, context);
}

/** Objects of the present target that the version has not. */
function supersededObjects(
  binding: Binding,
  version: Version,
  record: PlacementRecord,
  context: PlanContext,
): readonly ObjectId[] {
  if (binding.target === null || isCurrent(binding.target, version)) return [];
  const rendering = version.rendering();
  if (rendering.kind === "failed") return [];
  const keeps = new Set(objectsOf(rendering).map(objectKey));
  return carriedObjects(binding, record, context).filter((it) => !keeps.has(objectKey(it)));
}
