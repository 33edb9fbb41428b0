import type { MemberCluster, PriceList } from "../model/fleet.ts";
import { remembered } from "../model/identity.ts";
import type { Hold, Intent, Problem } from "../model/intent.ts";
import {
  type Manifest,
  type ObjectKey,
  objectIdOf,
  type SourcedManifest,
  type SourcePosition,
} from "../model/manifest.ts";
import type { Override } from "../model/override.ts";
import type { DisruptionBudget, Eviction, Placement } from "../model/placement.ts";
import type { UpdateRun, UpdateStrategy } from "../model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  type PlacementKey,
  type RunKey,
  type StrategyKey,
} from "../model/value.ts";
import { locateProblem } from "../yaml/locate.ts";
import { compareProblems } from "../yaml/problems.ts";
import { adviceOn } from "./advice.ts";
import type { DecodedDocument, DecodedFile } from "./documents.ts";
import { fleetIn } from "./fleet-in-force.ts";
import { type BeforeCommit, type DocumentsInForce, documentsInForce } from "./in-force.ts";
import { isFleetPath } from "./kinds/fleet.ts";
import { type DocumentProblem, type DocumentVersion, type DocumentVersions, heldVersion, keyOfId } from "./resolve.ts";
import {
  fileProblem,
  isKeptInState,
  isSourceFile,
  isTrustPath,
  isTrustSignature,
  maxTrustSignatures,
  pathProblems,
  type SourceFile,
} from "./source-file.ts";
import { approvalsIn, confirmationsIn, trustFileIn } from "./special-files.ts";

export type { SourceFile };

interface IntentInput {
  readonly commit: Commit;
  readonly files: readonly SourceFile[];
  readonly accepted: AcceptedSource | null;
}

/** What was in force before: the commit that was accepted last, and what was held at earlier versions. */
export interface AcceptedSource {
  readonly commit: Commit;
  readonly files: readonly SourceFile[];
  readonly holds: readonly Hold[];
  /** The blobs that the holds name, decoded; and perhaps others. */
  readonly heldFiles: ReadonlyMap<BlobId, DecodedFile>;
}

/**
 * Reads what one commit asks for, and keeps in force what it fails to define (`plan/README.md#d-2`).
 *
 * Never throws: a bad document affects only what it defines, and is listed. Reading a commit again after it was accepted
 * changes nothing. What a document defines is the same object (`===`) from commit to commit, as long as its file and its
 * place in it are the same.
 */
export function readIntent({ commit, files, accepted }: IntentInput): Intent {
  const ordered = [...files].sort((a, b) => compareText(a.path, b.path));
  const now = documentsInForce(commit, ordered, beforeCommit(commit, accepted));
  const versions = new Map([...now.versions].sort(([a], [b]) => compareText(a, b)));
  const { confirmations, problems } = confirmationsIn(ordered);
  const approvals = approvalsIn(ordered);
  const trust = trustFileIn(ordered);
  const intent = {
    commit,
    fleet: now.fleet,
    clusters: collect(versions, clusterIn),
    prices: now.fleet.prices === null ? null : (collect(versions, pricesIn).get(now.fleet.prices) ?? null),
    placements: collect(versions, placementIn),
    overrides: [...collect(versions, overrideIn).values()],
    runs: collect(versions, runIn),
    strategies: collect(versions, strategyIn),
    evictions: collect(versions, evictionIn),
    budgets: collect(versions, budgetIn),
    approvals: approvals.approvals,
    hasTrust: ordered.some((it) => isTrustPath(it.path)),
    trust: trust.trust,
    objects: collect(versions, objectIn),
    scopes: now.scopes,
    confirmations: new Set<Digest>([...confirmations].sort(compareText)),
    tenants: now.tenants,
    holds: holdsIn(versions, now.granting),
    suspects: new Map([...now.suspects].sort(([a], [b]) => compareText(a, b))),
    unusable: new Set([...now.unusable].sort(compareText)),
    files: keptFiles(ordered, now),
  };
  return {
    ...intent,
    problems: [
      ...problemsOf(ordered, now),
      ...problems,
      ...approvals.problems,
      ...trust.problems,
      ...adviceOn(intent, versions),
    ].sort(compareProblems),
  };
}

