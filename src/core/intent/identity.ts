import { isMap, isScalar, type Node, type Pair } from "yaml";
import { isObject, type Json, member, memberAt, textOf } from "../model/json.ts";
import { idOf, type VersionedId } from "../model/manifest.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Flaw } from "../yaml/flaw.ts";
import type { YamlDocument } from "../yaml/kyaml.ts";
import { error, isError, type JsonPath, type Remark } from "../yaml/remark.ts";

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

function isBehind(root: Node | null, base: JsonPath, { offset }: Flaw): boolean {
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

export type Identity =
  | { readonly kind: "object"; readonly id: VersionedId }
  /** Neither apiVersion nor kind: a file of something else. */
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly remark: Remark; readonly said: string | null };

/** Which object a value claims to be. Names are not judged here, except that an {@link objectKey} must hold them. */
export function identityOf(value: Json): Identity {
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

function nameless(value: Json): Identity {
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
