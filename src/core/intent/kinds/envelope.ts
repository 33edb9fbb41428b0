import type { ClusterResourceEnvelope as WrittenEnvelope } from "#schemas/cluster-resource-envelope";
import schema from "../../../../schemas/cluster-resource-envelope.json" with { type: "json" };
import { remembered } from "../../model/identity.ts";
import { digestOf, isObject, type Json, type JsonObject, memberAt, textOf } from "../../model/json.ts";
import {
  idOf,
  isNeverPlaced,
  type Manifest,
  objectKey,
  objectText,
  type Scope,
  type VersionedId,
  type WrappedObject,
} from "../../model/manifest.ts";
import { isReservedNamespace, placementGroup } from "../../model/names.ts";
import {
  error,
  type FieldProblem,
  type FieldProblems,
  isError,
  type JsonPath,
  problemMessage,
} from "../../yaml/problems.ts";
import { definitionProblems, isDefinition } from "./custom-resource-definition.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";
import { manifestFrom, manifestProblems, withoutServerMetadata } from "./manifest.ts";
import { commonProblems } from "./metadata.ts";

/** Objects that placements place, wrapped up so that no hub acts on them. */
export const envelopeKind: ReadKind<WrittenEnvelope, ContentOf<"envelope">> = {
  names: [
    { group: placementGroup, kind: "ClusterResourceEnvelope", scope: "Cluster", versions: ["v1beta1"] },
    { group: placementGroup, kind: "ResourceEnvelope", scope: "Namespaced", versions: ["v1beta1"] },
  ],
  schema,
  ownPlace: null,
  rules: (it) => commonProblems(it),
  partRules: (it) => contentProblems(it),
  content: (it) => envelopeFrom(it),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

/** KubeFleet's limit: `intent/README.md#v-env-01`. */
const maxWrapped = 50;

/** What an envelope is, whether or not its contents may be placed: then it says why not. */
function envelopeFrom(written: WrittenEnvelope): ContentOf<"envelope"> {
  const data = Object.fromEntries(
    Object.entries(written.data).map(([key, it]) => [key, isObject(it) ? withoutServerMetadata(it) : it]),
  );
  // The same value; its type is made from the schema.
  const { manifest, digest } = manifestFrom({ ...(written as unknown as JsonObject), data });
  const first = contentProblems(written).find(isError);
  return {
    kind: "envelope",
    manifest,
    digest,
    wraps: {
      objects: Object.values(data).slice(0, maxWrapped).flatMap(wrappedObject),
      defect: first === undefined ? null : problemMessage({ ...first, got: null }, true),
    },
  };
}

function wrappedObject(value: Json): readonly WrappedObject[] {
  const read = identityIn(value);
  if (read.kind === "problem") return [];
  const { id, manifest } = read;
  // Its key would be read as that of another object.
  if (id.name.includes("/") || id.namespace?.includes("/")) return [];
  return [{ id, manifest, digest: digestOf(manifest) }];
}

/** What is wrong with what an envelope wraps (`intent/README.md#envelopes`, `yaml/README.md#b-74`). */
const contentProblems = remembered(({ kind, metadata, data }: WrittenEnvelope): FieldProblems => {
  const scope: Scope = kind === "ResourceEnvelope" ? "Namespaced" : "Cluster";
  const entries = Object.entries(data);
  const problems: FieldProblem[] = [];
  if (entries.length === 0 || entries.length > maxWrapped)
    problems.push(
      error("FLT1302", ["data"], `must have 1 to ${maxWrapped} entries, not ${entries.length}`, "split it"),
    );
  const known = new Map<string, string>();
  for (const [key, value] of entries.slice(0, maxWrapped)) {
    const at: JsonPath = ["data", key];
    const id = identityIn(value);
    if (id.kind === "problem") {
      problems.push(under(at, id.problem));
      continue;
    }
    const own = [...objectProblems(id.id, id.manifest), ...namespaceProblems(id.id, scope, metadata.namespace ?? null)];
    // What a Secret holds is shown nowhere.
    problems.push(...own.map((it) => under(at, id.id.kind === "Secret" ? { ...it, got: null } : it)));
    const object = objectKey(id.id);
    const first = known.get(object);
    if (first === undefined) known.set(object, key);
    else problems.push(error("FLT1308", at, `${objectText(id.id)} is wrapped as ${first} already`, "keep one of them"));
  }
  return problems;
});

const under = (at: JsonPath, problem: FieldProblem): FieldProblem => ({ ...problem, at: [...at, ...problem.at] });

type Identity =
  | { readonly kind: "id"; readonly id: VersionedId; readonly manifest: Manifest }
  | { readonly kind: "problem"; readonly problem: FieldProblem };

/** `intent/README.md#v-env-02`. */
function identityIn(value: Json): Identity {
  if (!isObject(value)) return wrong([], "must be a whole manifest", "write it as a mapping, not as a text");
  for (const field of ["apiVersion", "kind"])
    if (
      !/^[^/\s]+(?:\/[^/\s]+)?$/.test(textOf(value[field]) ?? "") ||
      (field === "kind" && textOf(value[field])?.includes("/"))
    )
      return wrong([field], "is missing or malformed", `add the ${field} of the object`);
  const namespace = memberAt(value, "metadata", "namespace");
  if (namespace !== null && typeof namespace !== "string")
    return wrong(["metadata", "namespace"], "must be a string", "put it in quotes");
  const id = idOf(value);
  return id === null || id.name === ""
    ? wrong(["metadata", "name"], "is missing", "name the object; generateName would make a new one each time")
    : { kind: "id", id, manifest: value };
}

const wrong = (at: JsonPath, message: string, fix: string): Identity => ({
  kind: "problem",
  problem: error("FLT1416", at, message, fix),
});

function objectProblems(id: VersionedId, manifest: Manifest): FieldProblems {
  const own = [...manifestProblems(id, manifest), ...(isDefinition(id) ? definitionProblems(manifest) : [])];
  // An envelope within an envelope is not unwrapped.
  if (isNeverPlaced(id) || id.group === placementGroup)
    return [...own, error("FLT1416", ["kind"], `objects of kind ${id.kind} are never placed`, "remove it")];
  if (id.group === "" && id.kind === "Namespace" && isReservedNamespace(id.name))
    return [
      ...own,
      error("FLT1403", ["metadata", "name"], `namespace ${id.name} is reserved and never placed`, "choose another"),
    ];
  return own;
}

/** `intent/README.md#v-env-03` to `#v-env-05`. */
function namespaceProblems({ namespace }: VersionedId, scope: Scope, wanted: string | null): FieldProblems {
  const at: JsonPath = ["metadata", "namespace"];
  if (scope === "Cluster")
    return namespace === null
      ? []
      : [error("FLT1416", at, "does not go into a ClusterResourceEnvelope", "use a ResourceEnvelope", namespace)];
  if (namespace === null) return [error("FLT1416", at, "is missing", `add ${wanted ?? "the envelope's"}`)];
  if (namespace === wanted) return [];
  return [error("FLT1416", at, `must be the envelope's, ${wanted}`, "use an envelope in that namespace", namespace)];
}
