import type { CarriedVersion, Target } from "../../model/binding.ts";
import type { MemberCluster } from "../../model/fleet.ts";
import { remembered, sameList } from "../../model/identity.ts";
import type { Intent } from "../../model/intent.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { PlacementRecord, ResourceSnapshot } from "../../model/ledger.ts";
import type { Manifest, ObjectId, ObjectKey, ScopeTable } from "../../model/manifest.ts";
import type { OverrideSnapshot } from "../../model/override.ts";
import type { ApplyStrategy } from "../../model/placement.ts";
import type { RenderedManifest, World } from "../../model/plan.ts";
import type { ClusterName, Digest, Labels, PlacementKey } from "../../model/value.ts";
import { consultedLabels, dependsOnName, overridesOf, overridesOn } from "../../render/applicable-overrides.ts";
import { overrideSnapshotKey } from "../../render/override-snapshot.ts";
import { type Rendering, render } from "../../render/render.ts";
import { keysOf, type RenderSource, restoreResources, snapshotOf } from "../../render/resource-snapshot.ts";
import type { Content, PlanContext } from "./context.ts";

/** What a cluster is to carry by the latest commit: everything of a {@link Target} but when it is admitted. */
export interface Version {
  readonly resourceIndex: number;
  readonly clusterOverrides: readonly string[];
  readonly resourceOverrides: readonly string[];
  readonly labels: Labels;
  readonly applyStrategy: ApplyStrategy;
  /** Rendered when it is first asked for: on a cluster that has it already, nobody does. */
  readonly rendering: () => Rendering;
}

/** Everything that the versions of one placement are made from. */
interface VersionSources {
  readonly placement: PlacementKey;
  readonly snapshot: ResourceSnapshot;
  readonly applyStrategy: ApplyStrategy;
  /** The latest snapshot of every override. */
  readonly overrides: readonly OverrideSnapshot[];
  readonly scopes: ScopeTable;
  readonly content: Content;
}

/**
 * Gives, for any cluster, the version that it should carry; null while the snapshot's content cannot be had.
 * Clusters that are to carry the same get the same version (`===`).
 */
export function versionsOf(sources: VersionSources): ((cluster: MemberCluster) => Version) | null {
  const restored = restoreResources(sources.snapshot, sources.content);
  if (restored.kind === "missing") return null;
  const { resources } = restored;
  const candidates = overridesOf(sources.placement, resources, sources.overrides, sources.scopes);
  const made = new Map<string, Version>();
  return (cluster) => {
    const applicable = candidates.length === 0 ? candidates : overridesOn(cluster.labels, candidates);
    const labels = consultedLabels(candidates, cluster.labels);
    const key = candidates.length === 0 ? "" : sharingKey(cluster, applicable, labels);
    const known = made.get(key);
    if (known !== undefined) return known;
    const version = versionFor(cluster, { sources, resources, applicable, labels });
    made.set(key, version);
    return version;
  };
}

function sharingKey({ name }: MemberCluster, applicable: readonly OverrideSnapshot[], labels: Labels): string {
  const alone = applicable.some(dependsOnName) ? name : "";
  return JSON.stringify([alone, applicable.map(overrideSnapshotKey), labels]);
}

interface Ingredients {
  readonly sources: VersionSources;
  readonly resources: readonly RenderSource[];
  readonly applicable: readonly OverrideSnapshot[];
  readonly labels: Labels;
}

function versionFor(
  { name, labels: all }: MemberCluster,
  { sources: { snapshot, applyStrategy, scopes }, resources, applicable, labels }: Ingredients,
): Version {
  let rendering: Rendering | null = null;
  return {
    resourceIndex: snapshot.index,
    clusterOverrides: applicable.filter((it) => it.namespace === null).map((it) => it.name),
    resourceOverrides: applicable.filter((it) => it.namespace !== null).map((it) => `${it.namespace}/${it.name}`),
    labels,
    applyStrategy,
    rendering: () => {
      rendering ??= render({ resources, overrides: applicable, cluster: name, labels: all, scopes });
      return rendering;
    },
  };
}

