/** Lets what a member says of itself change as often as it does, unless that is too often. */
interface Restlessness {
  /** Whether one more change is believed now. */
  isCalm(): boolean;
  /** When one more change will be believed, by the clock; now, where one is. */
  calmAt(): number;
  /** What is said, or what was believed before: where both are the same (`===` stays), or too much changed of late. */
  believed<T>(before: T | null, said: T, isSame: (a: T, b: T) => boolean): T;
}

/** So many changes are believed within so long (`members/README.md#restless-members`): each may cost a commit. */
const mostChanges = 10;
const changesMs = 10 * 60_000;

/** Counts the changes of one member by a clock in milliseconds. */
export function restlessness(now: () => number): Restlessness {
  let told: readonly number[] = [];
  const isCalm = (): boolean => {
    const since = now() - changesMs;
    told = told.filter((it) => it > since);
    return told.length < mostChanges;
  };
  return {
    isCalm,
    calmAt: () => (isCalm() ? now() : (told.at(-mostChanges) ?? now()) + changesMs),
    believed(before, said, isSame) {
      if (before === null) return said;
      if (isSame(before, said) || !isCalm()) return before;
      told = [...told, now()];
      return said;
    },
  };
}
