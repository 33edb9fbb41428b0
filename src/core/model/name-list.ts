import { compareText } from "./value.ts";

/** Names for a message, in the order given: the first `most` of them, and how many more there are. */
export const firstOf = (names: readonly string[], most: number): string =>
  names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");

/** Names for a message: sorted, the first ten, and how many more there are (`rollout/README.md#u15`). */
export const nameList = (names: readonly string[]): string => firstOf([...names].sort(compareText), 10);
