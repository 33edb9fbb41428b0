import type { PendingRemoval } from "../../model/binding.ts";
import type { Fate, ObjectFate } from "../../model/deletion.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import { remembered, rememberedPair } from "../../model/memo.ts";
import type { RenderedManifest } from "../../model/plan.ts";
import { compareText } from "../../model/value.ts";
import { carriedObjects, deletableOf, plainId } from "./begin.ts";
import type { PlanContext } from "./context.ts";
import { nextOwner } from "./hand-over.ts";
import type { Move } from "./move.ts";
import type { RenderContext } from "./version.ts";

/**
 * What becomes of every object that a move takes off its cluster, by key, as it would be carried out now: part of what
 * is approved, and what the guard counts (`plan/README.md#d-11`, `#d-3`). What left before was decided then. `isWanted`
 * tells what somebody else is to have there; without it, that is what anybody else wants in this pass.
 */
export function leavesOf(
  { record, binding, to }: Pick<Move, "record" | "binding" | "to">,
  context: PlanContext,
  isWanted?: (key: ObjectKey) => boolean,
): readonly ObjectFate[] {
  // All of it leaves already; what comes next comes to a cluster that carries nothing.
  if (binding.removal !== null) return none;
  const objects = withoutLeaving(dropped({ record, binding, to }, context), binding.leaving);
  if (objects.length === 0) return none;
  const alone = fatesOf(objects, { record, binding, to });
  const owner = { cluster: binding.cluster, placement: record.key };
  const isTaken = isWanted ?? ((key: ObjectKey): boolean => nextOwner(owner, key, context) !== null);
  if (!alone.some(({ object }) => isTaken(objectKey(object)))) return alone;
  return alone.map((it) => (isTaken(objectKey(it.object)) ? { object: it.object, fate: "handOver" } : it));
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

type PlainFate = Exclude<Fate, "handOver">;

const alike = remembered((objects: readonly ObjectId[]): Readonly<Record<PlainFate, readonly ObjectFate[]>> => {
  const all = (fate: PlainFate): readonly ObjectFate[] => sorted(objects).map((object) => ({ object, fate }));
  return { delete: all("delete"), release: all("release") };
});

const none: readonly ObjectFate[] = [];

/** Whether the same objects leave in the same way. */
export const sameLeaves = (a: readonly ObjectFate[], b: readonly ObjectFate[]): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every(({ object, fate }, at) => {
      const other = b[at];
      return other !== undefined && fate === other.fate && objectKey(object) === objectKey(other.object);
    }));
