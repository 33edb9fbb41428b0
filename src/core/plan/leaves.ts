import type { Leave } from "../model/ledger.ts";
import { objectKey } from "../model/manifest.ts";
import { compareText } from "../model/value.ts";
import type { Change } from "./guarded-change.ts";
import type { RenderContext } from "./target-rendering.ts";
import { carriedObjects, deletableOf, plainId } from "./transition.ts";

/**
 * What becomes of every object that a change takes off its cluster, by key, as it would be carried out now: part of
 * what is approved (`plan/README.md#d-11`). What left before was decided then.
 */
export function leavesOf({ record, binding, next }: Change, context: RenderContext): readonly Leave[] {
  // All of it leaves already; what comes next comes to a cluster that carries nothing.
  if (binding.removal !== null) return none;
  const keeps = new Set([...(next?.manifests ?? []), ...binding.leaving].map((it) => objectKey(it.id)));
  const objects = carriedObjects(binding, record, context).filter((it) => !keeps.has(objectKey(it)));
  if (objects.length === 0) return none;
  const { strategy } = record.spec;
  const isAbandoned = next === null && strategy.propagationPolicy === "Abandon";
  const isDeletable = deletableOf(next?.deleteAdopted ?? strategy.deleteAdopted, binding.facts);
  return objects
    .map((it): Leave => ({ object: plainId(it), fate: !isAbandoned && isDeletable(it) ? "delete" : "release" }))
    .sort((a, b) => compareText(objectKey(a.object), objectKey(b.object)));
}

const none: readonly Leave[] = [];

/** Whether the same objects leave in the same way. */
export const sameLeaves = (a: readonly Leave[], b: readonly Leave[]): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every(({ object, fate }, at) => {
      const other = b[at];
      return other !== undefined && fate === other.fate && objectKey(object) === objectKey(other.object);
    }));
