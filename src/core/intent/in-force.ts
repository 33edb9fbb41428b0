import { type FleetSpec, grantsOf, type Tenant } from "../model/fleet.ts";
import { rememberedPair } from "../model/identity.ts";
import type { Problem } from "../model/intent.ts";
import { isEnvelope, kindKey, type Manifest, type ObjectKey, type ScopeTable } from "../model/manifest.ts";
import type { Commit } from "../model/value.ts";
import { error, type FieldProblem } from "../yaml/problems.ts";
import { absenceDoubts, anyOf, firstDoubt, misspeltDoubt, refusedDoubt } from "./absence.ts";
import { type DocumentIndex, indexDocuments } from "./document-index.ts";
import { fleetIn, fleetInForce } from "./fleet-in-force.ts";
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
import { beyondGrants } from "./tenants/grants.ts";

/** What is in force at a commit, and what is wrong with the documents that are not. */
export interface DocumentsInForce {
  readonly versions: DocumentVersions;
  /** Objects with a document, of which no version is in force. */
  readonly unusable: ReadonlySet<ObjectKey>;
  /** Objects that are kept in force without a document, and why. */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
  readonly fleet: FleetSpec;
  /** What documents were held against. */
  readonly tenants: readonly Tenant[];
  /** The version of `fleet.yaml` before, where what it grants counts besides what is granted now. */
  readonly granting: DocumentVersion | null;
  readonly scopes: ScopeTable;
  readonly documentProblems: readonly DocumentProblem[];
  readonly problems: readonly Problem[];
}

/** What was in force before a commit. */
export interface BeforeCommit {
  readonly versions: DocumentVersions;
  /** The version of `fleet.yaml` that granted until now: a commit does not widen by itself what it is judged by. */
  readonly granting: DocumentVersion | null;
}

/** Decides what is in force at a commit, given what was before. `files` are ordered by path. */
export function documentsInForce(
  commit: Commit,
  files: readonly SourceFile[],
  { versions: before, granting }: BeforeCommit,
): DocumentsInForce {
  const settings = fleetInForce(commit, files, { before, granting });
  const { tenants } = settings;
  const index = indexDocuments(files, settings.fleet.roots);
  const { refs: placed, documentProblems: misplaced } = inPlace(index.refs);
  const { refs, refused, documentProblems: ungranted } = withinGrants(placed, tenants);
  const absenceDoubt = firstDoubt(absenceDoubts(index, tenants), refusedDoubt(refused, tenants));
  const objects = objectsInForce(refs, { commit, before: withoutFleet(before), absenceDoubt, tenants });
  const { versions, documentProblems } = withoutConflicts(objects.versions, before);
  const unusable = new Set<ObjectKey>();
  for (const { key, id } of refs) if (!versions.has(key) && mayBeInForce(id)) unusable.add(key);
  return {
    versions: settings.versions.size === 0 ? versions : new Map([...versions, ...settings.versions]),
    granting: settings.granting,
    tenants,
    unusable,
    suspects: new Map([...settings.suspects, ...objects.suspects]),
    fleet: settings.fleet,
    scopes: objects.scopes,
    documentProblems: [
      ...settings.documentProblems,
      ...misplaced,
      ...ungranted,
      ...objects.documentProblems,
      ...documentProblems,
    ],
    problems: emptyProblems(index, before),
  };
}

function withoutFleet(versions: DocumentVersions): DocumentVersions {
  const fleets = fleetIn(versions);
  return fleets.size === 0 ? versions : new Map([...versions].filter(([key]) => !fleets.has(key)));
}

/** Of a kind that is known and not read, no version ever is: its documents take nothing from anybody. */
const mayBeInForce = ({ group, kind }: DocumentRef["id"]): boolean => knownKindOf(group, kind)?.schema !== null;

const ownPlaceOf = ({ group, kind }: DocumentRef["id"]): string | null => {
  const schema = knownKindOf(group, kind)?.schema ?? null;
  return schema === null ? null : readKinds[schema].ownPlace;
};

/** What is beyond a grant that its file has to keep to has no identity: it takes nothing from anybody. */
function withinGrants(
  refs: readonly DocumentRef[],
  tenants: readonly Tenant[],
): {
  readonly refs: readonly DocumentRef[];
  readonly refused: readonly DocumentRef[];
  readonly documentProblems: readonly DocumentProblem[];
} {
  if (tenants.length === 0) return { refs, refused: [], documentProblems: [] };
  const kept: DocumentRef[] = [];
  const documentProblems: { readonly ref: DocumentRef; readonly problem: FieldProblem }[] = [];
  for (const ref of refs) {
    const problem = excessOf(ref, tenants);
    if (problem === null) kept.push(ref);
    else documentProblems.push({ ref, problem });
  }
  return { refs: kept, refused: documentProblems.map((it) => it.ref), documentProblems };
}

/** Judged once for a document and the grants of a fleet. */
const excessOf = rememberedPair((ref: DocumentRef, tenants: readonly Tenant[]): FieldProblem | null =>
  beyondGrants(ref, grantsOf(ref.source.path, tenants)),
);

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

interface ObjectsContext extends Omit<ResolveContext, "check"> {
  readonly tenants: readonly Tenant[];
}

function objectsInForce(refs: readonly DocumentRef[], context: ObjectsContext) {
  const first = resolveScoped(refs, context);
  if (first.unscoped.length === 0) return first;
  // An object whose namespace is missing might be any of its kind: resolved again, with that in mind.
  const nameless = first.unscoped.map(({ id, source }) => ({
    path: source.path,
    text: `${id.kind} ${id.name} in ${positionText(source)}`,
  }));
  const mightBe = anyOf(nameless, context.tenants, (text) => `${text} has no namespace and might be it`);
  return resolveScoped(refs, { ...context, absenceDoubt: firstDoubt(mightBe, context.absenceDoubt) });
}

function resolveScoped(refs: readonly DocumentRef[], { commit, before, absenceDoubt, tenants }: ObjectsContext) {
  const scopes = scopesInForce(refs, { commit, before, absenceDoubt, check: () => [] });
  const known: DocumentRef[] = [];
  const scopeProblems: DocumentProblem[] = [];
  const unknownKinds: DocumentRef[] = [];
  const unscoped: DocumentRef[] = [];
  for (const ref of refs) {
    const scoped = scopedRef(ref, scopes);
    if (scoped.ref !== null) known.push(scoped.ref);
    else unscoped.push(ref);
    if (scoped.problem !== null) scopeProblems.push({ ref, problem: scoped.problem });
    if (scoped.isUnknown) unknownKinds.push(ref);
  }
  const { versions, documentProblems, suspects } = resolveDocuments(known, {
    commit,
    before,
    absenceDoubt: firstDoubt(absenceDoubt, misspeltDoubt(unknownKinds, tenants)),
    check: ({ id }, content, previous) => acceptanceProblems(id, content, { previous, scopes }),
  });
  return { scopes, unscoped, versions, suspects, documentProblems: [...scopeProblems, ...documentProblems] };
}

function scopesInForce(refs: readonly DocumentRef[], context: ResolveContext): ScopeTable {
  const before = new Map<ObjectKey, DocumentVersion>();
  for (const [key, it] of context.before) if (mayDefineScopes(it.id)) before.set(key, it);
  const definitions = refs.filter((it) => mayDefineScopes(it.id));
  const { versions } = resolveDocuments(definitions, { ...context, before });
  return scopesOf([...versions.values()].flatMap(manifestsIn));
}

const mayDefineScopes = (id: DocumentRef["id"]): boolean => isDefinition(id) || isEnvelope(id);

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
