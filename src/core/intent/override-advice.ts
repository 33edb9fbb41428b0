import { remembered } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import { memberAt, textsOf } from "../model/json.ts";
import {
  apiVersionOf,
  isEnvelope,
  kindKey,
  type ObjectId,
  type ObjectKey,
  objectKey,
  objectText,
  type SourcedManifest,
  type VersionedId,
} from "../model/manifest.ts";
import type { Override } from "../model/override.ts";
import { type Placement, placementKey, type ResourceSelector } from "../model/placement.ts";
import { compareText, type PlacementKey, selects } from "../model/value.ts";
import { didYouMean } from "../yaml/nearest.ts";
import { type FieldProblems, note, warning } from "../yaml/problems.ts";

type Known = Pick<Intent, "placements" | "objects" | "clusters">;
type Advised = Pick<Override, "namespace" | "spec">;

/** What only the whole repository shows of an override: whom it reaches, and what of it does nothing. */
export const overrideAdvice = (override: Advised, known: Known): FieldProblems => [
  ...versionProblems(override, known),
  ...reachProblems(override, known),
  ...ruleProblems(override, known),
];

/** Objects that it names in another version than they are written in (`render/README.md#o-20`). */
function versionProblems({ namespace, spec }: Advised, { objects }: Known): FieldProblems {
  const list = namespace === null ? "clusterResourceSelectors" : "resourceSelectors";
  return spec.selectors.flatMap((selector, i) => {
    const written = writtenAs(objectKey({ ...selector, namespace }), objects);
    if (written.length === 0 || written.some((it) => it.version === selector.version)) return [];
    const [{ version } = selector] = written;
    const message = `${objectText({ ...selector, namespace })} is written in ${apiVersionOf({ ...selector, version })}, not ${apiVersionOf(selector)}: this selector has no effect`;
    return [warning("FLT1333", ["spec", list, i, "version"], message, `write version: ${version}`)];
  });
}

/** An object of the repository, by itself and in envelopes. */
function writtenAs(key: ObjectKey, objects: Known["objects"]): readonly VersionedId[] {
  const own = objects.get(key);
  const wrapped = wrappedBy(objects).get(key) ?? [];
  return [...(own === undefined ? [] : [own.id]), ...wrapped.map((it) => it.id)];
}

/** To which placements an override applies. */
function reachProblems({ namespace, spec }: Advised, known: Known): FieldProblems {
  const { placements } = known;
  if (spec.placement !== null && !placements.has(spec.placement)) {
    const near = didYouMean(spec.placement, placements.keys(), "add the placement, or correct the name");
    const fix = otherScope(spec.placement, namespace, placements) ?? near;
    return [warning("FLT1337", ["spec", "placement", "name"], `there is no placement ${spec.placement}`, fix)];
  }
  const reached = reachedBy({ namespace, spec }, known);
  if (reached.length === 0) {
    const what = spec.selectors.map((it) => objectText({ ...it, namespace })).slice(0, 3);
    const message = `no placement it belongs to selects ${what.join(", ")}: it has no effect`;
    return [warning("FLT1333", ["spec"], message, "correct the selectors, or let a placement select the object")];
  }
  if (spec.placement !== null) return [];
  const names = reached.map((it) => it.key);
  const shown = names.slice(0, 10).join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "");
  return [note("FLT1334", ["spec"], `applies to ${shown}`, "name one in spec.placement to narrow it down")];
}

/** What to do where the placement is of the other kind (`render/README.md#c-27`); null where it is not. */
function otherScope(key: PlacementKey, namespace: string | null, placements: Known["placements"]): string | null {
  const isOwn = namespace !== null && key.startsWith(`${namespace}/`);
  const name = isOwn ? key.slice(namespace.length + 1) : key;
  if (isOwn)
    return placements.has(placementKey(null, name))
      ? `leave out scope: Namespaced, since ${name} is a ClusterResourcePlacement`
      : null;
  const own = placementKey(namespace, name);
  return namespace !== null && placements.has(own)
    ? `add scope: Namespaced, since ${own} is a ResourcePlacement`
    : null;
}

