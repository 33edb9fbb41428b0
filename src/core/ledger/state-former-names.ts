import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { FormerNames, Ledger } from "../model/ledger.ts";
import type { ClusterName, Sequence } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { countAt, type Findings, find, objectsAt, textAt, textsAt } from "./state-fields.ts";

/** The text of `former-names.yaml`: clusters that are protected by names that they no longer have. */
export const formerNamesText = (formerNames: Ledger["formerNames"]): string =>
  emitYaml({ clusters: [...formerNames.values()].map(({ uid, names, since }) => ({ uid, names, since })) });

/** The inverse of {@link formerNamesText}. */
export function formerNamesOf(findings: Findings, document: Json): readonly FormerNames[] {
  const object = isObject(document) ? document : {};
  const all = objectsAt(findings, object, "clusters").map((it) => formerNameOf(findings, it));
  if (new Set(all.map((it) => it.uid)).size < all.length) find(findings, "clusters", "tells of one cluster twice");
  return all;
}

const formerNameOf = (findings: Findings, object: JsonObject): FormerNames => ({
  uid: textAt(findings, object, "uid"),
  names: textsAt(findings, object, "names") as ClusterName[],
  since: countAt(findings, object, "since") as Sequence,
});
