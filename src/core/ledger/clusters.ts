import type { MemberCluster } from "../model/fleet.ts";
import type {
  ClusterRecord,
  CollectionRecord,
  ContactFailure,
  FormerNames,
  Ledger,
  NamespacesRecord,
} from "../model/ledger.ts";
import { clusterGroup, resourcePrefix } from "../model/names.ts";
import type { MemberProperties } from "../model/observation.ts";
import { compareText } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import {
  at,
  converted,
  distinct,
  type Field,
  group,
  groupIfAt,
  listOf,
  mapOf,
  nullable,
  object,
  unlessEmpty,
} from "./codec/codec.ts";
import { conditions } from "./codec/conditions.ts";
import {
  choice,
  clusterName,
  digest,
  embedded,
  flagText,
  instant,
  integer,
  sequence,
  string,
} from "./codec/scalars.ts";
import { documentOf, inAnnotations, inMetadata, inStatus, ownKey } from "./document.ts";

/** KubeFleet's PropertyValue, without the time of observation: it would be news with every pass. */
const property = converted(
  object<{ readonly value: string }>({ value: string }),
  (value: string) => ({ value }),
  (it) => it.value,
);

/** Which of KubeFleet's three has a capacity, by how policies name it. */
const usages = [
  ["total", "capacity"],
  ["allocatable", "allocatable"],
  ["available", "available"],
] as const;

const listed = unlessEmpty(mapOf(property));
const amounts = unlessEmpty(mapOf(string));

/** Properties, of which capacities stand in `resourceUsage` as on a KubeFleet hub. */
const properties: Field<MemberProperties> = {
  put(into, value) {
    const own = new Map(value);
    for (const [kind, member] of usages) {
      const prefix = `${resourcePrefix}${kind}-`;
      const found = [...value.keys()].filter((it) => it.startsWith(prefix));
      const usage = new Map(found.map((it) => [it.slice(prefix.length), value.get(it) ?? ""]));
      for (const it of found) own.delete(it);
      at(["status", "resourceUsage", member], amounts).put(into, usage, null);
    }
    inStatus("properties", listed).put(into, own, null);
  },
  take(from, context) {
    const all: [string, string][] = [...inStatus("properties", listed).take(from, context)];
    for (const [kind, member] of usages)
      for (const [resource, amount] of at(["status", "resourceUsage", member], amounts).take(from, context))
        all.push([`${resourcePrefix}${kind}-${resource}`, amount]);
    return new Map(all.sort(([a], [b]) => compareText(a, b)));
  },
};

const troubleKey = ownKey("trouble");
const namespacesKey = ownKey("namespaces-recorded-at");

/** `clusters/<name>.yaml`: KubeFleet's MemberCluster with what we recorded as its status. */
export const clusterCodec = documentOf<ClusterRecord>(
  {
    kind: "MemberCluster",
    apiVersion: `${clusterGroup}/v1beta1`,
    status: ["conditions", "namespaces", "properties", "resourceUsage"],
  },
  {
    name: clusterName,
    uid: inMetadata("uid", string),
    generation: inMetadata("generation", integer),
    specDigest: inAnnotations(ownKey("spec-digest"), digest),
    kubeSystemUid: inAnnotations(ownKey("kube-system-uid"), nullable(string)),
    properties,
    collection: group<CollectionRecord>({
      origins: inAnnotations(ownKey("property-origins"), embedded(unlessEmpty(mapOf(choice("provider", "price"))))),
      labels: inAnnotations(ownKey("observed-labels"), embedded(unlessEmpty(mapOf(string)))),
      measuredAt: at(["status", "resourceUsage", "observationTime"], nullable(instant)),
    }),
    namespaces: groupIfAt<NamespacesRecord>(["annotations", namespacesKey], {
      // KubeFleet's, of v1beta1 alone: there a value is the Work that made the namespace.
      names: inStatus("namespaces", unlessEmpty(mapOf(string))),
      isCut: inAnnotations(ownKey("namespaces-cut"), flagText),
      recordedAt: inAnnotations(namespacesKey, instant),
    }),
    contactFailure: groupIfAt<ContactFailure>(["annotations", troubleKey], {
      code: inAnnotations(
        troubleKey,
        choice("Unreachable", "NoConnection", "Unauthorized", "Forbidden", "Unintelligible", "IdentityChanged"),
      ),
      message: inAnnotations(ownKey("trouble-message"), string),
      since: inAnnotations(ownKey("trouble-since"), instant),
    }),
    conditions: inStatus("conditions", conditions),
  },
);

/** The text of a cluster's file. Labels and spec are its MemberCluster's, for the reader; empty once that is gone. */
export const clusterText = (record: ClusterRecord, file: MemberCluster | null): string =>
  emitYaml(
    clusterCodec.write(record, {
      labels: file?.labels ?? {},
      spec: file?.spec ?? {},
    }),
  );

const formerNames = object<FormerNames>({
  uid: string,
  names: listOf(clusterName),
  since: sequence,
});

/** `former-names.yaml`: clusters that are protected by names that they no longer have. */
export const formerNamesFile = object<{ readonly clusters: readonly FormerNames[] }>({
  clusters: distinct(listOf(formerNames), (it) => it.uid, "names one cluster twice"),
});

export const formerNamesText = (all: Ledger["formerNames"]): string =>
  emitYaml(formerNamesFile.write({ clusters: [...all.values()] }) ?? null);
