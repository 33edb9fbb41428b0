import type { random } from "../../core/schedule/random.ts";
import type { Step } from "../step.ts";
import type { RemovalSteps } from "./generate-removals.ts";

type Dice = ReturnType<typeof random>;
type Placement = Extract<Step, { do: "placement" }>;

/** Writes what people do with objects that one placement has and another one is to have: they rename, move, and change their minds. */
export class HandOverGenerator {
  readonly #dice: Dice;
  readonly #scene: RemovalSteps;

  constructor(dice: Dice, scene: RemovalSteps) {
    this.#dice = dice;
    this.#scene = scene;
  }

  #chance(percent: number): boolean {
    return this.#dice.below(100) < percent;
  }

  /** A placement gets another name, or another one gets some of what it has; perhaps it is taken back. */
  story(): readonly Step[] {
    const { pass, member } = this.#scene;
    const { pick } = this.#dice;
    const name = pick(["web", "shop"] as const);
    const push: Step = { do: "push" };
    const there = this.#chance(50) ? this.#renamed(name) : this.#moved(name);
    const trouble = pick<readonly Step[]>([
      [],
      [],
      [
        {
          ...pass(),
          crash: `${pick(["before", "after"])} ${pick(["apply", "note"])} ${1 + this.#dice.below(3)}`,
        } as Step,
      ],
      [
        {
          ...pass(),
          faults: `${pick(["lost", "500", "403"])} ${pick(["apply", "note"])} ${1 + this.#dice.below(3)}`,
        } as Step,
      ],
      [{ do: "member", name: member(), is: pick(["hangs", "down", "read-only"]) }, pass()],
    ]);
    return [
      this.#scene.place(name, []),
      push,
      pass(),
      pass(),
      ...there,
      push,
      ...trouble,
      pass(),
      ...(this.#chance(30) ? [{ do: "confirm" } as const, push, pass()] : []),
      ...(this.#chance(50) ? this.#back(name) : []),
    ];
  }

  /**
   * The plans of who hands over, or of who takes, have a defect for a while. Then a release looks at them again, under the
   * same commit, while the others are on their way.
   */
  broken(): readonly Step[] {
    const { pass, member } = this.#scene;
    const { pick } = this.#dice;
    const name = pick(["web", "shop"] as const);
    const push: Step = { do: "push" };
    const isRenamed = this.#chance(50);
    const plant: Step = { do: "plant", placement: pick(isRenamed ? [name, "next"] : ["web", "shop"]) };
    const release: readonly Step[] = [
      ...(this.#chance(75) ? [{ do: "plant", placement: "" } as const] : []),
      { do: "release" },
      ...(this.#chance(30) ? [{ do: "member", name: member(), is: pick(["hangs", "down"] as const) } as const] : []),
    ];
    return [
      this.#scene.place(name, []),
      push,
      pass(),
      pass(),
      ...(this.#chance(70) ? [plant] : []),
      ...(isRenamed ? this.#renamed(name) : this.#moved(name)),
      push,
      pass(),
      ...(this.#chance(50) ? [plant, ...this.#back(name)] : [pass()]),
      ...(this.#chance(25) ? [{ do: "wait", ms: 61_000 } as const, pass()] : []),
      ...release,
      pass(),
      pass(),
      ...(this.#chance(40) ? [{ do: "confirm" } as const, push, pass()] : []),
      { do: "plant", placement: "" },
      ...(this.#chance(30) ? [{ do: "release" } as const, pass()] : []),
    ];
  }

  /** In one commit under another name: the same objects, in another way. */
  #renamed(name: string): readonly Step[] {
    return [{ do: "erase", path: `placements/${name}.yaml` }, this.#next(name)];
  }

  #next(name: string): Placement {
    const { pick } = this.#dice;
    const spaces = pick([name, name, `${name},extra`]);
    const ways = [
      "unavailable=1",
      "unavailable=2",
      "unavailable=100%",
      "unavailable=1 never",
      "unavailable=1 abandon",
    ] as const;
    return {
      do: "placement",
      name: "next",
      policy: pick(["PickAll", "PickAll env=dev"]),
      options: `ns=${spaces} ${pick(ways)}`,
    };
  }

  /** What both may have goes from one to the other. */
  #moved(name: "web" | "shop"): readonly Step[] {
    const [from, to] = this.#chance(50) ? ["web", "shop"] : ["shop", "web"];
    const giver = this.#scene.place(from ?? name, []);
    const taker = this.#scene.place(to ?? name, []);
    if (giver.do !== "placement" || taker.do !== "placement") return [];
    return [
      { ...giver, options: giver.options.replace(/ns=\S+/, `ns=${from}`) },
      { ...taker, options: taker.options.replace(/ns=\S+/, `ns=${to},extra`) },
    ];
  }

  #back(name: "web" | "shop"): readonly Step[] {
    const { pass, place } = this.#scene;
    const push: Step = { do: "push" };
    return [
      place(name, []),
      ...(this.#chance(70) ? [{ do: "erase", path: "placements/next.yaml" } as const] : []),
      push,
      pass(),
      ...(this.#chance(40) ? [{ do: "confirm" } as const, push, pass()] : []),
    ];
  }
}
