import type {
  AcceptedBounds,
  ConfirmationRecord,
  DeletionBasis,
  DeletionGroup,
  DeletionLedger,
  HeldDeletion,
  OthersAlong,
} from "../model/deletion.ts";
import type { DeletionBounds } from "../model/fleet.ts";
import type { Hold } from "../model/intent.ts";
import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  type Epoch,
  type PlacementKey,
  type Sequence,
} from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { readYamlStream } from "../yaml/read-stream.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  filled,
  find,
  given,
  objectsAt,
  partAt,
  textAt,
  textOrNull,
  textsAt,
} from "./state-fields.ts";
import { type TrustHead, trustHeadJson, trustHeadOf } from "./state-trust.ts";

/**
 * Counts changes of the layout that an older flotilla cannot read, or must not write over: from 2 on, confirmations that were
 * judged stand here, and what of others goes along. A ledger of version 1 is read as one that holds none of either: then the
 * members are looked at again, and people are asked anew.
 */
export const formatVersion = 2;

/** The part of the ledger that stands in `ledger.yaml`. */
export interface LedgerHead
  extends Pick<Ledger, "fleet" | "epoch" | "sequence" | "sourceCommit" | "holds" | "deletions" | "hasTrust"> {
  readonly trust: TrustHead | null;
}

/**
 * The text of `ledger.yaml`. Objects stand as `group/Kind/namespace/name`.
 *
 * `restless` are the placements that a plan has something to say about: whoever asks what an edit would change reads those
 * and what the edit concerns, and nothing of the others. Null: unknown, or too many. Not part of the ledger.
 */
export const ledgerText = (ledger: Ledger, restless: readonly PlacementKey[] | null): string =>
  emitYaml({
    formatVersion,
    fleet: ledger.fleet,
    epoch: ledger.epoch,
    sequence: ledger.sequence,
    sourceCommit: ledger.sourceCommit,
    ...(restless === null ? {} : { [restlessKey]: restless }),
    holds: ledger.holds.map(holdJson),
    deletions: deletionsJson(ledger.deletions),
    ...(ledger.hasTrust ? { hasTrust: true } : {}),
    ...(ledger.trust === null ? {} : { trust: trustHeadJson(ledger.trust) }),
  });

const restlessKey = "restless";

/** The placements that `ledger.yaml` says are restless; null when it does not say. */
export function restlessIn(text: string): readonly PlacementKey[] | null {
  const read = readYamlStream(text);
  const [document = null] = "error" in read ? [] : read.documents;
  const list = isObject(document) ? member(document, restlessKey) : null;
  return Array.isArray(list) && list.every((it) => typeof it === "string") ? (list as PlacementKey[]) : null;
}

export function ledgerHeadOf(findings: Findings, document: Json): LedgerHead {
  const object = isObject(document) ? document : {};
  const version = countAt(findings, object, "formatVersion");
  if (version > formatVersion) find(findings, "formatVersion", `is ${version}: written by a newer flotilla; upgrade`);
  if (version < 1) find(findings, "formatVersion", "is none of flotilla's");
  return {
    fleet: textAt(findings, object, "fleet"),
    epoch: countAt(findings, object, "epoch") as Epoch,
    sequence: countAt(findings, object, "sequence") as Sequence,
    sourceCommit: textOrNull(findings, object, "sourceCommit") as Commit | null,
    holds: objectsAt(findings, object, "holds").map((it) => holdOf(findings, it)),
    deletions: deletionsOf(findings, partAt(object, "deletions")),
    hasTrust: hasTrustOf(findings, object),
    trust: trustHeadOf(findings, object),
  };
}

/** Anything but `true`, or nothing at all, is an error: a slip here would let unsigned approvals count again. */
function hasTrustOf(findings: Findings, object: JsonObject): boolean {
  const value = member(object, "hasTrust");
  if (value !== null && value !== true) find(findings, "hasTrust", "is neither true nor left out");
  return value === true;
}

const holdJson = ({ id, commit, path, document, blob }: Hold): JsonObject => ({
  object: objectKey(id),
  commit,
  path,
  document,
  blob,
});

const holdOf = (findings: Findings, object: JsonObject): Hold => ({
  id: objectIdOf(textAt(findings, object, "object") as ObjectKey),
  commit: textAt(findings, object, "commit") as Commit,
  path: textAt(findings, object, "path"),
  document: countAt(findings, object, "document"),
  blob: textAt(findings, object, "blob") as BlobId,
});

