/** The indices of entries that say the same as an earlier one. */
export function repeated<T>(entries: readonly T[], keyOf: (entry: T) => string): readonly number[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, at) => {
    const key = keyOf(entry);
    if (seen.has(key)) return [at];
    seen.add(key);
    return [];
  });
}
