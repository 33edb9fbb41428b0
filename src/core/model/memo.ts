/**
 * Caches the result of a pure function for a value, for as long as that value is referenced.
 *
 * Values are immutable, so caching changes cost and nothing else. The result must not reference a world.
 */
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

/**
 * Like {@link remembered}, for a function of two values: only the last second value is cached.
 *
 * Neither value is kept alive. Otherwise comparing each state with the one before would keep all later states alive
 * with one old one.
 */
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
