import { defaultFleet, type FleetSpec } from "../model/fleet.ts";
import type { Problem } from "../model/intent.ts";
import { isEnvelope, kindKey, type Manifest, type ObjectKey, type ScopeTable } from "../model/manifest.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Commit } from "../model/value.ts";
import { error, type FieldProblem } from "../yaml/problems.ts";
import { type DocumentIndex, indexDocuments } from "./document-index.ts";
import { acceptanceProblems, clusterScopedProblem, unknownKindProblem } from "./kinds/content.ts";
import { isDefinition, scopesOf } from "./kinds/custom-resource-definition.ts";
import { isFleetPath } from "./kinds/fleet.ts";
import { isKnownGroup, knownKindOf, readKinds } from "./kinds/known-kinds.ts";
import { withoutConflicts } from "./override-conflicts.ts";
import {
  type DocumentProblem,
  type DocumentRef,
  type DocumentVersion,
  type DocumentVersions,
  keyOfId,
  positionText,
  type ResolveContext,
  resolveDocuments,
} from "./resolve.ts";
import { fileProblem, type SourceFile } from "./source-file.ts";

/** What is in force at a commit, and what is wrong with the documents that are not. */
export interface DocumentsInForce {
  readonly versions: DocumentVersions;
  /** Objects with a document, of which no version is in force. */
  readonly unusable: ReadonlySet<ObjectKey>;
  /** Objects that are kept in force without a document, and why. */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
  readonly fleet: FleetSpec;
  readonly scopes: ScopeTable;
  readonly documentProblems: readonly DocumentProblem[];
  readonly problems: readonly Problem[];
}

/** Decides what is in force at a commit, given what was before. `files` are ordered by path. */
export function documentsInForce(
  commit: Commit,
  files: readonly SourceFile[],
  before: DocumentVersions,
): DocumentsInForce {
  const settings = fleetInForce(commit, files, before);
  const index = indexDocuments(files, settings.fleet.roots);
  const { refs, documentProblems: misplaced } = inPlace(index.refs);
  const objects = objectsInForce(refs, { commit, before: withoutFleet(before), absenceDoubt: absenceDoubts(index) });
  const { versions, documentProblems } = withoutConflicts(objects.versions, before);
  const unusable = new Set<ObjectKey>();
  for (const { key, id } of refs) if (!versions.has(key) && mayBeInForce(id)) unusable.add(key);
  return {
    versions: settings.versions.size === 0 ? versions : new Map([...versions, ...settings.versions]),
    unusable,
    suspects: new Map([...settings.suspects, ...objects.suspects]),
    fleet: settings.fleet,
    scopes: objects.scopes,
    documentProblems: [...settings.documentProblems, ...misplaced, ...objects.documentProblems, ...documentProblems],
    problems: emptyProblems(index, before),
  };
}

/** Of a kind that is known and not read, no version ever is: its documents take nothing from anybody. */
const mayBeInForce = ({ group, kind }: DocumentRef["id"]): boolean => knownKindOf(group, kind)?.schema !== null;

const isFleet = ({ id }: Pick<DocumentRef, "id">): boolean => id.group === flotillaGroup && id.kind === "Fleet";

function withoutFleet(versions: DocumentVersions): DocumentVersions {
  const fleets = fleetIn(versions);
  return fleets.size === 0 ? versions : new Map([...versions].filter(([key]) => !fleets.has(key)));
}

function fleetIn(versions: DocumentVersions): DocumentVersions {
  const found = new Map<ObjectKey, DocumentVersion>();
  for (const [key, it] of versions) if (isFleet(it)) found.set(key, it);
  return found;
}

/** Settings say where to look for everything else, so they are resolved first. */
function fleetInForce(commit: Commit, files: readonly SourceFile[], before: DocumentVersions) {
  const own = files.filter((it) => isFleetPath(it.path));
  const refs = indexDocuments(own, []).refs.filter(isFleet);
  const previous = fleetIn(before);
  const absenceDoubt = refs.length > 0 || previous.size === 0 ? null : absenceDoubts(indexDocuments(files, []));
  const context = { commit, before: previous, absenceDoubt: absenceDoubt ?? (() => null), check: () => [] };
  const { versions, documentProblems, suspects } = resolveDocuments(refs, context);
  const [fleet] = [...versions.values()].flatMap(({ content }) => (content.kind === "fleet" ? [content.fleet] : []));
  return { versions, documentProblems, suspects, fleet: fleet ?? defaultFleet };
}

