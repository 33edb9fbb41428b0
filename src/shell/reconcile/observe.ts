import type { Intent } from "../../core/model/intent.ts";
import type { Observation } from "../../core/model/observation.ts";
import { placedNamespaces } from "../../core/model/placement.ts";
import type { World } from "../../core/model/plan.ts";
import type { Reason } from "../../core/model/reason.ts";
import { type ClusterName, type DurationMs, later, seconds } from "../../core/model/value.ts";
import { readArchive } from "./archive.ts";
import { readHistory } from "./history.ts";
import type { Memory, State } from "./memory.ts";
import type { MemberAddress, Ports, Settings } from "./ports.ts";
import { withReviews } from "./reviews.ts";
import { readSource, sourceBranchMissing } from "./source.ts";
import { readStateBranch } from "./state.ts";
import { verifyStateSigners } from "./state-signature.ts";

/** Everything one pass observes, and the state it started from. */
interface ObservedWorld {
  readonly world: World;
  readonly state: State;
  /** Reasons to report in addition to the plan's. */
  readonly reasons: readonly Reason[];
}

/** Reads both branches and observes every member; "now" is when all have answered, so that no wait ends early. */
export async function observe(ports: Ports, settings: Settings, memory: Memory): Promise<ObservedWorld> {
  const { repository, clock } = ports;
  const heads = await repository.heads();
  memory.heads = heads;
  if (heads.source === null) throw await sourceBranchMissing(repository, "push it, or name another one with --branch");
  if (settings.stateSigning !== undefined) await verifyStateSigners(ports, heads.state, settings.stateSigning, memory);
  if (memory.state === null || memory.state.commit !== heads.state) {
    memory.state = await readStateBranch(repository, heads.state, memory.state);
    memory.pending = null;
    memory.page = null;
  }
  const { state } = memory;
  const source = await readSource(repository, heads.source, state, { memory, settings });
  const { intent, reasons } = source;
  const ledger = memory.pending ?? state.ledger;
  const archive = await readArchive(repository, ledger, intent, memory);
  const { trustAnchor } = settings;
  const look = { source, ledger, anchor: trustAnchor, now: clock.now() };
  const history = await readHistory(ports, memory, look);
  const isFounding = heads.state === null;
  const observed = settings.members === "ask" ? await askMembers(ports, { intent, isFounding }) : new Map();
  const unreviewed = {
    intent,
    ledger,
    observed,
    unsound: new Map(),
    archive,
    history,
    trustAnchor,
    now: clock.now(),
    entropy: ports.entropy(),
    clockOffset: medianOffset(ports.fleet.clockOffsets()),
    patience: settings.patience,
  };
  const world = await withReviews(ports, memory, unreviewed);
  return { world, state, reasons };
}

async function askMembers(
  { fleet, clock }: Ports,
  { intent, isFounding }: { readonly intent: Intent; readonly isFounding: boolean },
): Promise<ReadonlyMap<ClusterName, Observation>> {
  const ask = async (name: ClusterName): Promise<readonly [ClusterName, Observation][]> => {
    const member = memberAddressOf(intent, name);
    let seen = await fleet.observe(member);
    // What a member remembers may say that the branch was lost: nobody founds one before all have answered.
    while (seen === null && isFounding) {
      await clock.sleepUntil(later(clock.now(), moment), never);
      seen = await fleet.observe(member);
    }
    // Who is still being asked has no observation, as if nobody had asked: recorded facts stand.
    return seen === null ? [] : [[name, seen]];
  };
  const answers = await Promise.all([...intent.clusters.keys()].map(ask));
  return new Map(answers.flat());
}

const moment = seconds(0.1);
const never = new AbortController().signal;

/**
 * Where a member is reached: the kubeconfig context of its name, unless `fleet.yaml` names another; and what is to be
 * asked of it.
 */
export const memberAddressOf = ({ fleet, placements }: Intent, name: ClusterName): MemberAddress => ({
  name,
  context: fleet.contexts.get(name) ?? name,
  namespaces: placedNamespaces(placements),
});

/** Two of them cannot tell which one is wrong. */
const fewestMembers = 3;

/**
 * Gives the median of at least three offsets of members' clocks; null for fewer, which prove nothing
 * (`rollout/README.md#i-06`).
 *
 * Of an even number, the one of the middle two that is nearer to zero, the smaller one when both are as near: our clock
 * is in doubt when more than half of the members say so, and members that contradict each other do not make up for each
 * other.
 */
export function medianOffset(offsets: readonly DurationMs[]): DurationMs | null {
  if (offsets.length < fewestMembers) return null;
  const ordered = [...offsets].sort((a, b) => a - b);
  const [low, high] = [ordered[(ordered.length - 1) >> 1], ordered[ordered.length >> 1]];
  if (low === undefined || high === undefined) return null;
  return Math.abs(high) < Math.abs(low) ? high : low;
}
