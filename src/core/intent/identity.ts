import { isMap, isScalar, type Node, type Pair } from "yaml";
import { isObject, type Json, member, memberAt, textOf } from "../model/json.ts";
import { idOf, type VersionedId } from "../model/manifest.ts";
import { flotillaGroup } from "../model/names.ts";
import type { YamlDocument } from "../yaml/kyaml.ts";
import { error, type FieldProblem, isError, type JsonPath, type TextProblem, warning } from "../yaml/problems.ts";

/**
 * Whether what a document says about its identity can be believed although it has flaws.
 *
 * Everything hangs on this: an object whose identity is known holds only itself when it is broken, one whose identity
 * is unknown holds the whole fleet (`plan/README.md#d-2`). So a flaw must lie clearly elsewhere: at a path that does
 * not touch the identity or, where the text itself is broken, after a key that follows apiVersion, kind and metadata.
 */
export function isIdentityReadable({ tree, flaws }: YamlDocument, base: JsonPath): boolean {
  return flaws
    .filter(isError)
    .every((flaw) => (flaw.at === null ? isBehind(tree, base, flaw) : isBeside(flaw.at, base)));
}

function isBehind(root: Node | null, base: JsonPath, { offset }: TextProblem): boolean {
  if (!isMap(root) || base.length > 0) return false;
  const pairs = root.items as Pair<Node, Node | null>[];
  const ends = pairs.filter((it) => identityKeys.has(nameOf(it.key))).map((it) => (it.value ?? it.key).range?.[1] ?? 0);
  const end = Math.max(0, ...ends);
  return ends.length === identityKeys.size && pairs.some(({ key }) => start(key) >= end && start(key) < offset);
}

function isBeside(at: JsonPath, base: JsonPath): boolean {
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

export type DocumentIdentity =
  | { readonly kind: "object"; readonly id: VersionedId }
  /** Neither apiVersion nor kind: a file of something else. */
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly remark: FieldProblem; readonly said: string | null };

/** Which object a value claims to be. Names are not judged here, except that an {@link objectKey} must hold them. */
export function identityOf(value: Json): DocumentIdentity {
  if (!isObject(value)) return { kind: "none" };
  const { apiVersion, kind } = value;
  if (apiVersion === undefined && kind === undefined) return { kind: "none" };
  for (const [key, text] of Object.entries({ apiVersion, kind }))
    if (typeof text !== "string" || text === "" || (key === "kind" && text.includes("/")))
      return unreadable([key], text === undefined ? "is missing" : "must be a text", `say the ${key} of the object`);
  const named = idOf(withSoleName(value));
  if (named === null || named.name === "") return nameless(value);
  const namespace = memberAt(value, "metadata", "namespace");
  if (namespace !== null && typeof namespace !== "string")
    return unreadable(["metadata", "namespace"], "must be a text", "put it in quotes");
  if (/\//.test(named.name) || /\//.test(named.namespace ?? ""))
    return unreadable(
      ["metadata", named.name.includes("/") ? "name" : "namespace"],
      "must not hold a slash",
      "rename it",
    );
  return { kind: "object", id: named };
}

/** There is one Fleet, and confirmations and approvals are known by their files: none needs a name of its own. */
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
    return unreadable(["metadata", "name"], "must be a text", "put it in quotes");
  const prefix = textOf(memberAt(value, "metadata", "generateName"));
  const said = prefix === null ? textOf(member(value, "kind")) : `${textOf(member(value, "kind"))} ${prefix}…`;
  const why = prefix === null ? "is missing" : `is missing; generateName (${prefix}) gives another object each time`;
  const fix = "give the object a name; until then nothing that is absent is deleted, since it might be this";
  return { ...unreadable(["metadata", "name"], why, fix), said };
}

const unreadable = (at: JsonPath, message: string, fix: string) =>
  ({ kind: "unreadable", remark: error("FLT1401", at, message, fix), said: null }) as const;

/**
 * What to say about a file that other tools leave beside manifests and that only looks like an object; null for others.
 *
 * They have no name, and would otherwise hold every deletion of the fleet as objects nobody can identify.
 */
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
  warning("FLT1903", [], `this is a file of ${tool}, which is not run here; it is ignored`, `commit ${result}`);

const kubeconfig = error(
  "FLT1509",
  [],
  "this is a kubeconfig; it is not read, and credentials must not stand in a repository",
  "remove it, replace the credentials in it, and give the kubeconfig to the process instead",
);

/**
 * Says of a document that it is encrypted with SOPS, which nobody decrypts here; null for any other.
 *
 * Its metadata may be gone while its values are still encrypted: they would pass for texts, or for bad base64.
 */
export function sopsProblem(value: Json): FieldProblem | null {
  if (isObject(member(value, "sops"))) return encrypted;
  const texts = ["data", "stringData"].flatMap((field) => Object.values(member(value, field) ?? {}));
  return member(value, "kind") === "Secret" && texts.some(isEncrypted) ? encrypted : null;
}

const isEncrypted = (value: Json): boolean => typeof value === "string" && value.startsWith("ENC[AES256_GCM,");

/** Whether SOPS left readable which object a document is. */
export const isIdentityEncrypted = (value: Json): boolean =>
  [member(value, "apiVersion"), member(value, "kind"), memberAt(value, "metadata", "name")].some(isEncrypted) ||
  isEncrypted(memberAt(value, "metadata", "namespace"));

const encrypted = error(
  "FLT1905",
  [],
  "this is encrypted with SOPS, which is not supported yet: it is neither decrypted nor placed",
  "let something in the clusters make the Secret, an External Secrets operator for one",
);
