import { defaultFleet, type FleetSpec } from "../model/fleet.ts";
import type { Problem } from "../model/intent.ts";
import { kindKey, type Manifest, type ObjectKey, type ScopeTable } from "../model/manifest.ts";
import { rememberedPair } from "../model/memo.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Commit } from "../model/value.ts";
import { error, type FieldProblem } from "../yaml/problems.ts";
import { type DocumentIndex, indexDocuments } from "./document-index.ts";
import { type DocumentContent, selectionRemarks, unknownKindProblem, updateRemarks } from "./kinds/content.ts";
import { isDefinition, scopesOf } from "./kinds/custom-resource-definition.ts";
import { isFleetPath } from "./kinds/fleet.ts";
import { fleetKindOf, isFleetGroup } from "./kinds/fleet-kinds.ts";
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

/** What is in force at a commit: the documents that count, and what that leaves to complain about. */
export interface DocumentsInForce {
  readonly versions: DocumentVersions;
  /** Objects with a document, of which no version is in force. */
  readonly unusable: ReadonlySet<ObjectKey>;
  /** Of those that are held without a document: why. */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
  readonly fleet: FleetSpec;
  readonly scopes: ScopeTable;
  readonly complaints: readonly DocumentProblem[];
  readonly problems: readonly Problem[];
}

/** Decides what is in force at a commit, given what was before. `files` are ordered by path. */
export function documentsInForce(
  commit: Commit,
  files: readonly SourceFile[],
  before: DocumentVersions,
): DocumentsInForce {
  const settings = fleetInForce(commit, files, before);
  const census = indexDocuments(files, settings.fleet.roots);
  const { claims, complaints: misplaced } = inPlace(census.claims);
  const objects = objectsInForce(commit, claims, { census, before: withoutFleet(before) });
  const { versions, complaints } = withoutConflicts(objects.versions, before);
  const unusable = new Set<ObjectKey>();
  for (const { key } of claims) if (!versions.has(key)) unusable.add(key);
  return {
    versions: settings.versions.size === 0 ? versions : new Map([...versions, ...settings.versions]),
    unusable,
    suspects: new Map([...settings.suspects, ...objects.suspects]),
    fleet: settings.fleet,
    scopes: objects.scopes,
    complaints: [...settings.complaints, ...misplaced, ...objects.complaints, ...complaints],
    problems: emptyProblems(census, before),
  };
}

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

/** The settings decide where to look for everything else, so they come first, from a place of their own. */
function fleetInForce(commit: Commit, files: readonly SourceFile[], before: DocumentVersions) {
  const own = files.filter((it) => isFleetPath(it.path));
  const claims = indexDocuments(own, []).claims.filter(isFleet);
  const previous = fleetIn(before);
  const silence = claims.length > 0 || previous.size === 0 ? null : absenceDoubts(indexDocuments(files, []));
  const terms = { commit, before: previous, silence: silence ?? (() => null), check: () => [] };
  const { versions, complaints, suspects } = resolveDocuments(claims, terms);
  const [fleet] = [...versions.values()].flatMap(({ content }) => (content.kind === "fleet" ? [content.fleet] : []));
  return { versions, complaints, suspects, fleet: fleet ?? defaultFleet };
}

/** Settings, confirmations and approvals count in their own places only. */
function inPlace(claims: readonly DocumentRef[]): {
  claims: readonly DocumentRef[];
  complaints: readonly DocumentProblem[];
} {
  const complaints: DocumentProblem[] = [];
  const kept = claims.filter((claim) => {
    const { id, source } = claim;
    if (id.group !== flotillaGroup) return true;
    if (id.kind === "Fleet" && !isFleetPath(source.path)) complaints.push({ claim, remark: strayFleet });
    if (id.kind === "DeletionConfirmation") complaints.push({ claim, remark: strayConfirmation });
    if (id.kind === "Approval") complaints.push({ claim, remark: strayApproval });
    return id.kind !== "Fleet" && id.kind !== "DeletionConfirmation" && id.kind !== "Approval";
  });
  return { claims: kept, complaints };
}

const strayFleet = error("FLT1350", ["kind"], "a Fleet is read from fleet.yaml at the top only", "move it there");

const strayConfirmation = error(
  "FLT1350",
  ["kind"],
  "a confirmation is read from approvals/deletions/<digest>.yaml only",
  "move it there",
);

const strayApproval = error(
  "FLT1350",
  ["kind"],
  "an approval is read from a file under approvals/ only",
  "move it there",
);

interface Ground {
  readonly census: DocumentIndex;
  readonly before: DocumentVersions;
}

function objectsInForce(commit: Commit, claims: readonly DocumentRef[], { census, before }: Ground) {
  const terms = { commit, before, silence: absenceDoubts(census) };
  const first = settleScoped(claims, terms);
  const { placeless } = first;
  if (placeless === null) return first;
  // An object whose namespace is missing might be any of its kind: settled again, with that in mind.
  const suspect = `${placeless.id.kind} ${placeless.id.name} in ${positionText(placeless.source)} has no namespace and might be it`;
  return settleScoped(claims, { ...terms, silence: () => suspect });
}

