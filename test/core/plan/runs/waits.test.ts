// Waits whose beginning is no whole second, as every real one: the record is written to files and read back in each pass.
import { expect, test } from "vitest";
import type { StateEdit } from "../../../../src/core/ledger/layout.ts";
import { readLedger } from "../../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../../src/core/ledger/writer.ts";
import { emptyLedger, type Ledger } from "../../../../src/core/model/ledger.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import {
  type ClusterName,
  type DurationMs,
  type Instant,
  later,
  minutes,
  type PlacementKey,
  seconds,
} from "../../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { walkLength } from "../../../long-walks.ts";
import { morning, World, write } from "../../../world.ts";
import { random } from "../../schedule/random.ts";

const rounds = walkLength("ROUNDS", { short: 100, full: 1000 });
const web = "web" as PlacementKey;
const first = runKey(null, "first");
const shown = { rowsOf: () => [], selectedOf: () => [], indexOf: () => "" };

/** What a process that begins now finds on the state branch. */
function reread(ledger: Ledger): Ledger {
  const texts = (it: StateEdit): [string, string][] => (it.kind === "write" ? [[it.path, it.text]] : []);
  const read = readLedger(stateEdits(emptyLedger, ledger, shown).flatMap(texts));
  return read.kind === "read" ? read.ledger : expect.fail(JSON.stringify(read));
}

/** A canary, a wait, and the rest. */
function staged(wait: DurationMs): World {
  const world = new World();
  world.commit(() => {
    for (const [name, env] of [
      ["m1", "canary"],
      ["m2", "prod"],
    ] as const)
      world.join(clusterOf(name, [`env=${env}`]));
    write(world, objectOf("Namespace", "web", "zero"));
    world.placements.set(
      web,
      placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: ["external"] }),
    );
    const rings = strategyOf("rings", ["canary:env=canary/wait=1", "prod:env=prod"]);
    const [canary, prod] = rings.stages;
    if (canary === undefined || prod === undefined) expect.fail("there are two stages");
    const stages = [{ ...canary, after: [{ kind: "TimedWait", wait }] } as const, prod];
    world.strategies.set(rings.key, { ...rings, stages });
    const spec = { placement: web, strategy: rings.key, resourceIndex: null, state: "Run" } as const;
    world.runs.set(first, runOf("first", spec));
  });
  return world;
}

/** A pass; gives the moment at which the planner wants the next one. */
function pass(world: World): Instant | null {
  // What it decides stands; that nobody acts upon it leaves the members as they are for the next round.
  return world.pass({ diesAfterCommit: true }).plan.wakeAt;
}

const hasBegun = (world: World): boolean =>
  (world.head.placements.get(web)?.bindings.get("m2" as ClusterName)?.target ?? null) !== null;

test.each([
  ["1s", seconds(1)],
  ["3s", seconds(3)],
  ["1h", minutes(60)],
])(
  "a wait of %s is over after just that, whatever part of a second it begins at",
  (_, wait) => {
    const { below } = random(25);
    const world = staged(wait);
    let untold = world.head;
    for (let passes = 0; passes < 8 && world.head.runs.get(first)?.stages[0]?.finishedAt == null; passes += 1) {
      untold = world.head;
      world.pass();
    }
    untold = reread(untold);
    for (let round = 0; round < rounds; round += 1) {
      const landed = later(morning, below(3_600_000) as DurationMs);
      world.head = untold;
      world.now = landed;
      expect(pass(world)).toBe(later(landed, wait));
      // From here on a process that has just begun, and knows what stands in the files.
      world.restart();
      world.head = reread(world.head);
      world.now = later(landed, (wait - 1 - below(2) * below(wait - 1)) as DurationMs);
      expect(pass(world)).toBe(later(landed, wait));
      expect(hasBegun(world)).toBe(false);
      world.now = later(landed, wait);
      pass(world);
      expect(hasBegun(world)).toBe(true);
    }
  },
  300_000,
);
