import type { random } from "../core/schedule/random.ts";
import type { Ballot, TrustDeed } from "./electorate.ts";
import type { Step } from "./step.ts";
import { voters } from "./trust-words.ts";

type Dice = ReturnType<typeof random>;

/** Writes what people do where approvals are signed. */
export class TrustAuthor {
  readonly #dice: Dice;
  readonly #members: readonly [string, ...string[]];

  constructor(dice: Dice, members: readonly [string, ...string[]]) {
    this.#dice = dice;
    this.#members = members;
  }

  #chance(percent: number): boolean {
    return this.#dice.below(100) < percent;
  }

  /** Who may approve, from the first commit on. */
  found(): Step {
    return { do: "trust", how: "found", words: this.#words() };
  }

  #words(): string {
    const { pick, below } = this.#dice;
    const places = Array.from({ length: below(4) }, () => `${pick(this.#members)}/${pick(["web", "shop", "extra"])}`);
    const four = this.#chance(40) ? ["four"] : [];
    const retired = this.#chance(15) ? ["retired=carol"] : [];
    return [`min=${pick([1, 1, 2])}`, ...four, ...retired, ...new Set(places)].join(" ");
  }

  /** Whose signature is on what is pushed. */
  signed(step: Step): Step {
    return step.do === "push" && this.#chance(80) ? { ...step, by: "dave" } : step;
  }

  /** The trust file changes as it should, or not; what is broken is often put back. */
  change(): readonly Step[] {
    const how = this.#dice.pick<TrustDeed>(["renew", "renew", "renew", "few", "skip", "break", "remove", "back"]);
    return [{ do: "trust", how, words: this.#words() }];
  }

  /** Puts back what was in force. */
  restore(): Step {
    return { do: "trust", how: "back", words: "" };
  }

  /** People answer what is asked for: some themselves, some in somebody else's name. */
  votes(): readonly Step[] {
    const { pick, shuffled, below } = this.#dice;
    return shuffled(voters)
      .slice(0, 1 + below(4))
      .map((who): Step => {
        const way = pick<Ballot>([
          "commit",
          "commit",
          "commit",
          "detached",
          "detached",
          "unsigned",
          "forged",
          "borrowed",
        ]);
        return { do: "vote", who, how: this.#chance(15) ? "Reject" : "Approve", way };
      });
  }
}
