// What did not change keeps its identity, at every level of the ledger: that is how cost follows change.

/** Whether two maps hold the same values under the same keys. Ours iterate in the order of their keys. */
export function sameMap<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value || !b.has(key)) return false;
  return true;
}

/** Whether two lists hold the same values in the same order. */
export const sameList = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a === b || (a.length === b.length && a.every((it, at) => it === b[at]));

/** The value with some of its members changed; the value itself when they are what they were. */
export function revised<T extends object>(value: T, members: Partial<T>): T {
  for (const key in members) if (members[key] !== value[key]) return { ...value, ...members };
  return value;
}

/** The map with what `change` makes of every value, null leaving it out; the map itself when nothing differs. */
export function revisedMap<K, V>(map: ReadonlyMap<K, V>, change: (value: V, key: K) => V | null): ReadonlyMap<K, V> {
  let next: Map<K, V> | null = null;
  for (const [key, value] of map) {
    const changed = change(value, key);
    if (changed === value) continue;
    next ??= new Map(map);
    if (changed === null) next.delete(key);
    else next.set(key, changed);
  }
  return next ?? map;
}

/** The keys that both have. Costs the smaller one. */
export function* commonKeys<K>(a: Keyed<K>, b: Keyed<K>): Generator<K> {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const key of few.keys()) if (many.has(key)) yield key;
}

/** A map or a set. */
export type Keyed<K> = Pick<ReadonlySet<K>, "size" | "has" | "keys">;

/** Caches a pure function's result for a value as long as that is referenced; it must not reference a world. */
export function remembered<K extends object, V>(make: (about: K) => V): (about: K) => V {
  const known = new WeakMap<K, V>();
  return (about) => {
    const found = known.get(about);
    if (found !== undefined) return found;
    const made = make(about);
    known.set(about, made);
    return made;
  };
}

/** Like {@link remembered}, for two values: only the last second value is cached, and neither is kept alive. */
export function rememberedPair<K extends object, L extends object, V>(
  make: (about: K, by: L) => V,
): (about: K, by: L) => V {
  const known = new WeakMap<K, { readonly by: WeakRef<L>; readonly made: V }>();
  return (about, by) => {
    const found = known.get(about);
    if (found !== undefined && found.by.deref() === by) return found.made;
    const made = make(about, by);
    known.set(about, { by: new WeakRef(by), made });
    return made;
  };
}
