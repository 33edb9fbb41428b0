import type { Json } from "./json.ts";
import type { Scope, SourcePosition } from "./manifest.ts";
import type { LabelSelector, PlacementKey } from "./value.ts";

/** A ClusterResourceOverride or ResourceOverride (`render/README.md#overrides`); `namespace` is null for the former. */
export interface Override {
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  readonly spec: OverrideSpec;
  readonly source: SourcePosition;
}

/** The spec of an override and of its snapshots. */
export interface OverrideSpec {
  /** The one placement it belongs to; null means every placement that selects a matching object. */
  readonly placement: PlacementKey | null;
  readonly selectors: readonly OverrideSelector[];
  /** Run in order; later rules see what earlier ones left. */
  readonly rules: readonly OverrideRule[];
}

/** Names one object. Version and name count exactly (`render/README.md#o-20`); the namespace is the override's own. */
export interface OverrideSelector {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
}

/** What to do with the selected objects on the clusters that match. */
export interface OverrideRule {
  /** Null: no cluster; empty: every one; else any selector (`render/README.md#which-overrides-apply`). */
  readonly clusters: readonly LabelSelector[] | null;
  readonly action:
    | { readonly kind: "JSONPatch"; readonly operations: readonly PatchOperation[] }
    | { readonly kind: "Delete" };
}

/** One operation of JSON Patch; the others of RFC 6902 are not allowed (`render/README.md#how-an-override-acts`). */
export interface PatchOperation {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  /** Null for `remove`, which carries none. Strings in it may hold `${MEMBER-CLUSTER-NAME}`. */
  readonly value: Json;
}

/** An override's snapshot, `<override>-<index>`, its spec frozen (`render/README.md#override-snapshots`). */
export interface OverrideSnapshot {
  /** `<override>-<index>`; index from 0. */
  readonly name: string;
  readonly namespace: string | null;
  readonly override: string;
  readonly index: number;
  readonly spec: OverrideSpec;
}
