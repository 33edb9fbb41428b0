// Random walks of a placement, its runs and its members, by seed: everything that people and machines do to a run.
import type { RunRecord, UpdateStrategy } from "../../../src/core/model/update-run.ts";
import { type ClusterName, later, seconds } from "../../../src/core/model/value.ts";
import type { RunStep } from "../../../src/core/rollout/run-step.ts";
import { random } from "../schedule/random.ts";
import { perform } from "./run-script.ts";
import { change, pass, type Spot, strategyOf, type World, worldOf } from "./run-world.ts";

/** One pass of a walk: what stood before it, and what each run did. */
export interface Passed {
  readonly world: World;
  /** The bindings that the pass saw first. */
  readonly spots: ReadonlyMap<ClusterName, Spot>;
  readonly before: readonly RunRecord[];
  readonly steps: readonly RunStep[];
}

export interface Walk {
  readonly world: World;
  readonly strategy: UpdateStrategy;
  /** Does a few random things, and then one pass. */
  readonly next: () => Passed;
  /** Everybody is well, says yes and lets things run; an hour, and one pass. */
  readonly calm: () => Passed;
}

const stages = ["one", "two", "three"] as const;
const moods = ["ok", "ok", "ok", "slow", "bad", "?", "blind"] as const;
const names = ["A", "B", "C", "D"] as const;

/** A walk over three stages with up to four runs of the same stages, all decided by the seed. */
export function walk(seed: number): Walk {
  const { below, pick } = random(seed);
  const fleet = Array.from({ length: 3 + below(8) }, (_, at) => `m${at}:stage=${pick(stages)}`).join(" ");
  const world = worldOf(fleet);
  const tasks = (): string => pick(["", "", " before", " after", " after:10m", " before after after:3m"]);
  const bounds = (): string => `${pick(["x1", "x2", "50%", "100%"])} fails:${pick(["0", "0", "1", "34%"])}`;
  const strategy = strategyOf(stages.map((it) => `${it} stage=${it} ${bounds()}${tasks()}`).join(" | "));
  const tell = (line: string): unknown => perform(world, line, strategy);
  tell("A=0 Run");

  const happen = (): void => {
    const cluster = pick(["m0" as ClusterName, ...world.spots.keys()]);
    const run = pick<string>(["A", ...world.runs.keys()]);
    const what = below(34);
    const name = names[world.runs.size];
    if (what < 14) tell(`${cluster} ${pick(moods)}`);
    else if (what < 19) world.now = later(world.now, seconds(pick([20, 60, 150, 400])));
    else if (what < 24)
      tell(`${pick(["yes", "yes", "yes", "void", "hush"])} ${run} ${pick(["before", "after"])} ${pick(stages)}`);
    else if (what === 24 && below(2) === 0) tell(`no ${run} before ${pick(stages)}`);
    else if (what === 25) tell(`${run} ${pick(["Stop", "Run"])}`);
    else if (what === 26) tell(pick(["clock unsound", "clock unseen", "clock sound", "-200s"]));
    else if (what === 27) toggle(world, cluster);
    else if (what === 28) confirm(world, cluster);
    else if (what === 29 && below(4) === 0) tell(`${cluster} leave`);
    else if (what === 30) tell(`${cluster} touch`);
    else if (what === 31 && below(5) === 0 && name !== undefined) tell(`${name}=${below(3)} Run`);
    else if (what === 32) tell(`rules ${pick(["none", "strict"])}`);
    else if (what === 33) tell(`within ${pick(["ever", "5m"])}`);
  };

  const look = (): Passed => {
    const spots = new Map(world.spots);
    const before = [...world.runs.values()].reverse();
    return { world, spots, before, steps: pass(world) };
  };

  const next = (): Passed => {
    for (let left = below(6); left >= 0; left -= 1) happen();
    return look();
  };

  const calm = (): Passed => {
    tell("clock sound");
    tell("within ever");
    tell("+1h");
    for (const cluster of [...world.spots.keys()]) {
      confirm(world, cluster);
      tell(`${cluster} ok`);
    }
    for (const run of world.runs.keys()) {
      tell(`${run} Run`);
      for (const stage of stages) for (const when of ["before", "after"]) tell(`yes ${run} ${when} ${stage}`);
    }
    return look();
  };
  return { world, strategy, next, calm };
}

/** The policy drops a cluster, or picks it again: what had nothing is gone, what is on its way out has to go first. */
function toggle(world: World, cluster: ClusterName): void {
  const spot = world.spots.get(cluster);
  if (spot === undefined) return;
  if (spot.state === "Unscheduled") change(world, cluster, { state: spot.removing ? "Scheduled" : "Bound" });
  else if (spot.index === null) world.spots.delete(cluster);
  else change(world, cluster, { state: "Unscheduled" });
}

/** The member says that what was to go is gone. */
function confirm(world: World, cluster: ClusterName): void {
  const spot = world.spots.get(cluster);
  if (spot === undefined || !spot.removing) return;
  if (spot.state === "Unscheduled") world.spots.delete(cluster);
  else change(world, cluster, { removing: false, index: null, sequence: null, mood: "slow" });
}
