import type { Intent } from "../../core/model/intent.ts";
import type { Observation } from "../../core/model/observation.ts";
import type { Reason, World } from "../../core/model/plan.ts";
import type { ClusterName, Instant } from "../../core/model/value.ts";
import { readArchive } from "./archive.ts";
import { bounded } from "./bounded.ts";
import { Fault } from "./fault.ts";
import type { Memory, State } from "./memory.ts";
import type { MemberAddress, Ports } from "./ports.ts";
import type { Settings } from "./settings.ts";
import { readSource } from "./source.ts";
import { readState } from "./state.ts";

/** Everything one pass looks at, and the state it was looked at from. */
export interface Scene {
  readonly world: World;
  readonly state: State;
  /** What is to be said whatever the plan says. */
  readonly reasons: readonly Reason[];
}

/** Members asked at the same time. Each has its own deadline, so a silent one costs the others nothing. */
const membersAtOnce = 64;

/** Looks at both branches and at every member, and reads the clock once: all of a world is "now". */
export async function observe(ports: Ports, settings: Settings, memory: Memory): Promise<Scene> {
  const { repository, clock } = ports;
  const heads = await repository.heads();
  memory.heads = heads;
  if (heads.source === null) {
    throw new Fault(
      "SourceBranchMissing",
      `reading ${repository.name}`,
      "the source branch does not exist",
      "push it, or name another one with --branch",
    );
  }
  if (memory.state === null || memory.state.commit !== heads.state) {
    memory.state = await readState(repository, heads.state);
    memory.pending = null;
    memory.page = null;
  }
  const { state } = memory;
  const { intent, reasons } = await readSource(repository, heads.source, state, { memory, settings });
  const ledger = memory.pending ?? state.ledger;
  const archive = await readArchive(repository, ledger, intent, memory);
  const observed = settings.members === "ask" ? await askMembers(ports, intent) : new Map();
  const world = { intent, ledger, observed, archive, now: wholeSecond(clock.now()), patience: settings.patience };
  return { world, state, reasons };
}

/** Instants are recorded in seconds; a decision made within one must not depend on what is not written down. */
const wholeSecond = (at: Instant): Instant => (Math.floor(at / 1000) * 1000) as Instant;

async function askMembers({ fleet }: Ports, intent: Intent): Promise<ReadonlyMap<ClusterName, Observation>> {
  const members = [...intent.clusters.keys()];
  const answers = await bounded(members, membersAtOnce, (it) => fleet.observe(addressOf(intent, it)));
  return new Map(members.map((it, at) => [it, answers[at] as Observation]));
}

/** Where a member is reached: the kubeconfig context of its name, unless `fleet.yaml` names another. */
export const addressOf = ({ fleet }: Intent, name: ClusterName): MemberAddress => ({
  name,
  context: fleet.contexts.get(name) ?? name,
});
