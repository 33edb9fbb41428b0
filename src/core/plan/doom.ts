import type { Binding, PlacementRecord } from "../model/ledger.ts";
import { type ObjectId, objectKey } from "../model/manifest.ts";
import type { ClusterName } from "../model/value.ts";
import type { PlanContext } from "./context.ts";
import type { Doom } from "./guard.ts";
import { carriedObjects } from "./transition.ts";
import { isCurrent, objectsOf, type Version } from "./version.ts";

/** What the removal of a whole placement takes away: everything that leaves with it, unless it is only let go. */
export function doomsOf(record: PlacementRecord, binding: Binding): readonly Doom[] {
  if (binding.removal?.propagation === "Abandon") return [];
  return deletable(
    record,
    binding,
    binding.leaving.map((it) => it.id),
  ).map((id) => ({
    cluster: binding.cluster,
    placement: record.key,
    id,
    whole: true,
    foreign: false,
  }));
}

/**
 * What a decision will take away wherever its turn comes, now or later: counted at once, so that a rollout does not
 * delete in small bites what would not have passed as a whole (`RULINGS.md` D 3). A cluster that the placement leaves
 * loses everything; any other what its latest version has not. Counted anew with every commit, and when a cluster is
 * picked again.
 */
export function foreseenDooms(
  record: PlacementRecord,
  versions: ReadonlyMap<ClusterName, Version>,
  context: PlanContext,
): readonly Doom[] {
  const before = context.ledger.placements.get(record.key)?.bindings;
  return [...record.bindings.values()].flatMap((binding) => {
    const whole = binding.state === "Unscheduled";
    const isCounted = !context.isNewCommit && (before?.get(binding.cluster)?.state === "Unscheduled") === whole;
    if (isCounted || (whole && record.spec.strategy.propagationPolicy === "Abandon")) return [];
    const ids = doomedObjects(binding, versions.get(binding.cluster), record, context);
    return deletable(record, binding, ids).map((id) => ({
      cluster: binding.cluster,
      placement: record.key,
      id,
      whole,
      foreign: false,
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

/** What was there before us is let go, not deleted, unless the placement says otherwise (`RULINGS.md` C takeover). */
function deletable(record: PlacementRecord, { facts }: Binding, ids: readonly ObjectId[]): readonly ObjectId[] {
  if (record.spec.strategy.deleteAdopted) return ids;
  const adopted = new Set((facts?.adopted ?? []).map(objectKey));
  return ids.filter((it) => !adopted.has(objectKey(it)));
}
