import type { OverrideSnapshot } from "../model/override.ts";
import type { BlobId, ClusterName, PlacementKey } from "../model/value.ts";

// Where everything stands on the state branch: the picture in DESIGN.md §3. Folders end with a slash.

/** One change of the state branch. What is not named stays as it is. */
export type StateEdit =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  /** The blob is already in the repository: it stands in a source commit, or in the parent. */
  | { readonly kind: "link"; readonly path: string; readonly blob: BlobId }
  | { readonly kind: "remove"; readonly path: string };

/** The page for people. Output: never read back. */
export const pagePath = "README.md";
export const ledgerPath = "ledger.yaml";

/** The source files as last read, by their own paths. */
export const acceptedFolder = "accepted/";
/** Earlier versions of files that define a held object: `accepted/.held/<commit>/<path>`. */
export const heldFolder = `${acceptedFolder}.held/`;
/** What each cluster is to carry. Output: never read back. */
export const renderedFolder = "rendered/";

/** `rendered/<cluster>/<placement>.yaml`; for a namespaced placement `rendered/<cluster>/<namespace>/<name>.yaml`. */
export const renderedPath = (cluster: ClusterName, placement: PlacementKey): string =>
  `${renderedFolder}${cluster}/${placement}.yaml`;

export const clusterPath = (cluster: ClusterName): string => `clusters/${cluster}.yaml`;

/** Everything about one placement: `placements/<name>/` or `namespaces/<namespace>/placements/<name>/`. */
export function placementFolder(placement: PlacementKey): string {
  const slash = placement.indexOf("/");
  if (slash < 0) return `placements/${placement}/`;
  return `namespaces/${placement.slice(0, slash)}/placements/${placement.slice(slash + 1)}/`;
}

/** The placement whose folder it is: the inverse of {@link placementFolder}. */
export function placementOfFolder(folder: string): PlacementKey {
  const parts = folder.split("/");
  return (parts[0] === "placements" ? parts[1] : `${parts[1]}/${parts[3]}`) as PlacementKey;
}

export const placementPath = (placement: PlacementKey): string => `${placementFolder(placement)}placement.yaml`;
export const bindingsPath = (placement: PlacementKey): string => `${placementFolder(placement)}bindings.yaml`;
export const policySnapshotsPath = (placement: PlacementKey): string =>
  `${placementFolder(placement)}policy-snapshots.yaml`;

const snapshotFolder = (placement: PlacementKey, index: number): string =>
  `${placementFolder(placement)}resource-snapshots/${index}/`;
export const snapshotPath = (placement: PlacementKey, index: number): string =>
  `${snapshotFolder(placement, index)}snapshot.yaml`;
/** Below here stand the blobs that a snapshot keeps reachable, by the paths they had in the source. Never read back. */
export const snapshotFilesFolder = (placement: PlacementKey, index: number): string =>
  `${snapshotFolder(placement, index)}files/`;

/** All snapshots of one override: `overrides/<name>.yaml` or `namespaces/<namespace>/overrides/<name>.yaml`. */
export const overridePath = ({ namespace, override }: Pick<OverrideSnapshot, "namespace" | "override">): string =>
  `${namespace === null ? "" : `namespaces/${namespace}/`}overrides/${override}.yaml`;

/** What a file of the state branch is, by its path; `other` is not part of the record. */
export type StateFile =
  | { readonly kind: "ledger" | "other" }
  | { readonly kind: "cluster" | "override" }
  | { readonly kind: "placement" | "bindings" | "policySnapshots" | "resourceSnapshot"; readonly folder: string };

export function stateFileOf(path: string): StateFile {
  if (path === ledgerPath) return { kind: "ledger" };
  const [, folder, file] = /^((?:namespaces\/[^/]+\/)?placements\/[^/]+\/)(.+)$/.exec(path) ?? [];
  if (folder !== undefined && file !== undefined) return placementFileOf(folder, file);
  if (/^clusters\/[^/]+\.yaml$/.test(path)) return { kind: "cluster" };
  return { kind: /^(?:namespaces\/[^/]+\/)?overrides\/[^/]+\.yaml$/.test(path) ? "override" : "other" };
}

function placementFileOf(folder: string, file: string): StateFile {
  if (file === "placement.yaml") return { kind: "placement", folder };
  if (file === "bindings.yaml") return { kind: "bindings", folder };
  if (file === "policy-snapshots.yaml") return { kind: "policySnapshots", folder };
  return /^resource-snapshots\/\d+\/snapshot\.yaml$/.test(file)
    ? { kind: "resourceSnapshot", folder }
    : { kind: "other" };
}