function settleScoped(claims: readonly DocumentRef[], { commit, before, silence }: Omit<ResolveContext, "check">) {
  const scopes = scopesInForce(claims, { commit, before, silence, check: () => [] });
  const known: DocumentRef[] = [];
  const misfits: DocumentProblem[] = [];
  const namesakes = new Map<string, DocumentRef>();
  let placeless: DocumentRef | null = null;
  for (const claim of claims) {
    const scoped = scopedClaim(claim, scopes);
    if (scoped.claim !== null) known.push(scoped.claim);
    else placeless ??= claim;
    if (scoped.remark !== null) misfits.push({ claim, remark: scoped.remark });
    if (scoped.isUnknown) namesakes.set(nameOf(claim), claim);
  }
  const { versions, complaints, suspects } = resolveDocuments(known, {
    commit,
    before,
    // A kind that nobody knows may be a known one misspelt: what had that name before is not deleted for its absence.
    silence: (version) => silence(version) ?? namesake(namesakes.get(nameOf(version))),
    check: (content, previous) => remarksOn(content, previous?.content ?? null, scopes),
  });
  return { scopes, placeless, versions, suspects, complaints: [...misfits, ...complaints] };
}

function namesake(claim: DocumentRef | undefined): string | null {
  if (claim === undefined) return null;
  return `the ${claim.id.kind} in ${positionText(claim.source)} has its name, and is of no kind that is known`;
}

const nameOf = ({ id }: Pick<DocumentRef, "id">): string => `${id.namespace ?? ""}/${id.name}`;

/** What speaks against some content taking the place of another one. The same content as before takes its own. */
function remarksOn(
  content: DocumentContent,
  previous: DocumentContent | null,
  scopes: ScopeTable,
): readonly FieldProblem[] {
  const selection = content.kind === "manifest" ? none : selectionRemarksOf(content, scopes);
  if (previous === null || previous === content) return selection;
  const update = updateRemarks(previous, content);
  return update.length === 0 ? selection : [...update, ...selection];
}

const none: readonly FieldProblem[] = [];

const selectionRemarksOf = rememberedPair(selectionRemarks);

function scopesInForce(claims: readonly DocumentRef[], terms: ResolveContext): ScopeTable {
  const before = new Map<ObjectKey, DocumentVersion>();
  for (const [key, it] of terms.before) if (isDefinition(it.id)) before.set(key, it);
  const definitions = claims.filter((it) => isDefinition(it.id));
  const { versions } = resolveDocuments(definitions, { ...terms, before });
  return scopesOf([...versions.values()].flatMap(manifestsIn));
}

const manifestsIn = ({ content }: DocumentVersion): readonly Manifest[] =>
  content.kind === "manifest" ? [content.manifest] : [];

interface ScopedClaim {
  /** Null when the namespace is missing, and with it the identity. */
  readonly claim: DocumentRef | null;
  readonly remark: FieldProblem | null;
  /** Nobody knows the kind. */
  readonly isUnknown: boolean;
}

/** Judges an object by the scope of its kind: known at all, with a namespace, or without one. */
function scopedClaim(claim: DocumentRef, scopes: ScopeTable): ScopedClaim {
  const { id } = claim;
  if (isFleetGroup(id.group)) return scopedFleetClaim(claim);
  const scope = scopes.get(kindKey(id));
  if (scope === undefined)
    return { claim: { ...claim, content: null }, remark: unknownKindProblem(id), isUnknown: true };
  if (scope === "Namespaced" && id.namespace === null)
    return { claim: null, remark: noNamespace(id.kind), isUnknown: false };
  if (scope === "Namespaced" || id.namespace === null) return { claim, remark: null, isUnknown: false };
  const placeless = { ...id, namespace: null };
  const misplaced = { ...claim, key: keyOfId(placeless), id: placeless, content: null };
  return { claim: misplaced, remark: clusterScoped(id.kind), isUnknown: false };
}

/** A cluster-scoped kind of ours has no namespace, whatever its document says; one that is ignored may lack its own. */
function scopedFleetClaim(claim: DocumentRef): ScopedClaim {
  const { id, content } = claim;
  const kind = fleetKindOf(id.group, id.kind);
  if (kind?.scope === "Namespaced" && kind.schema !== null && id.namespace === null)
    return { claim: null, remark: noNamespace(id.kind), isUnknown: false };
  return { claim, remark: null, isUnknown: content === null && kind === null };
}

const noNamespace = (kind: string): FieldProblem =>
  error("FLT1412", ["metadata", "namespace"], `is missing: ${kind} is namespaced`, "say which namespace it lives in");

const clusterScoped = (kind: string): FieldProblem =>
  error("FLT1413", ["metadata", "namespace"], `${kind} is cluster-scoped and has no namespace`, "remove the namespace");

/**
 * When absence is no deletion (`plan/README.md#d-2`): while any document might be the absent object, while a root is
 * empty, and for what stood in a file that is still there and says nothing any more.
 */
function absenceDoubts({ unidentified, emptied, unfollowed, emptyRoots }: DocumentIndex): ResolveContext["silence"] {
  const [suspect, ...more] = unidentified;
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  if (suspect !== undefined) return () => `${suspect}${others} might be it: which object that is cannot be read`;
  const [root] = emptyRoots;
  if (root !== undefined)
    return () => `there is no object at all ${root === "" ? "in the repository" : `under ${root}`}`;
  const silent = new Set(emptied);
  const links = new Set(unfollowed);
  const folders = unfollowed.map((it) => `${it}/`);
  return ({ source: { path } }) => {
    if (silent.has(path)) return `${path} says nothing any more`;
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
            "the file says nothing any more; what it defined stays in force",
            "remove the file to delete what it defined",
          ])
        : fileProblem("note", "FLT1020", path, ["the file holds no document", "remove it"]),
    ),
    ...(before.size === 0 && emptyRoots.includes("") ? [] : emptyRoots.map(emptyRoot)),
  ];
}

const emptyRoot = (root: string): Problem =>
  fileProblem("error", "FLT1110", root === "" ? "." : root, [
    "there is no object here; nothing that is absent counts as deleted",
    root === "" ? "commit at least one object" : "correct spec.roots in fleet.yaml, or commit at least one object",
  ]);
