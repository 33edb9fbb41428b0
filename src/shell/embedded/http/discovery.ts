import type { JsonList, JsonObject } from "../../../core/model/json.ts";
import { apiVersionOf } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";

/** The version that clusters say they are. */
const kubernetesVersion = "v1.36.3";

export const versionInfo: JsonObject = {
  major: "1",
  minor: "36",
  gitVersion: kubernetesVersion,
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26",
  compiler: "gc",
  platform: "linux/amd64",
};

/** Whether a client asked for everything in one answer (KEP-3352). */
export const wantsAggregated = (accept: string): boolean => accept.includes("as=APIGroupDiscoveryList");

/** The content type of aggregated discovery. */
export const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The answer to a discovery path such as `/apis/apps/v1`; null for others. Built once per set of kinds. */
export function discoveryOf(kinds: readonly ServedKind[], path: string, aggregated: boolean): string | null {
  const key = aggregated && (path === "/api" || path === "/apis") ? `${path}!` : path;
  const known = answers.get(kinds) ?? new Map<string, string | null>();
  answers.set(kinds, known);
  if (!known.has(key)) {
    const answer = key.endsWith("!") ? aggregate(kinds, path === "/api") : answerTo(kinds, path);
    known.set(key, answer === null ? null : JSON.stringify(answer));
  }
  return known.get(key) ?? null;
}

const answers = new WeakMap<readonly ServedKind[], Map<string, string | null>>();

function answerTo(kinds: readonly ServedKind[], path: string): JsonObject | null {
  if (path === "/api")
    return { kind: "APIVersions", apiVersion: "v1", versions: ["v1"], serverAddressByClientCIDRs: [] };
  const groups = groupsOf(kinds);
  if (path === "/apis")
    return { kind: "APIGroupList", apiVersion: "v1", groups: groups.filter((it) => it.name !== "").map(groupText) };
  const [, root, ...rest] = path.split("/");
  const [group, version] = root === "api" ? ["", rest[0]] : [rest[0], rest[1]];
  if (rest.length > (root === "api" ? 1 : 2)) return null;
  const found = groups.find((it) => it.name === group);
  if (found === undefined || (root === "apis" && group === "")) return null;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupText(found) };
  const served = found.versions.find((it) => it.version === version);
  return served === undefined ? null : resourceList(served.kinds);
}

interface Version {
  readonly version: string;
  readonly kinds: readonly ServedKind[];
}

interface Group {
  readonly name: string;
  readonly versions: readonly Version[];
}

function groupsOf(kinds: readonly ServedKind[]): readonly Group[] {
  const groups = [...new Set(kinds.map((it) => it.group))];
  return groups.map((name) => {
    const own = kinds.filter((it) => it.group === name);
    const versions = [...new Set(own.map((it) => it.version))];
    return {
      name,
      versions: versions.map((version) => ({ version, kinds: own.filter((it) => it.version === version) })),
    };
  });
}

function groupText({ name, versions }: Group): JsonObject {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] ?? {} };
}

/** What can be done with objects of a kind. */
const verbsOf = (kind: ServedKind): readonly string[] =>
  kind.kind === "Namespace"
    ? ["create", "delete", "get", "list", "patch", "update", "watch"]
    : ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const scaleKind = { group: "autoscaling", version: "v1", kind: "Scale" };

function resourceList(kinds: readonly ServedKind[]): JsonObject {
  const [first] = kinds;
  const resources = kinds.flatMap((kind): JsonObject[] => [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced: kind.scope === "Namespaced",
      kind: kind.kind,
      verbs: verbsOf(kind),
      ...named("shortNames", kind.shortNames),
      ...named("categories", kind.categories),
    },
    ...kind.subresources.map((it) => ({
      name: `${kind.plural}/${it}`,
      singularName: "",
      namespaced: kind.scope === "Namespaced",
      ...(it === "scale" ? scaleKind : { kind: kind.kind }),
      verbs: ["get", "patch", "update"],
    })),
  ]);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: first === undefined ? "" : apiVersionOf(first),
    resources,
  };
}

const named = (key: string, names: readonly string[]): JsonObject => (names.length === 0 ? {} : { [key]: names });

function aggregate(kinds: readonly ServedKind[], core: boolean): JsonObject {
  const groups = groupsOf(kinds).filter((it) => (it.name === "") === core);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map((it) => ({
        version: it.version,
        resources: aggregatedResources(it.kinds),
        freshness: "Current",
      })),
    })),
  };
}

const aggregatedResources = (kinds: readonly ServedKind[]): JsonList =>
  kinds.map((kind) => ({
    resource: kind.plural,
    responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
    scope: kind.scope,
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...named("shortNames", kind.shortNames),
    ...named("categories", kind.categories),
    ...(kind.subresources.length === 0
      ? {}
      : {
          subresources: kind.subresources.map((subresource) => ({
            subresource,
            responseKind:
              subresource === "scale" ? scaleKind : { group: kind.group, version: kind.version, kind: kind.kind },
            verbs: ["get", "patch", "update"],
          })),
        }),
  }));

const rootOf = ({ group, version }: ServedKind): string =>
  group === "" ? `api/${version}` : `apis/${group}/${version}`;

/** The little of OpenAPI v3 that kubectl reads before it writes (`/openapi/v3`, `/openapi/v3/apis/…`); else null. */
export function openApiOf(kinds: readonly ServedKind[], path: string): string | null {
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

function pathOf(kind: ServedKind): [string, JsonObject] {
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
