import { createHash } from "node:crypto";
import { ringOf } from "./staged.ts";

/** How large a fleet is, and what it carries. */
export interface Size {
  /** Names of the members. */
  readonly members: readonly string[];
  readonly placements: number;
  /** Members that each placement picks. */
  readonly picks: number;
  /** All three objects of a placement, or no Deployment: API servers without controllers make none available. */
  readonly objects: "all" | "config";
}

/** A file of the hub: path and text. */
export type File = readonly [path: string, text: string];

/** What a commit does to a file; null removes it. */
export type Edit = readonly [path: string, text: string | null];

/** One change that somebody pushes. */
export type Change = "new" | "edit" | "policy" | "label";

/**
 * KubeFleet's published workload at any size (`test/README.md#speed`): every placement is a Namespace, a ConfigMap of 1
 * KB and a Deployment.
 *
 * Where placements go is spread evenly, and is worth a scheduler's while: members stand in cells, and a placement
 * prefers five neighbouring ones, which hold exactly as many members as it picks. Left to ties, which names break, all
 * placements would stand on the same members. When all members are picked, the placement says `PickAll`.
 */
export function workloadOf(size: Size): readonly File[] {
  const clusters = size.members.map((name, at): File => [`clusters/${name}.yaml`, clusterText(name, at, size)]);
  return [...clusters, ...count(size.placements).flatMap((it) => placementFiles(it, size))];
}

/**
 * The files that one change writes: a placement more, another value in one ConfigMap, another preference of one placement,
 * a label of one member that nobody asks for.
 */
export function changeOf(change: Change, size: Size): readonly File[] {
  const middle = Math.floor(size.placements / 2);
  switch (change) {
    case "new":
      return placementFiles(size.placements, size);
    case "edit":
      return [[configPath(middle), configText(middle, "edited")]];
    case "policy":
      return [[placementPath(middle), placementText(middle, size, 2)]];
    case "label":
      return size.members.slice(0, 1).map((name) => [`clusters/${name}.yaml`, clusterText(name, 0, size, "blue")]);
  }
}

/**
 * Renames every placement to one that is moved by runs alone, and of which there is no run: all that they carry waits to
 * be handed over.
 */
export const renamedToExternal = (size: Size): readonly Edit[] =>
  count(size.placements).flatMap((it): readonly Edit[] => [
    [placementPath(it), null],
    [
      `placements/staged-${padded(it)}.yaml`,
      placementText(it, size, 0)
        .replace(`\n  name: ${placementName(it)}\n`, `\n  name: staged-${padded(it)}\n`)
        .concat("  strategy:\n    type: External\n"),
    ],
  ]);

/** The files that an edit of one placement's ConfigMap writes. */
export const editOf = (placement: number, version: string): readonly File[] => [
  [configPath(placement), configText(placement, version)],
];

/** Names for so many members. */
export const memberNames = (members: number): readonly string[] => count(members).map((it) => `member-${padded(it)}`);

const cellsOfPlacement = 5;
const environments = ["prod", "prod", "prod", "prod", "prod", "staging", "staging", "staging", "dev", "dev"];

const placementName = (index: number): string => `app-${padded(index)}`;
const placementPath = (index: number): string => `placements/${placementName(index)}.yaml`;
const configPath = (index: number): string => `resources/${placementName(index)}/config.yaml`;

function clusterText(name: string, index: number, size: Size, team = "green"): string {
  return `apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata:
  name: ${name}
  labels:
    environment: ${environments[index % environments.length]}
    cell: cell-${Math.floor(index / cellSize(size))}
    ring: ${ringOf(index)}
    team: ${team}
spec:
  identity:
    kind: ServiceAccount
    name: ${name}
    namespace: fleet-system
`;
}

function placementFiles(index: number, size: Size): readonly File[] {
  const name = placementName(index);
  const namespace = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
  const deployment: readonly File[] =
    size.objects === "all" ? [[`resources/${name}/deployment.yaml`, deploymentText(name)]] : [];
  return [
    [placementPath(index), placementText(index, size, 0)],
    [`resources/${name}/namespace.yaml`, namespace],
    [configPath(index), configText(index, "first")],
    ...deployment,
  ];
}

/** `shift` moves the preference by so many cells. */
function placementText(index: number, size: Size, shift: number): string {
  return `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: ${placementName(index)}
spec:
  resourceSelectors:
    - group: ""
      version: v1
      kind: Namespace
      name: ${placementName(index)}
  policy:
${size.picks >= size.members.length ? pickAllText(shift) : pickNText(index, size, shift)}`;
}

/** Everything is picked whatever is preferred, so the edit of a policy is what it tolerates. */
const pickAllText = (shift: number): string =>
  `    placementType: PickAll\n${shift === 0 ? "" : "    tolerations:\n      - key: bench\n        operator: Exists\n"}`;

function pickNText(index: number, size: Size, shift: number): string {
  const cells = Math.ceil(size.members.length / cellSize(size));
  // Seven is prime to most numbers of cells: neighbours in name are not neighbours in place.
  const first = index * 7 + shift;
  const wanted = count(cellsOfPlacement).map((it) => `cell-${(first + it) % cells}`);
  return `    placementType: PickN
    numberOfClusters: ${size.picks}
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
            - labelSelector:
                matchExpressions:
                  - key: environment
                    operator: NotIn
                    values: [retired]
        preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            preference:
              labelSelector:
                matchExpressions:
                  - key: cell
                    operator: In
                    values: [${[...new Set(wanted)].join(", ")}]
`;
}

/** So many members that five cells are what a placement picks. */
const cellSize = ({ picks }: Size): number => Math.max(1, Math.floor(picks / cellsOfPlacement));

/** 1 KB of content that no compressor guesses, as settings of another service would be. */
function configText(index: number, version: string): string {
  const name = placementName(index);
  const values = count(12).map(
    (it) => `  SETTING_${padded(it)}: "${hex(`${name} ${it} ${it === 0 ? version : ""}`)}"\n`,
  );
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: ${name}\ndata:\n${values.join("")}`;
}

function deploymentText(namespace: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
  labels:
    app: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: registry.example/${namespace}/web:1.0.0
          envFrom:
            - configMapRef:
                name: config
          resources:
            requests:
              cpu: 100m
              memory: 64Mi
`;
}

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const padded = (index: number): string => String(index).padStart(4, "0");
const count = (length: number): readonly number[] => Array.from({ length }, (_, it) => it);
