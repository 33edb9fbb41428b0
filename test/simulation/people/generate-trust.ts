import type { random } from "../../core/schedule/random.ts";
import type { Step } from "../step.ts";
import type { AnswerWay, TrustChange, WithdrawalWay } from "./approvers.ts";
import { voters } from "./trust-content.ts";

type Dice = ReturnType<typeof random>;

/** Writes what people do where approvals are signed. */
export class TrustGenerator {
  readonly #dice: Dice;
  readonly #members: readonly [string, ...string[]];
  /** What the trust file said when it was last written as it should be. */
  #said = "";

  constructor(dice: Dice, members: readonly [string, ...string[]]) {
    this.#dice = dice;
    this.#members = members;
  }

  #chance(percent: number): boolean {
    return this.#dice.below(100) < percent;
  }

  /** Who may approve, from the first commit on. */
  found(): Step {
    this.#said = this.#words();
    return { do: "trust", how: "found", words: this.#said };
  }

  #words(): string {
    const { pick, below } = this.#dice;
    const places = Array.from({ length: below(4) }, () => `${pick(this.#members)}/${pick(["web", "shop", "extra"])}`);
    const four = this.#chance(40) ? ["four"] : [];
    const bad = this.#chance(15) ? ["retired=carol"] : this.#chance(10) ? [`stolen=${pick(["carol", "erin"])}`] : [];
    return [`min=${pick([1, 1, 2])}`, ...four, ...bad, ...new Set(places)].join(" ");
  }

  /** Whose signature is on what is pushed. */
  signed(step: Step): Step {
    return step.do === "push" && this.#chance(80) ? { ...step, by: "dave" } : step;
  }

  /** The trust file changes as it should, or not; what is broken is often put back. */
  change(): readonly Step[] {
    const how = this.#dice.pick<TrustChange>(["renew", "renew", "renew", "few", "skip", "break", "remove", "back"]);
    const words = this.#words();
    if (how === "renew") this.#said = words;
    return [{ do: "trust", how, words }];
  }

  /** Puts back what was in force. */
  restore(): Step {
    return { do: "trust", how: "back", words: "" };
  }

  /** People answer what is asked for: some themselves, some in somebody else's name. */
  votes(): readonly Step[] {
    return this.#dice
      .shuffled(voters)
      .slice(0, 1 + this.#dice.below(4))
      .map((who) => this.#vote(who, this.#dice.pick(countedAnswers)));
  }

  #vote(who: string, way: AnswerWay): Step {
    return { do: "vote", who, how: this.#chance(15) ? "Reject" : "Approve", way };
  }

  /** Somebody approves and takes it back, before it counted or after; a stranger puts it back, others approve as well. */
  takeBack(pass: () => Step): readonly Step[] {
    const { pick, shuffled } = this.#dice;
    const [who = "ann", other = "bob"] = shuffled(voters);
    const back = (): Step => ({
      do: "recant",
      who,
      how: pick<WithdrawalWay>(["commit", "detached", "remove", "copy", "copy"]),
    });
    const maybe = (percent: number, ...steps: readonly Step[]): readonly Step[] => (this.#chance(percent) ? steps : []);
    return [
      this.#vote(who, pick(["commit", "detached", "detached"])),
      ...maybe(60, pass()),
      back(),
      ...maybe(50, pass()),
      ...maybe(60, back()),
      ...maybe(60, pass()),
      ...maybe(50, this.#vote(pick([who, other, other]), pick(["commit", "detached"]))),
      pass(),
      ...maybe(40, back(), pass()),
    ];
  }

  /** Some approve, and the key of one of them turns out to be somebody else's: in time, or too late. */
  theft(pass: () => Step): readonly Step[] {
    const { pick, shuffled, below } = this.#dice;
    const who = pick(["carol", "erin"]);
    const others = shuffled(voters.filter((it) => it !== who)).slice(0, below(2));
    const kept = this.#said.split(" ").filter((it) => !/^(retired|stolen)=/.test(it));
    const votes = shuffled([who, ...others]).map(
      (it): Step => ({
        do: "vote",
        who: it,
        how: "Approve",
        way: pick(["commit", "detached"]),
      }),
    );
    this.#said = [...kept, `stolen=${who}`].join(" ");
    return [
      ...votes,
      ...Array.from({ length: 1 + below(2) }, pass),
      { do: "trust", how: "renew", words: this.#said },
      pass(),
      { do: "wait", ms: 7_000 },
      pass(),
      ...(this.#chance(50) ? [pass(), ...this.votes(), pass()] : []),
    ];
  }
}

const countedAnswers = [
  "commit",
  "commit",
  "commit",
  "detached",
  "detached",
  "unsigned",
  "forged",
  "borrowed",
] as const satisfies readonly AnswerWay[];
