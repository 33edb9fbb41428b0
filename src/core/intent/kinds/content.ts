import type { FleetSpec, MemberCluster } from "../../model/fleet.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Manifest, Scope, ScopeTable, VersionedId } from "../../model/manifest.ts";
import type { Override } from "../../model/override.ts";
import type { DisruptionBudget, Eviction, Placement } from "../../model/placement.ts";
import type { ApprovalFile } from "../../model/trust.ts";
import type { UpdateRun, UpdateStrategy } from "../../model/update-run.ts";
import type { Digest } from "../../model/value.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, isError, type Remark, warning } from "../../yaml/problems.ts";
import { approvalOf, approvalRemarks } from "./approval.ts";
import { definitionRemarks, isDefinition } from "./custom-resource-definition.ts";
import { confirmationRemarks, confirmedDigest } from "./deletion-confirmation.ts";
import { disruptionBudgetOf, disruptionBudgetRemarks } from "./disruption-budget.ts";
import { evictionOf, evictionRemarks, evictionUpdateRemarks } from "./eviction.ts";
import { fleetOf, fleetRemarks } from "./fleet.ts";
import { fleetKindOf, fleetKinds, isFleetGroup, type Kind } from "./fleet-kinds.ts";
import { manifestOf, manifestRemarks } from "./manifest.ts";
import { clusterOf, clusterRemarks } from "./member-cluster.ts";
import { dnsLabelRemarks, metadataRemarks } from "./metadata.ts";
import { overrideOf, overrideRemarks, overrideScopeRemarks, overrideUpdateRemarks } from "./override.ts";
import { placementOf, placementRemarks, placementScopeRemarks, placementUpdateRemarks } from "./placement.ts";
import { checkSchema } from "./schema-check.ts";
import type { SchemaDocuments, SchemaName } from "./schemas.ts";
import { updateRunOf, updateRunRemarks, updateRunUpdateRemarks } from "./update-run.ts";
import { updateStrategyOf, updateStrategyRemarks } from "./update-strategy.ts";

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
  const checked = checkSchema(kind.schema, value);
  if (!checked.isValid) return { id, content: null, remarks: checked.remarks };
  const { document } = checked;
  const reader: KindReader<typeof document> = readers[kind.schema];
  const remarks = [...namespaceRemarks(kind, claimed), ...metadataRemarks(value), ...reader.rules(document)];
  return { id, content: remarks.some(isError) ? null : reader.content(document, kind.scope), remarks };
}

/** How documents of a kind are read once their schema has passed them. */
interface KindReader<Document> {
  /** The rules that the document alone decides. */
  rules(document: Document): readonly Remark[];
  /** What it defines, with defaults. `scope`: of the kind, which may be a namespaced variant. */
  content(document: Document, scope: Scope): Content;
}

const readers: { readonly [Name in SchemaName]: KindReader<SchemaDocuments[Name]> } = {
  MemberCluster: { rules: clusterRemarks, content: (it) => ({ kind: "cluster", cluster: clusterOf(it) }) },
  ClusterResourcePlacement: {
    rules: placementRemarks,
    content: (it) => ({ kind: "placement", placement: placementOf(it) }),
  },
  ClusterResourceOverride: {
    rules: overrideRemarks,
    content: (it) => ({ kind: "override", override: overrideOf(it) }),
  },
  ClusterStagedUpdateRun: {
    rules: updateRunRemarks,
    content: (it, scope) => ({ kind: "run", run: updateRunOf(it, scope) }),
  },
  ClusterStagedUpdateStrategy: {
    rules: updateStrategyRemarks,
    content: (it, scope) => ({ kind: "strategy", strategy: updateStrategyOf(it, scope) }),
  },
  ClusterResourcePlacementEviction: {
    rules: evictionRemarks,
    content: (it) => ({ kind: "eviction", eviction: evictionOf(it) }),
  },
  ClusterResourcePlacementDisruptionBudget: {
    rules: disruptionBudgetRemarks,
    content: (it) => ({ kind: "budget", budget: disruptionBudgetOf(it) }),
  },
  Fleet: { rules: fleetRemarks, content: (it) => ({ kind: "fleet", fleet: fleetOf(it) }) },
  DeletionConfirmation: {
    rules: confirmationRemarks,
    content: (it) => ({ kind: "confirmation", digest: confirmedDigest(it) }),
  },
  Approval: { rules: approvalRemarks, content: (it) => ({ kind: "approval", approval: approvalOf(it) }) },
  // Read from one file, and not as an object among others.
  Trust: {
    rules: () => [error("FLT1350", ["kind"], "a Trust is read from trust/root.yaml only", "move it there")],
    content: () => ({ kind: "later" }),
  },
};

/** Checks an object against its accepted version: what a hub lets nobody change stays as it was. */
export function updateRemarks(before: Content, after: Content): readonly Remark[] {
  if (before.kind === "placement" && after.kind === "placement")
    return placementUpdateRemarks(before.placement.spec, after.placement.spec);
  if (before.kind === "override" && after.kind === "override")
    return overrideUpdateRemarks(before.override.spec, after.override.spec);
  if (before.kind === "run" && after.kind === "run") return updateRunUpdateRemarks(before.run.spec, after.run.spec);
  if (before.kind === "eviction" && after.kind === "eviction")
    return evictionUpdateRemarks(before.eviction, after.eviction);
  return [];
}

/** Checks the kinds that a placement or override selects, which depends on the definitions of the same commit. */
export function selectionRemarks(content: Content, scopes: ScopeTable): readonly Remark[] {
  if (content.kind === "placement") return placementScopeRemarks(content.placement.spec, scopes);
  return content.kind === "override" ? overrideScopeRemarks(content.override.spec, scopes) : [];
}

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
