import { defaultFleet, type FleetSpec } from "../model/fleet.ts";
import type { Manifest, ObjectKey } from "../model/manifest.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Problem } from "../model/problem.ts";
import { kindKey, type ScopeTable } from "../model/scope.ts";
import type { Commit } from "../model/value.ts";
import { type Census, censusOf } from "./census.ts";
import { type Claim, type Complaint, keyOf, type Version, type Versions } from "./claim.ts";
import { unknownKind } from "./content.ts";
import { isFleetPath } from "./fleet-file.ts";
import { fleetKindOf, isFleetGroup } from "./kinds.ts";
import { withoutOverlaps } from "./overlap.ts";
import { error, type Remark } from "./remark.ts";
import { isDefinition, scopesOf } from "./scopes.ts";
import { selectionRemarks } from "./selection-rules.ts";
import { settle, type Terms } from "./settle.ts";
import { fileProblem, type SourceFile } from "./source-file.ts";
import { updateRemarks } from "./update-rules.ts";

/** What is in force at a commit: the documents that count, and what that leaves to complain about. */
export interface InForce {
  readonly versions: Versions;
  /** Objects with a document, of which no version is in force. */
  readonly unusable: ReadonlySet<ObjectKey>;
  readonly fleet: FleetSpec;
  readonly scopes: ScopeTable;
  readonly complaints: readonly Complaint[];
  readonly problems: readonly Problem[];
}

/** Decides what is in force at a commit, given what was before. `files` are ordered by path. */
export function inForce(commit: Commit, files: readonly SourceFile[], before: Versions): InForce {
  const settings = fleetInForce(commit, files, before);
  const census = censusOf(files, settings.fleet.roots);
  const { claims, complaints: misplaced } = inPlace(census.claims);
  const objects = objectsInForce(commit, claims, { census, before: withoutFleet(before) });
  const { versions, complaints } = withoutOverlaps(objects.versions, before);
  return {
    versions: new Map([...versions, ...settings.versions]),
    unusable: new Set(claims.map((it) => keyOf(it.id)).filter((it) => !versions.has(it))),
    fleet: settings.fleet,
    scopes: objects.scopes,
    complaints: [...settings.complaints, ...misplaced, ...objects.complaints, ...complaints],
    problems: silenceProblems(census, before),
  };
}

const isFleet = ({ id }: Pick<Claim, "id">): boolean => id.group === flotillaGroup && id.kind === "Fleet";

const withoutFleet = (versions: Versions): Versions => new Map([...versions].filter(([, it]) => !isFleet(it)));

/** The settings decide where to look for everything else, so they come first, from a place of their own. */
function fleetInForce(commit: Commit, files: readonly SourceFile[], before: Versions) {
  const own = files.filter((it) => isFleetPath(it.path));
  const claims = censusOf(own, []).claims.filter(isFleet);
  const previous = new Map([...before].filter(([, it]) => isFleet(it)));
  const silence = claims.length > 0 || previous.size === 0 ? null : silenceOf(censusOf(files, []));
  const isSilent = silence ?? (() => false);
  const { versions, complaints } = settle(claims, { commit, before: previous, isSilent, check: () => [] });
  const [fleet] = [...versions.values()].flatMap(({ content }) => (content.kind === "fleet" ? [content.fleet] : []));
  return { versions, complaints, fleet: fleet ?? defaultFleet };
}

