import type { random } from "../../core/schedule/random.ts";
import type { Step } from "../step.ts";

type Dice = ReturnType<typeof random>;

/** What somebody who writes about leaving needs of who writes the rest. */
export interface RemovalSteps {
  readonly pass: () => Step;
  /** Writes a placement anew, with these options among others. */
  readonly place: (name: string, extras: readonly string[]) => Step;
  /** A member that somebody else touches. */
  readonly member: () => string;
}

/** Somebody else's objects: in namespaces that placements bring, and take away. */
const theirs = ["Secret web/theirs", "ConfigMap web/more", "Secret shop/theirs", "ConfigMap extra/theirs"] as const;

const one = (only: "first" | "last"): Step => ({ do: "confirm", only });

/**
 * Writes what people do while something leaves: they confirm, change their minds about what becomes of it, put it back, and
 * push old confirmations again, while others fill namespaces.
 */
export class RemovalGenerator {
  readonly #dice: Dice;
  readonly #scene: RemovalSteps;

  constructor(dice: Dice, scene: RemovalSteps) {
    this.#dice = dice;
    this.#scene = scene;
  }

  #chance(percent: number): boolean {
    return this.#dice.below(100) < percent;
  }

  /** A placement goes, or loses some of what it selects; comes back, and goes again. */
  story(): readonly Step[] {
    const { pass } = this.#scene;
    const name = this.#dice.pick(["web", "shop"] as const);
    const goes = this.#goes(name);
    return [
      ...this.#strange(),
      ...goes,
      pass(),
      ...this.#meanwhile(name),
      ...this.#answer(),
      pass(),
      pass(),
      ...(this.#chance(70) ? [this.#scene.place(name, []), { do: "push" } as const, pass(), pass()] : []),
      ...(this.#chance(50) ? this.#strange() : []),
      ...(this.#chance(60) ? goes : this.#goes(name)),
      ...(this.#chance(50) ? this.#old() : []),
      pass(),
      ...(this.#chance(50) ? this.#answer() : []),
    ];
  }

  /** Something goes and is confirmed, and before it is gone something else goes that is to be asked about as well. */
  twice(): readonly Step[] {
    const { pass, member } = this.#scene;
    const { pick, shuffled } = this.#dice;
    const [first, second] = shuffled(["web", "shop"] as const);
    const push: Step = { do: "push" };
    const stuck = pick<readonly Step[]>([
      [],
      [{ do: "member", name: member(), is: pick(["hangs", "down", "read-only", "broken"]) }],
      [{ do: "meddle", name: member(), how: "finalize", object: `ConfigMap ${first}/config`, value: "x" }],
    ]);
    const rest = pick<Step>([
      { do: "erase", path: `placements/${second}.yaml` },
      { do: "erase", path: `resources/namespace-${second}.yaml` },
      this.#scene.place(first ?? "web", this.#fate()),
    ]);
    return [
      { do: "guards", objects: 0, clusters: 0 },
      push,
      pass(),
      { do: "erase", path: `placements/${first}.yaml` },
      push,
      pass(),
      ...stuck,
      one(pick(["first", "first", "last"])),
      push,
      pass(),
      rest,
      push,
      pass(),
      ...(this.#chance(50) ? this.#strange() : []),
      pass(),
      ...(this.#chance(40) ? this.#old() : []),
      ...(this.#chance(60) ? [one(pick(["first", "last"])), push] : []),
      pass(),
    ];
  }

  /** A push of something else that brings an old confirmation back, or a new one for what waits. */
  answer(): readonly Step[] {
    return this.#chance(50) ? this.#old() : this.#answer();
  }

  /** A placement goes elsewhere; what becomes of what it leaves behind is edited before and after people said yes. */
  approved(votes: () => readonly Step[]): readonly Step[] {
    const { pass, place, member } = this.#scene;
    const { pick } = this.#dice;
    const name = pick(["web", "shop"] as const);
    const goes = place(name, []);
    if (goes.do !== "placement") return [];
    const plain = goes.options.split(" ").filter((it) => it !== "abandon" && it !== "delete-adopted");
    const edit = (): readonly Step[] => {
      const fate = pick<readonly string[]>([[], ["abandon"], ["delete-adopted"]]);
      return [{ ...goes, options: [...plain, ...fate].join(" ") }, { do: "push" }];
    };
    const before: Step = {
      do: "meddle",
      name: member(),
      how: "create",
      object: `ConfigMap ${name}/config`,
      value: "9",
    };
    return [
      ...(this.#chance(40) ? [before, pass(), pass()] : []),
      ...edit(),
      { do: "wait", ms: 700_000 },
      pass(),
      pass(),
      ...votes(),
      ...votes(),
      ...(this.#chance(40) ? [pass()] : []),
      ...edit(),
      pass(),
      pass(),
      ...(this.#chance(50) ? [...votes(), pass(), pass()] : []),
    ];
  }

  #goes(name: string): readonly Step[] {
    const edit: Step = this.#chance(50)
      ? { do: "erase", path: `placements/${name}.yaml` }
      : this.#scene.place(name, this.#fate());
    return [edit, { do: "push" }];
  }

  #fate(): readonly string[] {
    return this.#dice.pick<readonly string[]>([["abandon"], ["delete-adopted"], ["abandon", "delete-adopted"], []]);
  }

  /** What happens before anybody has answered. */
  #meanwhile(name: string): readonly Step[] {
    const steps: Step[] = [];
    if (this.#chance(40)) steps.push(this.#scene.place(name, this.#fate()), { do: "push" });
    if (this.#chance(30)) steps.push(this.#scene.pass());
    if (this.#chance(40)) steps.push(...this.#strange());
    return steps;
  }

  #strange(): readonly Step[] {
    const { pick } = this.#dice;
    const how = pick(["create", "create", "delete"] as const);
    return [{ do: "meddle", name: this.#scene.member(), how, object: pick(theirs), value: "x" }];
  }

  #answer(): readonly Step[] {
    const steps: readonly Step[] = [{ do: "confirm" }, { do: "push" }];
    return this.#chance(30) ? [...steps, this.#scene.pass(), ...steps] : steps;
  }

  #old(): readonly Step[] {
    return [{ do: "reconfirm" }, { do: "push" }];
  }
}
