// Throws seeded storms at update runs. SEED=123 npx vitest run test/core/plan/runs/run-promises.test.ts replays one exactly.
import { expect, test } from "vitest";
import { plan } from "../../../../src/core/plan/plan.ts";
import { walkLength } from "../../../long-walks.ts";
import { isReproducible, standsStill } from "../any-weather.ts";
import { lostIdentities } from "../same-ledger.ts";
import { RunStorm } from "./run-storm.ts";

const one = process.env["SEED"];
const count = walkLength("STORMS", { short: 4, full: 20 });
const seeds = one === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(one)];
const steps = 40;

test.each(seeds)(
  "storm %i over update runs keeps the promises, and the last run brings everything everywhere",
  (seed) => {
    const storm = new RunStorm(seed);
    for (let step = 0; step < steps; step++) {
      const where = `step ${step}`;
      // Every plan passes its check, or the world throws.
      const { seen, plan: made } = storm.step();
      standsStill(seen, where);
      isReproducible(seen, made, where);
      expect(lostIdentities(seen.ledger, made.ledger), `${where}: says the same in other words`).toEqual([]);
    }
    storm.calm();
    expect(storm.settle(), "settles").not.toBeNull();
    const seen = storm.world.look();
    const still = plan(seen);
    expect(still.ledger === seen.ledger, "the ledger moves although nothing happens").toBe(true);
    expect(still.actions, "still busy").toEqual([]);
    expect([...storm.ledger.runs.values()].map((it) => it.end?.kind)).toEqual(["succeeded"]);
    for (const name of storm.world.members.keys())
      expect(storm.world.carried(name), name).toEqual([
        "ConfigMap web/config last",
        "Namespace web last",
        "Deployment web/app last",
      ]);
  },
);
