import { once } from "node:events";
import { join } from "node:path";
import { check } from "../../src/core/check/check.ts";
import type { PlacementPolicy } from "../../src/core/model/placement.ts";
import type { Commit } from "../../src/core/model/value.ts";
import { plan } from "../../src/core/plan/plan.ts";
import { type Candidate, type Cycle, type CycleBinding, candidateOf } from "../../src/core/schedule/framework/cycle.ts";
import { profiles } from "../../src/core/schedule/profile.ts";
import { type Schedule, schedule } from "../../src/core/schedule/schedule.ts";
import { systemClock } from "../../src/shell/host/system.ts";
import { kubeFleet } from "../../src/shell/kube/fleet.ts";
import { type Memory, newMemory } from "../../src/shell/reconcile/memory.ts";
import { memberAddressOf, observe } from "../../src/shell/reconcile/observe.ts";
import type { Fleet } from "../../src/shell/reconcile/ports.ts";
import { unsigned } from "../unsigned.ts";
import { constrainedPolicy, withProperties } from "./constrained.ts";
import { memoryRepository } from "./memory-repository.ts";
import type { Part } from "./parts.ts";
import { perfectFleet } from "./perfect-fleet.ts";
import { endProfile, startProfile } from "./profile.ts";
import { forgetPeak, peakMemory } from "./usage.ts";
import { changeOf, type Edit, editOf, type File, renamedToExternal, type Size, workloadOf } from "./workload.ts";

/** What a process that measures one part is told. */
export interface BareOrders {
  readonly part: Exclude<Part, "git" | "approval" | "verify" | "soak">;
  readonly size: Size;
  /** Null: perfect members. */
  readonly kubeconfig: string | null;
  readonly profiles: string | null;
}

/** What one step of a part took: milliseconds by the clock, but for the CPU's. */
export interface BareOutcome {
  readonly case: string;
  readonly passes: number;
  /** Reading what changed of the source, and asking the members. */
  readonly observe: number;
  readonly plan: number;
  readonly check: number;
  readonly act: number;
  readonly longestDecision: number;
  readonly actions: number;
  readonly cpu: number;
  readonly peakMemory: number;
}

const orders = (await once(process, "message"))[0] as BareOrders;

async function main(): Promise<void> {
  const { size, part } = orders;
  if (part === "schedule") return scheduleAlone();
  const bare = await open();
  const steps: readonly (readonly [string, readonly File[]])[] = [
    ["nothing", workloadOf(size)],
    ["idle", []],
    ["new", changeOf("new", size)],
    ["edit", changeOf("edit", size)],
    ["policy", changeOf("policy", size)],
    ["label", changeOf("label", size)],
  ];
  for (const [name, files] of steps) await measured(name, () => settle(bare, files));
  await silence(bare);
  await measured("rename", () => settle(bare, renamedToExternal(size)));
  await measured("waiting", () => settle(bare, []));
  await measured("edit waiting", () => settle(bare, editOf(0, "waited for")));
  await bare.fleet.close();
}

/** One member stops answering, and is back. */
async function silence(bare: Bare): Promise<void> {
  const [name] = orders.size.members;
  if (bare.silence === null || name === undefined) return;
  for (const isSilent of [true, false]) {
    bare.silence(name, isSilent);
    await measured(isSilent ? "silent" : "back", () => settle(bare, []));
  }
}

type Counts = Omit<BareOutcome, "case" | "cpu" | "peakMemory">;

async function measured(name: string, run: () => Promise<Counts>): Promise<void> {
  forgetPeak();
  if (orders.profiles !== null) await startProfile();
  const before = process.cpuUsage();
  const counts = await run();
  const { user, system } = process.cpuUsage(before);
  if (orders.profiles !== null) await endProfile(join(orders.profiles, `${orders.part}-${name}.cpuprofile`));
  const outcome: BareOutcome = { case: name, ...counts, cpu: (user + system) / 1e6, peakMemory: peakMemory() };
  process.send?.(outcome);
}

