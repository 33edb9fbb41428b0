import type { JsonObject } from "../../../core/model/json.ts";
import type { Kind } from "../api/kinds.ts";

const rootOf = ({ group, version }: Kind): string => (group === "" ? `api/${version}` : `apis/${group}/${version}`);

/**
 * The little of OpenAPI v3 that kubectl reads before it writes: which kinds can be patched, and that the server checks fields
 * itself. Null for a path that is none: `/openapi/v3`, `/openapi/v3/apis/apps/v1`.
 */
export function openApiOf(kinds: readonly Kind[], path: string): string | null {
  if (!path.startsWith("/openapi/v3")) return null;
  const below = path.slice("/openapi/v3/".length);
  if (below === "") {
    const roots = [...new Set(kinds.map(rootOf))];
    const paths = roots.map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }]);
    return JSON.stringify({ paths: Object.fromEntries(paths) });
  }
  const served = kinds.filter((it) => rootOf(it) === below);
  if (served.length === 0) return null;
  return JSON.stringify({
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.36.3" },
    paths: Object.fromEntries(served.map(pathOf)),
    components: { schemas: {} },
  });
}

function pathOf(kind: Kind): [string, JsonObject] {
  const namespace = kind.scope === "Namespaced" ? "/namespaces/{namespace}" : "";
  const types = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
  const all = kind.custom === null ? [...types, "application/strategic-merge-patch+json"] : types;
  const parameters = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({ name, in: "query" }));
  return [
    `/${rootOf(kind)}${namespace}/${kind.plural}/{name}`,
    {
      patch: {
        parameters,
        requestBody: { content: Object.fromEntries(all.map((it) => [it, {}])) },
        responses: {},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": { group: kind.group, version: kind.version, kind: kind.kind },
      },
    },
  ];
}