/** Placements that an override is for and that select one of its objects, by key. */
function reachedBy({ namespace, spec }: Advised, known: Known): readonly Placement[] {
  const reached = new Set<Placement>();
  for (const selector of spec.selectors)
    for (const id of placedAs({ ...selector, namespace }, known))
      for (const it of selecting(id, known)) if (spec.placement === null || it.key === spec.placement) reached.add(it);
  return [...reached].sort((a, b) => compareText(a.key, b.key));
}

/** Placements that select an object, by itself or with its Namespace. */
function selecting(id: ObjectId, { objects, placements }: Known): readonly Placement[] {
  const home: ObjectId | null =
    id.namespace === null ? null : { group: "", kind: "Namespace", namespace: null, name: id.namespace };
  const index = selectorsOf(placements);
  const pickedBy = (it: ObjectId): readonly Picking[] => [
    ...(index.get(nameKey(it)) ?? []),
    ...(index.get(kindKey(it)) ?? []).filter(({ selector }) => picks(selector, objects.get(objectKey(it)))),
  ];
  // With its Namespace comes what there is.
  const inHome = home === null || !objects.has(objectKey(id)) ? [] : pickedBy(home);
  // Of placements that name single objects of a namespace, the one that they select as well.
  const isAtHome = ({ placement }: Picking): boolean =>
    home === null ||
    placement.namespace === home.name ||
    (placement.namespace === null && inHome.some((it) => it.placement === placement));
  const byItself = pickedBy(id).filter(isAtHome);
  const withHome = inHome.filter(({ selector }) => selector.selectionScope === "NamespaceWithResources");
  return [...byItself, ...withHome].map((it) => it.placement);
}

/** An object, and the envelopes that it is in: by any of these a placement selects it. Never an envelope itself. */
const placedAs = (id: ObjectId, { objects }: Known): readonly ObjectId[] =>
  isEnvelope(id) ? [] : [id, ...(wrappedBy(objects).get(objectKey(id)) ?? []).map((it) => it.envelope)];

interface Wrapped {
  readonly id: VersionedId;
  readonly envelope: ObjectId;
}

const wrappedBy = remembered((objects: Known["objects"]): ReadonlyMap<ObjectKey, readonly Wrapped[]> => {
  const found = new Map<ObjectKey, Wrapped[]>();
  for (const { id: envelope, wraps } of objects.values())
    for (const { id } of wraps?.objects ?? []) {
      const key = objectKey(id);
      found.set(key, [...(found.get(key) ?? []), { id, envelope }]);
    }
  return found;
});

interface Picking {
  readonly placement: Placement;
  readonly selector: ResourceSelector;
}

/** The selectors of placements: those with a name by kind and name, the others by kind. */
const selectorsOf = remembered((placements: Known["placements"]): ReadonlyMap<string, readonly Picking[]> => {
  const found = new Map<string, Picking[]>();
  for (const placement of placements.values())
    for (const selector of placement.spec.resourceSelectors) {
      const { name } = selector;
      const key = name === null ? kindKey(selector) : nameKey({ ...selector, name });
      const others = found.get(key);
      if (others === undefined) found.set(key, [{ placement, selector }]);
      else others.push({ placement, selector });
    }
  return found;
});

const nameKey = (it: Pick<ObjectId, "group" | "kind" | "name">): string => `${kindKey(it)} ${it.name}`;

function picks({ labelSelector }: ResourceSelector, object: SourcedManifest | undefined): boolean {
  if (labelSelector === null) return true;
  return object !== undefined && selects(labelSelector, textsOf(memberAt(object.manifest, "metadata", "labels")));
}

/** Rules whose selectors match no cluster of the fleet: `yaml/README.md#b-87`. */
function ruleProblems({ spec }: Advised, { clusters }: Known): FieldProblems {
  if (clusters.size === 0) return [];
  return spec.rules.flatMap(({ clusters: selectors }, i) => {
    if (selectors === null || selectors.length === 0) return [];
    for (const { labels } of clusters.values()) if (selectors.some((it) => selects(it, labels))) return [];
    const at = ["spec", "policy", "overrideRules", i, "clusterSelector"];
    return [warning("FLT1333", at, "no cluster matches: the rule has no effect", "correct the selector")];
  });
}
