import type { random } from "../../core/schedule/random.ts";
import type { Step } from "../step.ts";
import type { RunState } from "./rollout-document.ts";

type Dice = ReturnType<typeof random>;
type RunStep = Extract<Step, { do: "run" }>;

const shapes: readonly [string, ...string[]] = [
  "dev:env=dev prod:env=prod/50%",
  "dev:env=dev/2/wait=3 prod:env=prod/ask-before/100%",
  "prod:env=prod/ask-before/wait=2 dev:env=dev/ask-after/50%",
  "dev:env=dev/ask-after/fail=1 prod:env=prod/wait=7/2",
  "all:/2/sort=order",
  "all:",
  "all:/100%/fail=50%/ask-before",
];

const answersYes = Array.from({ length: 7 }, () => "Approve" as const);

/** Writes what people do with staged runs and evictions. */
export class RunGenerator {
  readonly #dice: Dice;
  readonly #members: readonly [string, ...string[]];
  readonly #placements: readonly [string, ...string[]];
  readonly #runs: RunStep[] = [];
  #serial = 0;

  constructor(dice: Dice, members: readonly [string, ...string[]], placements: readonly [string, ...string[]]) {
    this.#dice = dice;
    this.#members = members;
    this.#placements = placements;
  }

  isExternal(placement: string): boolean {
    return this.#placements.includes(placement);
  }

  #chance(percent: number): boolean {
    return this.#dice.below(100) < percent;
  }

  /** Strategies, and often a first run. */
  found(): readonly Step[] {
    return [this.#strategy("rings"), this.#strategy("waves"), ...(this.#chance(70) ? [this.#create("Run")] : [])];
  }

  #strategy(name: string): Step {
    return { do: "strategy", name, stages: this.#dice.pick(shapes) };
  }

  #create(state: RunState, index = this.#chance(25) ? String(this.#dice.below(2)) : ""): RunStep {
    const { pick } = this.#dice;
    const strategy = pick(["rings", "rings", "rings", "waves"]);
    const name = `r${++this.#serial}`;
    const run: RunStep = { do: "run", name, placement: pick(this.#placements), strategy, index, state };
    this.#runs.push(run);
    return run;
  }

  /** The same run in another state; a new one where there is none. */
  #turned(state: RunState): RunStep {
    const at = this.#runs.length - 1 - this.#dice.below(2);
    const run = this.#runs[at];
    return run === undefined ? this.#create(state) : { ...run, state };
  }

  #erased(): Step {
    const run = this.#runs[this.#dice.below(this.#runs.length + 1)];
    return run === undefined ? this.#create("Run") : { do: "erase", path: `runs/${run.name}.yaml` };
  }

  #answer(): Step {
    return { do: "answer", how: this.#dice.pick(["Reject", "Reject", "Revoke", ...answersYes]) };
  }

  /** One edit, to be pushed. */
  edit(): Step {
    const { pick } = this.#dice;
    const placement = pick(["web", "shop"]);
    return pick<() => Step>([
      () => this.#create("Run"),
      () => this.#create("Run"),
      () => this.#create("Run"),
      () => this.#create(pick(["Initialize", "Stop"])),
      () => this.#turned("Stop"),
      () => this.#turned("Run"),
      () => this.#turned("Run"),
      () => this.#erased(),
      () => this.#answer(),
      () => this.#answer(),
      () => this.#answer(),
      () => this.#strategy(pick(["rings", "waves"])),
      () => this.#evict(placement),
      () => this.#evict("shop"),
      () => this.#budget(placement),
      () => ({ do: "erase", path: `${pick(["strategies/rings", "budgets/web", "budgets/shop"])}.yaml` }),
      () => ({
        do: "break",
        path: pick([`runs/r${this.#serial}.yaml`, "strategies/rings.yaml", `budgets/${placement}.yaml`]),
        how: pick(["yaml", "identity", "object"]),
      }),
    ])();
  }

  #evict(placement: string): Step {
    return { do: "evict", name: `e${++this.#serial}`, placement, cluster: this.#dice.pick(this.#members) };
  }

  #budget(placement: string): Step {
    const bound = this.#dice.pick([
      "minAvailable=1",
      "minAvailable=2",
      "minAvailable=9",
      "maxUnavailable=1",
      "minAvailable=50%",
    ]);
    return { do: "budget", name: placement, bound };
  }

  /** A run that asks before it begins, and brings what was just written to one cluster after the other. */
  gated(): readonly Step[] {
    const stages = this.#dice.pick([
      "all:/1/sort=order/ask-before",
      "dev:env=dev/1/ask-before prod:env=prod/1/ask-before",
    ]);
    const run = { ...this.#create("Run", ""), strategy: "slow" };
    this.#runs.splice(-1, 1, run);
    return [{ do: "strategy", name: "slow", stages }, run, { do: "push" }];
  }

  /** A run of what was just written, and what people do in the middle. `pass` gives one in which nothing goes wrong. */
  story(pass: () => Step): readonly Step[] {
    const { pick } = this.#dice;
    const push: Step = { do: "push" };
    const wait = (): Step => ({ do: "wait", ms: pick([7_000, 61_000, 400_000]) });
    const run = this.#create("Run");
    const answered = (): readonly Step[] => [{ do: "answer", how: "Approve" }, push, pass(), pass()];
    return [
      run,
      push,
      pass(),
      ...pick<() => readonly Step[]>([
        () => [...answered(), { ...run, state: "Stop" }, push, pass(), wait(), pass(), run, push, pass()],
        () => [...answered(), this.#create("Run"), push, pass(), ...answered()],
        () => [
          ...answered(),
          { do: "erase", path: `runs/${run.name}.yaml` },
          push,
          pass(),
          this.#create("Run"),
          push,
          pass(),
        ],
        () => [...answered(), wait(), pass(), { do: "jump", ms: pick([-3_600_000, 600_000]) }, pass(), pass()],
        () => [...answered(), this.#create("Run", "0"), push, pass(), ...answered()],
        () => [...answered(), this.#evict(run.placement), push, pass(), wait(), pass()],
        () => [
          { do: "erase", path: `runs/${run.name}.yaml` },
          this.#budget(run.placement),
          this.#evict(run.placement),
          this.#evict(run.placement),
          push,
          pass(),
          wait(),
          pass(),
        ],
        () => [pass(), { do: "answer", how: "Reject" }, push, pass()],
      ])(),
    ];
  }
}
