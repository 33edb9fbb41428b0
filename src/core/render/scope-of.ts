import type { ObjectId } from "../model/manifest.ts";
import { kindKey, type Scope, type ScopeTable } from "../model/scope.ts";

/**
 * The scope of one object: what the table knows of its kind, else what its own namespace says, else null.
 *
 * An unknown kind without namespace stays unknown: it is never guessed (`render/README.md#scope`, `#c-31`).
 */
export const scopeOf = (id: ObjectId, scopes: Pick<ScopeTable, "get">): Scope | null =>
  scopes.get(kindKey(id)) ?? (id.namespace === null ? null : "Namespaced");
