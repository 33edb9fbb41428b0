import type { SchemaDocuments } from "#schemas/index";
import type { PastContent } from "../../model/history.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Manifest, Scope, ScopeTable, VersionedId } from "../../model/manifest.ts";
import type { ApprovalFile } from "../../model/trust.ts";
import type { Digest } from "../../model/value.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, isError, warning } from "../../yaml/problems.ts";
import { approvalFrom, approvalProblems } from "./approval.ts";
import { definitionProblems, isDefinition } from "./custom-resource-definition.ts";
import { confirmationProblems, confirmedDigest } from "./deletion-confirmation.ts";
import { disruptionBudgetFrom, disruptionBudgetProblems } from "./disruption-budget.ts";
import { evictionFrom, evictionProblems, evictionUpdateProblems } from "./eviction.ts";
import { fleetFrom, fleetProblems } from "./fleet.ts";
import { type FleetKind, fleetKindOf, fleetKinds, isFleetGroup } from "./fleet-kinds.ts";
import { manifestFrom, manifestProblems } from "./manifest.ts";
import { memberClusterFrom, memberClusterProblems } from "./member-cluster.ts";
import { dnsLabelProblems, metadataProblems } from "./metadata.ts";
import { overrideFrom, overrideProblems, overrideScopeProblems, overrideUpdateProblems } from "./override.ts";
import { placementFrom, placementProblems, placementScopeProblems, placementUpdateProblems } from "./placement.ts";
import { checkSchema } from "./schema-check.ts";
import type { SchemaName } from "./schemas.ts";
import { updateRunFrom, updateRunProblems, updateRunUpdateProblems } from "./update-run.ts";
import { updateStrategyFrom, updateStrategyProblems } from "./update-strategy.ts";

/** What a document defines. */
export type DocumentContent =
  | Exclude<PastContent, { readonly kind: "manifest" | "unusable" }>
  | { readonly kind: "confirmation"; readonly digest: Digest }
  | { readonly kind: "approval"; readonly approval: Omit<ApprovalFile, "path" | "blob"> }
  | { readonly kind: "manifest"; readonly manifest: Manifest; readonly digest: Digest }
  /** Recognised, not supported yet, ignored. */
  | { readonly kind: "later" };

interface ContentReading {
  /** The object's identity: fleet kinds that are cluster-scoped have no namespace, even if the document has one. */
  readonly id: VersionedId;
  readonly content: DocumentContent | null;
  readonly problems: FieldProblems;
}

/** Reads what an identified document defines: schema, rules, defaults. */
export function readContent(id: VersionedId, value: Json): ContentReading {
  if (!isObject(value)) return { id, content: null, problems: [] };
  const kind = fleetKindOf(id.group, id.kind);
  if (kind !== null) return readFleetKind(kind, id, value);
  if (isFleetGroup(id.group)) return { id, content: null, problems: [unknownKindProblem(id)] };
  const problems = [...manifestProblems(id, value), ...(isDefinition(id) ? definitionProblems(value) : [])];
  return { id, content: problems.some(isError) ? null : { kind: "manifest", ...manifestFrom(value) }, problems };
}

