import type { Binding } from "../../src/core/model/binding.ts";
import type { Ledger, PlacementRecord } from "../../src/core/model/ledger.ts";
import type { Commit } from "../../src/core/model/value.ts";
import type { Judge } from "./judge.ts";
import type { PassFacts } from "./member-write.ts";

/** One commit of the state branch, beside the one before it. */
export interface StateCommit {
  readonly facts: PassFacts;
  readonly commit: Commit;
  readonly before: Ledger | null;
  readonly after: Ledger;
}

/** Whether a member answered in the pass of a commit, or had to be taken as it was recorded. */
export const hasAnswered = ({ facts: { answered, attempt } }: StateCommit, member: string): boolean =>
  answered.has(member) || attempt.unheard.has(member);

/** A promise about one commit of the state branch. */
export type StateCommitRule = (page: StateCommit, judge: Judge) => Iterable<string>;

/** Every binding of a ledger, with the record of its placement. */
export const bindingsOf = (ledger: Ledger | null): readonly (readonly [PlacementRecord, Binding])[] =>
  [...(ledger?.placements.values() ?? [])].flatMap((record) =>
    [...record.bindings.values()].map((it) => [record, it] as const),
  );
