import { converge } from "./converge.ts";
import { Simulation, type Violation } from "./simulation.ts";
import type { Step } from "./step.ts";
import { transcriptOf } from "./transcript.ts";

/** What came of a run. */
export interface Ran {
  readonly violations: readonly Violation[];
  /** How often each kind of fault really struck. */
  readonly hits: ReadonlyMap<string, number>;
  readonly steps: number;
  transcript(): string;
}

/** Does steps in a new world, then lets it become calm. Ends at the first step after which a promise is broken. */
export async function run(steps: readonly Step[]): Promise<Ran> {
  const simulation = new Simulation();
  try {
    for (const step of steps) {
      await simulation.step(step);
      if (simulation.violations.length > 0) break;
    }
    if (simulation.violations.length === 0) await converge(simulation);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    simulation.complain("threw", text.split("\n").slice(0, 6).join("\n"));
  }
  const { violations, hits, lines } = simulation;
  return { violations, hits, steps: simulation.steps, transcript: () => transcriptOf(lines) };
}
