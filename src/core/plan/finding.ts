import { commonKeys, type Keyed } from "../model/identity.ts";
import { earliest, type Instant } from "../model/value.ts";

/** What was found out about a value, what else that rests on, and for how long it holds. */
export interface Finding<B, F> {
  readonly found: F;
  readonly basis: B;
  /** It holds from this moment until time alone changes it; null where time alone changes nothing. */
  readonly from: Instant;
  readonly until: Instant | null;
}

/** Whether a finding holds at a moment, as far as time alone is concerned. */
export const holdsAt = ({ from, until }: Pick<Finding<never, never>, "from" | "until">, now: Instant): boolean =>
  now >= from && (until === null || now < until);

/** Finds something out about a value by looking at those of `keys` that it is told; null: there is nothing to keep. */
type Look<K, F> = (keys: Iterable<K>, before: F | null) => Pick<Finding<never, F>, "found" | "until"> | null;

/** What a finding is to rest on now: the keys of the basis that concern its value, and the moment. */
interface Present<B, K> {
  readonly basis: B;
  readonly keys: Keyed<K>;
  readonly now: Instant;
}

/**
 * Keeps findings about values, and looks again only under the keys of their basis that changed.
 *
 * `changed` says which those are between two bases, null: it may be any; `isSame` that there are none. Findings are
 * dropped with the values that they are about.
 */
export function findings<S extends object, B, K, F>(
  changed: (before: B, after: B) => Keyed<K> | null,
  isSame = (before: B, after: B): boolean => before === after,
): (subject: S, present: Present<B, K>, look: Look<K, F>) => F | null {
  const known = new WeakMap<S, Finding<B, F>>();
  return (subject, { basis, keys, now }, look) => {
    const last = known.get(subject);
    const valid = last !== undefined && holdsAt(last, now) ? last : null;
    if (valid !== null && isSame(valid.basis, basis)) return valid.found;
    const changes = valid === null ? null : changed(valid.basis, basis);
    const before = changes === null ? null : valid;
    const next = look(changes === null ? keys.keys() : commonKeys(changes, keys), before?.found ?? null);
    if (next === null) return null;
    known.set(subject, { found: next.found, basis, from: now, until: earliest(before?.until ?? null, next.until) });
    return next.found;
  };
}
