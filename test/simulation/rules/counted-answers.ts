import type { Judge } from "../judge.ts";
import type { SignedAnswer } from "../people/approvers.ts";
import { type TrustContent, type TrustVersion, voters } from "../people/trust-content.ts";
import type { StateCommit } from "../state-commit.ts";

/** Who let something happen, and how many of them it took then. */
export interface ApprovedRequest {
  readonly who: readonly string[];
  readonly minimum: number;
}

/** The version in force, as its author knows it; null where nobody signs, or nothing is in force yet. */
export const inForce = (
  { trust }: Pick<StateCommit["after"], "trust">,
  { simulation: { approvers } }: Judge,
): TrustVersion | null => approvers.version(trust?.text ?? null);

/** What people said that counts, in the order in which it came, by the keys that were good when it did. */
export class CountedAnswers {
  /** By what was in force when an answer was first read; null where nothing was. */
  readonly #heard = new Map<SignedAnswer, TrustContent | null>();
  /** By digest, in the order in which they opened. */
  readonly opened = new Map<string, ApprovedRequest>();

  /** Notes what was read for the first time in a commit of the state branch. */
  hear({ before, after }: StateCommit, judge: Judge): void {
    const { hub, approvers } = judge.simulation;
    const { sourceCommit } = after;
    if (sourceCommit === null || sourceCommit === before?.sourceCommit) return;
    for (const vote of approvers.votes) {
      if (this.#heard.has(vote) || !hub.descends(sourceCommit, vote.commit)) continue;
      this.#heard.set(vote, before === null ? null : (inForce(before, judge)?.words ?? null));
      if (vote.decision !== "Revoke") continue;
      judge.simulation.hit("approval taken back");
      if (this.opened.has(vote.digest)) judge.simulation.hit("approval taken back after it opened");
    }
  }

  /** Whether whoever answers may, with a key that was good when it was read. */
  counts(vote: SignedAnswer): boolean {
    const words = this.#heard.get(vote);
    if (words === undefined || !(voters as readonly string[]).includes(vote.who)) return false;
    return words === null || (vote.who !== words.revoked && vote.who !== words.stolen);
  }

  /** Who approves a request as of a commit: it stands there as they wrote it, they took nothing back, and their keys are theirs. */
  approvers(digest: string | null, page: StateCommit, judge: Judge): readonly string[] {
    const stolen = inForce(page.after, judge)?.words.stolen ?? null;
    const yes = new Set<string>();
    for (const vote of judge.simulation.approvers.votes) {
      if (vote.digest !== digest || !this.counts(vote) || vote.who === stolen) continue;
      // Nobody knows what became of a word that was read before anything was in force.
      if (vote.decision === "Revoke" && this.#heard.get(vote) != null) yes.delete(vote.who);
      if (vote.decision === "Approve" && stoodThere(vote, page, judge)) yes.add(vote.who);
    }
    return [...yes];
  }

  /** Whether what opened was opened by enough people. Whose key was retired since, or who took it back since, has approved. */
  isFull(digest: string | null, { minimum, stolen }: TrustContent): boolean {
    return (this.opened.get(digest ?? "")?.who ?? []).filter((it) => it !== stolen).length >= minimum;
  }
}

/** Whether a file was there in every commit since it came. */
export function stoodThere(vote: SignedAnswer, { after }: Pick<StateCommit, "after">, judge: Judge): boolean {
  const { hub, people } = judge.simulation;
  for (let at = after.sourceCommit; at !== null; at = hub.commitAt(at).parent) {
    if (!people.at(at).has(vote.path)) return false;
    if (at === vote.commit) return true;
  }
  return false;
}
