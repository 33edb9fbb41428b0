import { type ObjectKey, objectKey, objectText } from "../model/manifest.ts";
import { compareText } from "../model/value.ts";
import { error, type FieldProblem } from "../yaml/problems.ts";
import {
  type DocumentProblem,
  type DocumentVersion,
  type DocumentVersions,
  heldVersion,
  positionText,
} from "./resolve.ts";

/** How many overrides there may be in a fleet, and in a namespace: `intent/README.md#v-cro-08`, `#v-ro-05`. */
const maxOverrides = 100;

type OverrideVersion = DocumentVersion & { readonly content: { readonly kind: "override" } };

const isOverride = (version: DocumentVersion): version is OverrideVersion => version.content.kind === "override";

/**
 * Takes out overrides that would change one object for one placement (`intent/README.md#v-cro-07`,
 * `render/README.md#c-21`); one without a placement is for every placement. A commit has no order: all of them fall
 * back to what was accepted.
 */
export function withoutConflicts(
  resolved: DocumentVersions,
  before: DocumentVersions,
): { readonly versions: DocumentVersions; readonly documentProblems: readonly DocumentProblem[] } {
  const documentProblems: DocumentProblem[] = [];
  if (![...resolved.values()].some(isOverride)) return { versions: resolved, documentProblems };
  const versions = new Map(resolved);
  // Each round takes at least one override of this commit out, so it ends.
  for (;;) {
    const conflicts = [...conflictsAmong(versions)].filter(([key]) => versions.get(key)?.isHeld === false);
    if (conflicts.length === 0) break;
    for (const [key, { version, others }] of conflicts) {
      documentProblems.push({ ref: version, problem: conflictProblem(version, others) });
      restore(versions, key, before);
    }
  }
  for (const [key, version] of surplus(versions, before)) {
    documentProblems.push({ ref: version, problem: tooMany(version) });
    versions.delete(key);
  }
  return { versions, documentProblems };
}

function restore(versions: Map<ObjectKey, DocumentVersion>, key: ObjectKey, before: DocumentVersions): void {
  const previous = before.get(key);
  if (previous === undefined) versions.delete(key);
  else versions.set(key, heldVersion(previous));
}

interface OverrideConflict {
  readonly version: OverrideVersion;
  readonly others: readonly OverrideVersion[];
}

function conflictsAmong(versions: DocumentVersions): ReadonlyMap<ObjectKey, OverrideConflict> {
  const byObject = new Map<ObjectKey, [ObjectKey, OverrideVersion][]>();
  for (const [key, version] of versions) {
    if (!isOverride(version)) continue;
    const { namespace, spec } = version.content.override;
    for (const selector of spec.selectors) {
      const object = objectKey({ ...selector, namespace });
      const group = byObject.get(object);
      if (group === undefined) byObject.set(object, [[key, version]]);
      else group.push([key, version]);
    }
  }
  const conflicts = new Map<ObjectKey, OverrideConflict>();
  for (const group of byObject.values())
    for (const [key, version] of group) {
      const others = group.filter(([other, it]) => other !== key && collide(version, it)).map(([, it]) => it);
      if (others.length > 0) conflicts.set(key, { version, others });
    }
  return conflicts;
}

function collide({ content: a }: OverrideVersion, { content: b }: OverrideVersion): boolean {
  const [one, other] = [a.override.spec.placement, b.override.spec.placement];
  return one === null || other === null || one === other;
}

function conflictProblem({ content }: OverrideVersion, others: readonly OverrideVersion[]) {
  const [other] = others;
  const shared = content.override.spec.selectors.find((it) =>
    other?.content.override.spec.selectors.some((that) => that.kind === it.kind && that.name === it.name),
  );
  const what =
    shared === undefined ? "the same object" : objectText({ ...shared, namespace: content.override.namespace });
  const names = others.map((it) => `${it.id.name} (${positionText(it.source)})`).slice(0, 3);
  const message = `${what} is also overridden by ${names.join(", ")} for the same placement`;
  return error("FLT1331", ["spec"], message, "merge them, or give each its own placement");
}

/** New overrides beyond the limit, in the fleet or in their namespace; by name, since a commit has no order. */
function surplus(
  versions: DocumentVersions,
  before: DocumentVersions,
): readonly (readonly [ObjectKey, OverrideVersion])[] {
  const groups = new Map<string | null, [ObjectKey, OverrideVersion][]>();
  for (const [key, version] of versions) {
    if (!isOverride(version)) continue;
    const { namespace } = version.content.override;
    const group = groups.get(namespace);
    if (group === undefined) groups.set(namespace, [[key, version]]);
    else group.push([key, version]);
  }
  return [...groups.values()].flatMap((group) => {
    if (group.length <= maxOverrides) return [];
    const fresh = group.filter(([key]) => !before.has(key)).sort(([a], [b]) => compareText(a, b));
    return fresh.slice(Math.max(0, fresh.length - (group.length - maxOverrides)));
  });
}

const tooMany = ({ content: { override } }: OverrideVersion): FieldProblem => {
  const where = override.namespace === null ? "" : ` in namespace ${override.namespace}`;
  const message = `more than ${maxOverrides} overrides${where}; this one is ignored`;
  return error("FLT1338", ["metadata", "name"], message, "merge overrides, or remove some");
};
