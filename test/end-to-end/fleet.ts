import { makeScratch } from "../kubernetes/supervise.ts";
import { type EmbeddedMember, type EmbeddedMembers, startEmbeddedMembers } from "./embedded.ts";
import { type Hub, makeHub } from "./hub.ts";
import { contentsOfAll, type Difference, differencesOf, type FleetContents } from "./member.ts";
import { flotilla, type Run, type Running, type RunOptions, startFlotilla } from "./program.ts";

/** The members that examples-repo describes. */
export const memberNames = [
  "dev-eu-1",
  "edge-ap-1",
  "prod-ap-1",
  "prod-eu-1",
  "prod-eu-2",
  "prod-us-1",
  "prod-us-2",
  "staging-eu-1",
  "staging-us-1",
];

/** The members that `observability` stands on: all but the tainted one. */
export const collectingNames = memberNames.filter((it) => it !== "edge-ap-1");

/** A hub, and how its user runs Flotilla against it. */
export interface Desk {
  readonly hub: Hub;
  /** A folder of this test's own. */
  readonly folder: string;
  readonly kubeconfig: string;
  /** `flotilla COMMAND … --repo HUB`. */
  run(command: string, ...more: readonly string[]): Promise<Run>;
  /** `flotilla reconcile --repo HUB --kubeconfig FILE …`. */
  reconcile(...more: readonly string[]): Promise<Run>;
  startReconcile(more: readonly string[], options?: RunOptions): Promise<Running>;
}

export function deskAt(hub: Hub, folder: string, kubeconfig: string): Desk {
  const reconcile = ["reconcile", "--repo", hub.repo, "--kubeconfig", kubeconfig];
  return {
    hub,
    folder,
    kubeconfig,
    run: (command, ...more) => flotilla([command, ...more, "--repo", hub.repo], { cwd: folder }),
    reconcile: (...more) => flotilla([...reconcile, ...more], { cwd: folder }),
    startReconcile: (more, options = {}) => startFlotilla([...reconcile, ...more], { cwd: folder, ...options }),
  };
}

/** examples-repo as a hub, with all its members embedded in a process of their own. */
export interface Stage extends Desk {
  readonly members: EmbeddedMembers;
  member(name: string): EmbeddedMember;
  /** What every member holds; of one placement only, when one is named. */
  contents(placement?: string): Promise<FleetContents>;
  /** Members whose objects differ from `before`, each with what differs. */
  differences(before: FleetContents): Promise<Readonly<Record<string, Difference>>>;
  /** Changing requests on all members, since it was last asked. */
  mutations(): Promise<number>;
  stop(): Promise<void>;
}

export async function setStage(options: { readonly availableAfter?: string } = {}): Promise<Stage> {
  const scratch = await makeScratch();
  const members = await startEmbeddedMembers({ folder: scratch.path, names: memberNames, ...options });
  const hub = await makeHub(scratch.path);
  const { member } = members;
  const contents = (placement?: string) => contentsOfAll(memberNames.map(member), placement);
  return {
    ...deskAt(hub, scratch.path, members.file),
    members,
    member,
    contents,
    differences: async (before) => differencesOf(before, await contents()),
    mutations: async () => {
      const counts = await Promise.all(memberNames.map((it) => member(it).mutations()));
      return counts.reduce((sum, it) => sum + it, 0);
    },
    stop: async () => {
      await members.stop();
      await scratch.stop();
    },
  };
}

/** How far each placement's update may go at once in examples-repo. */
const budgets = {
  observability: "maxUnavailable: 25%",
  payments: "maxUnavailable: 1",
  platform: "maxUnavailable: 25%",
  "web-shop": "maxUnavailable: 1",
};

/**
 * A stage on which everything that examples-repo asks for stands and is available. Workloads become so at once, and updates
 * go everywhere at once: for tests of what is done, not of how fast.
 */
export async function setPlacedStage(): Promise<Stage> {
  const stage = await setStage({ availableAfter: "0ms" });
  await openBudgets(stage.hub);
  stage.hub.push("Update everywhere at once");
  const run = await stage.reconcile("--wait", "5m");
  if (run.code !== 0) throw new Error(`the examples were not placed: ${run.out}${run.err}`);
  await stage.mutations();
  return stage;
}

/** Makes the clone what it was when the stage was set, without committing it. */
export async function restoreStage({ hub }: Stage): Promise<void> {
  await hub.restore();
  await openBudgets(hub);
}

async function openBudgets(hub: Hub): Promise<void> {
  for (const [placement, budget] of Object.entries(budgets)) {
    await hub.edit(`placements/${placement}.yaml`, budget, "maxUnavailable: 100%");
  }
}
