import { rememberedPair } from "../../model/identity.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { ScopeTable, VersionedId } from "../../model/manifest.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, isError, warning } from "../../yaml/problems.ts";
import { definitionProblems, isDefinition } from "./custom-resource-definition.ts";
import type { DocumentContent, ReadKind } from "./kind.ts";
import {
  isKnownGroup,
  type KnownKind,
  knownKindOf,
  knownKinds,
  readKinds,
  type SchemaName,
  schemaNames,
} from "./known-kinds.ts";
import { manifestFrom, manifestProblems } from "./manifest.ts";
import { dnsLabelProblems, metadataProblems } from "./metadata.ts";
import { checkSchema } from "./schema-check.ts";

interface ContentReading {
  /** The object's identity: known kinds that are cluster-scoped have no namespace, even if the document has one. */
  readonly id: VersionedId;
  readonly content: DocumentContent | null;
  readonly problems: FieldProblems;
}

/** Reads what an identified document defines: schema, rules, defaults. */
export function readContent(id: VersionedId, value: Json): ContentReading {
  if (!isObject(value)) return { id, content: null, problems: [] };
  const kind = knownKindOf(id.group, id.kind);
  if (kind !== null) return readKnownKind(kind, id, value);
  if (isKnownGroup(id.group)) return { id, content: null, problems: [unknownKindProblem(id)] };
  const problems = [...manifestProblems(id, value), ...(isDefinition(id) ? definitionProblems(value) : [])];
  return { id, content: problems.some(isError) ? null : { kind: "manifest", ...manifestFrom(value) }, problems };
}

/** An unknown kind, with the kind or the group that was perhaps meant. */
export function unknownKindProblem({ group, kind }: VersionedId): FieldProblem {
  const own = knownKinds.filter((it) => it.group === group).map((it) => it.kind);
  const elsewhere = knownKinds.find((it) => it.kind === kind && it.group !== group && it.schema !== null);
  const known = isKnownGroup(group);
  const otherwise = known ? `group ${group} has no such kind` : "add its CustomResourceDefinition to the repository";
  const fix =
    elsewhere === undefined
      ? didYouMean(kind, own, otherwise)
      : `did you mean apiVersion ${elsewhere.group}/${elsewhere.versions[0]}?`;
  const shown = group === "" ? kind : `${kind} of group ${group}`;
  return error("FLT1301", ["kind"], `${shown} is not known`, fix);
}

function readKnownKind(kind: KnownKind, written: VersionedId, value: JsonObject): ContentReading {
  const id = kind.scope === "Cluster" ? { ...written, namespace: null } : written;
  if (!kind.versions.includes(id.version)) return { id, content: null, problems: [unknownVersion(kind, id)] };
  if (kind.schema === null) {
    const content: DocumentContent | null = kind.isOfHub ? { kind: "later" } : null;
    return { id, content, problems: [kind.isOfHub ? hubKindProblem(kind) : unreadKindProblem(kind)] };
  }
  const checked = checkSchema(kind.schema, value);
  if (!checked.isValid) return { id, content: null, problems: checked.problems };
  const { document } = checked;
  const reader: ReadKind<typeof document, DocumentContent> = readKinds[kind.schema];
  const problems = [
    ...oldVersionProblems(kind, id),
    ...namespaceProblems(kind, written),
    ...metadataProblems(value),
    ...reader.rules(document),
  ];
  if (problems.some(isError)) return { id, content: null, problems };
  const content = reader.content(document, kind.scope);
  return { id, content, problems: [...problems, ...(reader.partRules?.(document) ?? [])] };
}

/** An accepted version of an object. */
interface AcceptedContent {
  readonly content: DocumentContent;
}

/** Checks an object against its accepted version and the definitions of the commit; what is the same may stay. */
export function acceptanceProblems(
  { group, kind }: VersionedId,
  content: DocumentContent,
  { previous, scopes }: { readonly previous: AcceptedContent | null; readonly scopes: ScopeTable },
): FieldProblems {
  const schema = knownKindOf(group, kind)?.schema ?? null;
  if (schema === null) return none;
  const selection = selectionProblems[schema](content, scopes);
  if (previous === null || previous.content === content) return selection;
  // The same group and kind, so the same rules made both.
  const update = readKinds[schema].updateRules(previous.content, content);
  return update.length === 0 ? selection : [...update, ...selection];
}

const none: FieldProblems = [];

const isKnownKind = ({ group, kind }: Pick<VersionedId, "group" | "kind">): boolean =>
  knownKindOf(group, kind) !== null;

type SelectionCheck = (content: DocumentContent, scopes: ScopeTable) => FieldProblems;

const selectionProblems = Object.fromEntries(
  schemaNames.map((it) => [
    it,
    rememberedPair<DocumentContent, ScopeTable, FieldProblems>((content, scopes) =>
      readKinds[it].selectionRules(content, { scopes, isKnownKind }),
    ),
  ]),
) as Readonly<Record<SchemaName, SelectionCheck>>;

function unknownVersion({ group, kind, versions }: KnownKind, { version }: VersionedId): FieldProblem {
  const fix = `use ${versions.map((it) => `${group}/${it}`).join(" or ")}`;
  return error("FLT1301", ["apiVersion"], `${kind} has no such version`, fix, version);
}

/** v1alpha1 is old where there is a later version: our own kinds have none. */
function oldVersionProblems({ versions }: KnownKind, { version }: VersionedId): FieldProblems {
  const later = versions.filter((it) => it !== "v1alpha1").reverse();
  return version === "v1alpha1" && later.length > 0
    ? [warning("FLT1910", ["apiVersion"], "v1alpha1 is an old version", `change it to ${later.join(" or ")}`)]
    : [];
}

function hubKindProblem({ kind }: KnownKind): FieldProblem {
  const [why, fix] = /ApprovalRequest$/.test(kind)
    ? ["is written by flotilla to the state branch; here it is ignored", "answer it with flotilla approve"]
    : ["is written by the controllers of a hub; here it is ignored", "remove it"];
  return warning("FLT1900", ["kind"], `${kind} ${why}`, fix);
}

function unreadKindProblem({ kind }: KnownKind): FieldProblem {
  const fix = "remove it until a later version supports it";
  return error("FLT1900", ["kind"], `${kind} is not yet supported: what it asks for never reaches a cluster`, fix);
}

function namespaceProblems(kind: KnownKind, { namespace }: VersionedId): FieldProblems {
  if (namespace === null) return [];
  return kind.scope === "Cluster"
    ? [clusterScopedProblem(kind)]
    : dnsLabelProblems(namespace, ["metadata", "namespace"]);
}

/** The problem with a namespace on an object of a cluster-scoped kind. */
export const clusterScopedProblem = ({ kind }: { readonly kind: string }): FieldProblem =>
  error("FLT1413", ["metadata", "namespace"], `${kind} is cluster-scoped and has no namespace`, "remove the namespace");
