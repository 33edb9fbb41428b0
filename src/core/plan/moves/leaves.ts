import type { PendingRemoval } from "../../model/binding.ts";
import type { Fate, ObjectFate } from "../../model/deletion.ts";
import { remembered, rememberedPair } from "../../model/identity.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import type { RenderedManifest } from "../../model/plan.ts";
import { compareText } from "../../model/value.ts";
import { carriedObjects, deletableOf, plainId } from "./begin.ts";
import type { PlanContext } from "./context.ts";
import { nextOwner } from "./hand-over.ts";
import type { Move } from "./move.ts";
import type { RenderContext } from "./version.ts";

/**
 * What becomes of every object that a move takes off its cluster, by key, as it would be carried out now: part of what
 * is approved (`plan/README.md#d-11`). What left before was decided then.
 */
export function leavesOf(
  { record, binding, to }: Pick<Move, "record" | "binding" | "to">,
  context: PlanContext,
): readonly ObjectFate[] {
  const alone = leavesAlone({ record, binding, to }, context);
  const owner = { cluster: binding.cluster, placement: record.key };
  const takers = alone.map(({ object }) => nextOwner(owner, objectKey(object), context));
  if (takers.every((it) => it === null)) return alone;
  return alone.map((it, at): ObjectFate => {
    const taker = takers[at] ?? null;
    return taker === null ? it : { object: it.object, fate: "handOver", to: taker };
  });
}

/** What such a move deletes where nobody else is to have it, as `isWanted` tells: what the guard counts (`plan/README.md#d-3`). */
export const deletedBy = (
  move: Pick<Move, "record" | "binding" | "to">,
  isWanted: (key: ObjectKey) => boolean,
  context: PlanContext,
): readonly ObjectId[] =>
  leavesAlone(move, context).flatMap(({ object, fate }) =>
    fate === "delete" && !isWanted(objectKey(object)) ? object : [],
  );

/** What would become of it if nobody else wanted anything. */
function leavesAlone(
  { record, binding, to }: Pick<Move, "record" | "binding" | "to">,
  context: PlanContext,
): readonly ObjectFate[] {
  // All of it leaves already; what comes next comes to a cluster that carries nothing.
  if (binding.removal !== null) return none;
  const objects = withoutLeaving(dropped({ record, binding, to }, context), binding.leaving);
  return objects.length === 0 ? none : fatesOf(objects, { record, binding, to });
}

/** What becomes of objects that nobody else wants. */
function fatesOf(
  objects: readonly ObjectId[],
  { record, binding, to }: Pick<Move, "record" | "binding" | "to">,
): readonly ObjectFate[] {
  const { strategy } = record.spec;
  if (to === null && strategy.propagationPolicy === "Abandon") return alike(objects).release;
  const deleteAdopted = to?.deleteAdopted ?? strategy.deleteAdopted;
  if (deleteAdopted || (binding.facts?.adopted ?? []).length === 0) return alike(objects).delete;
  const isDeletable = deletableOf(deleteAdopted, binding.facts);
  return sorted(objects).map((object): ObjectFate => ({ object, fate: isDeletable(object) ? "delete" : "release" }));
}

/** What is carried and is not wanted any more. What cannot be rendered takes nothing away. */
function dropped(
  { record, binding, to }: Pick<Move, "record" | "binding" | "to">,
  context: RenderContext,
): readonly ObjectId[] {
  if (to === null) return carriedObjects(binding, record, context);
  const rendering = to.rendering();
  return rendering?.kind === "rendered"
    ? droppedBy(carriedObjects(binding, record, context), rendering.manifests)
    : nothing;
}

const nothing: readonly ObjectId[] = [];

// Ten thousand clusters that lose the same lose one list.
const droppedBy = rememberedPair(
  (carried: readonly ObjectId[], manifests: readonly RenderedManifest[]): readonly ObjectId[] => {
    const keeps = new Set(manifests.map((it) => it.key));
    return carried.filter((it) => !keeps.has(objectKey(it)));
  },
);

function withoutLeaving(objects: readonly ObjectId[], leaving: readonly PendingRemoval[]): readonly ObjectId[] {
  if (leaving.length === 0) return objects;
  const gone = new Set(leaving.map((it) => objectKey(it.id)));
  return objects.filter((it) => !gone.has(objectKey(it)));
}

const sorted = remembered((objects: readonly ObjectId[]): readonly ObjectId[] =>
  objects.map(plainId).sort((a, b) => compareText(objectKey(a), objectKey(b))),
);

const alike = remembered((objects: readonly ObjectId[]): Readonly<Record<Fate, readonly ObjectFate[]>> => {
  const all = (fate: Fate): readonly ObjectFate[] => sorted(objects).map((object) => ({ object, fate }));
  return { delete: all("delete"), release: all("release") };
});

const none: readonly ObjectFate[] = [];

/** Whether the same objects leave in the same way. */
export const sameLeaves = (a: readonly ObjectFate[], b: readonly ObjectFate[]): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every((it, at) => {
      const other = b[at];
      return other !== undefined && objectKey(it.object) === objectKey(other.object) && takerOf(it) === takerOf(other);
    }));

/** The fate; with a blank, which no fate has, who takes the object. */
const takerOf = (it: ObjectFate): string => (it.fate === "handOver" ? `handOver ${it.to}` : it.fate);
