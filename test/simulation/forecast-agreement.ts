import type { Plan } from "../../src/core/model/plan.ts";
import { type Commit, compareText } from "../../src/core/model/value.ts";
import { plan } from "../../src/core/plan/plan.ts";
import { Fault } from "../../src/shell/reconcile/fault.ts";
import { type Memory, newMemory } from "../../src/shell/reconcile/memory.ts";
import { observe } from "../../src/shell/reconcile/observe.ts";
import { planByRelease } from "./release.ts";
import type { Simulation } from "./simulation.ts";
import { defaultPass } from "./step.ts";
import { Attempt } from "./world/attempt.ts";
import { Reconciler, type SimulatedWorld } from "./world/reconciler.ts";

/**
 * What would be planned now by somebody whom no weather reaches, with nothing in mind, or with what a process had that
 * ended. Nothing is written. Null while the hub's state cannot be read, or the source is not there.
 */
export async function compareForecast(simulation: Simulation, memory: Memory = newMemory()): Promise<Plan | null> {
  const observer = new Reconciler("observer", calmly(simulation));
  const { time } = simulation;
  observer.attempt = new Attempt({ writer: "observer", words: defaultPass, hold: "", time, hit: () => {} });
  const trustAnchor = simulation.approvers.anchor;
  const settings = { members: "ask", patience: "retryAt", acceptRewrite: null, trustAnchor } as const;
  try {
    const { world } = await observe(observer.ports, settings, memory);
    return planByRelease(world, simulation.processes.release, plan);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return null;
  }
}

/** The same world without weather; who is not well does not answer. */
const calmly = (simulation: Simulation): SimulatedWorld => ({
  time: simulation.time,
  hub: simulation.hub,
  now: () => simulation.now(),
  isHubThere: () => true,
  deliver: (request, outgoing) => {
    const site = simulation.siteAt(request.member);
    return site.weather === "well"
      ? { kind: "answered", incoming: site.answer(request, outgoing) }
      : { kind: "refused" };
  },
  envelope: () => () => ({ kind: "refused" }),
  note: () => {},
  pushed: (_, commit: Commit) => {
    throw new Error(`an observer pushed ${commit}`);
  },
});

/**
 * What a plan says about placements: their records, what is done for them, what they render. The order of an object's
 * members is nobody's business, that of maps and lists is.
 */
export const foreseenText = ({ ledger, actions, rendered }: Plan): string =>
  JSON.stringify(
    [ledger.placements, actions, rendered],
    (_, it: unknown) => (it instanceof Map ? [...it] : sorted(it)),
    1,
  );

const sorted = (value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareText(a, b)));

/** The first line in which two texts differ. */
export function firstDifference(a: string, b: string): string {
  const [left, right] = [a.split("\n"), b.split("\n")];
  const at = left.findIndex((it, index) => it !== right[index]);
  return `${left[at]?.trim()} became ${right[at]?.trim()}`;
}
