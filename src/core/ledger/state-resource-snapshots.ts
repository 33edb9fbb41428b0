import type { Json, JsonObject } from "../model/json.ts";
import type { PlacementRecord, ResourceSnapshot, SnapshotResource } from "../model/ledger.ts";
import type { VersionedId } from "../model/manifest.ts";
import type { BlobId, Commit, Digest, PlacementKey } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { snapshotFilesFolder } from "./layout.ts";
import { countAt, type Findings, given, objectsAt, textAt, textOrNull } from "./state-fields.ts";
import { base64At, base64Of, fleetKey, headingJson, kindIn, open, placementApiVersion } from "./state-names.ts";

/**
 * The text of `resource-snapshots/<index>/snapshot.yaml`: a ResourceSnapshot whose `selectedResources` point at the
 * objects, in the files and documents of a source commit, instead of copying them.
 */
export const resourceSnapshotText = (record: PlacementRecord, snapshot: ResourceSnapshot): string =>
  emitYaml({
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(record.namespace, "ResourceSnapshot"),
      name: `${record.name}-${snapshot.index}-snapshot`,
      namespace: record.namespace,
      labels: {
        [fleetKey.parent]: record.name,
        [fleetKey.resourceIndex]: String(snapshot.index),
        [fleetKey.isLatest]: String(snapshot === record.resourceSnapshots.at(-1)),
      },
      annotations: { [fleetKey.resourceHash]: base64Of(snapshot.hash), [fleetKey.snapshotParts]: "1" },
    }),
    spec: { sourceCommit: snapshot.commit, selectedResources: snapshot.resources.map(pointerJson) },
  });

export function resourceSnapshotOf(findings: Findings, document: Json): ResourceSnapshot {
  const { labels, annotations, spec } = open(findings, document, "ResourceSnapshot");
  return {
    index: countAt(findings, labels, fleetKey.resourceIndex),
    hash: base64At(findings, annotations, fleetKey.resourceHash) as Digest,
    commit: textAt(findings, spec, "sourceCommit") as Commit,
    resources: objectsAt(findings, spec, "selectedResources").map((it) => pointerOf(findings, it)),
  };
}

/**
 * The files that keep a snapshot's blobs reachable, by the paths they had in the source.
 *
 * Two versions of one file can meet in a snapshot, where one of its objects is held at an earlier one; and what is a
 * file in one version may be a folder in another. A blob that finds its place taken stands under `.held/` by its id.
 */
export function snapshotFiles(placement: PlacementKey, snapshot: ResourceSnapshot): ReadonlyMap<string, BlobId> {
  const folder = snapshotFilesFolder(placement, snapshot.index);
  const folders = new Set(snapshot.resources.flatMap((it) => foldersOf(it.path)));
  const files = new Map<string, BlobId>();
  for (const { path, blob } of snapshot.resources) {
    const taken = files.get(folder + path) ?? blob;
    files.set(taken !== blob || folders.has(path) ? `${folder}.held/${blob}` : folder + path, blob);
  }
  return files;
}

function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/** An object's id as KubeFleet's ResourceIdentifier: the core group and no namespace are left out. */
export const identifierJson = ({ group, version, kind, namespace, name }: VersionedId): JsonObject =>
  given({ group: group === "" ? null : group, version, kind, namespace, name });

export const identifierOf = (findings: Findings, object: JsonObject): VersionedId => ({
  group: textOrNull(findings, object, "group") ?? "",
  version: textAt(findings, object, "version"),
  kind: textAt(findings, object, "kind"),
  namespace: textOrNull(findings, object, "namespace"),
  name: textAt(findings, object, "name"),
});

const pointerJson = ({ id, digest, path, document, blob }: SnapshotResource): JsonObject => ({
  ...identifierJson(id),
  path,
  document,
  blob,
  digest,
});

const pointerOf = (findings: Findings, object: JsonObject): SnapshotResource => ({
  id: identifierOf(findings, object),
  digest: textAt(findings, object, "digest") as Digest,
  path: textAt(findings, object, "path"),
  document: countAt(findings, object, "document"),
  blob: textAt(findings, object, "blob") as BlobId,
});
