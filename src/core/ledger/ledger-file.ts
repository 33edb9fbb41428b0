import { readTrust } from "../intent/trust/trust-file.ts";
import type {
  AcceptedBounds,
  ConfirmationRecord,
  DeletionBasis,
  DeletionGroup,
  DeletionLedger,
  HeldDeletion,
} from "../model/deletion.ts";
import type { DeletionBounds } from "../model/fleet.ts";
import { remembered } from "../model/identity.ts";
import type { Hold } from "../model/intent.ts";
import { isObject, member } from "../model/json.ts";
import type { Ledger, ResourceSnapshot } from "../model/ledger.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import type { Quarantine, Violation } from "../model/plan-defect.ts";
import type { Trust, TrustRecord } from "../model/trust.ts";
import type { Epoch, PlacementKey } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { readYamlStream } from "../yaml/read-stream.ts";
import { cascadedDeletions } from "./cascaded-deletions.ts";
import {
  at,
  type Codec,
  converted,
  listIfAny,
  listOf,
  mapOf,
  nullable,
  object,
  orNull,
  reportProblem,
} from "./codec/codec.ts";
import {
  blobHash,
  boolean,
  choice,
  clusterName,
  commitHash,
  digest,
  flag,
  instant,
  integer,
  integerOf,
  objectId,
  sequence,
  string,
  stringOf,
} from "./codec/scalars.ts";
import { keepIdentity } from "./identity.ts";
import { trustTextPath } from "./layout.ts";

/** What `ledger.yaml` says of the trust file in force: which text it is, and how it came to be. */
interface TrustHead extends Omit<TrustRecord, "trust" | "text">, Pick<Trust, "version" | "digest"> {}

const principals = listOf(string);

const vouchers: Codec<TrustRecord["by"]> = {
  write: (by) => by,
  read(json, key, context) {
    if (json === "anchor") return json;
    const by = principals.read(json, key, context);
    return by.length > 0 ? by : reportProblem(context, key, "names nobody", by);
  },
};

const trustHead = object<TrustHead>({
  version: integer,
  digest,
  since: sequence,
  from: commitHash,
  first: commitHash,
  by: vouchers,
});

/**
 * Counts changes of the layout that an older flotilla cannot read, or must not write over: from 2 on, confirmations that were
 * judged stand here, and what of others goes along. A ledger of version 1 is read as one that holds none of either: then the
 * members are looked at again, and people are asked anew. From 3 on, what leaves a placement may wait for another one to take
 * it (`plan/README.md#d-9`), which an older flotilla would delete. From 4 on, decisions rest on properties that were collected
 * of members, which an older flotilla would forget. From 5 on, approvals that were taken away are remembered, which would
 * count again; and versions hold what envelopes wrap, or are patched by ResourceOverrides, which it would take for removed.
 * From 6 on there are ResourcePlacements, of which an older one reads no file. Each is written only where there is something
 * of it.
 */
const formatVersion = 6;

/** The oldest version that says all that this ledger holds: flotillas that read less refuse it, the others go on. */
export function formatVersionOf({ clusters, placements, takenAway, overrides }: Ledger): number {
  if (holdsNamespaced(placements)) return formatVersion;
  if (takenAway.size > 0 || holdsWrapped(placements) || overrides.some((it) => it.namespace !== null)) return 5;
  return holdsCollected(clusters) ? 4 : 3;
}

const holdsNamespaced = remembered((placements: Ledger["placements"]): boolean =>
  [...placements.values()].some((it) => it.namespace !== null || it.spec.statusReportingScope !== undefined),
);

const holdsWrapped = remembered((placements: Ledger["placements"]): boolean =>
  [...placements.values()].some(({ resourceSnapshots }) => resourceSnapshots.some(isWrapped)),
);

const isWrapped = remembered(({ resources }: ResourceSnapshot): boolean =>
  resources.some((it) => it.envelope !== undefined),
);

const holdsCollected = remembered((clusters: Ledger["clusters"]): boolean =>
  [...clusters.values()].some(
    ({ properties, collection }) =>
      collection.labels.size > 0 || [...properties.keys()].some((it) => it !== kubernetesVersionProperty),
  ),
);

/** The part of the ledger that stands in `ledger.yaml`. Objects stand as `group/Kind/namespace/name`. */
export interface LedgerHead
  extends Pick<
    Ledger,
    "fleet" | "epoch" | "sequence" | "sourceCommit" | "holds" | "deletions" | "quarantines" | "hasTrust"
  > {
  readonly formatVersion: number;
  /**
   * The placements that a plan has something to say about: whoever asks what an edit would change reads those and what the
   * edit concerns, and nothing of the others. Null: unknown, or too many. Not part of the ledger.
   */
  readonly restless: readonly PlacementKey[] | null;
  readonly trust: TrustHead | null;
}

const placement = stringOf<PlacementKey>();

