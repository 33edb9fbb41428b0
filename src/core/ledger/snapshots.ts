import { isObject, type Json } from "../model/json.ts";
import type {
  PlacementRecord,
  PolicySnapshot,
  ResourceSnapshot,
  SchedulingVerdict,
  SnapshotResource,
} from "../model/ledger.ts";
import { documentKeyOf, type EnvelopeRef } from "../model/manifest.ts";
import type { BlobId, Digest, Instant, PlacementKey } from "../model/value.ts";
import { emitDocuments, emitYaml } from "../yaml/canonical.ts";
import { clusterDecision, resourceIdentifier } from "./api-types.ts";
import { converted, group, groupIf, listOf, nullable, object, optional, reportProblem } from "./codec/codec.ts";
import { conditions } from "./codec/conditions.ts";
import { base64Of, blobHash, choice, commitHash, digest, integer, integerText, string } from "./codec/scalars.ts";
import { documentOf, fleetKey, inAnnotations, inLabels, inSpec, inStatus } from "./document.ts";
import { snapshotFilesFolder } from "./layout.ts";
import { placementPolicy } from "./placements.ts";

const onlyCondition = converted(
  conditions,
  (it: SchedulingVerdict["condition"]) => [it],
  ([first], key, context) => first ?? reportProblem(context, key, "is empty", noCondition),
);

const noCondition = {
  type: "",
  status: "Unknown",
  reason: "",
  message: "",
  observedGeneration: 0,
  lastTransitionTime: 0 as Instant,
} as const;

const verdict = group<SchedulingVerdict>({
  condition: inStatus("conditions", onlyCondition),
  observedGeneration: inStatus("observedCRPGeneration", integer),
  decisions: inStatus("targetClusters", listOf(clusterDecision)),
});

/** A document of `policy-snapshots.yaml`: KubeFleet's SchedulingPolicySnapshot. */
export const policySnapshotCodec = documentOf<PolicySnapshot>(
  { kind: "SchedulingPolicySnapshot" },
  {
    index: inLabels(fleetKey.policyIndex, integerText),
    policy: inSpec("policy", placementPolicy),
    hash: inSpec("policyHash", base64Of<Digest>()),
    verdict: groupIf((from) => isObject(from["status"]), verdict),
  },
);

/** The text of `policy-snapshots.yaml`: a document for each snapshot, ascending by index. */
export const policySnapshotsText = (record: PlacementRecord): string =>
  emitDocuments(record.policySnapshots.map((it) => policySnapshotJson(record, it)));

function policySnapshotJson(
  { name, namespace, generation, policySnapshots }: PlacementRecord,
  it: PolicySnapshot,
): Json {
  const isLatest = it === policySnapshots.at(-1);
  const observed = isLatest ? generation : it.verdict?.observedGeneration;
  return policySnapshotCodec.write(it, {
    name: `${name}-${it.index}`,
    namespace,
    owner: name,
    labels: { [fleetKey.isLatest]: String(isLatest) },
    annotations: {
      [fleetKey.generation]: observed === undefined ? undefined : String(observed),
      [fleetKey.numberOfClusters]: it.policy.kind === "PickN" ? String(it.policy.numberOfClusters) : undefined,
    },
  });
}

const envelope = object<EnvelopeRef>({
  type: choice("ClusterResourceEnvelope", "ResourceEnvelope"),
  namespace: nullable(string),
  name: string,
});

const snapshotResource = object<SnapshotResource>({
  id: resourceIdentifier,
  envelope: optional(envelope),
  path: string,
  document: integer,
  blob: blobHash,
  digest,
});

/** KubeFleet's ResourceSnapshot, whose `selectedResources` point into files of a source commit. */
export const resourceSnapshotCodec = documentOf<ResourceSnapshot>(
  { kind: "ResourceSnapshot" },
  {
    index: inLabels(fleetKey.resourceIndex, integerText),
    hash: inAnnotations(fleetKey.resourceHash, base64Of<Digest>()),
    commit: inSpec("sourceCommit", commitHash),
    resources: inSpec("selectedResources", listOf(snapshotResource)),
  },
);

export const resourceSnapshotText = (record: PlacementRecord, it: ResourceSnapshot): string =>
  emitYaml(
    resourceSnapshotCodec.write(it, {
      name: `${record.name}-${it.index}-snapshot`,
      namespace: record.namespace,
      owner: record.name,
      labels: { [fleetKey.isLatest]: String(it === record.resourceSnapshots.at(-1)) },
      annotations: { [fleetKey.snapshotParts]: "1", [fleetKey.envelopes]: envelopesIn(it) },
    }),
  );

/** How many envelopes, as KubeFleet counts them; nothing where there is none. */
function envelopesIn({ resources }: ResourceSnapshot): string | undefined {
  const keys = new Set(resources.flatMap((it) => (it.envelope === undefined ? [] : documentKeyOf(it))));
  return keys.size === 0 ? undefined : String(keys.size);
}

/**
 * The files that keep a snapshot's blobs reachable, by their paths in the source. Where an object is held at an earlier
 * version, two files may want one place, or a file a folder's: a blob that finds its place taken stands under `.held/`
 * by its id.
 */
export function snapshotFiles(placement: PlacementKey, snapshot: ResourceSnapshot): ReadonlyMap<string, BlobId> {
  const folder = snapshotFilesFolder(placement, snapshot.index);
  const folders = new Set(snapshot.resources.flatMap((it) => foldersOf(it.path)));
  const files = new Map<string, BlobId>();
  for (const { path, blob } of snapshot.resources) {
    const taken = files.get(folder + path) ?? blob;
    files.set(taken !== blob || folders.has(path) ? `${folder}.held/${blob}` : folder + path, blob);
  }
  return files;
}

function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
}
