// Throws seeded storms at the planner and checks what must hold in any weather.
// SEED=123 npx vitest run test/core/plan/promises.test.ts replays one storm exactly.
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import { objectKey } from "../../../src/core/model/manifest.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import { type Instant, later, minutes } from "../../../src/core/model/value.ts";
import { check } from "../../../src/core/plan/check.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { differenceOf, lostIdentities } from "./same-ledger.ts";
import { Storm } from "./storm.ts";

const one = process.env["SEED"];
const count = Number(process.env["STORMS"] ?? 60);
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

/**
 * A plan made with warm memories is the one made by cold ones, value by value: a copy of the world shares no identity with
 * anything that was seen before, so nothing of it is remembered. Asked again, the same world gives the same plan.
 */
function isReproducible(seen: Seen, made: Plan, where: string): void {
  const copy = structuredClone(seen);
  const cold = plan(copy);
  expect(differenceOf(made, cold), `${where}: cold`).toBeNull();
  expect(differenceOf(plan(seen), cold), `${where}: again`).toBeNull();
  expect(check(cold, copy), where).toEqual([]);
  expect(made.ledger === seen.ledger, `${where}: stands as a cold plan says`).toBe(cold.ledger === copy.ledger);
}

/**
 * If the world stands still, decisions come to an end at once: what the members say of the newest ones is heard, and
 * then nothing is decided, done or written down before `wakeAt`.
 */
function standsStill(seen: Seen, where: string): void {
  let settled = plan(seen);
  if (settled.refusal !== null) return;
  for (let again = 0; again < 8; again++) {
    const next = plan({ ...seen, ledger: settled.ledger });
    if (next.ledger === settled.ledger) break;
    settled = next;
  }
  const last = plan({ ...seen, ledger: settled.ledger, now: justBefore(settled, seen) });
  expect(last.ledger === settled.ledger ? "stands" : last.ledger, `${where}: the ledger moved`).toEqual("stands");
  expect(last.actions, `${where}: does something else before its time`).toEqual(settled.actions);
}

const justBefore = ({ wakeAt }: Plan, { now }: Seen): Instant =>
  wakeAt === null ? later(now, minutes(60 * 24 * 365)) : (Math.max(now, wakeAt - 1) as Instant);

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
