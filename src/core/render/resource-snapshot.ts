import { remembered } from "../model/identity.ts";
import { digestOf } from "../model/json.ts";
import type { PlacementRecord, ResourceSnapshot, SnapshotResource } from "../model/ledger.ts";
import {
  type EnvelopeRef,
  envelopeText,
  type Manifest,
  type ObjectKey,
  objectKey,
  type SourcedManifest,
  type VersionedId,
} from "../model/manifest.ts";
import type { BlobId, Commit, Digest } from "../model/value.ts";

/** The source of the selected objects, and which old snapshots must stay. */
export interface SnapshotFacts {
  readonly commit: Commit;
  /** The blob that holds a resource. */
  readonly blobOf: (resource: SourcedManifest) => BlobId;
  readonly historyLimit: number;
  /** Indexes that a binding names: never trimmed (`render/README.md#a-51`). */
  readonly inUse: ReadonlySet<number>;
  /** The index of the first snapshot: higher than any that runs of an earlier placement of that name recorded. */
  readonly first: number;
}

/**
 * The snapshots of a placement once it selects `resources`, ascending by index: a new one exactly when the content
 * differs from the latest, so going back to an older content makes a new index.
 *
 * Neither throttled nor split, since a commit is the unit of change (`render/README.md#a-53`). Trimmed on every pass
 * (`#a-52`). Gives back `before` itself when nothing changes. `#resource-snapshots`, `#r1`–`#r12`.
 */
export function nextResourceSnapshots(
  before: readonly ResourceSnapshot[],
  resources: readonly SourcedManifest[],
  facts: SnapshotFacts,
): readonly ResourceSnapshot[] {
  const latest = before.at(-1);
  const hash = contentDigest(resources);
  if (latest !== undefined && latest.hash === hash) return trim(before, facts);
  const next: ResourceSnapshot = {
    index: latest === undefined ? facts.first : latest.index + 1,
    hash,
    commit: facts.commit,
    resources: resources.map((it) => located(it, facts)),
  };
  return trim([...before, next], facts);
}

function located(resource: SourcedManifest, { blobOf }: SnapshotFacts): SnapshotResource {
  const { id, digest, source, envelope } = resource;
  const place = { id, digest, path: source.path, document: source.document, blob: blobOf(resource) };
  return envelope === undefined ? place : { ...place, envelope };
}

function trim(
  snapshots: readonly ResourceSnapshot[],
  { historyLimit, inUse }: SnapshotFacts,
): readonly ResourceSnapshot[] {
  // The latest always stays: without it the next index would be forgotten.
  const first = snapshots.length - Math.max(1, historyLimit);
  const kept = snapshots.filter((it, at) => at >= first || inUse.has(it.index));
  return kept.length === snapshots.length ? snapshots : kept;
}

/** Digest of an ordered list of manifests: their ids and content, and the envelopes that they were in. */
export const contentDigest: (items: readonly Contained[]) => Digest = remembered((items) =>
  digestOf(
    items.map(({ id: { group, version, kind, namespace, name }, digest, envelope }) =>
      envelope === undefined
        ? [group, version, kind, namespace, name, digest]
        : [group, version, kind, namespace, name, digest, envelopeText(envelope)],
    ),
  ),
);

type Contained = Pick<SnapshotResource, "id" | "digest" | "envelope">;

/** A selected object with its content: what clusters carry of it is rendered from that. */
export interface RenderSource {
  readonly id: VersionedId;
  /** The envelope that it was in. */
  readonly envelope?: EnvelopeRef;
  readonly manifest: Manifest;
  readonly digest: Digest;
}

/** The manifests of a snapshot, or the first one that cannot be found. */
type Restored =
  | { readonly kind: "restored"; readonly resources: readonly RenderSource[] }
  | { readonly kind: "missing"; readonly resource: SnapshotResource };

const listOf = remembered((_: ResourceSnapshot): { resources: readonly RenderSource[] | null } => ({
  resources: null,
}));

/** All manifests that a snapshot names, wherever `manifestOf` finds them; the same list for the same snapshot. */
export function restoreResources(
  snapshot: ResourceSnapshot,
  manifestOf: (digest: Digest) => Manifest | null,
): Restored {
  const resources: RenderSource[] = [];
  for (const resource of snapshot.resources) {
    const manifest = manifestOf(resource.digest);
    if (manifest === null) return { kind: "missing", resource };
    const { id, digest, envelope } = resource;
    resources.push(envelope === undefined ? { id, manifest, digest } : { id, manifest, digest, envelope });
  }
  const list = listOf(snapshot);
  list.resources ??= resources;
  return { kind: "restored", resources: list.resources };
}

/** The keys of the objects that a snapshot lists; one set per snapshot, since every cluster and every pass asks. */
export const keysOf: (snapshot: ResourceSnapshot) => ReadonlySet<ObjectKey> = remembered(
  ({ resources }) => new Set(resources.map((it) => objectKey(it.id))),
);

/** The resource snapshot of that index; null when there is none. */
export function snapshotOf(
  { resourceSnapshots }: Pick<PlacementRecord, "resourceSnapshots">,
  index: number,
): ResourceSnapshot | null {
  // The newest are asked for most.
  for (let at = resourceSnapshots.length - 1; at >= 0; at -= 1) {
    const snapshot = resourceSnapshots[at];
    if (snapshot?.index === index) return snapshot;
  }
  return null;
}
