import type { MemberCluster } from "../model/cluster.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { Binding, ResourceSnapshot, Target } from "../model/ledger.ts";
import { type Manifest, type ObjectId, type ObjectKey, objectKey } from "../model/manifest.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { ApplyStrategy } from "../model/placement.ts";
import type { World } from "../model/plan.ts";
import type { ScopeTable } from "../model/scope.ts";
import type { Digest, Labels, PlacementKey } from "../model/value.ts";
import { consultedLabels, overridesOf, overridesOn } from "../render/applicable.ts";
import { overrideSnapshotKey } from "../render/override-snapshot.ts";
import { type Rendering, render } from "../render/render.ts";
import { restoreResources } from "../render/restore-resources.ts";

/** What a cluster is to carry by the latest commit: everything of a {@link Target} but when it is admitted. */
export interface Version {
  readonly resourceIndex: number;
  readonly clusterOverrides: readonly string[];
  readonly resourceOverrides: readonly string[];
  readonly labels: Labels;
  readonly applyStrategy: ApplyStrategy;
  readonly rendering: Rendering;
}

/** Everything that the versions of one placement are made from. */
export interface VersionSources {
  readonly placement: PlacementKey;
  readonly snapshot: ResourceSnapshot;
  readonly applyStrategy: ApplyStrategy;
  /** The latest snapshot of every override. */
  readonly overrides: readonly OverrideSnapshot[];
  readonly scopes: ScopeTable;
  readonly content: Content;
}

/** Manifests by digest: this commit's and those of earlier ones that are still in force. */
export type Content = (digest: Digest) => Manifest | null;

/** Gives, for any cluster, the version that it should carry; null while the snapshot's content cannot be had. */
export function versionsOf(sources: VersionSources): ((cluster: MemberCluster) => Version) | null {
  const { snapshot, overrides, applyStrategy, scopes, placement } = sources;
  const restored = restoreResources(snapshot, sources.content);
  if (restored.kind === "missing") return null;
  const { resources } = restored;
  const candidates = overridesOf(placement, resources, overrides, scopes);
  return ({ name, labels }) => {
    const applicable = overridesOn(labels, candidates);
    return {
      resourceIndex: snapshot.index,
      clusterOverrides: applicable.filter((it) => it.namespace === null).map((it) => it.name),
      resourceOverrides: applicable.filter((it) => it.namespace !== null).map((it) => `${it.namespace}/${it.name}`),
      labels: consultedLabels(candidates, labels),
      applyStrategy,
      rendering: render({ resources, overrides: applicable, cluster: name, labels, scopes }),
    };
  };
}

/** Whether a binding's target is already what the version says (`spec/rollout.md` §1.6; labels and apply strategy: `RULINGS.md` B 9, C 21). */
export function isCurrent(target: Target | null, version: Version): boolean {
  if (target === null || target.resourceIndex !== version.resourceIndex) return false;
  return (
    sameJson(target.clusterOverrides, version.clusterOverrides) &&
    sameJson(target.resourceOverrides, version.resourceOverrides) &&
    sameJson(target.labels, version.labels) &&
    sameJson(target.applyStrategy as unknown as Json, version.applyStrategy as unknown as Json)
  );
}

/** Renders what a binding's target says, from what was recorded with it: later edits have no part in it. */
export function renderTarget(
  { cluster, target }: Pick<Binding, "cluster" | "target">,
  sources: {
    readonly snapshots: readonly ResourceSnapshot[];
    readonly overrides: readonly OverrideSnapshot[];
    readonly scopes: ScopeTable;
    readonly content: Content;
  },
): Rendering | null {
  const snapshot = sources.snapshots.find((it) => it.index === target?.resourceIndex);
  if (target === null || snapshot === undefined) return null;
  const restored = restoreResources(snapshot, sources.content);
  if (restored.kind === "missing") return null;
  const named = new Map(sources.overrides.map((it) => [overrideSnapshotKey(it), it]));
  const overrides = [...target.clusterOverrides, ...target.resourceOverrides].map((it) => named.get(it));
  if (!overrides.every((it) => it !== undefined)) return null;
  return render({ resources: restored.resources, overrides, cluster, labels: target.labels, scopes: sources.scopes });
}

/** Manifests of this commit and of those that the shell fetched for targets of earlier ones. */
export function contentOf({ intent, archive }: World): Content {
  let current: ReadonlyMap<Digest, Manifest> | null = null;
  return (digest) => {
    current ??= new Map([...intent.objects.values()].map((it) => [it.digest, it.manifest]));
    return current.get(digest) ?? archive.get(digest) ?? null;
  };
}

const keysBy = new WeakMap<ResourceSnapshot, ReadonlySet<ObjectKey>>();

/** The keys of the objects that a snapshot lists; one set per snapshot, since every cluster and every pass asks. */
export function keysOf(snapshot: ResourceSnapshot): ReadonlySet<ObjectKey> {
  const known = keysBy.get(snapshot);
  if (known !== undefined) return known;
  const keys = new Set(snapshot.resources.map((it) => objectKey(it.id)));
  keysBy.set(snapshot, keys);
  return keys;
}

/** The objects a rendering consists of; none when it failed. */
export const objectsOf = (rendering: Rendering | null): readonly ObjectId[] =>
  rendering?.kind === "rendered" ? rendering.manifests.map((it) => it.id) : [];
