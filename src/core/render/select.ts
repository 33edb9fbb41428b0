import type { Intent } from "../model/intent.ts";
import { documentKeyOf, type ObjectKey, objectKey, type ScopeTable, type SourcedManifest } from "../model/manifest.ts";
import { isReservedNamespace } from "../model/names.ts";
import type { Placement } from "../model/placement.ts";
import {
  findsTheSame,
  objectIndexOf,
  type RecordedLookup,
  recordingLookups,
  type SelectionIndex,
} from "./object-index.ts";
import {
  inSelectionOrder,
  listed,
  type Picked,
  pick,
  reservedNamespaceRefused,
  type SelectionContext,
  type SelectionRefused,
  selectionRefused,
  selectsNamespaces,
} from "./pick.ts";
import { unplaceable } from "./placeable.ts";
import { unwrapped } from "./unwrap.ts";

/** What a placement places, or why it can place nothing: KubeFleet's InvalidResourceSelectors. */
export type Selection =
  | {
      readonly kind: "selected";
      /** In KubeFleet's order of selection, the contents of an envelope in its place; each object once. */
      readonly resources: readonly SourcedManifest[];
      /** Skipped or overlapping objects, selectors that match nothing. Bounded, in the order of the selectors. */
      readonly warnings: readonly string[];
    }
  | SelectionRefused;

interface Sources {
  readonly objects: Intent["objects"];
  readonly scopes: ScopeTable;
}

/** The last selection of a placement. */
interface Selected extends Sources {
  readonly looks: readonly RecordedLookup[];
  readonly selection: Selection;
}

const lastBy = new WeakMap<Placement, Selected>();

/**
 * Decides which objects of the repository a placement places.
 *
 * Selectors are ORed. Where KubeFleet refuses a whole placement for an overlap or for a reserved namespace that labels
 * match, the rest is selected with a warning (`render/README.md#selection`; `#a-13`–`#a-15`, `#a-57`). Objects are
 * indexed once per commit, and while every lookup gives the same result, so does the selection (`===`).
 */
export function selectResources(placement: Placement, { objects, scopes }: Sources): Selection {
  const last = lastBy.get(placement);
  if (last?.objects === objects && last.scopes === scopes) return last.selection;
  const index: SelectionIndex = { ...objectIndexOf(objects), scopes };
  const looks: RecordedLookup[] = [];
  const isSame = last !== undefined && findsTheSame(index, last.looks);
  const next = isSame
    ? { ...last, objects, scopes }
    : { objects, scopes, looks, selection: select(placement, recordingLookups(index, looks)) };
  lastBy.set(placement, next);
  return next.selection;
}

function select(placement: Placement, index: SelectionIndex): Selection {
  const setting = settingOf(placement, index);
  if (setting.kind === "refused") return setting;
  const picks: Picked[] = [];
  for (const selector of placement.spec.resourceSelectors) {
    const found = pick(selector, setting.setting);
    if (found.kind === "refused") return found;
    picks.push(found);
  }
  return unite(picks, index);
}

/** Where namespaced selectors look: the placement's namespace, or that of `NamespaceWithResourceSelectors`. */
function settingOf(
  { scope, namespace, spec }: Placement,
  index: SelectionIndex,
): { readonly kind: "set"; readonly setting: SelectionContext } | SelectionRefused {
  const ground = { index, scope };
  if (scope === "Namespaced")
    return namespace !== null && isReservedNamespace(namespace)
      ? selectionRefused(`nothing is placed in the namespace ${namespace} by a placement of its own: it is reserved`)
      : { kind: "set", setting: { ...ground, namespace } };
  const [first, ...more] = spec.resourceSelectors.filter(
    (it) => selectsNamespaces(it) && it.selectionScope === "NamespaceWithResourceSelectors",
  );
  if (first === undefined) return { kind: "set", setting: { ...ground, namespace: null } };
  if (more.length > 0 || first.name === null)
    return selectionRefused(
      "NamespaceWithResourceSelectors needs exactly one Namespace selector, and that one needs a name",
    );
  if (isReservedNamespace(first.name)) return reservedNamespaceRefused(first.name);
  const home = objectKey({ group: "", kind: "Namespace", namespace: null, name: first.name });
  if (index.objects.get(home) === undefined)
    return selectionRefused(`there is no Namespace ${first.name} in the repository to select resources in; add it`);
  return { kind: "set", setting: { ...ground, namespace: first.name } };
}

/** The union of what the selectors picked, ordered and unwrapped; an object that is picked twice is placed once. */
function unite(picks: readonly Picked[], index: SelectionIndex): Selection {
  const objects = new Map<ObjectKey, SourcedManifest>();
  const overlap = new Map<ObjectKey, SourcedManifest>();
  for (const object of picks.flatMap((it) => it.objects)) {
    const key = objectKey(object.id);
    if (objects.has(key)) overlap.set(key, object);
    objects.set(key, object);
  }
  const picked = inSelectionOrder([...objects.values()]);
  const contents = unwrapped(picked, index);
  if (contents.kind === "refused") return { ...contents, picked: keysIn(picked) };
  for (const object of contents.objects) {
    const why = unplaceable(object);
    if (why !== null) return { ...selectionRefused(why), picked: keysIn(picked) };
  }
  const overlapping = listed("selected by more than one selector, placed once", [...overlap.values()]);
  return {
    kind: "selected",
    resources: contents.objects,
    warnings: [...picks.flatMap((it) => it.warnings), ...overlapping],
  };
}

const keysIn = (picked: readonly SourcedManifest[]): ReadonlySet<ObjectKey> =>
  new Set(picked.flatMap((it) => it.wraps?.objects ?? [it]).map(({ id }) => objectKey(id)));

/** The objects that no placement selects, ordered by key. */
export function unselectedObjects({ placements, objects, scopes }: Intent): readonly SourcedManifest[] {
  const left = new Map(objects);
  for (const placement of placements.values()) {
    const selection = selectResources(placement, { objects, scopes });
    if (selection.kind === "selected") for (const it of selection.resources) left.delete(documentKeyOf(it));
  }
  return [...left.values()];
}
