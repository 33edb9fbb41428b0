import { grantsOf, isOfTenant, type Tenant } from "../model/fleet.ts";
import type { DocumentIndex, Unidentified } from "./document-index.ts";
import { knownKindOf } from "./kinds/known-kinds.ts";
import { type DocumentRef, positionText, type ResolveContext } from "./resolve.ts";
import { mayDefine } from "./tenants/grants.ts";

type AbsenceDoubt = ResolveContext["absenceDoubt"];

/**
 * When a missing document is not a deletion (`plan/README.md#d-2`): while any document might be the missing object, while a
 * root is empty, and for what a file defined that is still there and empty now. What is in a tenant's folder might be
 * nothing but what that tenant may define (`intent/README.md#i-46`).
 */
export function absenceDoubts(
  { unidentified, emptied, unfollowed, emptyRoots }: DocumentIndex,
  tenants: readonly Tenant[],
): AbsenceDoubt {
  const mightBe = anyOf(unidentified, tenants, (text) => `${text} might be it: it cannot be identified`);
  const empty = new Set(emptied);
  const links = new Set(unfollowed);
  const folders = unfollowed.map((it) => `${it}/`);
  const behind: AbsenceDoubt = ({ source: { path } }) => {
    if (empty.has(path)) return `${path} is empty now`;
    return links.has(path) || folders.some((it) => path.startsWith(it))
      ? `${path} is behind a link or a submodule now`
      : null;
  };
  const roots = emptyRoots.map((root) => ({
    path: `${root}/`,
    text: root === "" ? "in the repository" : `under ${root}`,
  }));
  const isRootEmpty = anyOf(roots, tenants, (text) => `there are no objects ${text}`);
  return (version) => mightBe(version) ?? isRootEmpty(version) ?? behind(version);
}

/** Doubts about what some places might hold: anything, unless they are in folders of tenants. */
export function anyOf(
  places: readonly Unidentified[],
  tenants: readonly Tenant[],
  say: (text: string) => string,
): AbsenceDoubt {
  if (places.length === 0) return () => null;
  const groups = new Map<string, { readonly grants: readonly Tenant[]; readonly texts: string[] }>();
  for (const { path, text } of places) {
    const grants = grantsOf(path, tenants);
    const folder = grants.map((it) => it.place).join();
    const group = groups.get(folder) ?? { grants, texts: [] };
    group.texts.push(text);
    groups.set(folder, group);
  }
  const doubts = [...groups.values()].map(({ grants, texts }) => ({ grants, said: say(firstOf(texts)) }));
  return (version) => doubts.find(({ grants }) => mayDefine(grants, version))?.said ?? null;
}

const firstOf = ([first = "", ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first} (and ${more.length} more)`;

/** An unknown kind may be a misspelt one: what had that name before is not deleted. */
export function misspeltDoubt(unknownKinds: readonly DocumentRef[], tenants: readonly Tenant[]): AbsenceDoubt {
  const byName = groupedByName(unknownKinds);
  return (version) => {
    const ref = byName.get(nameOf(version))?.find((it) => mayDefine(grantsOf(it.source.path, tenants), version));
    if (ref === undefined) return null;
    const what = knownKindOf(ref.id.group, ref.id.kind) === null ? "an unknown kind" : "no namespace";
    return `the ${ref.id.kind} in ${positionText(ref.source)} has its name and ${what}`;
  };
}

/**
 * A document beyond its grant may be a misspelt one, and a grant that became tighter is no deletion: what was accepted
 * from that tenant stays if it has the name of such a document, or stood in the same file. Nobody else's does.
 */
export function refusedDoubt(refused: readonly DocumentRef[], tenants: readonly Tenant[]): AbsenceDoubt {
  const byName = groupedByName(refused);
  const byPath = new Map(refused.map((it) => [it.source.path, it]));
  return (version) => {
    const { path } = version.source;
    const isOfItsTenant = (it: DocumentRef): boolean =>
      grantsOf(it.source.path, tenants).some((grant) => isOfTenant(path, grant));
    const ref = byPath.get(path) ?? byName.get(nameOf(version))?.find(isOfItsTenant);
    return ref === undefined
      ? null
      : `${positionText(ref.source)} might be it, and is beyond what its folder is granted`;
  };
}

function groupedByName(refs: readonly DocumentRef[]): ReadonlyMap<string, readonly DocumentRef[]> {
  const groups = new Map<string, DocumentRef[]>();
  for (const ref of refs) {
    const group = groups.get(nameOf(ref));
    if (group === undefined) groups.set(nameOf(ref), [ref]);
    else group.push(ref);
  }
  return groups;
}

const nameOf = ({ id }: Pick<DocumentRef, "id">): string => `${id.namespace ?? ""}/${id.name}`;

/** The first doubt that applies. */
export const firstDoubt =
  (...doubts: readonly AbsenceDoubt[]): AbsenceDoubt =>
  (version) => {
    for (const doubt of doubts) {
      const said = doubt(version);
      if (said !== null) return said;
    }
    return null;
  };
