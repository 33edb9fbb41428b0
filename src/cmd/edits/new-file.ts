import type { Json } from "../../core/model/json.ts";
import { placementGroup } from "../../core/model/names.ts";
import type { UpdateRunSpec } from "../../core/model/update-run.ts";
import { emitYaml } from "../../core/yaml/canonical.ts";
import type { TextFile } from "./found-document.ts";

/** What a new run says. */
export interface NewRun {
  /** Null for a ClusterStagedUpdateRun. */
  readonly namespace: string | null;
  readonly name: string;
  readonly placement: string;
  readonly strategy: string;
  /** Null: what is selected when it is initialized. */
  readonly index: string | null;
  readonly state: UpdateRunSpec["state"];
}

/** `ClusterStagedUpdateRun`, or `StagedUpdateRun` in a namespace. */
export const runKind = (namespace: string | null): string =>
  namespace === null ? "ClusterStagedUpdateRun" : "StagedUpdateRun";

/** The file of a run: `runs/<name>.yaml`, in a folder of its namespace where it has one, below `root`. */
export function runFile({ namespace, name, placement, strategy, index, state }: NewRun, root: string): TextFile {
  const spec = {
    placementName: placement,
    ...(index === null ? {} : { resourceSnapshotIndex: index }),
    stagedRolloutStrategyName: strategy,
    state,
  };
  const path = `${root}runs/${namespace === null ? "" : `${namespace}/`}${name}.yaml`;
  return { path, text: objectText(runKind(namespace), namespace === null ? { name } : { namespace, name }, spec) };
}

/** The file of an eviction: `evictions/<name>.yaml`, below `root`. */
export const evictionFile = (
  name: string,
  { placement, cluster }: { readonly placement: string; readonly cluster: string },
  root: string,
): TextFile => ({
  path: `${root}evictions/${name}.yaml`,
  text: objectText(evictionKind, { name }, { placementName: placement, clusterName: cluster }),
});

export const evictionKind = "ClusterResourcePlacementEviction";

const objectText = (kind: string, metadata: Json, spec: Json): string =>
  emitYaml({ apiVersion: `${placementGroup}/v1beta1`, kind, metadata, spec });

/** `wanted`, or with `-2`, `-3` … behind it the first that is not taken: names must not depend on chance. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wanted)) return wanted;
  let number = 2;
  while (isTaken(`${wanted}-${number}`)) number += 1;
  return `${wanted}-${number}`;
}
