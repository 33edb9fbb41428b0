import { remembered } from "../model/identity.ts";
import {
  envelopeRef,
  envelopeText,
  isEnvelope,
  isNeverPlaced,
  misplacedIn,
  type ObjectKey,
  objectKey,
  objectText,
  placedText,
  type SourcedManifest,
} from "../model/manifest.ts";
import type { SelectionIndex } from "./object-index.ts";
import { inSelectionOrder, type SelectionRefused, selectionRefused } from "./pick.ts";
import { isMadeByCluster } from "./placeable.ts";

/** What is selected, with the contents of envelopes in their places; or why none of it may be placed, in words. */
type Unwrapped = { readonly kind: "unwrapped"; readonly objects: readonly SourcedManifest[] } | SelectionRefused;

/**
 * Puts the contents of envelopes in their places.
 *
 * All or nothing: where an envelope wraps what it may not, or an object is there twice, wrapped or not, nothing of the
 * placement is selected, since half a version is worse than none (`render/README.md#envelopes`, `apply/README.md#a-31`,
 * `#a-32`). `selected` has each object once.
 */
export function unwrapped(selected: readonly SourcedManifest[], index: SelectionIndex): Unwrapped {
  if (!selected.some((it) => isEnvelope(it.id))) return { kind: "unwrapped", objects: selected };
  const objects = new Map<ObjectKey, SourcedManifest>();
  for (const it of selected) {
    const why = defectOf(it, index);
    if (why !== null)
      return refused(`${envelopeText(envelopeRef(it.id))} (${placeOf(it)}) cannot be unwrapped: ${why}`);
    for (const object of it.wraps === undefined ? [it] : contentsOf(it)) {
      const key = objectKey(object.id);
      const other = objects.get(key);
      if (other !== undefined) return refused(twice(other, object));
      objects.set(key, object);
    }
  }
  return { kind: "unwrapped", objects: [...objects.values()] };
}

/** The same objects (`===`) for the same envelope, in the order of selection. */
const contentsOf = remembered(({ id, wraps, source }: SourcedManifest): readonly SourcedManifest[] => {
  const envelope = envelopeRef(id);
  const objects = wraps?.objects ?? [];
  return inSelectionOrder(objects.map((it) => ({ ...it, source, envelope })));
});

function defectOf(selected: SourcedManifest, index: SelectionIndex): string | null {
  const { id, wraps } = selected;
  if (wraps === undefined) return isEnvelope(id) ? "what it wraps was not read" : null;
  if (wraps.defect !== null) return wraps.defect;
  const { type } = envelopeRef(id);
  for (const object of contentsOf(selected)) {
    const misplaced = misplacedIn(type, object.id, index.scopes);
    if (misplaced !== null) return misplaced;
    if (isNeverPlaced(object.id) || isMadeByCluster(object, index)) return `${objectText(object.id)} is never placed`;
  }
  return null;
}

const refused = (message: string): Unwrapped => selectionRefused(message, "contents");

const twice = (one: SourcedManifest, other: SourcedManifest): string =>
  `${placedText(one)} (${placeOf(one)}) is also selected ${other.envelope === undefined ? "by itself" : "wrapped"} ` +
  `(${placeOf(other)}); keep one of them`;

const placeOf = ({ source: { path, line } }: SourcedManifest): string => `${path}:${line}`;
