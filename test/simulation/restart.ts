import type { Memory } from "../../src/shell/reconcile/memory.ts";
import { compareForecast, firstDifference, foreseenText } from "./forecast-agreement.ts";
import type { Simulation } from "./simulation.ts";

/**
 * I-15, between passes: a process that begins anew decides what the one before it would have decided, to the byte. What a
 * process has in mind makes it faster, and nothing else. (That a process may die within a pass is what crash points show.)
 *
 * News that waited in memory is lost with it, and told again with the instant at which it is seen again: where there is
 * any, the two may differ.
 */
export async function restart(simulation: Simulation, memory: Memory): Promise<void> {
  if (memory.pending !== null || memory.state === null) return;
  const before = await compareForecast(simulation, memory);
  const after = await compareForecast(simulation);
  if (before === null || after === null) return;
  simulation.hit("process restarted");
  const [was, is] = [foreseenText(before), foreseenText(after)];
  if (was !== is) simulation.complain("I-15", `a restart changes what is decided: ${firstDifference(was, is)}`);
}
