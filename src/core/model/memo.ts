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