interface Bare {
  readonly repository: ReturnType<typeof memoryRepository>;
  readonly fleet: Fleet;
  /** Null where members are real. */
  readonly silence: ReturnType<typeof perfectFleet>["silence"] | null;
  readonly memory: Memory;
}

async function open(): Promise<Bare> {
  const { kubeconfig, size } = orders;
  const memory = newMemory();
  const repository = memoryRepository();
  if (kubeconfig !== null)
    return { repository, fleet: await kubeFleet({ kubeconfig, clock: systemClock }), silence: null, memory };
  const fleet = perfectFleet(size.members);
  return { repository, fleet, silence: fleet.silence, memory };
}

const nothing: Counts = { passes: 0, observe: 0, plan: 0, check: 0, act: 0, longestDecision: 0, actions: 0 };

/** Passes without a commit, until one neither decides nor acts. */
async function settle(bare: Bare, files: readonly Edit[]): Promise<Counts> {
  if (files.length > 0) bare.repository.write(files);
  let sum = nothing;
  for (let count = 0; count < 200; count++) {
    const { isMoving, ...one } = await pass(bare);
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

async function pass({ repository, fleet, memory }: Bare): Promise<Counts & { readonly isMoving: boolean }> {
  const lap = stopwatch();
  const settings = { members: "ask", patience: "none", acceptRewrite: null, trustAnchor: null } as const;
  const { world, state } = await observe({ repository, fleet, clock: systemClock, ...unsigned }, settings, memory);
  const observing = lap();
  const decided = plan(world);
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
  return { ...spent, passes: 1, longestDecision: 0, actions, isMoving };
}

/**
 * One cycle for every placement: first with nothing placed, then with everything where it is. The same again where
 * properties and spread constraints decide.
 */
async function scheduleAlone(): Promise<void> {
  const { size } = orders;
  const bare = await open();
  bare.repository.write(workloadOf(size));
  const settings = { members: "record", patience: "none", acceptRewrite: null, trustAnchor: null } as const;
  const ports = { repository: bare.repository, fleet: bare.fleet, clock: systemClock, ...unsigned };
  const { world } = await observe(ports, settings, bare.memory);
  const clusters = [...world.intent.clusters.values()];
  const policies = [...world.intent.placements.values()].map((it) => it.spec.policy);
  const plain = clusters.map((it) => candidateOf(it, null));
  await scheduleAll(["nothing", "idle"], policies, plain);
  const constrained = policies.map((_, at) => constrainedPolicy(size.picks, at));
  await scheduleAll(["spread", "spread idle"], constrained, withProperties(clusters));
}

async function scheduleAll(
  [fromNothing, idle]: readonly [string, string],
  policies: readonly PlacementPolicy[],
  candidates: readonly Candidate[],
): Promise<void> {
  const cycle = { namespace: null, cycleBindings: [], recorded: [], now: systemClock.now() };
  const outcomes: Schedule[] = [];
  const run = (cycles: readonly Cycle[]): Counts => {
    const lap = stopwatch();
    let [all, longestDecision] = [0, 0];
    for (const it of cycles) {
      outcomes.push(schedule(it, profiles.default));
      const took = lap();
      all += took;
      longestDecision = Math.max(longestDecision, took);
    }
    return { ...nothing, passes: cycles.length, plan: all, longestDecision };
  };
  const first = policies.map((policy) => ({ ...cycle, policy, candidates }));
  await measured(fromNothing, async () => run(first));
  const placed = first.map((it, at) => ({ ...it, cycleBindings: boundBy(outcomes[at]) }));
  await measured(idle, async () => run(placed));
}

const boundBy = (outcome: Schedule | undefined): readonly CycleBinding[] =>
  (outcome?.create ?? []).map((decision) => ({
    name: decision.cluster,
    cluster: decision.cluster,
    state: "Bound",
    previousState: null,
    removing: false,
    obsolete: false,
    decision,
  }));

/** Tells at each call how many milliseconds passed since the one before. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const passed = performance.now() - last;
    last += passed;
    return passed;
  };
}

void main().finally(() => process.disconnect?.());
