// Throws seeded storms at the planner and checks what must hold in any weather.
// SEED=123 npx vitest run test/core/plan/promises.test.ts replays one storm exactly.
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import { objectKey } from "../../../src/core/model/manifest.ts";
import type { Plan } from "../../../src/core/model/plan.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { walkLength } from "../../long-walks.ts";
import { isReproducible, standsStill } from "./any-weather.ts";
import { lostIdentities } from "./same-ledger.ts";
import { Storm } from "./storm.ts";

const one = process.env["SEED"];
const count = walkLength("STORMS", { short: 5, full: 100 });
const seeds = one === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(one)];
const steps = 25;

test.each(seeds)("storm %i keeps the promises, and when the weather clears everything converges", (seed) => {
  const storm = new Storm(seed);
  const decided = new Set<string>();
  for (let step = 0; step < steps; step++) {
    const where = `step ${step}`;
    const { seen, plan: made } = storm.step();
    standsStill(seen, where);
    isReproducible(seen, made, where);
    expect(lostIdentities(seen.ledger, made.ledger), `${where}: says the same in other words`).toEqual([]);
    for (const it of leavingIn(made.ledger)) decided.add(it);
    deletesWhatIsDecided(made, decided, where);
  }
  storm.calm();
  expect(storm.settle(), "settles").not.toBeNull();
  const seen = storm.world.look();
  const still = plan(seen);
  expect(still.ledger === seen.ledger, "the ledger moves although nothing happens").toBe(true);
  expect(still.actions, "still busy").toEqual([]);
  for (const name of storm.world.members.keys()) {
    const carried = storm.world.carried(name).filter((it) => !it.includes("theirs"));
    expect(carried, name).toEqual(everything);
  }
});

const everything = [
  "ConfigMap extra/config last",
  "ConfigMap web/config last",
  "ConfigMap web/extra last",
  "Namespace extra last",
  "Namespace shop last",
  "Namespace web last",
  "Deployment shop/app last",
  "Deployment web/app last",
  "Widget.example.com web/thing last",
];

/** Nothing is deleted that was not decided, and nothing that waits for a confirmation. */
function deletesWhatIsDecided({ actions, ledger }: Plan, decided: ReadonlySet<string>, where: string): void {
  const held = heldIn(ledger);
  for (const { cluster, placements } of actions)
    for (const { placement, remove } of placements)
      for (const { key } of remove) {
        const gone = `${cluster} ${placement} ${key}`;
        expect(decided.has(gone) && !held.has(gone), `${where}: ${gone}`).toBe(true);
      }
}

const leavingIn = ({ placements }: Ledger): readonly string[] =>
  [...placements].flatMap(([placement, { bindings }]) =>
    [...bindings].flatMap(([cluster, { leaving }]) =>
      leaving.map((it) => `${cluster} ${placement} ${objectKey(it.id)}`),
    ),
  );

const heldIn = ({ deletions }: Ledger): ReadonlySet<string> =>
  new Set(
    deletions.held
      .filter((it) => !it.confirmed)
      .flatMap((it) => it.groups)
      .flatMap(({ placement, clusters, objects }) =>
        clusters.flatMap((cluster) => objects.map((id) => `${cluster} ${placement} ${objectKey(id)}`)),
      ),
  );
