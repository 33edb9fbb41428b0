import { decodeBlob } from "../../../src/core/intent/documents.ts";
import { type AcceptedSource, readIntent, type SourceFile } from "../../../src/core/intent/intent.ts";
import { trustPath } from "../../../src/core/intent/trust/trust-file.ts";
import type { Intent } from "../../../src/core/model/intent.ts";
import { digestOfText } from "../../../src/core/model/json.ts";
import { objectText } from "../../../src/core/model/manifest.ts";
import type { BlobId, Commit } from "../../../src/core/model/value.ts";
import { problemText } from "../../../src/core/yaml/problems.ts";

/** Files of a commit by path: texts, or what is no file. */
export type Files = Readonly<Record<string, string | Uint8Array | "link" | "submodule">>;

const encoder = new TextEncoder();

export const bytesOf = (text: string | Uint8Array): Uint8Array =>
  typeof text === "string" ? encoder.encode(text) : text;

export function sourceFiles(files: Files): readonly SourceFile[] {
  return Object.entries(files).map(([path, content]): SourceFile => {
    const blob = digestOfText(`${content}`).slice(0, 40) as BlobId;
    if (content === "link" || content === "submodule") return { path, blob, kind: content, decoded: null };
    const file = { path, blob, kind: "file", decoded: decodeBlob(bytesOf(content)) } as const;
    return path === trustPath ? { ...file, text: typeof content === "string" ? content : null } : file;
  });
}

/** Reads a repository nobody has read before. */
export const read = (files: Files): Intent =>
  readIntent({ commit: "c1" as Commit, files: sourceFiles(files), accepted: null });

/** Reads commits one after the other, each against what was accepted before it, and gives the last intent. */
export const readAll = (...commits: readonly Files[]): Intent => readRepeatedly(1, ...commits);

/** The same, the last commit read so many times: the second time it is what was accepted. */
export function readRepeatedly(times: number, ...commits: readonly Files[]): Intent {
  let accepted: AcceptedSource | null = null;
  let intent = read({});
  const decoded = new Map(
    commits
      .flatMap((it) => sourceFiles(it))
      .flatMap((it) => (it.decoded === null ? [] : [[it.blob, it.decoded] as const])),
  );
  const readings = [...commits.entries()].flatMap((it) => Array(it[0] === commits.length - 1 ? times : 1).fill(it));
  for (const [at, commit] of readings) {
    const files = sourceFiles(commit);
    intent = readIntent({ commit: `c${at + 1}` as Commit, files, accepted });
    const kept = files.filter((it) => intent.files.has(it.path));
    accepted = { commit: intent.commit, files: kept, holds: intent.holds, heldFiles: decoded };
  }
  return intent;
}

/** Everything that is wrong with one file, as people see it, without the path. */
export const problemsOf = (content: string | Uint8Array, path = "a.yaml"): readonly string[] =>
  read({ [path]: content }).problems.map((it) => problemText(it).replace(`${path}:`, ""));

/** The same, reduced to place and code: `4:3 error FLT1302`. */
export const codesOf = (content: string | Uint8Array): readonly string[] =>
  read({ "a.yaml": content }).problems.map((it) => `${it.line}:${it.column} ${it.severity} ${it.code}`);

export const placement = (name: string, spec = ""): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {name: ${name}}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
${spec}`;

export const cluster = (name: string, labels = "env: prod"): string => `apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: ${name}, labels: {${labels}}}
spec: {identity: {kind: User, name: ${name}}}
`;

export const configMap = (name: string, data = "a: b"): string => `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: web}
data: {${data}}
`;

export const override = (
  name: string,
  object: string,
  placementName = "",
): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceOverride
metadata: {name: ${name}}
spec:
  ${placementName === "" ? "" : `placement: {name: ${placementName}}`}
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: ${object}}]
  policy:
    overrideRules:
      - clusterSelector: {clusterSelectorTerms: []}
        jsonPatchOverrides: [{op: add, path: /metadata/labels/a, value: b}]
`;

/** The same override, written for one ConfigMap of the namespace web; what a placement is written like, as there. */
export const resourceOverride = (name: string, object: string, placementName = "", namespace = "web"): string =>
  override(name, object, placementName)
    .replace("kind: ClusterResourceOverride", "kind: ResourceOverride")
    .replace(`metadata: {name: ${name}}`, `metadata: {name: ${name}, namespace: ${namespace}}`)
    .replace("clusterResourceSelectors:", "resourceSelectors:")
    .replace("kind: Namespace", "kind: ConfigMap");

export const run = (name: string, spec = ""): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata: {name: ${name}}
spec:
  placementName: web
  stagedRolloutStrategyName: ring
${spec}`;

export const updateStrategy = (
  name: string,
  ...stages: readonly string[]
): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: ${name}}
spec:
  stages: [${stages.join(", ")}]
`;

export const eviction = (
  name: string,
  placementName: string,
  clusterName: string,
): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacementEviction
metadata: {name: ${name}}
spec: {placementName: ${placementName}, clusterName: ${clusterName}}
`;

export const budget = (name: string, spec: string): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacementDisruptionBudget
metadata: {name: ${name}}
spec: {${spec}}
`;

/** What is in force, object by object; held ones with the commit and place of their version. */
export function inForce({ clusters, placements, overrides, runs, objects, holds }: Intent): readonly string[] {
  const held = new Map(holds.map((it) => [objectText(it.id), ` (held ${it.commit} ${it.path}#${it.document})`]));
  const names = [
    ...[...clusters.keys()].map((it) => `MemberCluster.cluster.kubernetes-fleet.io ${it}`),
    ...[...placements.values()].map(
      ({ scope, key }) =>
        `${scope === "Cluster" ? "Cluster" : ""}ResourcePlacement.placement.kubernetes-fleet.io ${key}`,
    ),
    ...overrides.map(({ namespace, name }) =>
      namespace === null
        ? `ClusterResourceOverride.placement.kubernetes-fleet.io ${name}`
        : `ResourceOverride.placement.kubernetes-fleet.io ${namespace}/${name}`,
    ),
    ...[...runs.values()].map(({ scope, key }) =>
      scope === "Cluster"
        ? `ClusterStagedUpdateRun.placement.kubernetes-fleet.io ${key}`
        : `StagedUpdateRun.placement.kubernetes-fleet.io ${key}`,
    ),
    ...[...objects.values()].map((it) => objectText(it.id)),
  ];
  return names.map((it) => it.replace(/\.(?:cluster|placement)\.kubernetes-fleet\.io/, "") + (held.get(it) ?? ""));
}

export const errorsOf = ({ problems }: Intent): readonly string[] =>
  problems.filter((it) => it.severity === "error").map((it) => problemText(it).replace(/;.*/, ""));
