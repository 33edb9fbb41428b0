import type { Binding, Leaving, Removal, Target } from "../model/binding.ts";
import { conditionOf } from "../model/condition.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { type ObjectId, objectKey } from "../model/manifest.ts";
import type { RenderedManifest } from "../model/plan.ts";
import type { ClusterName, Digest } from "../model/value.ts";
import type { PlanContext } from "./context.ts";
import { revised, revisedMap, sameList } from "./identity.ts";
import { type RenderContext, targetRendering } from "./target-rendering.ts";
import { isCurrent, objectsOf, snapshotOf, type Version } from "./version.ts";

/** What a binding that is given a version moves to. */
export interface Admission {
  readonly target: Target;
  /** What the target holds. */
  readonly manifests: readonly RenderedManifest[];
  readonly record: PlacementRecord;
  /** What was said of objects that were there before us, when this was asked for; without it, what the placement says. */
  readonly deleteAdopted?: boolean;
  readonly context: PlanContext;
}

/** The target that a version becomes once it is admitted: one for all clusters that are to carry the same. */
export function targetOf(version: Version, digest: Digest, { sequence, world }: PlanContext): Target {
  const { resourceIndex, clusterOverrides, resourceOverrides, labels, applyStrategy } = version;
  const startedAt = world.now;
  return { resourceIndex, clusterOverrides, resourceOverrides, labels, applyStrategy, digest, sequence, startedAt };
}

/** The binding with the version as its target. Objects that the target before had and this one has not begin to leave. */
export function admitted(binding: Binding, admission: Admission): Binding {
  const { target, manifests, record, context } = admission;
  const { deleteAdopted = record.spec.strategy.deleteAdopted } = admission;
  const known = joined(binding, carriedObjects(binding, record, context), { deleteAdopted, context });
  const leaving = withoutKept(known, manifests);
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

function withoutKept(leaving: readonly Leaving[], manifests: readonly RenderedManifest[]): readonly Leaving[] {
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
 * The binding with its removal decided: everything that it carries begins to leave.
 * Null when nothing of it was ever admitted, so that there is nothing to remove.
 */
export function withdrawn(
  binding: Binding,
  { record, context }: { readonly record: PlacementRecord; readonly context: PlanContext },
): Binding | null {
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
    leaving: joined(binding, carriedObjects(binding, record, context), { deleteAdopted, context }),
  };
}

/** The placement without the removals that nobody has to confirm any more. */
export const withCallOffs = (record: PlacementRecord, context: PlanContext): PlacementRecord =>
  revised(record, { bindings: revisedMap(record.bindings, (it) => calledOff(it, record, context)) });

/**
 * A removal that waits for a confirmation is called off when its cluster is picked again: the placement came back, and
 * nobody has to confirm anything. The cluster carries what it carried, under a new sequence, so that a newer version
 * reaches it as an update does and not as a first placement. What was already under way goes its way, and comes back
 * under the next target; so does what was evicted, which the scheduler may well pick again at once.
 *
 * While everything is there, calling off changes nothing on the member. Where something went already, or never came, it
 * brings that, which on a protected cluster is a change that somebody has to approve.
 */
function calledOff(binding: Binding, record: PlacementRecord, context: PlanContext): Binding {
  const { removal, state, target, leaving, facts, cluster } = binding;
  if (removal === null || state !== "Scheduled" || isEvicted(cluster, removal, record, context)) return binding;
  if (!leaving.some((it) => context.isHeld(cluster, record.key, it.id))) return binding;
  const back = { ...binding, removal: null, facts: null, generation: binding.generation + 1 };
  if (target === null) return back;
  const carried = carriedObjects(binding, record, context).map(objectKey);
  const there = new Set(leaving.map((it) => objectKey(it.id)));
  const isComplete = facts?.applied === "applied" && carried.every((it) => there.has(it));
  if (!isComplete && !context.protection.permits({ record, binding, next: { target, manifests: [] } })) return binding;
  const keeps = new Set(carried);
  return {
    ...back,
    // Of another sequence they prove nothing of the target, but what was there before us still was.
    facts,
    state: "Bound",
    target: { ...target, sequence: context.sequence, startedAt: context.world.now },
    leaving: leaving.filter((it) => !keeps.has(objectKey(it.id))),
  };
}

/** Whether a removal is what an eviction came to, as long as that is on record. */
const isEvicted = (
  cluster: ClusterName,
  { since }: Removal,
  { key }: PlacementRecord,
  { ledger }: PlanContext,
): boolean =>
  [...ledger.evictions.values()].some((it) => {
    const executed = it.placement === key && it.cluster === cluster ? conditionOf(it.conditions, "Executed") : null;
    return executed?.status === "True" && executed.lastTransitionTime === since;
  });

/** The objects of a binding's present target, by what was recorded with it. */
export function carriedObjects(binding: Binding, record: PlacementRecord, context: RenderContext): readonly ObjectId[] {
  if (binding.target === null) return [];
  const rendering = targetRendering(binding, record, context);
  if (rendering !== null) return objectsOf(rendering);
  // The content is lost, its list is not. An override may have dropped some of it: what is not there is soon seen to be gone.
  return snapshotOf(record, binding.target.resourceIndex)?.resources.map((it) => it.id) ?? [];
}

function joined(
  { leaving, facts }: Binding,
  objects: readonly ObjectId[],
  { deleteAdopted, context }: { readonly deleteAdopted: boolean; readonly context: PlanContext },
): readonly Leaving[] {
  if (objects.length === 0) return leaving;
  const known = new Set(leaving.map((it) => objectKey(it.id)));
  const fresh = objects.filter((it) => !known.has(objectKey(it)));
  if (fresh.length === 0) return leaving;
  const cause = context.world.intent.commit;
  const isDeletable = deletableOf(deleteAdopted, facts);
  const leave = (id: ObjectId): Leaving => ({
    id: plainId(id),
    cause,
    released: !isDeletable(id),
    evenAdopted: deleteAdopted,
  });
  return [...leaving, ...fresh.map(leave)];
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
