import type { FleetSpec, MemberCluster } from "../model/fleet.ts";
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Manifest, VersionedId } from "../model/manifest.ts";
import type { Override } from "../model/override.ts";
import type { DisruptionBudget, Eviction, Placement } from "../model/placement.ts";
import type { ApprovalFile } from "../model/trust.ts";
import type { UpdateRun, UpdateStrategy } from "../model/update-run.ts";
import type { Digest } from "../model/value.ts";
import { didYouMean } from "../yaml/nearest.ts";
import { error, isError, type Remark, warning } from "../yaml/remark.ts";
import { approvalOf, approvalRemarks } from "./kinds/approval.ts";
import { clusterOf, clusterRemarks } from "./kinds/cluster.ts";
import { confirmationRemarks, confirmedDigest } from "./kinds/confirmation.ts";
import { disruptionBudgetOf, disruptionBudgetRemarks } from "./kinds/disruption-budget.ts";
import { evictionOf, evictionRemarks } from "./kinds/eviction.ts";
import { fleetOf, fleetRemarks } from "./kinds/fleet-file.ts";
import { manifestOf, manifestRemarks } from "./kinds/manifest.ts";
import { dnsLabelRemarks, metadataRemarks } from "./kinds/metadata.ts";
import { overrideOf } from "./kinds/override.ts";
import { overrideRemarks } from "./kinds/override-rules.ts";
import { placementOf } from "./kinds/placement.ts";
import { placementRemarks } from "./kinds/placement-rules.ts";
import { updateRunOf, updateRunRemarks } from "./kinds/update-run.ts";
import { updateStrategyOf } from "./kinds/update-strategy.ts";
import { updateStrategyRemarks } from "./kinds/update-strategy-rules.ts";
import type {
  Written,
  WrittenApproval,
  WrittenBudget,
  WrittenCluster,
  WrittenEviction,
  WrittenFleet,
  WrittenOverride,
  WrittenPlacement,
  WrittenRun,
  WrittenUpdateStrategy,
} from "./kinds/written.ts";
import { fleetKindOf, fleetKinds, isFleetGroup, type Kind } from "./kinds.ts";
import { schemaRemarks } from "./schema-check.ts";
import { definitionRemarks, isDefinition } from "./scopes.ts";

/** What a document defines, wherever it stands. */
export type Content =
  | { readonly kind: "cluster"; readonly cluster: Omit<MemberCluster, "source"> }
  | { readonly kind: "placement"; readonly placement: Omit<Placement, "source"> }
  | { readonly kind: "override"; readonly override: Omit<Override, "source"> }
  | { readonly kind: "run"; readonly run: Omit<UpdateRun, "source"> }
  | { readonly kind: "strategy"; readonly strategy: Omit<UpdateStrategy, "source"> }
  | { readonly kind: "eviction"; readonly eviction: Omit<Eviction, "source"> }
  | { readonly kind: "budget"; readonly budget: Omit<DisruptionBudget, "source"> }
  | { readonly kind: "fleet"; readonly fleet: FleetSpec }
  | { readonly kind: "confirmation"; readonly digest: Digest }
  | { readonly kind: "approval"; readonly approval: Omit<ApprovalFile, "path" | "blob"> }
  | { readonly kind: "manifest"; readonly manifest: Manifest; readonly digest: Digest }
  /** Recognised, not supported yet, ignored. */
  | { readonly kind: "later" };

export interface Reading {
  /** The object's identity: cluster-scoped kinds of ours have no namespace, whatever their document says. */
  readonly id: VersionedId;
  readonly content: Content | null;
  readonly remarks: readonly Remark[];
}

/** Reads what an identified document defines: schema, rules that the document alone decides, defaults. */
export function readContent(id: VersionedId, value: Json): Reading {
  if (!isObject(value)) return { id, content: null, remarks: [] };
  const kind = fleetKindOf(id.group, id.kind);
  if (kind !== null) return readFleetKind(kind, id, value);
  if (isFleetGroup(id.group)) return { id, content: null, remarks: [unknownKind(id)] };
  const remarks = [...manifestRemarks(id, value), ...(isDefinition(id) ? definitionRemarks(value) : [])];
  return { id, content: remarks.some(isError) ? null : { kind: "manifest", ...manifestOf(value) }, remarks };
}

/** A kind that stands in no group of ours is suggested to those who misspelt the group of one that does. */
export function unknownKind({ group, kind }: VersionedId): Remark {
  const own = fleetKinds.filter((it) => it.group === group).map((it) => it.kind);
  const elsewhere = fleetKinds.find((it) => it.kind === kind && it.group !== group && it.schema !== null);
  const known = isFleetGroup(group);
  const otherwise = known ? `group ${group} has no such kind` : "add its CustomResourceDefinition to the repository";
  const fix =
    elsewhere === undefined
      ? didYouMean(kind, own, otherwise)
      : `did you mean apiVersion ${elsewhere.group}/${elsewhere.versions[0]}?`;
  const shown = group === "" ? kind : `${kind} of group ${group}`;
  return error("FLT1301", ["kind"], `${shown} is not known`, fix);
}