/** The object with that digest that a document of a file defines or wraps; null when there is none. */
export function manifestAt(file: DecodedFile, document: number, digest: Digest): Manifest | null {
  const found = file.documents[document];
  const content = found?.kind === "object" ? found.content : null;
  if (content?.kind === "manifest") return content.digest === digest ? content.manifest : null;
  if (content?.kind !== "envelope") return null;
  return content.wraps.objects.find((it) => it.digest === digest)?.manifest ?? null;
}

const nothingBefore: BeforeCommit = { versions: new Map(), granting: null };

/**
 * What was in force before a commit. One that was accepted already is judged by what granted before it came, which is
 * held while that limits tenants any more than the commit itself does.
 */
function beforeCommit(commit: Commit, accepted: AcceptedSource | null): BeforeCommit {
  if (accepted === null) return nothingBefore;
  const { versions, granting } = acceptedBefore(accepted);
  return commit === accepted.commit && granting !== null
    ? { versions, granting }
    : { versions, granting: soleFleet(versions) };
}

/** What was in force at the accepted commit: the same decision again, with its holds for its past. */
const acceptedBefore = remembered((accepted: AcceptedSource): BeforeCommit => {
  const ordered = [...accepted.files].sort((a, b) => compareText(a.path, b.path));
  const versions = heldVersions(accepted);
  const { versions: before, granting } = documentsInForce(accepted.commit, ordered, {
    versions,
    granting: soleFleet(versions),
  });
  return { versions: before, granting };
});

const soleFleet = (versions: DocumentVersions): DocumentVersion | null => {
  const [fleet] = fleetIn(versions).values();
  return fleet ?? null;
};

function heldVersions({ holds, heldFiles }: AcceptedSource): DocumentVersions {
  const versions = new Map<ObjectKey, DocumentVersion>();
  for (const { id, commit, path, document: index, blob } of holds) {
    const document = heldFiles.get(blob)?.documents[index];
    if (document?.kind !== "object" || document.content === null) continue;
    const { content } = document;
    const source = heldSourceOf(document, path, index);
    const key = keyOfId(id);
    versions.set(key, { key, id: document.id, content, source, blob, document, commit, isHeld: true });
  }
  return versions;
}

/** Made once for a document, as for those that are not held. */
function heldSourceOf(held: DecodedDocument, path: string, document: number): SourcePosition {
  const known = heldSources.get(held);
  if (known?.path === path && known.document === document) return known;
  const source = { path, document, line: held.line, column: held.column };
  heldSources.set(held, source);
  return source;
}

const heldSources = new WeakMap<DecodedDocument, SourcePosition>();

/** The entries that `pick` makes of versions, in their order. */
function collect<K, V>(
  versions: DocumentVersions,
  pick: (version: DocumentVersion) => readonly [K, V] | null,
): ReadonlyMap<K, V> {
  const found = new Map<K, V>();
  for (const version of versions.values()) {
    const entry = pick(version);
    if (entry !== null) found.set(entry[0], entry[1]);
  }
  return found;
}

/** Remembers what a version gives as long as its document stays where it is. */
function rememberedBySource<V>(make: (version: DocumentVersion) => V): (version: DocumentVersion) => V {
  const known = new WeakMap<SourcePosition, V>();
  return (version) => {
    const found = known.get(version.source);
    if (found !== undefined) return found;
    const made = make(version);
    known.set(version.source, made);
    return made;
  };
}

const clusterIn = rememberedBySource(({ content, source }): readonly [ClusterName, MemberCluster] | null =>
  content.kind === "cluster" ? [content.cluster.name, { ...content.cluster, source }] : null,
);

const placementIn = rememberedBySource(({ content, source }): readonly [PlacementKey, Placement] | null =>
  content.kind === "placement" ? [content.placement.key, { ...content.placement, source }] : null,
);

const overrideIn = rememberedBySource(({ key, content, source }): readonly [ObjectKey, Override] | null =>
  content.kind === "override" ? [key, { ...content.override, source }] : null,
);

