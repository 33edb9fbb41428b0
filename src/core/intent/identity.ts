import { isMap, isScalar, type Node, type Pair } from "yaml";
import { isObject, type Json, member, memberAt, textOf } from "../model/json.ts";
import { idOf, type VersionedId } from "../model/manifest.ts";
import { flotillaGroup } from "../model/names.ts";
import type { YamlDocument } from "../yaml/kyaml.ts";
import { error, type FieldProblem, isError, type JsonPath, type TextProblem, warning } from "../yaml/problems.ts";

/**
 * Whether the identity of a document can be trusted although its text has problems.
 *
 * A broken object with a known identity holds only itself; one with an unknown identity holds the whole fleet
 * (`plan/README.md#d-2`). So a problem must clearly lie elsewhere: at a path that does not touch the identity or, where
 * the text itself is broken, after a key that follows apiVersion, kind and metadata.
 */
export function isIdentityReadable({ tree, textProblems }: YamlDocument, base: JsonPath): boolean {
  return textProblems
    .filter(isError)
    .every((it) => (it.at === null ? isAfterIdentity(tree, base, it) : isOutsideIdentity(it.at, base)));
}

function isAfterIdentity(root: Node | null, base: JsonPath, { offset }: TextProblem): boolean {
  if (!isMap(root) || base.length > 0) return false;
  const pairs = root.items as Pair<Node, Node | null>[];
  const ends = pairs.filter((it) => identityKeys.has(nameOf(it.key))).map((it) => (it.value ?? it.key).range?.[1] ?? 0);
  const end = Math.max(0, ...ends);
  return ends.length === identityKeys.size && pairs.some(({ key }) => start(key) >= end && start(key) < offset);
}

function isOutsideIdentity(at: JsonPath, base: JsonPath): boolean {
  const shared = base.findIndex((step, depth) => at[depth] !== step);
  // Another item of the same list.
  if (shared >= 0) return at.length > shared;
  const [first, second] = at.slice(base.length);
  if (first === undefined || first === "apiVersion" || first === "kind") return false;
  return first !== "metadata" || (second !== undefined && second !== "name" && second !== "namespace");
}

const identityKeys: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
const nameOf = (node: Node): string => (isScalar(node) ? String(node.value) : "");
const start = (node: Node): number => node.range?.[0] ?? 0;

type DocumentIdentity =
  | { readonly kind: "object"; readonly id: VersionedId }
  /** Neither apiVersion nor kind: not an object. */
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly problem: FieldProblem; readonly said: string | null };

/** Which object a value says it is. Names are not checked here, except that an {@link objectKey} can hold them. */
export function identityOf(value: Json): DocumentIdentity {
  if (!isObject(value)) return { kind: "none" };
  const { apiVersion, kind } = value;
  if (apiVersion === undefined && kind === undefined) return { kind: "none" };
  for (const [key, text] of Object.entries({ apiVersion, kind }))
    if (typeof text !== "string" || text === "" || (key === "kind" && text.includes("/")))
      return unreadable([key], text === undefined ? "is missing" : "must be a string", `add the ${key}`);
  const named = idOf(withSoleName(value));
  if (named === null || named.name === "") return nameless(value);
  const namespace = memberAt(value, "metadata", "namespace");
  if (namespace !== null && typeof namespace !== "string")
    return unreadable(["metadata", "namespace"], "must be a string", "put it in quotes");
  if (/\//.test(named.name) || /\//.test(named.namespace ?? ""))
    return unreadable(
      ["metadata", named.name.includes("/") ? "name" : "namespace"],
      "must not contain a slash",
      "rename it",
    );
  return { kind: "object", id: named };
}

/** There is one Fleet, and confirmations and approvals are known by their files: none needs a name. */
function withSoleName(value: Json): Json {
  if (!isObject(value) || !String(value["apiVersion"]).startsWith(`${flotillaGroup}/`)) return value;
  if (value["kind"] === "Fleet") return { ...value, metadata: { name: "fleet" } };
  if (value["kind"] === "DeletionConfirmation") return { ...value, metadata: { name: "confirmation" } };
  if (value["kind"] === "Approval") return { ...value, metadata: { name: "approval" } };
  return value;
}

function nameless(value: Json): DocumentIdentity {
  const name = memberAt(value, "metadata", "name");
  if (name !== null && typeof name !== "string")
    return unreadable(["metadata", "name"], "must be a string", "put it in quotes");
  const prefix = textOf(memberAt(value, "metadata", "generateName"));
  const said = prefix === null ? textOf(member(value, "kind")) : `${textOf(member(value, "kind"))} ${prefix}…`;
  const why =
    prefix === null ? "is missing" : `is missing; generateName (${prefix}) would create a new object each time`;
  const fix = "give the object a name; until then nothing is deleted, since any missing object might be this one";
  return { ...unreadable(["metadata", "name"], why, fix), said };
}

const unreadable = (at: JsonPath, message: string, fix: string) =>
  ({ kind: "unreadable", problem: error("FLT1401", at, message, fix), said: null }) as const;

/** The problem with another tool's file that looks like an object without a name; null for any other file. */
export function otherToolProblem(value: Json): FieldProblem | null {
  const apiVersion = textOf(member(value, "apiVersion"));
  const kind = textOf(member(value, "kind"));
  if (!isObject(value) || apiVersion === null) return null;
  if (apiVersion.startsWith("kustomize.config.k8s.io/")) return ofTool("Kustomize", "what kustomize build prints");
  if (kind === null && member(value, "kind") === null && isChart(value))
    return ofTool("Helm", "what helm template prints");
  const isKubeconfig =
    apiVersion === "v1" && kind === "Config" && ["clusters", "contexts", "users"].some((it) => it in value);
  return isKubeconfig ? kubeconfig : null;
}

const isChart = (value: Json): boolean =>
  /^v[12]$/.test(textOf(member(value, "apiVersion")) ?? "") && textOf(member(value, "name")) !== null;

const ofTool = (tool: string, result: string): FieldProblem =>
  warning("FLT1903", [], `this is a ${tool} file; Flotilla does not run ${tool} and ignores it`, `commit ${result}`);

const kubeconfig = error(
  "FLT1509",
  [],
  "this is a kubeconfig; it is not read, and credentials do not belong in a repository",
  "remove it, rotate the credentials in it, and give the kubeconfig to the process instead",
);

/** The problem with a document encrypted with SOPS, also where its `sops` metadata is missing; null for others. */
export function sopsProblem(value: Json): FieldProblem | null {
  if (isObject(member(value, "sops"))) return encrypted;
  if (member(value, "kind") !== "Secret") return null;
  return ["data", "stringData"].some((field) => holdsEncrypted(member(value, field))) ? encrypted : null;
}

const holdsEncrypted = (texts: Json): boolean =>
  isObject(texts) && Object.keys(texts).some((key) => isEncrypted(texts[key] ?? null));

const isEncrypted = (value: Json): boolean => typeof value === "string" && value.startsWith("ENC[AES256_GCM,");

/** Whether SOPS encrypted which object a document is. */
export const isIdentityEncrypted = (value: Json): boolean =>
  [member(value, "apiVersion"), member(value, "kind"), memberAt(value, "metadata", "name")].some(isEncrypted) ||
  isEncrypted(memberAt(value, "metadata", "namespace"));

const encrypted = error(
  "FLT1905",
  [],
  "this is encrypted with SOPS, which is not supported yet: it is neither decrypted nor placed",
  "let something in the clusters create the Secret, such as the External Secrets operator",
);
