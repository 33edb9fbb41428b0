import type { Intent } from "../../src/core/model/intent.ts";
import type { PlacementPolicy } from "../../src/core/model/placement.ts";
import { scheduleCached } from "../../src/core/plan/incremental.ts";
import { contextOf } from "../../src/core/plan/plan.ts";
import { type Candidate, candidateOf } from "../../src/core/schedule/framework/cycle.ts";
import { profiles } from "../../src/core/schedule/profile.ts";
import { schedule } from "../../src/core/schedule/schedule.ts";
import { systemClock } from "../../src/shell/host/system.ts";
import { constrainedCluster, constrainedPlacement, nodesAt } from "./constrained.ts";
import { type Bare, lookAround, onePass, openBare, settle } from "./passes.ts";
import { cpuSince } from "./usage.ts";
import type { File, Size } from "./workload.ts";

/** What one step of scheduling took: milliseconds on a core, in the best of some rounds. */
export interface ScheduleOutcome {
  readonly case: string;
  /** The scheduler alone: finding out which placements a change is about, and deciding those. */
  readonly scheduling: number;
  /** Planning the whole pass, the scheduler included; null where no pass was planned. */
  readonly pass: number | null;
  readonly rounds: number;
}

/**
 * What constrained placements cost to schedule: each with a policy of its own, and all with the same one. First the
 * scheduler remembers nothing of the round before; then one member changed, with all placements where they are.
 */
export async function measureSchedule(size: Size, tell: (outcome: ScheduleOutcome) => void): Promise<void> {
  for (const kind of ["distinct", "equal"] as const) {
    const files = filesOf(size, kind);
    const bare = await openBare(size, null);
    bare.repository.write(files);
    const { intent } = (await lookAround(bare)).world;
    if (kind === "distinct") tell(leastOf("1 placement, cold", 20, () => coldRound(intent, 1)));
    const all = size.placements;
    tell(leastOf(`${all} ${kind} policies, cold`, 5, () => coldRound(intent, all)));
    const bound = await planned(bare);
    if (bound !== all * size.picks) throw new Error(`${bound} bindings instead of ${all * size.picks}`);
    for (const change of changesOf(size, bare)) {
      const spent: { readonly scheduling: number[]; readonly pass: number[] } = { scheduling: [], pass: [] };
      for (let round = 0; round < 8; round++) {
        change.make(round % 2 === 0);
        // Either is measured before the other has remembered anything of the change.
        if (round % 4 < 2) spent.scheduling.push(await schedulingAlone(bare));
        const { planCpu } = await onePass(bare);
        if (round % 4 >= 2) spent.pass.push(planCpu);
        await settle(bare, []);
      }
      const [scheduling, pass] = [Math.min(...spent.scheduling), Math.min(...spent.pass)];
      tell({ case: `${all} ${kind} policies, ${change.name}`, scheduling, pass, rounds: spent.pass.length });
    }
    await bare.fleet.close();
  }
}

/** The part of a pass in which the scheduler decides, with all that the passes before it have remembered. */
async function schedulingAlone(bare: Bare): Promise<number> {
  const { world } = await lookAround(bare);
  const context = contextOf(world);
  const before = process.cpuUsage();
  for (const record of context.ledger.placements.values()) scheduleCached(record, context);
  return cpuSince(before);
}

const filesOf = ({ members, placements, picks }: Size, kind: "distinct" | "equal"): readonly File[] => [
  ...members.map((it, at) => constrainedCluster(it, at)),
  ...Array.from({ length: placements }, (_, it) => constrainedPlacement(it, kind === "equal" ? 0 : it, picks)),
];

/** One change of one member, made and taken back in turns. */
interface MemberChange {
  readonly name: string;
  readonly make: (isMade: boolean) => void;
}

/**
 * The place of the member that changes: one in the middle of the range of its property, and of the third tier; every policy
 * prefers that or the first, so that it matters to all of them. Three members are the fewest of which one is such.
 */
export function changedPlace(count: number): number {
  const nodes = Array.from({ length: count }, (_, it) => nodesAt(it));
  const isInside = (it: number): boolean => nodesAt(it) > Math.min(...nodes) && nodesAt(it) < Math.max(...nodes);
  const middle = Math.floor(count / 2);
  const places = [...nodes.keys()].filter((it) => it % 3 === 2 && isInside(it));
  return places.find((it) => it >= middle) ?? places.at(-1) ?? 0;
}

function changesOf({ members }: Size, { repository, silence }: Bare): readonly MemberChange[] {
  const at = changedPlace(members.length);
  const member = members[at] ?? "";
  const edited = (special: Parameters<typeof constrainedCluster>[2]) => (isMade: boolean) =>
    repository.write([constrainedCluster(member, at, isMade ? special : {})]);
  return [
    { name: "nothing changed", make: () => {} },
    { name: "a label that no policy asks for", make: edited({ team: "blue" }) },
    { name: "a label that policies prefer", make: edited({ tier: "tier-0" }) },
    { name: "a property that policies sort by", make: edited({ nodes: 20 }) },
    { name: "the largest value of a property", make: edited({ nodes: 90 }) },
    { name: "contact with a member", make: (isMade) => silence?.(member, isMade) },
  ];
}

/** Everything scheduled and written down; how many bindings there are. */
async function planned(bare: Bare): Promise<number> {
  await settle(bare, []);
  const { ledger } = (await lookAround(bare)).world;
  return [...ledger.placements.values()].reduce((sum, it) => sum + it.bindings.size, 0);
}

/** A fleet and policies that nobody has seen, so that nothing is known of them. */
function coldRound({ clusters, placements }: Intent, count: number): number {
  const candidates = [...clusters.values()].map((it) => candidateOf(structuredClone(it), null));
  const policies = [...placements.values()].slice(0, count).map((it) => structuredClone(it.spec.policy));
  const before = process.cpuUsage();
  for (const policy of policies) scheduled(policy, candidates);
  return cpuSince(before);
}

function scheduled(policy: PlacementPolicy, candidates: readonly Candidate[]): void {
  const cycle = {
    policy,
    candidates,
    namespace: null,
    grants: [],
    cycleBindings: [],
    recorded: [],
    now: systemClock.now(),
  };
  const { fulfilled } = schedule(cycle, profiles.default);
  if (!fulfilled) throw new Error("a placement finds too few members");
}

function leastOf(name: string, rounds: number, round: () => number): ScheduleOutcome {
  const spent = Array.from({ length: rounds }, round);
  return { case: name, scheduling: Math.min(...spent), pass: null, rounds };
}