/** Settings and confirmations count in their own places only. */
function inPlace(claims: readonly Claim[]): { claims: readonly Claim[]; complaints: readonly Complaint[] } {
  const complaints: Complaint[] = [];
  const kept = claims.filter((claim) => {
    const { id, source } = claim;
    if (id.group !== flotillaGroup) return true;
    if (id.kind === "Fleet" && !isFleetPath(source.path)) complaints.push({ claim, remark: strayFleet });
    if (id.kind === "DeletionConfirmation") complaints.push({ claim, remark: strayConfirmation });
    return id.kind !== "Fleet" && id.kind !== "DeletionConfirmation";
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

interface Ground {
  readonly census: Census;
  readonly before: Versions;
}

function objectsInForce(commit: Commit, claims: readonly Claim[], { census, before }: Ground) {
  const terms = { commit, before, isSilent: silenceOf(census) };
  const first = settleScoped(claims, terms);
  // An object whose namespace is missing might be any of its kind: settled again, with that in mind.
  return first.isComplete ? first : settleScoped(claims, { ...terms, isSilent: () => true });
}

function settleScoped(claims: readonly Claim[], { commit, before, isSilent }: Omit<Terms, "check">) {
  const scopes = scopesInForce(claims, { commit, before, isSilent, check: () => [] });
  const scoped = claims.map((it) => scopedClaim(it, scopes));
  const known = scoped.flatMap((it) => (it.claim === null ? [] : [it.claim]));
  const { versions, complaints } = settle(known, {
    commit,
    before,
    isSilent: orNamesake(isSilent, claims, scopes),
    check: (claim, previous) => [
      ...(previous === null ? [] : updateRemarks(previous.content, claim.content)),
      ...selectionRemarks(claim.content, scopes),
    ],
  });
  const isComplete = known.length === scoped.length;
  return { scopes, isComplete, versions, complaints: [...scoped.flatMap((it) => it.complaints), ...complaints] };
}

/** A kind that nobody knows may be a known one misspelt: what had that name before is not deleted for its absence. */
function orNamesake(isSilent: Terms["isSilent"], claims: readonly Claim[], scopes: ScopeTable): Terms["isSilent"] {
  const nameOf = ({ id }: Pick<Claim, "id">): string => `${id.namespace ?? ""}/${id.name}`;
  const isUnknown = ({ id }: Claim): boolean =>
    isFleetGroup(id.group) ? fleetKindOf(id.group, id.kind) === null : !scopes.has(kindKey(id));
  const names = new Set(claims.filter(isUnknown).map(nameOf));
  return (version) => isSilent(version) || names.has(nameOf(version));
}

function scopesInForce(claims: readonly Claim[], terms: Terms): ScopeTable {
  const before = new Map([...terms.before].filter(([, it]) => isDefinition(it.id)));
  const { versions } = settle(
    claims.filter((it) => isDefinition(it.id)),
    { ...terms, before },
  );
  return scopesOf([...versions.values()].flatMap(manifestsIn));
}

const manifestsIn = ({ content }: Version): readonly Manifest[] =>
  content.kind === "manifest" ? [content.manifest] : [];

interface ScopedClaim {
  /** Null when the namespace is missing, and with it the identity. */
  readonly claim: Claim | null;
  readonly complaints: readonly Complaint[];
}

/** Judges a plain object by the scope of its kind: known at all, with a namespace, or without one. */
function scopedClaim(claim: Claim, scopes: ScopeTable): ScopedClaim {
  const { id } = claim;
  if (isFleetGroup(id.group)) return { claim, complaints: [] };
  const scope = scopes.get(kindKey(id));
  const complain = (remark: Remark): readonly Complaint[] => [{ claim, remark }];
  if (scope === undefined) return { claim: { ...claim, content: null }, complaints: complain(unknownKind(id)) };
  if (scope === "Namespaced" && id.namespace === null)
    return { claim: null, complaints: complain(noNamespace(id.kind)) };
  if (scope === "Namespaced" || id.namespace === null) return { claim, complaints: [] };
  const placeless = { ...id, namespace: null };
  return { claim: { ...claim, id: placeless, content: null }, complaints: complain(clusterScoped(id.kind)) };
}

const noNamespace = (kind: string): Remark =>
  error("FLT1412", ["metadata", "namespace"], `is missing: ${kind} is namespaced`, "say which namespace it lives in");

const clusterScoped = (kind: string): Remark =>
  error("FLT1413", ["metadata", "namespace"], `${kind} is cluster-scoped and has no namespace`, "remove the namespace");

/**
 * When absence is no deletion (`RULINGS.md` D 2): while any document might be the absent object, while a root is empty,
 * and for what stood in a file that is still there and says nothing any more.
 */
function silenceOf({ unidentified, emptied, unfollowed, emptyRoots }: Census): Terms["isSilent"] {
  if (unidentified > 0 || emptyRoots.length > 0) return () => true;
  const silent = new Set([...emptied, ...unfollowed]);
  const folders = unfollowed.map((it) => `${it}/`);
  return ({ source: { path } }) => silent.has(path) || folders.some((it) => path.startsWith(it));
}

function silenceProblems({ emptied, emptyRoots }: Census, before: Versions): readonly Problem[] {
  const paths = new Set([...before.values()].map((it) => it.source.path));
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
