/** Lets what a member says of itself change as often as it does, unless that is too often. */
interface Restlessness {
  /** Whether one more change may be told now. */
  isCalm(): boolean;
  /** A change is told. */
  note(): void;
}

/** So many changes are told within so long (`members/README.md#restless-members`): each may cost a commit. */
const mostChanges = 10;
const changesMs = 10 * 60_000;

/** Counts the changes of one member by a clock in milliseconds. */
export function restlessness(now: () => number): Restlessness {
  let told: readonly number[] = [];
  return {
    isCalm() {
      const since = now() - changesMs;
      told = told.filter((it) => it > since);
      return told.length < mostChanges;
    },
    note() {
      told = [...told, now()];
    },
  };
}
