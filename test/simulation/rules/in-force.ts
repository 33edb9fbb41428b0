import type { Commit } from "../../../src/core/model/value.ts";
import type { Document } from "../people/document.ts";
import type { Draft } from "../people/people.ts";
import type { Simulation } from "../simulation.ts";

/**
 * What is in force at each accepted commit: what it says, and of what it says unusably, what was said before.
 *
 * A second opinion about holds (D 2): a document that cannot be used holds its own object; while one
 * cannot even be named, nothing that is absent counts as deleted; and a commit that says nothing at all is not believed.
 */
export class InForce {
  readonly #simulation: Simulation;
  readonly #drafts = new Map<Commit, Draft>();
  /** Accepted commits, in order. */
  readonly accepted: Commit[] = [];

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** A state commit names this commit as the one that was read. */
  accept(commit: Commit | null): void {
    if (commit === null || commit === this.accepted.at(-1)) return;
    this.#drafts.set(commit, this.#resolve(commit));
    this.accepted.push(commit);
  }

  at(commit: Commit): Draft {
    return this.#drafts.get(commit) ?? new Map();
  }

  /** As {@link at}, without objects whose file holds something else by now, be it of no use: nobody asks for them any more. */
  askedFor(commit: Commit): Draft {
    const said = this.#simulation.people.at(commit);
    const isReplaced = (path: string): boolean => {
      const document = said.get(path);
      return document?.kind === "broken" && document.how === "unsound";
    };
    return new Map([...this.at(commit)].filter(([path]) => !isReplaced(path)));
  }

  /** The commit that was accepted before this one. */
  before(commit: Commit): Commit | null {
    const index = this.accepted.lastIndexOf(commit);
    return index <= 0 ? null : (this.accepted[index - 1] ?? null);
  }

  #resolve(commit: Commit): Draft {
    const latest = this.accepted.at(-1);
    const before: Draft = latest === undefined ? new Map() : this.at(latest);
    const said = this.#simulation.people.at(commit);
    if (said.size === 0) return before;
    const next = new Map<string, Document>();
    for (const [path, it] of said) {
      const document = it.kind === "broken" || isRefused(it, before.get(path)) ? before.get(path) : it;
      if (document !== undefined) next.set(path, document);
    }
    if (isUnreadable(said)) for (const [path, it] of before) if (!next.has(path)) next.set(path, it);
    return next;
  }
}

/**
 * Of a run only its state can be edited: one that was to begin cannot be initialized again, and one that was not cannot be
 * stopped (V-UR).
 */
const isRefused = (it: Document, was: Document | undefined): boolean =>
  it.kind === "run" && was?.kind === "run" && (isOther(it, was) || mayNotTurn(it, was));

type Run = Extract<Document, { kind: "run" }>;

const isOther = (it: Run, was: Run): boolean =>
  it.placement !== was.placement || it.strategy !== was.strategy || it.index !== was.index;

const mayNotTurn = (it: Run, was: Run): boolean =>
  it.state !== was.state && (it.state === "Initialize" || (it.state === "Stop" && was.state === "Initialize"));

/** Whether a document of a commit cannot even be named. */
export const isUnreadable = (said: Draft): boolean =>
  [...said.values()].some((it) => it.kind === "broken" && (it.how === "yaml" || it.how === "identity"));
