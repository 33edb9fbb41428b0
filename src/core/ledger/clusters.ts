import type { MemberCluster } from "../model/fleet.ts";
import type { ClusterRecord, ContactFailure, FormerNames, Ledger } from "../model/ledger.ts";
import { clusterGroup } from "../model/names.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { converted, distinct, groupIfAt, listOf, mapOf, nullable, object, unlessEmpty } from "./codec/codec.ts";
import { conditions } from "./codec/conditions.ts";
import { choice, clusterName, digest, instant, integer, sequence, string } from "./codec/scalars.ts";
import { documentOf, inAnnotations, inMetadata, inStatus, ownKey } from "./document.ts";

/** KubeFleet's PropertyValue, without the time of observation: it would be news with every pass. */
const property = converted(
  object<{ readonly value: string }>({ value: string }),
  (value: string) => ({ value }),
  (it) => it.value,
);

const troubleKey = ownKey("trouble");

/** `clusters/<name>.yaml`: KubeFleet's MemberCluster with what we recorded as its status. */
export const clusterCodec = documentOf<ClusterRecord>(
  { kind: "MemberCluster", apiVersion: `${clusterGroup}/v1beta1`, status: ["conditions", "properties"] },
  {
    name: clusterName,
    uid: inMetadata("uid", string),
    generation: inMetadata("generation", integer),
    specDigest: inAnnotations(ownKey("spec-digest"), digest),
    kubeSystemUid: inAnnotations(ownKey("kube-system-uid"), nullable(string)),
    properties: inStatus("properties", unlessEmpty(mapOf(property))),
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
