import type { MemberCluster } from "../model/fleet.ts";
import type { Json } from "../model/json.ts";
import type { ClusterRecord, Trouble } from "../model/ledger.ts";
import { clusterGroup } from "../model/names.ts";
import { type ClusterName, type Digest, exactInstantText } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { conditionJson, conditionsOf } from "./state-condition.ts";
import { choiceAt, countAt, type Findings, given, instantAt, partAt, textAt, textOrNull } from "./state-fields.ts";
import { headingJson, open, ownKey } from "./state-names.ts";

const own = {
  specDigest: ownKey("spec-digest"),
  kubeSystemUid: ownKey("kube-system-uid"),
  trouble: ownKey("trouble"),
  troubleSince: ownKey("trouble-since"),
  troubleMessage: ownKey("trouble-message"),
} as const;

// KubeFleet's name for the property (`intent/README.md#names-that-are-contract`).
const versionProperty = "k8s.io/k8s-version";

/**
 * The text of `clusters/<name>.yaml`: KubeFleet's MemberCluster with what we recorded as its status.
 *
 * Labels and spec are `file`'s, for the reader; the record counts and digests them and does not hold them. A cluster
 * whose file is gone has an empty spec.
 */
export const clusterText = (record: ClusterRecord, file: MemberCluster | null): string =>
  emitYaml({
    ...headingJson({
      apiVersion: `${clusterGroup}/v1beta1`,
      kind: "MemberCluster",
      name: record.name,
      namespace: null,
      uid: record.uid,
      generation: record.generation,
      labels: file?.labels ?? {},
      annotations: {
        [own.specDigest]: record.specDigest,
        [own.kubeSystemUid]: record.kubeSystemUid,
        [own.trouble]: record.trouble?.code ?? null,
        [own.troubleSince]: record.trouble === null ? null : exactInstantText(record.trouble.since),
        [own.troubleMessage]: record.trouble?.message ?? null,
      },
    }),
    spec: file?.spec ?? {},
    status: given({
      conditions: record.conditions.map(conditionJson),
      properties: record.kubernetesVersion === null ? null : { [versionProperty]: { value: record.kubernetesVersion } },
    }),
  });

export function clusterOf(findings: Findings, document: Json): ClusterRecord {
  const { name, metadata, annotations, status } = open(findings, document, "MemberCluster");
  const version = partAt(partAt(status, "properties"), versionProperty);
  return {
    name: name as ClusterName,
    uid: textAt(findings, metadata, "uid"),
    generation: countAt(findings, metadata, "generation"),
    specDigest: textAt(findings, annotations, own.specDigest) as Digest,
    kubeSystemUid: textOrNull(findings, annotations, own.kubeSystemUid),
    kubernetesVersion: textOrNull(findings, version, "value"),
    trouble: !Object.hasOwn(annotations, own.trouble)
      ? null
      : {
          code: choiceAt(findings, annotations, own.trouble, troubleCodes),
          message: textAt(findings, annotations, own.troubleMessage),
          since: instantAt(findings, annotations, own.troubleSince),
        },
    conditions: conditionsOf(findings, status),
  };
}

const troubleCodes: readonly [Trouble["code"], ...Trouble["code"][]] = [
  "Unreachable",
  "NoConnection",
  "Unauthorized",
  "Forbidden",
  "Unintelligible",
  "IdentityChanged",
];
