import type { Json } from "../../model/json.ts";
import type { LabelSelector, Labels } from "../../model/value.ts";

// What the schemas in `schemas/` leave possible: documents as people write them, before defaults. A value may be taken
// for one of these only after its schema has passed it.

export interface Written {
  readonly apiVersion: string;
  readonly metadata: WrittenMetadata;
  readonly status?: unknown;
}

export interface WrittenMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface WrittenPlacement extends Written {
  readonly spec: {
    readonly resourceSelectors: readonly WrittenSelector[];
    readonly policy?: WrittenPolicy;
    readonly strategy?: WrittenStrategy;
    readonly revisionHistoryLimit?: number;
    readonly statusReportingScope?: "ClusterScopeOnly" | "NamespaceAccessible";
  };
}

export interface WrittenSelector {
  readonly group?: string;
  readonly version: string;
  readonly kind: string;
  readonly name?: string;
  readonly labelSelector?: LabelSelector;
  readonly selectionScope?: "NamespaceOnly" | "NamespaceWithResources" | "NamespaceWithResourceSelectors";
}

export interface WrittenPolicy {
  readonly placementType?: "PickAll" | "PickN" | "PickFixed";
  readonly clusterNames?: readonly string[];
  readonly numberOfClusters?: number;
  readonly affinity?: { readonly clusterAffinity?: WrittenAffinity };
  readonly topologySpreadConstraints?: readonly Json[];
  readonly tolerations?: readonly WrittenToleration[];
}

export interface WrittenAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly clusterSelectorTerms: readonly WrittenTerm[] };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly preference: WrittenTerm;
  }[];
}

export interface WrittenTerm {
  readonly labelSelector?: LabelSelector;
  readonly propertySelector?: Json;
  readonly propertySorter?: Json;
}

export interface WrittenToleration {
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly value?: string;
  readonly effect?: "NoSchedule";
}

export interface WrittenStrategy {
  readonly type?: "RollingUpdate" | "External";
  readonly rollingUpdate?: {
    readonly maxUnavailable?: number | string;
    readonly maxSurge?: number | string;
    readonly unavailablePeriodSeconds?: number;
  };
  readonly applyStrategy?: WrittenApplyStrategy;
  readonly deleteStrategy?: { readonly propagationPolicy?: "Abandon" | "Delete" };
  readonly reportBackStrategy?: { readonly type?: "Disabled" | "Mirror" };
}

export interface WrittenApplyStrategy {
  readonly type?: "ClientSideApply" | "ServerSideApply" | "ReportDiff";
  readonly comparisonOption?: "PartialComparison" | "FullComparison";
  readonly whenToApply?: "Always" | "IfNotDrifted";
  readonly whenToTakeOver?: "Always" | "IfNoDiff" | "Never";
  readonly allowCoOwnership?: boolean;
  readonly serverSideApplyConfig?: { readonly force?: boolean };
}

export interface WrittenOverride extends Written {
  readonly spec: {
    readonly placement?: { readonly name: string; readonly scope?: "Cluster" | "Namespaced" };
    /** `clusterResourceSelectors` or, in the namespaced kind, `resourceSelectors`. */
    readonly clusterResourceSelectors?: readonly WrittenOverrideSelector[];
    readonly resourceSelectors?: readonly WrittenOverrideSelector[];
    readonly policy: { readonly overrideRules: readonly WrittenRule[] };
  };
}

export interface WrittenOverrideSelector {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name?: string;
  readonly labelSelector?: Json;
  readonly selectionScope?: string;
}

export interface WrittenRule {
  readonly clusterSelector?: { readonly clusterSelectorTerms: readonly WrittenTerm[] };
  readonly overrideType?: "JSONPatch" | "Delete";
  readonly jsonPatchOverrides?: readonly WrittenOperation[];
}

export interface WrittenOperation {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: Json;
}

export interface WrittenCluster extends Written {
  readonly spec: {
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: "NoSchedule" }[];
    readonly deleteOptions?: { readonly validationMode?: string };
  };
  readonly status?: {
    readonly properties?: Readonly<Record<string, { readonly value: string }>>;
    readonly resourceUsage?: {
      readonly capacity?: WrittenQuantities;
      readonly allocatable?: WrittenQuantities;
      readonly available?: WrittenQuantities;
    };
  };
}

export type WrittenQuantities = Readonly<Record<string, string | number>>;

export interface WrittenRun extends Written {
  readonly spec: {
    readonly placementName: string;
    readonly resourceSnapshotIndex?: string;
    readonly stagedRolloutStrategyName: string;
    readonly state?: "Initialize" | "Run" | "Stop";
  };
}

export interface WrittenUpdateStrategy extends Written {
  readonly spec: { readonly stages: readonly WrittenStage[] };
}

export interface WrittenStage {
  readonly name: string;
  readonly labelSelector?: LabelSelector;
  readonly sortingLabelKey?: string;
  readonly maxConcurrency?: number | string;
  readonly beforeStageTasks?: readonly WrittenTask[];
  readonly afterStageTasks?: readonly WrittenTask[];
}

export interface WrittenTask {
  readonly type: "TimedWait" | "Approval";
  readonly waitTime?: string;
}

export interface WrittenEviction extends Written {
  readonly spec: { readonly placementName: string; readonly clusterName: string };
}

export interface WrittenBudget extends Written {
  readonly spec: { readonly maxUnavailable?: number | string; readonly minAvailable?: number | string };
}

export interface WrittenApproval {
  readonly spec: {
    readonly requestDigest: string;
    readonly decision: "Approve" | "Reject" | "Revoke";
    readonly principal: string;
    readonly comment?: string;
    readonly signature?: string;
  };
}

export interface WrittenFleet {
  readonly spec?: {
    readonly roots?: readonly string[];
    readonly profile?: "default" | "kubefleet";
    readonly contexts?: Readonly<Record<string, string>>;
    readonly guards?: {
      readonly objectsPerCluster?: number;
      readonly percentPerCluster?: number;
      readonly clusters?: number;
      readonly percentOfClusters?: number;
    };
    readonly approvals?: { readonly unsigned?: "allow" | "deny" };
  };
}

/** Who may approve what, as `trust/root.yaml` has it. */
export interface WrittenTrust {
  readonly spec: {
    readonly version: number;
    readonly previous?: string;
    readonly expires: string;
    readonly threshold: number;
    readonly roots: readonly string[];
    readonly principals: Readonly<Record<string, WrittenPrincipal>>;
    readonly approvals?: readonly WrittenApprovalRule[];
    readonly protectedTargets?: readonly WrittenTarget[];
    readonly revocations?: readonly { readonly key: string; readonly kind: "retired" | "compromised" }[];
  };
}

export interface WrittenPrincipal {
  readonly human: boolean;
  readonly keys?: readonly string[];
  readonly authorities?: readonly string[];
  readonly openpgp?: readonly string[];
  readonly forge?: Readonly<Record<string, string>>;
}

/** What rules of both kinds say about who approves. */
export interface WrittenVoters {
  readonly principals: readonly string[];
  readonly minimum?: number;
  readonly accept?: readonly ("commit" | "detached" | "forge")[];
}

export interface WrittenApprovalRule extends WrittenVoters {
  readonly placements: readonly string[];
  readonly stages: readonly string[];
  readonly fourEyes?: boolean;
  readonly unsignedChanges?: "deny" | "oneMore" | "allow";
  readonly maxAge?: string;
}

export interface WrittenTarget extends WrittenVoters {
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
  readonly released?: readonly string[];
}
