// Storms over the planner in which nobody complains but check(): what it alone would have stopped.
import { expect, test } from "vitest";
import { TrustStorm } from "../core/plan/approval/trust-storm.ts";
import { RunStorm } from "../core/plan/runs/run-storm.ts";
import { Storm } from "../core/plan/storm.ts";

const storms = Number(process.env["STORMS"] ?? 150);

/** Few enough storms for a test to end in time on a busy machine too: who is late proves nothing. */
const atATime = 5;
const firstSeeds = Array.from({ length: Math.ceil(storms / atATime) }, (_, block) => 1 + block * atATime);

test.each(firstSeeds)("check() has no complaint about any plan of the storms from %i on", (first) => {
  for (let seed = first; seed < first + atATime; seed++) {
    expect(
      complaintIn(() => calmed(new Storm(seed))),
      `storm ${seed}`,
    ).toBeNull();
    expect(
      complaintIn(() => calmed(new RunStorm(seed))),
      `storm ${seed} over update runs`,
    ).toBeNull();
    // Who is asked, who answers and who is revoked takes its time.
    expect(
      complaintIn(() => blown(new TrustStorm(seed), 60)),
      `storm ${seed} over trust`,
    ).toBeNull();
  }
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