const ownPlaceOf = ({ group, kind }: DocumentRef["id"]): string | null => {
  const schema = knownKindOf(group, kind)?.schema ?? null;
  return schema === null ? null : readKinds[schema].ownPlace;
};

/** Settings, confirmations and approvals are read from their own paths only. */
function inPlace(refs: readonly DocumentRef[]): {
  refs: readonly DocumentRef[];
  documentProblems: readonly DocumentProblem[];
} {
  const documentProblems: DocumentProblem[] = [];
  const kept = refs.filter((ref) => {
    const place = ownPlaceOf(ref.id);
    if (place === null) return true;
    if (!isFleetPath(ref.source.path) || ref.id.kind !== "Fleet")
      documentProblems.push({ ref, problem: error("FLT1350", ["kind"], `${place} only`, "move it there") });
    return false;
  });
  return { refs: kept, documentProblems };
}

function objectsInForce(refs: readonly DocumentRef[], context: Omit<ResolveContext, "check">) {
  const first = resolveScoped(refs, context);
  const { unscoped } = first;
  if (unscoped === null) return first;
  // An object whose namespace is missing might be any of its kind: resolved again, with that in mind.
  const suspect = `${unscoped.id.kind} ${unscoped.id.name} in ${positionText(unscoped.source)} has no namespace and might be it`;
  return resolveScoped(refs, { ...context, absenceDoubt: () => suspect });
}

function resolveScoped(refs: readonly DocumentRef[], { commit, before, absenceDoubt }: Omit<ResolveContext, "check">) {
  const scopes = scopesInForce(refs, { commit, before, absenceDoubt, check: () => [] });
  const known: DocumentRef[] = [];
  const scopeProblems: DocumentProblem[] = [];
  const unknownKinds = new Map<string, DocumentRef>();
  let unscoped: DocumentRef | null = null;
  for (const ref of refs) {
    const scoped = scopedRef(ref, scopes);
    if (scoped.ref !== null) known.push(scoped.ref);
    else unscoped ??= ref;
    if (scoped.problem !== null) scopeProblems.push({ ref, problem: scoped.problem });
    if (scoped.isUnknown) unknownKinds.set(nameOf(ref), ref);
  }
  const { versions, documentProblems, suspects } = resolveDocuments(known, {
    commit,
    before,
    // An unknown kind may be a misspelt one: what had that name before is not deleted.
    absenceDoubt: (version) => absenceDoubt(version) ?? misspeltDoubt(unknownKinds.get(nameOf(version))),
    check: ({ id }, content, previous) => acceptanceProblems(id, content, { previous, scopes }),
  });
  return { scopes, unscoped, versions, suspects, documentProblems: [...scopeProblems, ...documentProblems] };
}

function misspeltDoubt(ref: DocumentRef | undefined): string | null {
  if (ref === undefined) return null;
  const what = knownKindOf(ref.id.group, ref.id.kind) === null ? "an unknown kind" : "no namespace";
  return `the ${ref.id.kind} in ${positionText(ref.source)} has its name and ${what}`;
}

const nameOf = ({ id }: Pick<DocumentRef, "id">): string => `${id.namespace ?? ""}/${id.name}`;

function scopesInForce(refs: readonly DocumentRef[], context: ResolveContext): ScopeTable {
  const before = new Map<ObjectKey, DocumentVersion>();
  for (const [key, it] of context.before) if (mayDefine(it.id)) before.set(key, it);
  const definitions = refs.filter((it) => mayDefine(it.id));
  const { versions } = resolveDocuments(definitions, { ...context, before });
  return scopesOf([...versions.values()].flatMap(manifestsIn));
}

const mayDefine = (id: DocumentRef["id"]): boolean => isDefinition(id) || isEnvelope(id);

function manifestsIn({ content }: DocumentVersion): readonly Manifest[] {
  if (content.kind === "manifest") return [content.manifest];
  if (content.kind !== "envelope") return [];
  return content.wraps.objects.filter((it) => isDefinition(it.id)).map((it) => it.manifest);
}

