import type { Json } from "./json.ts";
import type { Source } from "./manifest.ts";
import type { ClusterName, Labels } from "./value.ts";

/** A MemberCluster as written: `intent/README.md#members`. The label `kubernetes-fleet.io/member-name` is filled in. */
export interface MemberCluster {
  readonly name: ClusterName;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Declared in the file's status, where somebody keeps them by hand; the scheduler's plugins read them. */
  readonly properties: Readonly<Record<string, string>>;
  readonly resourceUsage: ResourceUsage;
  /** The document's `spec` after defaults, for the record that goes back to Git. */
  readonly spec: Json;
  readonly source: Source;
}

/** Keeps placements off a cluster unless they tolerate it. `NoSchedule` is the only effect KubeFleet knows. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: "NoSchedule";
}

/** Quantities as written, by resource name: `cpu`, `memory`. */
interface ResourceUsage {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly available: Readonly<Record<string, string>>;
}
