/** Whether a name is meant: by itself, or by a beginning with a `*` behind it. Nothing else is a wildcard. */
export const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

/** Whether any of the patterns means a name. */
export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some((it) => matches(it, name));
