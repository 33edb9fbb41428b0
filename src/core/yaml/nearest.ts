/** The known word that was perhaps meant, or null when none is similar. */
export function nearest(word: string, known: Iterable<string>): string | null {
  const lower = word.toLowerCase();
  let best: string | null = null;
  let distance = slipsIn(word) + 1;
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    const away = other === lower ? 0 : isLike(lower, other) ? editDistance(lower, other, distance) : distance;
    if (away < distance) [best, distance] = [candidate, away];
  }
  return best;
}

/** `did you mean "x"?` where there is an x, otherwise what to do instead. */
export function didYouMean(word: string, known: Iterable<string>, otherwise: string): string {
  const found = nearest(word, known);
  return found === null ? otherwise : `did you mean "${found}"?`;
}

/** How many typos may be in a word: few in a short one. */
const slipsIn = (word: string): number => Math.min(3, Math.max(word.length > 1 ? 1 : 0, Math.floor(word.length / 3)));

/** A different number is not a typo; in short words the first letter is rarely wrong. */
function isLike(word: string, other: string): boolean {
  if (word.length < 3 && !other.startsWith(word)) return false;
  const isShort = Math.min(word.length, other.length) < 6;
  return (!isShort || word[0] === other[0]) && numbersIn(word) === numbersIn(other);
}

const numbersIn = (word: string): string => (word.match(/\d+/g) ?? []).map(Number).join();

/** Changed, missing, surplus and swapped letters between two words; gives up with `limit` when it gets there. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 100) return limit;
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] && i > 1 && j > 1;
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? limit;
}
