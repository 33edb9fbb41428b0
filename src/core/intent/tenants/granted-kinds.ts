import type { TenantGrant } from "../../model/fleet.ts";
import { builtInScopes, kindKey, type ObjectId } from "../../model/manifest.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { isKnownGroup, knownKinds, readKinds } from "../kinds/known-kinds.ts";

/**
 * Whether a kind is granted: a bare name means kinds of Kubernetes, KubeFleet and Flotilla, so that no custom resource
 * that happens to be called like one comes with it; `Kind.group` means that one.
 */
export const isGrantedKind = ({ kinds }: TenantGrant, id: Pick<ObjectId, "group" | "kind">): boolean =>
  kinds.includes(`${id.kind}.${id.group}`) ||
  (kinds.includes(id.kind) && (builtInScopes.has(kindKey(id)) || isKnownGroup(id.group)));

/** Checks that every kind that is granted is one, and one that a document outside of its own place may be of. */
export const grantedKindProblems = (tenants: readonly TenantGrant[], at: JsonPath): FieldProblems =>
  tenants.flatMap(({ kinds }, tenant) =>
    kinds.flatMap((it, i) => {
      const path = [...at, tenant, "kinds", i];
      const place = ownPlaces.get(it);
      if (place !== undefined) return [error("FLT1302", path, `${place} only`, "remove it", JSON.stringify(it))];
      if (knownNames.has(it) || isCustomKind(it)) return [];
      const fix = didYouMean(
        it,
        knownNames,
        "write custom resources with their group, like Certificate.cert-manager.io",
      );
      return [error("FLT1301", path, "is not a kind that is known", fix, JSON.stringify(it))];
    }),
  );

const readable = knownKinds.flatMap((it) => (it.schema === null ? [] : [{ ...it, schema: it.schema }]));

const ownPlaces: ReadonlyMap<string, string> = new Map(
  readable.flatMap(({ schema, kind, group }) => {
    const place = schema === "Trust" ? "a Trust is read from trust/root.yaml" : readKinds[schema].ownPlace;
    return place === null ? [] : [[kind, place] as const, [`${kind}.${group}`, place] as const];
  }),
);

const idsOfKinds: readonly Pick<ObjectId, "group" | "kind">[] = [
  ...[...builtInScopes.keys()].map((it) => ({
    group: it.slice(0, it.indexOf("/")),
    kind: it.slice(it.indexOf("/") + 1),
  })),
  ...readable,
];

const knownNames: ReadonlySet<string> = new Set(
  idsOfKinds.flatMap(({ group, kind }) => (group === "" ? [kind] : [kind, `${kind}.${group}`])),
);

/** `Certificate.cert-manager.io`, of a group of which not every kind is known. */
function isCustomKind(written: string): boolean {
  const [, group = ""] =
    /^[A-Z][A-Za-z0-9]{0,62}\.([a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+)$/.exec(written) ??
    [];
  return group !== "" && !isKnownGroup(group) && !idsOfKinds.some((it) => it.group === group);
}
