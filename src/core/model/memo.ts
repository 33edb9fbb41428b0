/**
 * Remembers what a pure function gave for a value, as long as somebody holds that value.
 *
 * Values are never changed once they are made, so the same one (`===`) always gives the same: whether something was
 * remembered can be seen in what it costs and nowhere else. What `make` gives must not hold on to a world.
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
 * Like {@link remembered}, for what depends on a second value too: the last one that each was asked about with.
 *
 * Neither value is kept alive. Whoever compares every state with the one before would otherwise hold, with one old
 * state, all that came after it.
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
