import type { Binding, CarriedVersion, PendingRemoval, Target } from "../../model/binding.ts";
import { sameList } from "../../model/identity.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, objectKey } from "../../model/manifest.ts";
import type { RenderedManifest } from "../../model/plan.ts";
import type { PlacementKey } from "../../model/value.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import type { PlanContext } from "./context.ts";
import { nextOwner } from "./hand-over.ts";
import { type Destination, type Move, manifestsOf } from "./move.ts";
import { isCurrent, objectsOf, type RenderContext, targetRendering, type Version } from "./version.ts";

/** The binding once a move begins there; null when nothing of the placement was ever there, so that nothing is left. */
export const begun = (move: Move, context: PlanContext): Binding | null =>
  move.to === null ? withdrawn(move, context) : admitted(move, move.to, context);

/** The binding with its new target. Objects that the target before had and this one has not begin to leave. */
function admitted(move: Move, { target, deleteAdopted }: Destination, context: PlanContext): Binding {
  const { binding, record } = move;
  const known = joined(binding, carriedObjects(binding, record, context), {
    deleteAdopted,
    placement: record.key,
    by: binding.target,
    context,
  });
  const leaving = withoutKept(known, manifestsOf(move));
  return {
    ...binding,
    state: "Bound",
    previousState: null,
    generation: binding.generation + 1,
    target,
    leaving: sameList(leaving, binding.leaving) ? binding.leaving : leaving,
    facts: null,
  };
}

function withoutKept(
  leaving: readonly PendingRemoval[],
  manifests: readonly RenderedManifest[],
): readonly PendingRemoval[] {
  if (leaving.length === 0) return leaving;
  const keeps = new Set(manifests.map((it) => it.key));
  return leaving.filter((it) => !keeps.has(objectKey(it.id)));
}

/**
 * The binding under the version's names, where the version would carry exactly what is carried: another snapshot or
 * override that makes no difference here. Nothing is written to the member, so the target keeps its sequence.
 */
export function relabelled(binding: Binding, version: Version): Binding {
  const { target } = binding;
  const { resourceIndex, clusterOverrides, resourceOverrides, labels, applyStrategy } = version;
  if (binding.state !== "Bound" || binding.removal !== null || target === null || isCurrent(target, version))
    return binding;
  const rendering = version.rendering();
  if (rendering.kind === "failed" || rendering.digest !== target.digest) return binding;
  if (!sameJson(target.applyStrategy as unknown as Json, applyStrategy as unknown as Json)) return binding;
  const named = { ...target, resourceIndex, clusterOverrides, resourceOverrides, labels };
  return { ...binding, generation: binding.generation + 1, target: named };
}

/**
 * The binding with its removal decided: everything that it carries begins to leave. Null when nothing of it was ever
 * admitted, so that there is nothing to remove.
 */
function withdrawn({ binding, record }: Move, context: PlanContext): Binding | null {
  if (binding.removal !== null) return binding;
  if (binding.target === null && binding.leaving.length === 0) return null;
  const { deleteAdopted, propagationPolicy } = record.spec.strategy;
  return {
    ...binding,
    generation: binding.generation + 1,
    removal: {
      sequence: context.sequence,
      since: context.world.now,
      cause: context.world.intent.commit,
      propagation: propagationPolicy,
    },
    leaving: joined(binding, carriedObjects(binding, record, context), {
      deleteAdopted,
      placement: record.key,
      by: null,
      context,
    }),
  };
}

/** The objects of a binding's present target, by what was recorded with it. */
export function carriedObjects(binding: Binding, record: PlacementRecord, context: RenderContext): readonly ObjectId[] {
  if (binding.target === null) return [];
  const rendering = targetRendering(binding, record, context);
  if (rendering !== null) return objectsOf(rendering);
  // The content is lost, its list is not. An override may have dropped some of it: what is not there is soon seen to be gone.
  return snapshotOf(record, binding.target.resourceIndex)?.resources.map((it) => it.id) ?? [];
}

interface Departing {
  readonly deleteAdopted: boolean;
  readonly placement: PlacementKey;
  /** What the objects are of; null where they stay those of the binding's target. */
  readonly by: Target | null;
  readonly context: PlanContext;
}

function joined(
  { leaving, facts, cluster }: Binding,
  objects: readonly ObjectId[],
  { deleteAdopted, placement, by, context }: Departing,
): readonly PendingRemoval[] {
  if (objects.length === 0) return leaving;
  const known = new Set(leaving.map((it) => objectKey(it.id)));
  const fresh = objects.filter((it) => !known.has(objectKey(it)));
  if (fresh.length === 0) return leaving;
  const cause = context.world.intent.commit;
  const isDeletable = deletableOf(deleteAdopted, facts);
  const leave = (id: ObjectId): PendingRemoval => {
    const plain = { id: plainId(id), cause, released: !isDeletable(id), evenAdopted: deleteAdopted };
    const to = nextOwner({ cluster, placement }, objectKey(id), context);
    return to === null ? plain : { ...plain, handOver: { to, by: versionOf(by) } };
  };
  return [...leaving, ...fresh.map(leave)];
}

function versionOf(by: Target | null): CarriedVersion | null {
  if (by === null) return null;
  const { resourceIndex, clusterOverrides, resourceOverrides, labels } = by;
  return { resourceIndex, clusterOverrides, resourceOverrides, labels };
}

/**
 * What was there before us is let go, not deleted, unless the placement says otherwise (`apply/README.md#takeover`).
 */
export function deletableOf(deleteAdopted: boolean, facts: Binding["facts"]): (id: ObjectId) => boolean {
  if (deleteAdopted) return () => true;
  const adopted = new Set((facts?.adopted ?? []).map(objectKey));
  return (id) => !adopted.has(objectKey(id));
}

export const plainId = ({ group, kind, namespace, name }: ObjectId): ObjectId => ({ group, kind, namespace, name });
