import type { Kind, Kinds } from "../api/kinds.ts";
import { refusal } from "../api/status.ts";

/** What a path below a cluster leads to. */
export type Route =
  /** `/version`, `/readyz`, `/api` and the like. */
  | { readonly kind: "discovery"; readonly path: string }
  | { readonly kind: "collection"; readonly of: Kind; readonly namespace: string | null }
  | {
      readonly kind: "object";
      readonly of: Kind;
      readonly namespace: string | null;
      readonly name: string;
      readonly subresource: string | null;
    };

/** Subresources of a namespace; anything else below one is a resource in it. */
const namespaceParts = new Set(["status", "finalize"]);

/** Reads a path; refuses a resource that is not served. */
export function routeOf(path: string, kinds: Kinds): Route {
  const [, root, ...rest] = path.split("/");
  const [group = "", version = "", ...below] = root === "api" ? ["", ...rest] : rest;
  const isResource = (root === "api" || root === "apis") && below.length > 0 && below[0] !== "";
  if (!isResource) return { kind: "discovery", path };
  const parts = path.includes("%") ? below.map(decodeURIComponent) : below;
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !namespaceParts.has(parts[2] ?? "");
  const namespace = inNamespace ? (parts[1] ?? "") : null;
  const [plural = "", name, subresource, ...more] = inNamespace ? parts.slice(2) : parts;
  if (!kinds.serves(group, version)) return { kind: "discovery", path };
  const of = kinds.find(group, version, plural);
  const fits = of !== null && more.length === 0 && (namespace === null || of.scope === "Namespaced");
  if (!fits) throw missing();
  if (name === undefined || name === "") return { kind: "collection", of, namespace };
  if (of.scope === "Namespaced" && namespace === null) throw missing();
  return { kind: "object", of, namespace, name, subresource: subresource ?? null };
}

const missing = (): Error => refusal("NotFound", "the server could not find the requested resource", {});