const deletionsJson = ({ bounds, cause, permitted, held, confirmations }: DeletionLedger): JsonObject =>
  given({
    bounds: bounds as unknown as Json,
    cause,
    permitted: Object.fromEntries(permitted),
    held: held.map(heldJson),
    confirmations: filled([...confirmations.values()].map(confirmationJson)),
  });

function deletionsOf(findings: Findings, object: JsonObject): DeletionLedger {
  const permitted = partAt(object, "permitted");
  const clusters = Object.keys(permitted).sort(compareText) as ClusterName[];
  return {
    bounds: member(object, "bounds") === null ? null : acceptedBoundsOf(findings, partAt(object, "bounds")),
    cause: textOrNull(findings, object, "cause") as Commit | null,
    permitted: new Map(clusters.map((it) => [it, countAt(findings, permitted, it)])),
    held: objectsAt(findings, object, "held").map((it) => heldOf(findings, it)),
    confirmations: new Map(
      objectsAt(findings, object, "confirmations")
        .map((it) => confirmationOf(findings, it))
        .map((it) => [it.digest, it]),
    ),
  };
}

const acceptedBoundsOf = (findings: Findings, object: JsonObject): AcceptedBounds => ({
  declared: boundsOf(findings, partAt(object, "declared")),
  inForce: boundsOf(findings, partAt(object, "inForce")),
});

const boundsOf = (findings: Findings, object: JsonObject): DeletionBounds => ({
  objectsPerCluster: countAt(findings, object, "objectsPerCluster"),
  percentPerCluster: countAt(findings, object, "percentPerCluster"),
  clusters: countAt(findings, object, "clusters"),
  percentOfClusters: countAt(findings, object, "percentOfClusters"),
});

const heldJson = ({ cause, because, digest, confirmed, groups, others }: HeldDeletion): JsonObject =>
  given({
    cause,
    because,
    digest,
    confirmed,
    groups: groups.map((it) => ({
      placement: it.placement,
      clusters: it.clusters,
      objects: it.objects.map(objectKey),
    })),
    others: filled(others.map(alongJson)),
  });

const heldOf = (findings: Findings, object: JsonObject): HeldDeletion => ({
  cause: textAt(findings, object, "cause") as Commit,
  because: textAt(findings, object, "because") as HeldDeletion["because"],
  digest: textAt(findings, object, "digest") as Digest,
  confirmed: member(object, "confirmed") === true,
  groups: objectsAt(findings, object, "groups").map((it) => groupOf(findings, it)),
  others: objectsAt(findings, object, "others").map((it) => alongOf(findings, it)),
});

const alongJson = ({ placement, cluster, id, objects }: OthersAlong): JsonObject => ({
  placement,
  cluster,
  in: objectKey(id),
  objects: objects.map((it) => ({ object: objectKey(it), uid: it.uid })),
});

const alongOf = (findings: Findings, object: JsonObject): OthersAlong => ({
  placement: textAt(findings, object, "placement") as PlacementKey,
  cluster: textAt(findings, object, "cluster") as ClusterName,
  id: objectIdOf(textAt(findings, object, "in") as ObjectKey),
  objects: objectsAt(findings, object, "objects").map((it) => ({
    ...objectIdOf(textAt(findings, it, "object") as ObjectKey),
    uid: textAt(findings, it, "uid"),
  })),
});

const confirmationJson = ({ digest, outcome, commit, basis }: ConfirmationRecord): JsonObject =>
  given({ digest, outcome, commit, basis: basis as unknown as Json });

const confirmationOf = (findings: Findings, object: JsonObject): ConfirmationRecord => ({
  digest: textAt(findings, object, "digest") as Digest,
  outcome: choiceAt(findings, object, "outcome", ["void", "used"]),
  commit: textAt(findings, object, "commit") as Commit,
  basis: member(object, "basis") === null ? null : basisOf(findings, partAt(object, "basis")),
});

const basisOf = (findings: Findings, object: JsonObject): DeletionBasis => ({
  placement: textAt(findings, object, "placement") as PlacementKey,
  cluster: textAt(findings, object, "cluster") as ClusterName,
  binding: textAt(findings, object, "binding"),
  sequence: countAt(findings, object, "sequence") as Sequence,
});

const groupOf = (findings: Findings, object: JsonObject): DeletionGroup => ({
  placement: textAt(findings, object, "placement") as PlacementKey,
  clusters: textsAt(findings, object, "clusters") as ClusterName[],
  objects: textsAt(findings, object, "objects").map((it) => objectIdOf(it as ObjectKey)),
});
