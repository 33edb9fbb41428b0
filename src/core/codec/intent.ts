import type { MemberCluster } from "../model/cluster.ts";
import type { Hold, Intent } from "../model/intent.ts";
import { type Manifest, type ObjectKey, objectIdOf, type SourcedManifest } from "../model/manifest.ts";
import type { Override } from "../model/override.ts";
import type { Placement } from "../model/placement.ts";
import type { Problem } from "../model/problem.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  type PlacementKey,
} from "../model/value.ts";
import { adviceOn } from "./advice.ts";
import { type Complaint, keyOf, type Version, type Versions } from "./claim.ts";
import { confirmationsIn } from "./confirmations.ts";
import type { DecodedFile } from "./documents.ts";
import { isFleetPath } from "./fleet-file.ts";
import { type InForce, inForce } from "./in-force.ts";
import { findingIn } from "./placed.ts";
import { compareProblems } from "./remark.ts";
import { isKept, isSource, pathProblems, type SourceFile } from "./source-file.ts";

export type { SourceFile };

export interface IntentInput {
  readonly commit: Commit;
  readonly files: readonly SourceFile[];
  readonly accepted: Accepted | null;
}

/** What was in force before: the commit that was last accepted, and what was held at earlier versions. */
export interface Accepted {
  readonly commit: Commit;
  readonly files: readonly SourceFile[];
  readonly holds: readonly Hold[];
  /** The blobs that the holds name, decoded. It may hold others as well. */
  readonly heldFiles: ReadonlyMap<BlobId, DecodedFile>;
}

/**
 * Reads what one commit asks for, and keeps in force what it fails to say (`RULINGS.md` D 2).
 *
 * Never throws and never gives up: what is wrong costs what it defines, and is listed. The same input gives the same
 * intent, and reading a commit again after it was accepted changes nothing.
 */
export function readIntent({ commit, files, accepted }: IntentInput): Intent {
  const ordered = [...files].sort((a, b) => compareText(a.path, b.path));
  const now = inForce(commit, ordered, acceptedVersions(accepted));
  const versions = new Map([...now.versions].sort(([a], [b]) => compareText(a, b)));
  const { confirmations, problems } = confirmationsIn(ordered);
  const said = {
    commit,
    fleet: now.fleet,
    clusters: clustersIn(versions),
    placements: placementsIn(versions),
    overrides: overridesIn(versions),
    objects: objectsIn(versions),
    scopes: now.scopes,
    confirmations: new Set<Digest>([...confirmations].sort(compareText)),
    holds: holdsIn(versions),
    unusable: new Set([...now.unusable].sort(compareText)),
    files: keptFiles(ordered, now),
  };
  return {
    ...said,
    problems: [...problemsOf(ordered, now), ...problems, ...adviceOn(said, versions)].sort(compareProblems),
  };
}

/** The object that a document of a file defines, as {@link Intent.objects} would have it; null when it defines none. */
export function manifestAt(file: DecodedFile, document: number): { manifest: Manifest; digest: Digest } | null {
  const found = file.documents[document];
  if (found?.kind !== "object" || found.content?.kind !== "manifest") return null;
  const { manifest, digest } = found.content;
  return { manifest, digest };
}

/** What was in force when the accepted commit had been read: the same decision again, with its holds for its past. */
function acceptedVersions(accepted: Accepted | null): Versions {
  if (accepted === null) return new Map();
  const ordered = [...accepted.files].sort((a, b) => compareText(a.path, b.path));
  return inForce(accepted.commit, ordered, heldVersions(accepted)).versions;
}

function heldVersions({ holds, heldFiles }: Accepted): Versions {
  const versions = new Map<ObjectKey, Version>();
  for (const { id, commit, path, document: index, blob } of holds) {
    const document = heldFiles.get(blob)?.documents[index];
    if (document?.kind !== "object" || document.content === null) continue;
    const { content, line, column } = document;
    const source = { path, document: index, line, column };
    versions.set(keyOf(id), { id: document.id, content, source, blob, document, commit, isHeld: true });
  }
  return versions;
}

/** A map of those versions that `pick` makes an entry of, in their order. */
function collect<K, V>(versions: Versions, pick: (version: Version) => readonly [K, V] | null): ReadonlyMap<K, V> {
  const found = new Map<K, V>();
  for (const version of versions.values()) {
    const entry = pick(version);
    if (entry !== null) found.set(...entry);
  }
  return found;
}

const clustersIn = (versions: Versions): ReadonlyMap<ClusterName, MemberCluster> =>
  collect(versions, ({ content, source }) =>
    content.kind === "cluster" ? [content.cluster.name, { ...content.cluster, source }] : null,
  );

const placementsIn = (versions: Versions): ReadonlyMap<PlacementKey, Placement> =>
  collect(versions, ({ content, source }) =>
    content.kind === "placement" ? [content.placement.key, { ...content.placement, source }] : null,
  );

const overridesIn = (versions: Versions): readonly Override[] =>
  [...versions.values()].flatMap(({ content, source }) =>
    content.kind === "override" ? [{ ...content.override, source }] : [],
  );

function objectsIn(versions: Versions): ReadonlyMap<ObjectKey, SourcedManifest> {
  const objects = new Map<ObjectKey, SourcedManifest>();
  for (const [key, { id, content, source }] of versions)
    if (content.kind === "manifest")
      objects.set(key, { id, manifest: content.manifest, digest: content.digest, source });
  return objects;
}

const holdsIn = (versions: Versions): readonly Hold[] =>
  [...versions]
    .filter(([, it]) => it.isHeld)
    .map(([key, { commit, source, blob }]) => {
      return { id: objectIdOf(key), commit, path: source.path, document: source.document, blob };
    });

const keptFiles = (files: readonly SourceFile[], { fleet }: InForce): ReadonlyMap<string, BlobId> =>
  new Map(files.filter((it) => isKept(it, fleet.roots)).map(({ path, blob }) => [path, blob]));

function problemsOf(files: readonly SourceFile[], { fleet, complaints, problems }: InForce): readonly Problem[] {
  return [
    ...problems,
    ...pathProblems(files, fleet.roots),
    ...files.filter((it) => isSource(it.path, fleet.roots) || isFleetPath(it.path)).flatMap(problemsIn),
    ...complaints.map(problemOf),
  ];
}

function problemsIn({ path, kind, decoded }: SourceFile): readonly Problem[] {
  if (kind !== "file") return [];
  if (decoded === null) return [unread(path)];
  return [...decoded.findings, ...decoded.documents.flatMap((it) => it.findings)].map((it) => ({ ...it, path }));
}

const unread = (path: string): Problem => ({
  code: "FLT1009",
  severity: "error",
  path,
  line: 0,
  column: 0,
  message: "the file was not read",
  fix: "split it if it is large",
});

const problemOf = ({ claim: { source, document }, remark }: Complaint): Problem => ({
  ...findingIn(document, remark),
  path: source.path,
});