/** An unknown kind, with the kind or the group that was perhaps meant. */
export function unknownKindProblem({ group, kind }: VersionedId): FieldProblem {
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

function readFleetKind(kind: FleetKind, written: VersionedId, value: JsonObject): ContentReading {
  const id = kind.scope === "Cluster" ? { ...written, namespace: null } : written;
  if (!kind.versions.includes(id.version)) return { id, content: null, problems: [unknownVersion(kind, id)] };
  if (kind.schema === null) return { id, content: { kind: "later" }, problems: [ignoredKindProblem(kind)] };
  const checked = checkSchema(kind.schema, value);
  if (!checked.isValid) return { id, content: null, problems: checked.problems };
  const { document } = checked;
  const reader: KindReader<typeof document> = readers[kind.schema];
  const problems = [...namespaceProblems(kind, written), ...metadataProblems(value), ...reader.rules(document)];
  return { id, content: problems.some(isError) ? null : reader.content(document, kind.scope), problems };
}

/** How documents of a kind are read once their schema has passed them. */
interface KindReader<Document> {
  rules(document: Document): FieldProblems;
  /** What it defines, with defaults. `scope`: of the kind, which may be a namespaced variant. */
  content(document: Document, scope: Scope): DocumentContent;
}

const readers: { readonly [Name in SchemaName]: KindReader<SchemaDocuments[Name]> } = {
  MemberCluster: {
    rules: memberClusterProblems,
    content: (it) => ({ kind: "cluster", cluster: memberClusterFrom(it) }),
  },
  ClusterResourcePlacement: {
    rules: placementProblems,
    content: (it) => ({ kind: "placement", placement: placementFrom(it) }),
  },
  ClusterResourceOverride: {
    rules: overrideProblems,
    content: (it) => ({ kind: "override", override: overrideFrom(it) }),
  },
  ClusterStagedUpdateRun: {
    rules: updateRunProblems,
    content: (it, scope) => ({ kind: "run", run: updateRunFrom(it, scope) }),
  },
  ClusterStagedUpdateStrategy: {
    rules: updateStrategyProblems,
    content: (it, scope) => ({ kind: "strategy", strategy: updateStrategyFrom(it, scope) }),
  },
  ClusterResourcePlacementEviction: {
    rules: evictionProblems,
    content: (it) => ({ kind: "eviction", eviction: evictionFrom(it) }),
  },
  ClusterResourcePlacementDisruptionBudget: {
    rules: disruptionBudgetProblems,
    content: (it) => ({ kind: "budget", budget: disruptionBudgetFrom(it) }),
  },
  Fleet: { rules: fleetProblems, content: (it) => ({ kind: "fleet", fleet: fleetFrom(it) }) },
  DeletionConfirmation: {
    rules: confirmationProblems,
    content: (it) => ({ kind: "confirmation", digest: confirmedDigest(it) }),
  },
  Approval: { rules: approvalProblems, content: (it) => ({ kind: "approval", approval: approvalFrom(it) }) },
  // Read from one file, and not as an object among others.
  Trust: {
    rules: () => [error("FLT1350", ["kind"], "a Trust is read from trust/root.yaml only", "move it there")],
    content: () => ({ kind: "later" }),
  },
};

/** Checks an object against its accepted version: immutable fields stay the same. */
export function updateProblems(before: DocumentContent, after: DocumentContent): FieldProblems {
  if (before.kind === "placement" && after.kind === "placement")
    return placementUpdateProblems(before.placement.spec, after.placement.spec);
  if (before.kind === "override" && after.kind === "override")
    return overrideUpdateProblems(before.override.spec, after.override.spec);
  if (before.kind === "run" && after.kind === "run") return updateRunUpdateProblems(before.run.spec, after.run.spec);
  if (before.kind === "eviction" && after.kind === "eviction")
    return evictionUpdateProblems(before.eviction, after.eviction);
  return [];
}

/** Checks the kinds that a placement or override selects, which depends on the definitions of the same commit. */
export function selectionProblems(content: DocumentContent, scopes: ScopeTable): FieldProblems {
  if (content.kind === "placement") return placementScopeProblems(content.placement.spec, scopes);
  return content.kind === "override" ? overrideScopeProblems(content.override.spec, scopes) : [];
}

function unknownVersion({ group, kind, versions }: FleetKind, { version }: VersionedId): FieldProblem {
  const fix = `use ${versions.map((it) => `${group}/${it}`).join(" or ")}`;
  return error("FLT1301", ["apiVersion"], `${kind} has no such version`, fix, version);
}

function ignoredKindProblem({ kind }: FleetKind): FieldProblem {
  const [why, fix] = /ApprovalRequest$/.test(kind)
    ? ["is written by flotilla to the state branch; here it is ignored", "answer it with flotilla approve"]
    : ["is not yet supported and is ignored", "wait for a later version, or remove it"];
  return warning("FLT1900", ["kind"], `${kind} ${why}`, fix);
}

function namespaceProblems(kind: FleetKind, { namespace }: VersionedId): FieldProblems {
  if (namespace === null) return [];
  return kind.scope === "Cluster"
    ? [clusterScopedProblem(kind)]
    : dnsLabelProblems(namespace, ["metadata", "namespace"]);
}

/** The problem with a namespace on an object of a cluster-scoped kind. */
export const clusterScopedProblem = ({ kind }: { readonly kind: string }): FieldProblem =>
  error("FLT1413", ["metadata", "namespace"], `${kind} is cluster-scoped and has no namespace`, "remove the namespace");
