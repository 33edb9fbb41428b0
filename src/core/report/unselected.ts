import type { Intent } from "../model/intent.ts";
import type { SourcedManifest } from "../model/manifest.ts";
import { selectResources } from "../render/select.ts";

/** The objects that no placement selects, in the order of their keys: they stand in the repository and go nowhere. */
export function unselectedObjects({ placements, objects, scopes }: Intent): readonly SourcedManifest[] {
  const left = new Set(objects.values());
  for (const placement of placements.values()) {
    const selection = selectResources(placement, { objects, scopes });
    if (selection.kind === "selected") for (const it of selection.resources) left.delete(it);
  }
  return [...left];
}
