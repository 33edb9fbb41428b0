import { check } from "../../src/core/check/check.ts";
import type { Commit } from "../../src/core/model/value.ts";
import { plan } from "../../src/core/plan/plan.ts";
import { systemClock } from "../../src/shell/host/system.ts";
import { kubeFleet } from "../../src/shell/kube/fleet.ts";
import { type Memory, newMemory } from "../../src/shell/reconcile/memory.ts";
import { memberAddressOf, observe } from "../../src/shell/reconcile/observe.ts";
import type { Fleet } from "../../src/shell/reconcile/ports.ts";
import { unsigned } from "../unsigned.ts";
import { memoryRepository } from "./memory-repository.ts";
import { perfectFleet } from "./perfect-fleet.ts";
import { cpuSince } from "./usage.ts";
import type { Edit, Size } from "./workload.ts";

/** What passes took: milliseconds by the clock. */
export interface Counts {
  readonly passes: number;
  /** Reading what changed of the source, and asking the members. */
  readonly observe: number;
  readonly plan: number;
  readonly check: number;
  readonly act: number;
  readonly longestDecision: number;
  readonly actions: number;
}

/** A reconciler without a repository that costs anything. */
export interface Bare {
  readonly repository: ReturnType<typeof memoryRepository>;
  readonly fleet: Fleet;
  /** Null where members are real. */
  readonly silence: ReturnType<typeof perfectFleet>["silence"] | null;
  readonly memory: Memory;
}

/** With perfect members, or with those of a kubeconfig. */
export async function openBare(size: Size, kubeconfig: string | null): Promise<Bare> {
  const memory = newMemory();
  const repository = memoryRepository();
  if (kubeconfig !== null)
    return { repository, fleet: await kubeFleet({ kubeconfig, clock: systemClock }), silence: null, memory };
  const fleet = perfectFleet(size.members);
  return { repository, fleet, silence: fleet.silence, memory };
}

/** No pass at all. */
export const nothing: Counts = { passes: 0, observe: 0, plan: 0, check: 0, act: 0, longestDecision: 0, actions: 0 };

/** Passes without a commit, until one neither decides nor acts. */
export async function settle(bare: Bare, files: readonly Edit[]): Promise<Counts> {
  if (files.length > 0) bare.repository.write(files);
  let sum = nothing;
  for (let count = 0; count < 200; count++) {
    const { isMoving, planCpu: _, ...one } = await onePass(bare);
    sum = {
      passes: sum.passes + 1,
      observe: sum.observe + one.observe,
      plan: sum.plan + one.plan,
      check: sum.check + one.check,
      act: sum.act + one.act,
      longestDecision: Math.max(sum.longestDecision, one.plan + one.check),
      actions: sum.actions + one.actions,
    };
    if (!isMoving) return sum;
  }
  throw new Error("still not at rest after 200 passes");
}

interface OnePass extends Counts {
  readonly isMoving: boolean;
  /** Milliseconds on a core. */
  readonly planCpu: number;
}

/** The world as it is. */
export async function lookAround({ repository, fleet, memory }: Bare): ReturnType<typeof observe> {
  const settings = { members: "ask", patience: "none", acceptRewrite: null, trustAnchor: null } as const;
  return observe({ repository, fleet, clock: systemClock, ...unsigned }, settings, memory);
}

/** One pass, without a commit. */
export async function onePass(bare: Bare): Promise<OnePass> {
  const { repository, fleet, memory } = bare;
  const lap = stopwatch();
  const { world, state } = await lookAround(bare);
  const observing = lap();
  const idle = process.cpuUsage();
  const decided = plan(world);
  const planCpu = cpuSince(idle);
  const planning = lap();
  const faults = check(decided, world);
  if (faults.length > 0) throw new Error(`the plan fails its check: ${faults.map((it) => it.message).join("; ")}`);
  const checking = lap();
  if (decided.decides) {
    const commit = String(decided.ledger.sequence).padStart(40, "0") as Commit;
    memory.state = { ...state, commit, ledger: decided.ledger, accepted: world.intent.files };
    memory.pending = null;
    repository.stateIs(commit);
  } else if (decided.ledger !== state.ledger) memory.pending = decided.ledger;
  lap();
  await Promise.all(decided.actions.map((it) => fleet.act(memberAddressOf(world.intent, it.cluster), it)));
  const actions = decided.actions.reduce(
    (sum, it) => sum + it.placements.reduce((all, at) => all + at.apply.length, 0),
    0,
  );
  const isWaiting = decided.reasons.some((it) => it.kind === "applying" || it.kind === "awaitingHealth");
  const isMoving = decided.decides || decided.actions.length > 0 || isWaiting;
  const spent = { observe: observing, plan: planning, check: checking, act: lap() };
  return { ...spent, passes: 1, longestDecision: 0, actions, isMoving, planCpu };
}

/** Tells at each call how many milliseconds passed since the one before. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const passed = performance.now() - last;
    last += passed;
    return passed;
  };
}