interface ScopedRef {
  /** Null when the namespace is missing, and with it the identity. */
  readonly ref: DocumentRef | null;
  readonly problem: FieldProblem | null;
  /** Its kind is unknown, or perhaps meant to be another one. */
  readonly isUnknown: boolean;
}

/** Checks an object against the scope of its kind. */
function scopedRef(ref: DocumentRef, scopes: ScopeTable): ScopedRef {
  const { id } = ref;
  if (isKnownGroup(id.group)) return scopedRefInKnownGroup(ref);
  const scope = scopes.get(kindKey(id));
  if (scope === undefined) return { ref: { ...ref, content: null }, problem: unknownKindProblem(id), isUnknown: true };
  if (scope === "Namespaced" && id.namespace === null)
    return { ref: null, problem: missingNamespace(id.kind), isUnknown: false };
  if (scope === "Namespaced" || id.namespace === null) return { ref, problem: null, isUnknown: false };
  const clusterId = { ...id, namespace: null };
  return {
    ref: { ...ref, key: keyOfId(clusterId), id: clusterId, content: null },
    problem: clusterScopedProblem(id),
    isUnknown: false,
  };
}

/** Of a kind of KubeFleet's or ours: only those that are read need the namespace of a namespaced kind. */
function scopedRefInKnownGroup(ref: DocumentRef): ScopedRef {
  const { id, content } = ref;
  const kind = knownKindOf(id.group, id.kind);
  if (kind?.scope === "Namespaced" && kind.schema !== null && id.namespace === null)
    return { ref: null, problem: missingNamespace(id.kind), isUnknown: false };
  // A ResourcePlacement without a namespace may be a ClusterResourcePlacement, misspelt.
  const isMisspelt = kind?.schema === null && !kind.isOfHub && kind.scope === "Namespaced" && id.namespace === null;
  return { ref, problem: null, isUnknown: content === null && (kind === null || isMisspelt) };
}

const missingNamespace = (kind: string): FieldProblem =>
  error("FLT1412", ["metadata", "namespace"], `is missing: ${kind} is namespaced`, "add its namespace");

/**
 * When a missing document is not a deletion (`plan/README.md#d-2`): while any document might be the missing object, while a
 * root is empty, and for what a file defined that is still there and empty now.
 */
function absenceDoubts({
  unidentified,
  emptied,
  unfollowed,
  emptyRoots,
}: DocumentIndex): ResolveContext["absenceDoubt"] {
  const [suspect, ...more] = unidentified;
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  if (suspect !== undefined) return () => `${suspect}${others} might be it: it cannot be identified`;
  const [root] = emptyRoots;
  if (root !== undefined) return () => `there are no objects ${root === "" ? "in the repository" : `under ${root}`}`;
  const empty = new Set(emptied);
  const links = new Set(unfollowed);
  const folders = unfollowed.map((it) => `${it}/`);
  return ({ source: { path } }) => {
    if (empty.has(path)) return `${path} is empty now`;
    return links.has(path) || folders.some((it) => path.startsWith(it))
      ? `${path} is behind a link or a submodule now`
      : null;
  };
}

function emptyProblems({ emptied, emptyRoots }: DocumentIndex, before: DocumentVersions): readonly Problem[] {
  const paths = new Set<string>();
  if (emptied.length > 0) for (const it of before.values()) paths.add(it.source.path);
  return [
    ...emptied.map((path) =>
      paths.has(path)
        ? fileProblem("warning", "FLT1020", path, [
            "the file is empty now; what it defined stays in force",
            "remove the file to delete what it defined",
          ])
        : fileProblem("note", "FLT1020", path, ["the file has no documents", "remove it"]),
    ),
    ...(before.size === 0 && emptyRoots.includes("") ? [] : emptyRoots.map(emptyRoot)),
  ];
}

const emptyRoot = (root: string): Problem =>
  fileProblem("error", "FLT1110", root === "" ? "." : root, [
    "there are no objects here; nothing is deleted because of that",
    root === "" ? "commit at least one object" : "correct spec.roots in fleet.yaml, or commit at least one object",
  ]);
