import type { CascadedDeletion, DeletionBasis, HeldDeletion } from "../../model/deletion.ts";
import { digestOf } from "../../model/json.ts";
import type { Ledger } from "../../model/ledger.ts";
import { type ObjectId, objectKey } from "../../model/manifest.ts";
import { type ClusterName, compareText, type Digest, type PlacementKey, type Sequence } from "../../model/value.ts";

/** A set of deletions that people are asked to confirm. */
interface DeletionSet extends Pick<HeldDeletion, "because" | "others"> {
  readonly objects: readonly ObjectInSet[];
}

interface ObjectInSet {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
  readonly id: ObjectId;
}

/** The record as it stood before the deletions were decided: what `plan` sees in a pull request, and `reconcile` after it. */
export type LedgerBefore = Pick<Ledger, "clusters" | "placements">;

/**
 * What a confirmation names (`plan/README.md#d-3`). It says what would go, where, why it waits and under which
 * decisions it was carried, and nothing of the commit that takes it away: squash and merge leave it alone, and `plan`
 * can print it before.
 *
 * The same may be asked once more after it was confirmed, or after a file came for it too early: `isTaken` says of
 * which digests that is so, and another one is found, in which the number of the asking stands.
 */
export function deletionDigest(
  set: DeletionSet,
  ledgerBefore: LedgerBefore,
  isTaken: (digest: Digest) => boolean,
): Digest {
  const said = {
    because: set.because,
    objects: rows(set.objects.map((it) => objectRow(it, ledgerBefore))),
    others: rows(set.others.flatMap(othersRows)),
    bases: rows(set.objects.map((it) => basisRow(basisOf(it.placement, it.cluster, ledgerBefore)))),
  };
  for (let asking = 1; ; asking += 1) {
    const digest = digestOf(asking === 1 ? said : { ...said, asking });
    if (!isTaken(digest)) return digest;
  }
}

/** The binding of a placement on a cluster, and its target's sequence, before the deletions were decided. */
export function basisOf(placement: PlacementKey, cluster: ClusterName, { placements }: LedgerBefore): DeletionBasis {
  const binding = placements.get(placement)?.bindings.get(cluster);
  const sequence = binding?.target?.sequence ?? (0 as Sequence);
  return { placement, cluster, binding: binding?.uid ?? "", sequence };
}

const rows = (all: readonly (readonly (string | number)[])[]): readonly string[] =>
  [...new Set(all.map((it) => JSON.stringify(it)))].sort(compareText);

const objectRow = ({ cluster, id }: ObjectInSet, { clusters }: LedgerBefore): readonly string[] => [
  cluster,
  clusters.get(cluster)?.kubeSystemUid ?? "",
  objectKey(id),
];

const othersRows = ({ cluster, id, objects }: CascadedDeletion): readonly (readonly string[])[] =>
  objects.map((it) => [cluster, objectKey(id), objectKey(it), it.uid]);

const basisRow = ({ placement, cluster, binding, sequence }: DeletionBasis): readonly (string | number)[] => [
  placement,
  cluster,
  binding,
  sequence,
];
