/** The known word that somebody may have meant, or null when none is close. */
export function nearest(word: string, known: Iterable<string>): string | null {
  const lower = word.toLowerCase();
  let best: string | null = null;
  let distance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const away = candidate.toLowerCase() === lower ? 0 : editDistance(lower, candidate.toLowerCase(), distance);
    if (away < distance) [best, distance] = [candidate, away];
  }
  return best;
}

/** `did you mean "x"?` where there is an x, otherwise what to do instead. */
export function didYouMean(word: string, known: Iterable<string>, otherwise: string): string {
  const found = nearest(word, known);
  return found === null ? otherwise : `did you mean "${found}"?`;
}

/** Levenshtein's distance; gives up with `limit` when it gets there. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 100) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}
