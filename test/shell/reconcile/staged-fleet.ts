import { expect } from "vitest";
import type { RunRecord } from "../../../src/core/model/update-run.ts";
import type { Instant, RunKey } from "../../../src/core/model/value.ts";
import type { Fleet, Ports } from "../../../src/shell/reconcile/ports.ts";
import { readStateBranch } from "../../../src/shell/reconcile/state.ts";
import { Member } from "../../member.ts";
import { Hub } from "../../simulation/world/hub.ts";
import { unsigned } from "../../unsigned.ts";
import { type HandClock, handClock } from "./hand-clock.ts";
import { hubRepository } from "./hub-repository.ts";

/** A fleet in memory with one External placement, and a run `first` that brings it to all members. */
export interface StagedFleet {
  readonly clock: HandClock;
  readonly ports: Ports;
  /** Whom something was written to, and when that was first so. */
  readonly begun: ReadonlyMap<string, Instant>;
  /** Commits files over those that are there; null: the file is gone. */
  push(changes: Readonly<Record<string, string | null>>): void;
  /** The run as it stands on the state branch. */
  recorded(): Promise<RunRecord>;
}

/** Sets up a fleet whose members are given with the stage of each, and stages with what is written of each. */
export function stagedFleet(
  members: ReadonlyMap<string, string>,
  stages: Readonly<Record<string, string>>,
): StagedFleet {
  const hub = new Hub();
  let files = filesOf(members, stages);
  hub.pushSource(files, null);
  // A process does not begin at a whole second.
  const clock = handClock((Date.parse("2026-11-21T12:00:00Z") + 437) as Instant);
  const sites = new Map([...members.keys()].map((it) => [it, new Member(it)]));
  const at = (name: string): Member => sites.get(name) ?? expect.fail(`there is no ${name}`);
  const begun = new Map<string, Instant>();
  const fleet: Fleet = {
    observe: async ({ name }) => at(name).observe(),
    act: async ({ name }, actions) => {
      if (!begun.has(name)) begun.set(name, clock.now());
      const interrupted = at(name).act(actions, clock.now());
      return { cluster: actions.cluster, created: 1, configured: 0, deleted: 0, released: 0, failed: 0, interrupted };
    },
    clockOffsets: () => [],
    close: async () => {},
  };
  const ports = { repository: hubRepository(hub), fleet, clock, ...unsigned };
  const recorded = async (): Promise<RunRecord> => {
    const { ledger } = await readStateBranch(ports.repository, hub.state);
    return ledger.runs.get("first" as RunKey) ?? expect.fail("the run is not on record");
  };
  const push: StagedFleet["push"] = (changes) => {
    const next = new Map(files);
    for (const [path, text] of Object.entries(changes))
      if (text === null) next.delete(path);
      else next.set(path, text);
    files = next;
    hub.pushSource(files, hub.source);
  };
  return { clock, ports, begun, push, recorded };
}

const api = "placement.kubernetes-fleet.io/v1";

const filesOf = (
  members: ReadonlyMap<string, string>,
  stages: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> =>
  new Map([
    ["fleet.yaml", "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {approvals: {unsigned: allow}}\n"],
    ...[...members].map(([name, env]) => [`clusters/${name}.yaml`, clusterText(name, env)] as const),
    ["web/space.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n"],
    ["web/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\ndata: {value: one}\n"],
    ["placements/web.yaml", placementText],
    ["strategies/rings.yaml", strategyText(stages)],
    ["runs/first.yaml", runText],
  ]);

const clusterText = (name: string, env: string): string => `apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: ${name}, labels: {env: ${env}}}
spec: {identity: {kind: ServiceAccount, name: member, namespace: fleet-system}}
`;

const placementText = `apiVersion: ${api}
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  strategy: {type: External}
`;

const strategyText = (stages: Readonly<Record<string, string>>): string => `apiVersion: ${api}
kind: ClusterStagedUpdateStrategy
metadata: {name: rings}
spec:
  stages:
${Object.entries(stages).map(stageText).join("")}`;

const stageText = ([env, more]: readonly [string, string]): string =>
  `    - {name: ${env}, labelSelector: {matchLabels: {env: ${env}}}${more === "" ? "" : `, ${more}`}}\n`;

const runText = `apiVersion: ${api}
kind: ClusterStagedUpdateRun
metadata: {name: first}
spec: {placementName: web, stagedRolloutStrategyName: rings, state: Run}
`;
