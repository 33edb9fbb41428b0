// Storms over the planner in which nobody complains but check(): what it alone would have stopped.
import { expect, test } from "vitest";
import { TrustStorm } from "../core/plan/approval/trust-storm.ts";
import { RunStorm } from "../core/plan/runs/run-storm.ts";
import { Storm } from "../core/plan/storm.ts";

const storms = Number(process.env["STORMS"] ?? 150);

type Blow = (seed: number) => void;

const kinds: readonly (readonly [string, Blow])[] = [
  ["storm", (seed) => calmed(new Storm(seed))],
  ["storm over update runs", (seed) => calmed(new RunStorm(seed))],
  // Who is asked, who answers and who is revoked takes its time.
  ["storm over trust", (seed) => blown(new TrustStorm(seed), 60)],
];

const seeds = Array.from({ length: storms }, (_, at) => at + 1);
const all = seeds.flatMap((seed) => kinds.map(([kind, blow]) => [`${kind} ${seed}`, () => blow(seed)] as const));

test.each(all)("check() has no complaint about any plan of %s", (name, blow) => {
  expect(complaintIn(blow), name).toBeNull();
});

function blown<T extends { step(): void }>(storm: T, steps: number): T {
  for (let step = 0; step < steps; step++) storm.step();
  return storm;
}

function calmed(fresh: Storm | RunStorm): void {
  const storm = blown(fresh, 25);
  storm.calm();
  storm.settle();
}

/** What check() said first; null when it said nothing. Whatever else goes wrong is none of its business. */
function complaintIn(run: () => void): string | null {
  try {
    run();
  } catch (error) {
    const message = (error as Error).message;
    if (message.startsWith("the plan fails its check")) return message;
  }
  return null;
}