/**
 * Whether a binding's target is already what the version says (`rollout/README.md#what-may-start`; labels and apply
 * strategy: `#b-9`, `render/README.md#c-21`).
 */
export function isCurrent(target: Target | null, version: Version): boolean {
  if (target === null || target.resourceIndex !== version.resourceIndex) return false;
  return (
    sameList(target.clusterOverrides, version.clusterOverrides) &&
    sameList(target.resourceOverrides, version.resourceOverrides) &&
    sameJson(target.labels, version.labels) &&
    sameJson(target.applyStrategy as unknown as Json, version.applyStrategy as unknown as Json)
  );
}

/** What renderings of earlier decisions are made from. */
export interface RenderContext extends Pick<PlanContext, "overrides" | "content"> {
  readonly world: { readonly intent: Pick<Intent, "scopes"> };
}

/**
 * Renders what a binding's target says, from what was recorded with it: later edits have no part in it. Null when
 * something that it names is not kept any more.
 */
export function targetRendering(
  { cluster, target }: { readonly cluster: ClusterName; readonly target: CarriedVersion | null },
  record: Pick<PlacementRecord, "resourceSnapshots">,
  { overrides: snapshots, content, world }: RenderContext,
): Rendering | null {
  const snapshot = target === null ? null : snapshotOf(record, target.resourceIndex);
  if (target === null || snapshot === null) return null;
  const restored = restoreResources(snapshot, content);
  if (restored.kind === "missing") return null;
  const named = overridesByName(snapshots);
  const overrides = [...target.clusterOverrides, ...target.resourceOverrides].map((it) => named.get(it));
  if (!overrides.every((it) => it !== undefined)) return null;
  const { scopes } = world.intent;
  return render({ resources: restored.resources, overrides, cluster, labels: target.labels, scopes });
}

/** The objects of a binding's target, as overrides left them. What cannot be rendered counts as it was selected. */
export function targetKeys(
  binding: { readonly cluster: ClusterName; readonly target: CarriedVersion | null },
  record: Pick<PlacementRecord, "resourceSnapshots">,
  context: RenderContext,
): ReadonlySet<ObjectKey> {
  const { target } = binding;
  const snapshot = target === null ? null : snapshotOf(record, target.resourceIndex);
  if (target === null || snapshot === null) return noKeys;
  if (target.clusterOverrides.length + target.resourceOverrides.length === 0) return keysOf(snapshot);
  const rendering = targetRendering(binding, record, context);
  return rendering?.kind === "rendered" ? keysIn(rendering.manifests) : keysOf(snapshot);
}

const noKeys: ReadonlySet<ObjectKey> = new Set();

/** The keys of rendered manifests. */
export const keysIn = remembered(
  (manifests: readonly RenderedManifest[]): ReadonlySet<ObjectKey> => new Set(manifests.map((it) => it.key)),
);

const overridesByName = remembered(
  (overrides: readonly OverrideSnapshot[]): ReadonlyMap<string, OverrideSnapshot> =>
    new Map(overrides.map((it) => [overrideSnapshotKey(it), it])),
);

/** Manifests of this commit and of those that the shell fetched for targets of earlier ones. */
export function contentOf({ intent, archive }: World): Content {
  let current: ReadonlyMap<Digest, Manifest> | null = null;
  return (digest) => {
    current ??= manifestsIn(intent.objects);
    return current.get(digest) ?? archive.get(digest) ?? null;
  };
}

const manifestsIn = remembered((objects: Intent["objects"]): ReadonlyMap<Digest, Manifest> => {
  const found = new Map<Digest, Manifest>();
  for (const { digest, manifest, wraps } of objects.values()) {
    found.set(digest, manifest);
    for (const it of wraps?.objects ?? []) found.set(it.digest, it.manifest);
  }
  return found;
});

/** The objects a rendering consists of; none when it failed. */
export const objectsOf = (rendering: Rendering | null): readonly ObjectId[] =>
  rendering?.kind === "rendered" ? idsOf(rendering.manifests) : [];

const idsOf = remembered((manifests: readonly RenderedManifest[]): readonly ObjectId[] => manifests.map((it) => it.id));
