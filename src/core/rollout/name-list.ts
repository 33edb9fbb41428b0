import { compareText } from "../model/value.ts";

const most = 10;

/** Names for a message: sorted, the first ten, and how many more there are (`rollout/README.md#u15`). */
export function nameList(names: readonly string[]): string {
  const first = [...names].sort(compareText).slice(0, most).join(", ");
  return names.length > most ? `${first} and ${names.length - most} more` : first;
}