const readableVersion: Codec<number> = converted(
  integer,
  (it) => it,
  (it, key, context) => {
    if (it > formatVersion) return reportProblem(context, key, `is ${it}: written by a newer flotilla; upgrade`, it);
    return it < 1 ? reportProblem(context, key, "is not a version that flotilla writes", it) : it;
  },
);

const hold = object<Hold>({
  id: at(["object"], objectId),
  commit: commitHash,
  path: string,
  document: integer,
  blob: blobHash,
});

const bounds = object<DeletionBounds>({
  objectsPerCluster: integer,
  percentPerCluster: integer,
  clusters: integer,
  percentOfClusters: integer,
});

const heldDeletion = object<HeldDeletion>({
  cause: commitHash,
  because: choice("bounds", "kind", "foreign", "protected"),
  digest,
  confirmed: boolean,
  groups: listOf(object<DeletionGroup>({ placement, clusters: listOf(clusterName), objects: listOf(objectId) })),
  others: cascadedDeletions,
});

const confirmation = object<ConfirmationRecord>({
  digest,
  outcome: choice("void", "used"),
  commit: commitHash,
  basis: nullable(object<DeletionBasis>({ placement, cluster: clusterName, binding: string, sequence })),
});

const deletions = object<DeletionLedger>({
  bounds: nullable(object<AcceptedBounds>({ declared: bounds, inForce: bounds })),
  cause: nullable(commitHash),
  permitted: mapOf(integer),
  held: listOf(heldDeletion),
  confirmations: converted(
    listIfAny(confirmation),
    (it: DeletionLedger["confirmations"]) => [...it.values()],
    (all) => new Map(all.map((it) => [it.digest, it])),
  ),
});

const quarantines: Codec<Ledger["quarantines"]> = converted(
  listIfAny(
    object<Quarantine>({
      placement,
      since: instant,
      commit: commitHash,
      decisionVersion: integer,
      violations: listOf(object<Violation>({ code: stringOf<Violation["code"]>(), message: string })),
    }),
  ),
  (it) => [...it.values()],
  (all) => new Map(all.map((it) => [it.placement, it])),
);

export const ledgerFile = object<LedgerHead>({
  formatVersion: readableVersion,
  fleet: string,
  epoch: integerOf<Epoch>(),
  sequence,
  sourceCommit: orNull(commitHash),
  restless: nullable(listOf(placement)),
  holds: listOf(hold),
  deletions,
  quarantines,
  // A slip here would let unsigned approvals count again.
  hasTrust: flag,
  trust: nullable(trustHead),
});

/** The text of `ledger.yaml`; `restless` as {@link LedgerHead} has it. */
export const ledgerText = (ledger: Ledger, restless: readonly PlacementKey[] | null): string =>
  emitYaml(
    ledgerFile.write({
      ...ledger,
      formatVersion: formatVersionOf(ledger),
      restless,
      trust: trustHeadOf(ledger.trust),
    }) ?? null,
  );

/** The placements that `ledger.yaml` says are restless; null when it does not say. */
export function restlessIn(text: string): readonly PlacementKey[] | null {
  const read = readYamlStream(text);
  const [document = null] = "error" in read ? [] : read.documents;
  const list = isObject(document) ? member(document, "restless") : null;
  return Array.isArray(list) && list.every((it) => typeof it === "string") ? (list as PlacementKey[]) : null;
}

/**
 * The trust record put together from what `ledger.yaml` says and the text beside it, null when there is none; what reads as
 * it was keeps its identity.
 *
 * Undefined is what was not read: it stands from before. A text that is not the one that was accepted is wrong, however
 * good it looks: everything that was approved was judged by that one.
 */
export function trustRead(
  read: { readonly head: TrustHead | null | undefined; readonly text: string | null | undefined },
  before: TrustRecord | null,
  fail: (wrong: string) => null,
): TrustRecord | null {
  const head = read.head === undefined ? trustHeadOf(before) : read.head;
  const text = read.text === undefined ? (before?.text ?? null) : read.text;
  if (head === null && text === null) return null;
  if (text === null) return fail(`${trustTextPath} is missing`);
  if (head === null) return fail(`${trustTextPath} is present, but ledger.yaml names no trust file`);
  const { version, digest, ...rest } = head;
  const trust = before !== null && before.text === text ? before.trust : readTrust(text).trust;
  if (trust === null) return fail(`${trustTextPath} is not a usable trust file`);
  if (trust.digest !== digest || trust.version !== version)
    return fail(`${trustTextPath} is not the version that ledger.yaml was written for`);
  return keepIdentity(before ?? undefined, { trust, text, ...rest });
}

const trustHeadOf = (record: TrustRecord | null): TrustHead | null => {
  if (record === null) return null;
  const { trust, text: _, ...rest } = record;
  return { ...rest, version: trust.version, digest: trust.digest };
};