const runIn = rememberedBySource(({ content, source }): readonly [RunKey, UpdateRun] | null =>
  content.kind === "run" ? [content.run.key, { ...content.run, source }] : null,
);

const strategyIn = rememberedBySource(({ content, source }): readonly [StrategyKey, UpdateStrategy] | null =>
  content.kind === "strategy" ? [content.strategy.key, { ...content.strategy, source }] : null,
);

const evictionIn = rememberedBySource(({ content, source }): readonly [string, Eviction] | null =>
  content.kind === "eviction" ? [content.eviction.name, { ...content.eviction, source }] : null,
);

const budgetIn = rememberedBySource(({ content, source }): readonly [PlacementKey, DisruptionBudget] | null =>
  content.kind === "budget" ? [content.budget.placement, { ...content.budget, source }] : null,
);

const pricesIn = rememberedBySource(({ content, source }): readonly [string, PriceList] | null =>
  content.kind === "prices" ? [content.prices.name, { ...content.prices, source }] : null,
);

const objectIn = (version: DocumentVersion): readonly [ObjectKey, SourcedManifest] | null =>
  version.isHeld && version.content.kind === "envelope" ? heldEnvelopeIn(version) : usableObjectIn(version);

const usableObjectIn = rememberedBySource(
  ({ key, id, content, source }): readonly [ObjectKey, SourcedManifest] | null => {
    if (content.kind === "manifest") return [key, { id, manifest: content.manifest, digest: content.digest, source }];
    if (content.kind !== "envelope") return null;
    const { manifest, digest, wraps } = content;
    return [key, { id, manifest, digest, source, wraps }];
  },
);

/**
 * An envelope of which the document that is meant cannot be used. It stays selected, so that nothing that it wraps is
 * deleted, and may not be placed: the rest of its placement's version would move without it
 * (`render/README.md#envelopes`).
 */
const heldEnvelopeIn = rememberedBySource((version): readonly [ObjectKey, SourcedManifest] | null => {
  const known = usableObjectIn(version);
  if (known === null) return null;
  const [key, object] = known;
  const { objects = [], defect = null } = object.wraps ?? {};
  return [key, { ...object, wraps: { objects, defect: defect ?? unread } }];
});

const unread = "this is what was accepted last, and its document, or one that may be it, cannot be used now";

/** `granting` is held besides, whatever became of its document. */
function holdsIn(versions: DocumentVersions, granting: DocumentVersion | null): readonly Hold[] {
  const holds: Hold[] = [];
  const all = granting === null ? versions : new Map([...versions, [granting.key, heldVersion(granting)] as const]);
  for (const [key, { commit, source, blob, isHeld }] of all)
    if (isHeld) holds.push({ id: objectIdOf(key), commit, path: source.path, document: source.document, blob });
  return holds;
}

function keptFiles(files: readonly SourceFile[], { fleet }: DocumentsInForce): ReadonlyMap<string, BlobId> {
  const kept = new Map<string, BlobId>();
  let signatures = 0;
  for (const file of files) {
    if (!isKeptInState(file, fleet.roots)) continue;
    if (isTrustSignature(file) && ++signatures > maxTrustSignatures) continue;
    kept.set(file.path, file.blob);
  }
  return kept;
}

function problemsOf(
  files: readonly SourceFile[],
  { fleet, documentProblems, problems }: DocumentsInForce,
): readonly Problem[] {
  const found = [...problems, ...pathProblems(files, fleet.roots)];
  for (const file of files)
    if (isSourceFile(file, fleet.roots) || isFleetPath(file.path)) found.push(...problemsIn(file));
  return [...found, ...documentProblems.map(problemOf)];
}

const problemsIn = remembered(({ path, kind, decoded }: SourceFile): readonly Problem[] => {
  if (kind !== "file") return [];
  if (decoded === null)
    return [fileProblem("error", "FLT1009", path, ["the file was not read", "split it if it is large"])];
  return [...decoded.problems, ...decoded.documents.flatMap((it) => it.problems)].map((it) => ({ ...it, path }));
});

const problemOf = ({ ref: { source, document }, problem }: DocumentProblem): Problem => ({
  ...locateProblem(document, problem),
  path: source.path,
});
