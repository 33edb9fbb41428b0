import type { ResourceSnapshot, SnapshotResource } from "../model/ledger.ts";
import type { Manifest } from "../model/manifest.ts";
import { remembered } from "../model/memo.ts";
import type { Digest } from "../model/value.ts";
import type { RenderSource } from "./render.ts";

/** The manifests of a snapshot, or the first one that cannot be found any more. */
type Restored =
  | { readonly kind: "restored"; readonly resources: readonly RenderSource[] }
  | { readonly kind: "missing"; readonly resource: SnapshotResource };

const listOf = remembered((_: ResourceSnapshot): { resources: readonly RenderSource[] | null } => ({
  resources: null,
}));

/**
 * Finds the manifests that a snapshot names, all of them now.
 *
 * One snapshot always gives the same list, so that what is rendered from it is rendered once, across clusters and
 * passes. A digest determines its manifest, hence it does not matter where `manifestOf` finds it.
 */
export function restoreResources(
  snapshot: ResourceSnapshot,
  manifestOf: (digest: Digest) => Manifest | null,
): Restored {
  const resources: RenderSource[] = [];
  for (const resource of snapshot.resources) {
    const manifest = manifestOf(resource.digest);
    if (manifest === null) return { kind: "missing", resource };
    resources.push({ id: resource.id, manifest, digest: resource.digest });
  }
  const list = listOf(snapshot);
  list.resources ??= resources;
  return { kind: "restored", resources: list.resources };
}
