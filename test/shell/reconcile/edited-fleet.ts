import type { Commit, Instant } from "../../../src/core/model/value.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { type PassResult, pass } from "../../../src/shell/reconcile/pass.ts";
import type { Fleet, Ports } from "../../../src/shell/reconcile/ports.ts";
import { type Random, seeded } from "../../core/intent/random.ts";
import { Member } from "../../member.ts";
import { Hub } from "../../simulation/world/hub.ts";
import { unsigned } from "../../unsigned.ts";
import { hubRepository } from "./hub-repository.ts";

/** A small fleet in memory whose repository somebody edits at random: the same seed, the same story. */
export interface EditedFleet {
  readonly hub: Hub;
  readonly ports: Ports;
  readonly members: ReadonlyMap<string, Member>;
  readonly random: Random;
  /** The files of the source branch. */
  readonly files: Map<string, string>;
  /** Pushes the files as they are. */
  push(): Commit;
  /** Changes some files at random, and says what it did. */
  edit(): string;
  /** One pass of the reconciler that lives here. */
  pass(): Promise<PassResult>;
}

const memberNames = ["a-1", "a-2", "b-1", "b-2", "c-1", "c-2"];
const apps = ["red", "green", "blue", "grey", "pink", "gold"];

export function editedFleet(seed: number): EditedFleet {
  const random = seeded(seed);
  const hub = new Hub();
  const members = new Map(memberNames.map((it) => [it, new Member(it)]));
  const files = new Map(memberNames.map((it) => [`clusters/${it}.yaml`, clusterText(it, "one")]));
  for (const app of apps.slice(0, 5)) for (const [path, text] of appFiles(app, random)) files.set(path, text);
  let now = Date.parse("2026-11-21T12:00:00Z");
  const fleet: Fleet = {
    observe: async ({ name }) => known(members, name).observe(),
    act: async ({ name }, actions) => {
      const interrupted = known(members, name).act(actions, now as Instant);
      return { cluster: actions.cluster, created: 1, configured: 0, deleted: 0, released: 0, failed: 0, interrupted };
    },
    clockOffsets: () => [],
    close: async () => {},
  };
  const clock = { now: () => now as Instant, sleepUntil: async () => {} };
  const ports = { repository: hubRepository(hub), fleet, clock, ...unsigned };
  const memory = newMemory();
  return {
    hub,
    ports,
    members,
    random,
    files,
    push: () => hub.pushSource(files, hub.source),
    edit: () => edit(files, random),
    pass: () => {
      now += 1000 * (1 + random.below(30));
      return pass(ports, { members: "ask", patience: "retryAt", acceptRewrite: null, trustAnchor: null }, memory, true);
    },
  };
}

function known<V>(map: ReadonlyMap<string, V>, key: string): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`there is no ${key}`);
  return value;
}

const clusterText = (name: string, env: string): string => `apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: ${name}, labels: {region: ${name[0]}, env: ${env}}}
spec:
  identity: {kind: ServiceAccount, name: member, namespace: fleet-system}
`;

function appFiles(app: string, random: Random): readonly (readonly [string, string])[] {
  return [
    [`placements/${app}.yaml`, placementText(app, random)],
    [`apps/${app}/space.yaml`, `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${app}, labels: {tier: front}}\n`],
    [`apps/${app}/config.yaml`, configText(app, random)],
  ];
}

const configText = (app: string, random: Random): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: ${app}}\ndata: {value: "${random.below(1000)}"}\n`;

function placementText(app: string, random: Random): string {
  const policies = [
    "{placementType: PickAll}",
    `{placementType: PickN, numberOfClusters: ${1 + random.below(6)}}`,
    `{placementType: PickFixed, clusterNames: [${random.pick(memberNames)}]}`,
  ];
  // The type of a placement is for life.
  const policy = policies[apps.indexOf(app) % 3];
  const selector = random.below(6) === 0 ? "labelSelector: {matchLabels: {tier: front}}" : `name: ${app}`;
  return `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: ${app}}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, ${selector}}]
  policy: ${policy}
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: ${1 + random.below(3)}, unavailablePeriodSeconds: 0}}
`;
}

const overrideText = (app: string, random: Random): string => `apiVersion: placement.kubernetes-fleet.io/v1
kind: ResourceOverride
metadata: {name: ${app}, namespace: ${app}}
spec:
${random.below(3) === 0 ? "" : `  placement: {name: ${app}, scope: Cluster}\n`}  resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: config}]
  policy:
    overrideRules:
      - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {region: ${random.pick(["a", "b"])}}}}]}
        jsonPatchOverrides: [{op: add, path: /data/extra, value: "${random.below(100)}"}]
`;

/** One edit of a person, most of them harmless. */
function edit(files: Map<string, string>, random: Random): string {
  const app = random.pick(apps);
  const member = random.pick(memberNames);
  const edits: readonly (readonly [number, string, () => void])[] = [
    [6, `edit the config of ${app}`, () => void files.set(`apps/${app}/config.yaml`, configText(app, random))],
    [5, `edit the policy of ${app}`, () => void files.set(`placements/${app}.yaml`, placementText(app, random))],
    [2, `add ${app}`, () => appFiles(app, random).forEach(([path, text]) => void files.set(path, text))],
    [2, `remove the placement of ${app}`, () => void files.delete(`placements/${app}.yaml`)],
    [1, `remove the config of ${app}`, () => void files.delete(`apps/${app}/config.yaml`)],
    [3, `override ${app}`, () => void files.set(`overrides/${app}.yaml`, overrideText(app, random))],
    [1, `remove the override of ${app}`, () => void files.delete(`overrides/${app}.yaml`)],
    [1, `relabel ${member}`, () => void files.set(`clusters/${member}.yaml`, clusterText(member, "two"))],
    [1, `remove ${member}`, () => void files.delete(`clusters/${member}.yaml`)],
    [1, "guard tighter", () => void files.set("fleet.yaml", fleetText(random))],
    [1, `break the placement of ${app}`, () => void files.set(`placements/${app}.yaml`, "kind: [\n")],
    [2, "write a note", () => void files.set("notes.yaml", `note: ${random.below(100)}\n`)],
  ];
  const weighted = edits.flatMap((it) => Array.from({ length: it[0] }, () => it));
  const [, what, change] = random.pick(weighted);
  change();
  return what;
}

const fleetText = (random: Random): string => `apiVersion: flotilla.dev/v1alpha1
kind: Fleet
metadata: {name: fleet}
spec: {guards: {objectsPerCluster: ${1 + random.below(9)}}}
`;
