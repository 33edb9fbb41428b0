import type { OverrideSnapshot } from "../model/override.ts";
import { type BlobId, type ClusterName, type PlacementKey, partsOfKey, type RunKey } from "../model/value.ts";

// Where everything stands on the state branch (`src/README.md#the-state-branch`). Folders end with a slash.

/** One change of the state branch. What is not named stays as it is. */
export type StateEdit =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  /** The blob is already in the repository: it stands in a source commit, or in the parent. */
  | { readonly kind: "link"; readonly path: string; readonly blob: BlobId }
  | { readonly kind: "remove"; readonly path: string };

/** The page for people. Output: never read back. */
export const pagePath = "README.md";
export const ledgerPath = "ledger.yaml";
/** Every approval file that was judged, and what became of it. */
export const answersPath = "answers.yaml";
/** Clusters that are protected by names that they no longer have. */
export const formerNamesPath = "former-names.yaml";
/** The trust file in force, word for word; `ledger.yaml` says which it has to be. */
export const trustTextPath = "trust/root.yaml";

/** The source files as last read, by their own paths. */
export const acceptedFolder = "accepted/";
/** Earlier versions of files that define a held object: `accepted/.held/<commit>/<path>`. */
export const heldFolder = `${acceptedFolder}.held/`;
/** What each cluster is to carry. Output: never read back. */
export const renderedFolder = "rendered/";

/** `rendered/<cluster>/<placement>.yaml`; for a namespaced placement `rendered/<cluster>/<namespace>/<name>.yaml`. */
export const renderedPath = (cluster: ClusterName, placement: PlacementKey): string =>
  `${renderedFolder}${cluster}/${placement}.yaml`;

/**
 * What people are asked about and no cluster carries yet: a folder for every open request, by the name of its file in
 * `approvals/`. No cluster is called so. Output: read back by whoever shows it, and by nobody who decides.
 */
export const askedFolder = `${renderedFolder}.asked/`;
export const askedRequestFolder = (namespace: string | null, name: string): string =>
  `${askedFolder}${namespace === null ? "" : `namespaces/${namespace}/`}${name}/`;

/** What a cluster would carry, and all that share it: the same path below a request's folder as below `rendered/`. */
export const askedPath = (requestFolder: string, cluster: ClusterName, placement: PlacementKey): string =>
  requestFolder + renderedPath(cluster, placement).slice(renderedFolder.length);
/** The commits that brought what is asked for, one a line. */
export const askedCommitsPath = (requestFolder: string): string => `${requestFolder}commits.txt`;
/** What a request's folder shows, and what it leaves out. */
export const askedPagePath = (requestFolder: string): string => `${requestFolder}README.md`;

export const clusterPath = (cluster: ClusterName): string => `clusters/${cluster}.yaml`;

/** Everything about one placement: `placements/<name>/` or `namespaces/<namespace>/placements/<name>/`. */
export function placementFolder(placement: PlacementKey): string {
  const [namespace, name] = partsOfKey(placement);
  return `${namespaceFolder(namespace)}placements/${name}/`;
}

/** The placement whose folder it is: the inverse of {@link placementFolder}. */
export function placementOfFolder(folder: string): PlacementKey {
  const parts = folder.split("/");
  return (parts[0] === "placements" ? parts[1] : `${parts[1]}/${parts[3]}`) as PlacementKey;
}

export const placementPath = (placement: PlacementKey): string => `${placementFolder(placement)}placement.yaml`;
/** Its status for the people of a namespace: a ClusterResourcePlacementStatus. Output: never read back. */
export const accessibleStatusPath = (namespace: string, placement: string): string =>
  `namespaces/${namespace}/placement-statuses/${placement}.yaml`;
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
  `${namespaceFolder(namespace)}overrides/${override}.yaml`;

const namespaceFolder = (namespace: string | null): string => (namespace === null ? "" : `namespaces/${namespace}/`);

/** Everything about one update run: `runs/<name>/` or `namespaces/<namespace>/runs/<name>/`. */
function runFolder(run: RunKey): string {
  const [namespace, name] = partsOfKey(run);
  return `${namespaceFolder(namespace)}runs/${name}/`;
}

/** The run whose folder it is: the inverse of {@link runFolder}. */
export function runOfFolder(folder: string): RunKey {
  const parts = folder.split("/");
  return (parts[0] === "runs" ? parts[1] : `${parts[1]}/${parts[3]}`) as RunKey;
}

export const runPath = (run: RunKey): string => `${runFolder(run)}run.yaml`;
export const runPlanPath = (run: RunKey): string => `${runFolder(run)}plan.yaml`;

/** The request of one gate, by its name. Output: never read back. */
export const approvalRequestPath = (namespace: string | null, name: string): string =>
  `${namespace === null ? "" : `namespaces/${namespace}/`}approvals/${name}.yaml`;

/**
 * The request of a placement whose changes need an approval: `<placement>-change`. After a placement called `web-before`
 * or `web-after`, a dot: a gate before stage `change` of run `web` is called `web-before-change`.
 */
export const changeRequestName = (placement: string): string =>
  `${placement}${/-(?:before|after)$/.test(placement) ? "." : "-"}change`;

export const evictionPath = (eviction: string): string => `evictions/${eviction}.yaml`;

/** What a file of the state branch is, by its path; `other` is not part of the record. */
type StateFile =
  | { readonly kind: "ledger" | "answers" | "formerNames" | "trust" | "other" }
  | { readonly kind: "cluster" | "override" | "eviction" }
  | { readonly kind: "run" | "runPlan"; readonly folder: string }
  | { readonly kind: "placement" | "bindings" | "policySnapshots" | "resourceSnapshot"; readonly folder: string };

export function stateFileOf(path: string): StateFile {
  if (path === ledgerPath) return { kind: "ledger" };
  if (path === answersPath) return { kind: "answers" };
  if (path === formerNamesPath) return { kind: "formerNames" };
  if (path === trustTextPath) return { kind: "trust" };
  const [, folder, file] = /^((?:namespaces\/[^/]+\/)?placements\/[^/]+\/)(.+)$/.exec(path) ?? [];
  if (folder !== undefined && file !== undefined) return placementFileOf(folder, file);
  const run = /^((?:namespaces\/[^/]+\/)?runs\/[^/]+\/)(run|plan)\.yaml$/.exec(path);
  if (run?.[1] !== undefined) return { kind: run[2] === "run" ? "run" : "runPlan", folder: run[1] };
  if (/^evictions\/[^/]+\.yaml$/.test(path)) return { kind: "eviction" };
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
