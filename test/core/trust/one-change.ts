/** A value with one change somewhere in it, and where: `request.digest`, `introducers[].changes[+]`. */
export interface Changed {
  readonly at: string;
  readonly value: unknown;
}

/** What stands in for a value under a key, where adding to a text or a number would not make another one of its kind. */
export type Instead = Readonly<Record<string, readonly unknown[]>>;

const steps = [
  ["-1", -1],
  ["+1", 1],
  ["--", -1e12],
  ["++", 1e12],
] as const;

/** Every value that differs from this one in one place: a leaf that is another, an entry that is gone or one too many. */
export function* changesOf(value: unknown, instead: Instead, at = "", key = ""): Generator<Changed> {
  const others = instead[key];
  for (const other of others ?? []) if (JSON.stringify(other) !== JSON.stringify(value)) yield { at, value: other };
  if (value instanceof Map) {
    for (const [name, entry] of value) {
      yield { at: `${at}{-}`, value: new Map([...value].filter(([it]) => it !== name)) };
      for (const it of changesOf(entry, instead, `${at}{${name}}`, key))
        yield { at: it.at, value: new Map([...value].map(([k, v]) => [k, k === name ? it.value : v])) };
    }
    return;
  }
  if (Array.isArray(value)) {
    for (const [i, entry] of value.entries()) {
      yield { at: `${at}[-]`, value: value.toSpliced(i, 1) };
      for (const it of changesOf(entry, instead, `${at}[]`, `${key}[]`))
        yield { at: it.at, value: value.toSpliced(i, 1, it.value) };
    }
    const last = value.at(-1);
    for (const it of changesOf(last, instead, "", `${key}[]`)) yield { at: `${at}[+]`, value: [...value, it.value] };
    return;
  }
  if (typeof value === "object" && value !== null) {
    for (const [name, entry] of Object.entries(value))
      for (const it of changesOf(entry, instead, at === "" ? name : `${at}.${name}`, name))
        yield { at: it.at, value: { ...value, [name]: it.value } };
    return;
  }
  if (others !== undefined) return;
  if (typeof value === "string") yield { at, value: `${value}0` };
  if (typeof value === "boolean") yield { at, value: !value };
  if (typeof value === "number") for (const [sign, by] of steps) yield { at: `${at}${sign}`, value: value + by };
}