function readFleetKind(kind: Kind, claimed: VersionedId, value: JsonObject): Reading {
  const id = kind.scope === "Cluster" ? { ...claimed, namespace: null } : claimed;
  if (!kind.versions.includes(id.version)) return { id, content: null, remarks: [unknownVersion(kind, id)] };
  if (kind.schema === null) return { id, content: { kind: "later" }, remarks: [notYetSupported(kind)] };
  const broken = schemaRemarks(kind.schema, value);
  if (broken.length > 0) return { id, content: null, remarks: broken };
  const remarks = [...namespaceRemarks(kind, claimed), ...metadataRemarks(value), ...rulesOf(kind, value)];
  return { id, content: remarks.some(isError) ? null : contentOf(kind, value), remarks };
}

/** The schema has passed: the value is what {@link Written} says. */
const written = <T extends Written | WrittenFleet | WrittenApproval>(value: JsonObject): T => value as unknown as T;

function rulesOf({ schema, scope }: Kind, value: JsonObject): readonly Remark[] {
  switch (schema) {
    case "MemberCluster":
      return clusterRemarks(written<WrittenCluster>(value));
    case "ClusterResourcePlacement":
      return placementRemarks(written<WrittenPlacement>(value), scope);
    case "ClusterResourceOverride":
      return overrideRemarks(written<WrittenOverride>(value), scope);
    case "ClusterStagedUpdateRun":
      return updateRunRemarks(written<WrittenRun>(value));
    case "ClusterStagedUpdateStrategy":
      return updateStrategyRemarks(written<WrittenUpdateStrategy>(value));
    case "ClusterResourcePlacementEviction":
      return evictionRemarks(written<WrittenEviction>(value));
    case "ClusterResourcePlacementDisruptionBudget":
      return disruptionBudgetRemarks(written<WrittenBudget>(value));
    case "Fleet":
      return fleetRemarks(written<WrittenFleet>(value));
    case "DeletionConfirmation":
      return confirmationRemarks(value);
    case "Approval":
      return approvalRemarks(written<WrittenApproval>(value));
    case "Trust":
      return [strayTrust];
    case null:
      return [];
  }
}

function contentOf({ schema, scope }: Kind, value: JsonObject): Content {
  switch (schema) {
    case "MemberCluster":
      return { kind: "cluster", cluster: clusterOf(written<WrittenCluster>(value)) };
    case "ClusterResourcePlacement":
      return { kind: "placement", placement: placementOf(written<WrittenPlacement>(value), scope) };
    case "ClusterResourceOverride":
      return { kind: "override", override: overrideOf(written<WrittenOverride>(value), scope) };
    case "ClusterStagedUpdateRun":
      return { kind: "run", run: updateRunOf(written<WrittenRun>(value), scope) };
    case "ClusterStagedUpdateStrategy":
      return { kind: "strategy", strategy: updateStrategyOf(written<WrittenUpdateStrategy>(value), scope) };
    case "ClusterResourcePlacementEviction":
      return { kind: "eviction", eviction: evictionOf(written<WrittenEviction>(value)) };
    case "ClusterResourcePlacementDisruptionBudget":
      return { kind: "budget", budget: disruptionBudgetOf(written<WrittenBudget>(value)) };
    case "Fleet":
      return { kind: "fleet", fleet: fleetOf(written<WrittenFleet>(value)) };
    case "DeletionConfirmation":
      return { kind: "confirmation", digest: confirmedDigest(value) };
    case "Approval":
      return { kind: "approval", approval: approvalOf(written<WrittenApproval>(value)) };
    case "Trust":
    case null:
      return { kind: "later" };
  }
}

/** What is trusted is read from one file, and not as an object among others. */
const strayTrust = error("FLT1350", ["kind"], "a Trust is read from trust/root.yaml only", "move it there");

function unknownVersion({ group, kind, versions }: Kind, { version }: VersionedId): Remark {
  const fix = `use ${versions.map((it) => `${group}/${it}`).join(" or ")}`;
  return { ...error("FLT1301", ["apiVersion"], `${kind} has no such version`, fix), got: version };
}

const notYetSupported = ({ kind }: Kind): Remark =>
  /ApprovalRequest$/.test(kind) ? writtenByUs(kind) : laterKind(kind);

const writtenByUs = (kind: string): Remark =>
  warning(
    "FLT1900",
    ["kind"],
    `${kind} is written by flotilla, on its own branch; here it is ignored`,
    "answer a request with the file that flotilla describe run shows",
  );

const laterKind = (kind: string): Remark =>
  warning("FLT1900", ["kind"], `${kind} is not yet supported and is ignored`, "wait for a later version, or remove it");

function namespaceRemarks(kind: Kind, { namespace }: VersionedId): readonly Remark[] {
  if (namespace === null) return [];
  return kind.scope === "Cluster" ? [clusterScoped(kind)] : dnsLabelRemarks(namespace, ["metadata", "namespace"]);
}

const clusterScoped = ({ kind }: Kind): Remark =>
  error("FLT1413", ["metadata", "namespace"], `${kind} is cluster-scoped and has no namespace`, "remove the namespace");
