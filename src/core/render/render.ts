import { Buffer } from "node:buffer";
import { digestOf, isObject, type Json, member } from "../model/json.ts";
import { type Manifest, objectKey, type ScopeTable, type VersionedId } from "../model/manifest.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { RenderedManifest } from "../model/plan.ts";
import type { ClusterName, Digest, Labels } from "../model/value.ts";
import { consultedLabels, dependsOnName, overrideKeysOf, selectorKeysOf } from "./applicable-overrides.ts";
import { overrideManifest } from "./override-manifest.ts";
import { overrideSnapshotKey } from "./override-snapshot.ts";
import { contentDigest, type RenderSource } from "./resource-snapshot.ts";

/** Everything that determines what one cluster carries of one placement. */
export interface RenderInput {
  /** In the order of selection. Pass the same array for the same content: the result is cached with it. */
  readonly resources: readonly RenderSource[];
  /** Those attached to the cluster, in the order of its binding: cluster-scoped ones first. */
  readonly overrides: readonly OverrideSnapshot[];
  readonly cluster: ClusterName;
  /** The member's labels, or the part of them that the overrides consult. */
  readonly labels: Labels;
  readonly scopes: ScopeTable;
}

/** What one cluster is to carry of one placement, or why it cannot be rendered. */
export type Rendering =
  | {
      readonly kind: "rendered";
      /** In the order of selection; what an override deletes is left out. */
      readonly manifests: readonly RenderedManifest[];
      /** Of the manifests and their order. */
      readonly digest: Digest;
    }
  /** Nothing is rendered: the cluster keeps what it has (`render/README.md#what-cannot-be-rendered`, `#o-04`). */
  | { readonly kind: "failed"; readonly code: "OverriddenFailed"; readonly message: string };

/**
 * Renders what a cluster is to carry: the selected manifests with its overrides applied and `stringData` of Secrets
 * folded.
 *
 * All or nothing. Clusters without an override share one rendering, and so do clusters with the same consulted labels
 * unless an override uses their names. `render/README.md#how-an-override-acts` and `#rendering`, `#o-01` to `#o-26`;
 * `status/README.md#c-9`, `apply/README.md#c-16`, `render/README.md#c-21` to `#c-23`.
 */
export function render(input: RenderInput): Rendering {
  const plain = plainRendering(input.resources);
  if (input.overrides.length === 0) return plain;
  const key = sharingKey(input);
  if (key === null) return overriddenRendering(input, plain);
  const shared = sharedBy.get(input.resources) ?? new Map<string, Shared>();
  sharedBy.set(input.resources, shared);
  const known = shared.get(key);
  if (known !== undefined && isFor(known, input)) return known.rendering;
  const rendering = overriddenRendering(input, plain);
  if (shared.size >= sharedLimit) shared.clear();
  shared.set(key, { overrides: input.overrides, scopes: input.scopes, rendering });
  return rendering;
}

type Rendered = Extract<Rendering, { kind: "rendered" }>;

const plainBy = new WeakMap<readonly RenderSource[], Rendered>();

function plainRendering(resources: readonly RenderSource[]): Rendered {
  const known = plainBy.get(resources);
  if (known !== undefined) return known;
  const rendering = rendered(resources.map(({ id, manifest, digest }) => finished(id, manifest, { manifest, digest })));
  plainBy.set(resources, rendering);
  return rendering;
}

function overriddenRendering(
  { resources, overrides, cluster, labels, scopes }: RenderInput,
  plain: Rendered,
): Rendering {
  const reached = overrides.map((override) => ({ override, keys: new Set(selectorKeysOf(override)) }));
  const manifests: RenderedManifest[] = [];
  for (const [at, source] of resources.entries()) {
    const keys = overrideKeysOf(source.id, scopes);
    const mine = reached.filter((it) => keys.some((key) => it.keys.has(key))).map((it) => it.override);
    const result = overrideManifest(source, source.manifest, mine, { cluster, labels });
    if (result.kind === "failed") return { kind: "failed", code: "OverriddenFailed", message: result.message };
    if (result.kind === "deleted") continue;
    const untouched = result.manifest === source.manifest ? plain.manifests[at] : undefined;
    manifests.push(untouched ?? finished(source.id, result.manifest, source));
  }
  const same = manifests.length === resources.length && manifests.every((it, at) => it === plain.manifests[at]);
  return same ? plain : rendered(manifests);
}

const rendered = (manifests: readonly RenderedManifest[]): Rendered => ({
  kind: "rendered",
  manifests,
  digest: contentDigest(manifests),
});

function finished(
  id: VersionedId,
  manifest: Manifest,
  source: Pick<RenderSource, "manifest" | "digest">,
): RenderedManifest {
  const final = foldStringData(manifest);
  const digest = final === source.manifest ? source.digest : digestOf(final);
  return { id, key: objectKey(id), manifest: final, digest };
}

interface Shared {
  readonly overrides: readonly OverrideSnapshot[];
  readonly scopes: ScopeTable;
  readonly rendering: Rendering;
}

// Few renderings differ by labels; the limit only bounds memory in a pathological fleet.
const sharedLimit = 256;
const sharedBy = new WeakMap<readonly RenderSource[], Map<string, Shared>>();

/** What clusters have to share to share a rendering; null when an override uses their names. */
function sharingKey({ overrides, labels }: RenderInput): string | null {
  if (overrides.some(dependsOnName)) return null;
  return JSON.stringify([overrides.map(overrideSnapshotKey), consultedLabels(overrides, labels)]);
}

// Names are not enough: a deleted and recreated override starts at index 0 again.
const isFor = (shared: Shared, { overrides, scopes }: RenderInput): boolean =>
  shared.scopes === scopes && shared.overrides.every((it, at) => it === overrides[at]);

/**
 * A Secret with `stringData` moved into `data`, as the server stores it, which never returns `stringData`: so it can be
 * compared (`apply/README.md#c-16`). Unchanged (`===`) is any other manifest, and a Secret with a value that is not a
 * string: the server refuses it and says why.
 */
function foldStringData(manifest: Manifest): Manifest {
  if (manifest["kind"] !== "Secret" || manifest["apiVersion"] !== "v1") return manifest;
  const texts = member(manifest, "stringData");
  const data = member(manifest, "data");
  if (!isObject(texts) || (data !== null && !isObject(data))) return manifest;
  if (!Object.values(texts).every((it) => typeof it === "string")) return manifest;
  const { stringData: _, ...rest } = manifest;
  const folded = Object.entries(texts).map(([key, text]): [string, Json] => [key, base64(text as string)]);
  return { ...rest, data: { ...data, ...Object.fromEntries(folded) } };
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
