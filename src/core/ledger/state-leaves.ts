import type { Leave } from "../model/deletion.ts";
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { ChangeRequest } from "../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import { type ClusterName, compareText } from "../model/value.ts";
import { type Findings, filled, given, objectsAt, textsAt } from "./state-fields.ts";

/**
 * What leaves which clusters, and how: clusters that lose the same in the same way stand together, so that a placement on a
 * hundred clusters is one entry.
 */
export function leavesJson(leaves: ChangeRequest["leaves"]): readonly JsonObject[] {
  const groups = new Map<string, { readonly clusters: ClusterName[]; readonly fates: JsonObject }>();
  for (const [cluster, all] of leaves) {
    const fates = fatesJson(all);
    const text = JSON.stringify(fates);
    const group = groups.get(text) ?? { clusters: [], fates };
    groups.set(text, group);
    group.clusters.push(cluster);
  }
  return [...groups.values()].map(({ clusters, fates }) => ({ clusters, ...fates }));
}

function fatesJson(all: readonly Leave[]): JsonObject {
  const keys = (fate: Leave["fate"]): readonly string[] =>
    all.flatMap((it) => (it.fate === fate ? objectKey(it.object) : []));
  return given({ delete: filled(keys("delete")), release: filled(keys("release")) });
}

/** The inverse of {@link leavesJson}: the list `leaves` of an object, none where there is no such list. */
export function leavesAt(findings: Findings, object: JsonObject): ChangeRequest["leaves"] {
  const groups = objectsAt(findings, object, "leaves").flatMap((group) => {
    const all = leavesIn(findings, group);
    return textsAt(findings, group, "clusters").map((cluster) => [cluster as ClusterName, all] as const);
  });
  return new Map(groups.sort(([a], [b]) => compareText(a, b)));
}

function leavesIn(findings: Findings, group: Json): readonly Leave[] {
  const object = isObject(group) ? group : {};
  return (["delete", "release"] as const)
    .flatMap((fate) => textsAt(findings, object, fate).map((key) => ({ key, fate })))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ key, fate }): Leave => ({ object: objectIdOf(key as ObjectKey), fate }));
}
