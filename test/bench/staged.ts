import type { File } from "./workload.ts";

/** The stages of every staged run: each takes the members of one ring. */
export const rings = ["first", "second", "third"] as const;

/** The ring of a member, by its place among all: equally large, whatever else members have in common. */
export const ringOf = (index: number): string => rings[index % rings.length] ?? rings[0];

const api = "placement.kubernetes-fleet.io/v1beta1";
const name = "staged";

/** A placement on all members that moves by runs alone, with one ConfigMap, and the run that brings it there. */
export const stagedFiles = (): readonly File[] => [
  [
    `placements/${name}.yaml`,
    `apiVersion: ${api}
kind: ClusterResourcePlacement
metadata:
  name: ${name}
spec:
  resourceSelectors:
    - group: ""
      version: v1
      kind: Namespace
      name: ${name}
  policy:
    placementType: PickAll
  strategy:
    type: External
`,
  ],
  [
    "strategies/rings.yaml",
    `apiVersion: ${api}
kind: ClusterStagedUpdateStrategy
metadata:
  name: rings
spec:
  stages:
${rings.map(stageText).join("")}`,
  ],
  [`resources/${name}/namespace.yaml`, `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`],
  ...runFiles("founding", "first"),
];

const stageText = (ring: string): string => `    - name: ${ring}
      labelSelector:
        matchLabels:
          ring: ${ring}
      maxConcurrency: 50%
`;

/** A value in its ConfigMap, and the run that takes it to all members, stage by stage and half of a stage at a time. */
export const runFiles = (run: string, value: string): readonly File[] => {
  const config = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: ${name}\ndata:\n  value: ${value}\n`;
  const spec = `spec:\n  placementName: ${name}\n  stagedRolloutStrategyName: rings\n  state: Run\n`;
  const text = `apiVersion: ${api}\nkind: ClusterStagedUpdateRun\nmetadata:\n  name: ${run}\n${spec}`;
  return [
    [`resources/${name}/config.yaml`, config],
    [`runs/${run}.yaml`, text],
  ];
};
