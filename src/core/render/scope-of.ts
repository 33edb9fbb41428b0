import { kindKey, type ObjectId, type Scope, type ScopeTable } from "../model/manifest.ts";

/**
 * The scope of one object: what the table knows of its kind, else what its own namespace says, else null.
 *
 * An unknown kind without namespace stays unknown: it is never guessed (`render/README.md#scope`, `#c-31`).
 */
export const scopeOf = (id: ObjectId, scopes: Pick<ScopeTable, "get">): Scope | null =>
  scopes.get(kindKey(id)) ?? (id.namespace === null ? null : "Namespaced");
