import { once } from "node:events";
import { join } from "node:path";
import type { Part } from "./parts.ts";
import { type Bare, type Counts, openBare, settle } from "./passes.ts";
import { endProfile, startProfile } from "./profile.ts";
import { measureSchedule } from "./schedule.ts";
import { cpuSince, forgetPeak, peakMemory } from "./usage.ts";
import { changeOf, editOf, type File, renamedToExternal, type Size, workloadOf } from "./workload.ts";

/** What a process that measures one part is told. */
export interface BareOrders {
  readonly part: Exclude<Part, "git" | "approval" | "verify" | "soak">;
  readonly size: Size;
  /** Null: perfect members. */
  readonly kubeconfig: string | null;
  readonly profiles: string | null;
}

/** What one step of a part took, on the CPU in seconds. */
export interface BareOutcome extends Counts {
  readonly case: string;
  readonly cpu: number;
  readonly peakMemory: number;
}

const orders = (await once(process, "message"))[0] as BareOrders;

async function main(): Promise<void> {
  const { size, part } = orders;
  if (part === "schedule") return measureSchedule(size, (it) => void process.send?.(it));
  const bare = await openBare(size, orders.kubeconfig);
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

async function measured(name: string, run: () => Promise<Counts>): Promise<void> {
  forgetPeak();
  if (orders.profiles !== null) await startProfile();
  const before = process.cpuUsage();
  const counts = await run();
  const cpu = cpuSince(before) / 1000;
  if (orders.profiles !== null) await endProfile(join(orders.profiles, `${orders.part}-${name}.cpuprofile`));
  const outcome: BareOutcome = { case: name, ...counts, cpu, peakMemory: peakMemory() };
  process.send?.(outcome);
}

void main().finally(() => process.disconnect?.());
