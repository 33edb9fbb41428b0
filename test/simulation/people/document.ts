import { remembered } from "../../../src/core/model/identity.ts";
import type { Intent } from "../../../src/core/model/intent.ts";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import { emitDocuments } from "../../../src/core/yaml/canonical.ts";
import type { Draft } from "./people.ts";
import { type RolloutDocument, rolloutObject, rolloutPath } from "./rollout-document.ts";

/** What a file of the source branch says, in few words. */
export type Document =
  /**
   * An object whose whole content is one word: `ConfigMap shop/config`. A Deployment's image tells its fate too. A word
   * that ends with `w` stands in an envelope of the object's namespace, in the same file.
   */
  | { readonly kind: "manifest"; readonly object: string; readonly value: string }
  /**
   * `PickAll`, `PickAll env=prod`, `PickN 2`, `PickFixed m1,m2`, and then `need:np:3` of a property, `sort:np` by it,
   * `spread:r` over a label, `spread:r:any` without refusing; options as in {@link optionsOf}. One that is named like
   * `web/team` is a ResourcePlacement in `web` of everything there.
   */
  | { readonly kind: "placement"; readonly name: string; readonly policy: string; readonly options: string }
  /** `env=dev r=a np:4 taint:gpu`: labels, the property, taints. */
  | { readonly kind: "cluster"; readonly name: string; readonly words: string }
  /**
   * Adds one word to a namespace and all that is in it, or takes them away (`delete`), on clusters with a label. Of a single
   * object in a namespace: to that one, by a ResourceOverride.
   */
  | {
      readonly kind: "override";
      readonly name: string;
      readonly object: string;
      readonly label: string;
      readonly value: string;
    }
  /**
   * How much one commit may delete unasked, and how the scheduler decides. Approvals need no signature in such worlds.
   */
  | {
      readonly kind: "guards";
      readonly objects: number;
      readonly clusters: number;
      readonly profile: "default" | "kubefleet";
    }
  | { readonly kind: "confirmation"; readonly digest: string }
  | RolloutDocument
  /** A file as it is: what is trusted, and the signatures under it. */
  | { readonly kind: "plain"; readonly path: string; readonly text: string }
  /** A text that cannot be used; `of` is what it would have been. */
  | { readonly kind: "broken"; readonly path: string; readonly how: Breakage };

/**
 * How a file is broken: no YAML at all; an object without a name; an object that its schema or its rules refuse, by itself or
 * perhaps in an envelope (`either`); an envelope that wraps what it may not (`unsound`).
 */
export type Breakage = "yaml" | "identity" | "object" | "either" | "unsound";

/** `ConfigMap shop/config`, `Namespace shop` in parts. */
export interface Identity {
  readonly group: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** The parts of an object that is named like `ConfigMap shop/config`. */
export function identityOf(object: string): Identity {
  const [kind = "", path = ""] = object.split(" ");
  const [name = "", namespace = null] = path.split("/").reverse();
  const group = kind === "Deployment" ? "apps" : "";
  return { group, apiVersion: group === "" ? "v1" : `${group}/v1`, kind, namespace, name };
}

/** Where a document stands. Each has one place, so that writing it again is an edit. */
export function pathOf(document: Document): string {
  switch (document.kind) {
    case "manifest":
      return `resources/${document.object.replaceAll(/[ /]/g, "-").toLowerCase()}.yaml`;
    case "guards":
      return "fleet.yaml";
    case "confirmation":
      return `approvals/deletions/${document.digest}.yaml`;
    case "broken":
    case "plain":
      return document.path;
    case "placement":
    case "cluster":
    case "override":
      return `${document.kind}s/${document.name}.yaml`;
    default:
      return rolloutPath(document);
  }
}

/** The document as a file; most of what is pushed was pushed before. */
export const textOf = remembered((document: Document): string => {
  if (document.kind === "plain") return document.text;
  return document.kind === "broken" ? brokenText(document.path, document.how) : emitDocuments([objectOf(document)]);
});

const fleetGroup = "placement.kubernetes-fleet.io/v1beta1";
const clusterGroup = "cluster.kubernetes-fleet.io/v1beta1";

function objectOf(document: Exclude<Document, { kind: "broken" | "plain" }>): JsonObject {
  switch (document.kind) {
    case "manifest": {
      const manifest = manifestOf(document.object, document.value);
      return document.value.endsWith("w") ? envelopeAround(document.object, { object: manifest }) : manifest;
    }
    case "placement":
      return placementOf(document);
    case "cluster":
      return clusterOf(document);
    case "override":
      return overrideOf(document);
    case "guards": {
      const { objects, clusters, profile } = document;
      const guards = { objectsPerCluster: objects, percentPerCluster: 20, clusters, percentOfClusters: 30 };
      const spec = { guards, approvals: { unsigned: "allow" }, ...(profile === "default" ? {} : { profile }) };
      return { apiVersion: "flotilla.dev/v1alpha1", kind: "Fleet", metadata: { name: "fleet" }, spec };
    }
    case "confirmation": {
      const { digest } = document;
      const metadata = { name: digest.slice(0, 16) };
      return { apiVersion: "flotilla.dev/v1alpha1", kind: "DeletionConfirmation", metadata, spec: { digest } };
    }
    default:
      return rolloutObject(document);
  }
}

/** Whether a broken file says which object it is about: the one that belongs there. */
export const namesItsObject = (how: Breakage): boolean => how === "object" || how === "either";

/** The envelope that an object of a file stands in, if it does in any. */
function envelopeAround(object: string, data: Json): JsonObject {
  const { kind, namespace, name } = identityOf(object);
  const metadata = { name: `${kind.toLowerCase()}-${name}`, namespace };
  return { apiVersion: fleetGroup, kind: "ResourceEnvelope", metadata, data };
}

/** A file that cannot be used in one of these ways. */
export function brokenText(path: string, how: Breakage): string {
  switch (how) {
    case "yaml":
      return "kind: [unclosed\n";
    case "identity":
      return emitDocuments([{ apiVersion: "v1", kind: "ConfigMap", metadata: {} }]);
    case "object":
      return emitDocuments([refusedAt(path)]);
    // Whichever of them stood there.
    case "either":
      return emitDocuments([refusedAt(path), envelopeAround(objectAt(path), "no map")]);
    case "unsound":
      return emitDocuments([
        envelopeAround(objectAt(path), { object: manifestOf("ConfigMap elsewhere/intruder", "0") }),
      ]);
  }
}

/** The object of a namespace that stands in a file: `ConfigMap shop/config`. */
function objectAt(path: string): string {
  const [kind = "", namespace = "", name = ""] = path.replace(/^.*\/|\.yaml$/g, "").split("-");
  return `${kinds[kind] ?? "ConfigMap"} ${namespace}/${name}`;
}

/** Its identity can be read, and it is that of the document which belongs there; nothing else about it is right. */
function refusedAt(path: string): JsonObject {
  const name = path.replace(/^.*\/|\.yaml$/g, "");
  const metadata = { name };
  const of = (apiVersion: string, kind: string, spec: JsonObject) => ({ apiVersion, kind, metadata, spec });
  const [, home = null] = /^placements\/([^/]+)\//.exec(path) ?? [];
  if (home !== null) {
    const own = { name, namespace: home };
    return { apiVersion: fleetGroup, kind: "ResourcePlacement", metadata: own, spec: { resourceSelectors: [] } };
  }
  if (path.startsWith("placements/"))
    return of(fleetGroup, "ClusterResourcePlacement", { resourceSelectors: [], policy: "x" });
  if (path.startsWith("overrides/")) return of(fleetGroup, "ClusterResourceOverride", { policy: "x" });
  if (path.startsWith("clusters/")) return of(clusterGroup, "MemberCluster", { taints: "all" });
  const rollout = rolloutKinds[path.replace(/\/.*$/, "")];
  if (rollout !== undefined) return of(fleetGroup, rollout, { stages: "all", state: "x", maxUnavailable: "x" });
  const [kind = "", namespace = "", rest = ""] = name.split("-");
  const named = rest === "" ? { name: namespace } : { name: rest, namespace };
  const apiVersion = kind === "deployment" ? "apps/v1" : "v1";
  return { apiVersion, kind: kinds[kind] ?? "ConfigMap", metadata: { ...named, labels: ["not", "a", "map"] } };
}

const rolloutKinds: Readonly<Record<string, string>> = {
  strategies: "ClusterStagedUpdateStrategy",
  runs: "ClusterStagedUpdateRun",
  evictions: "ClusterResourcePlacementEviction",
  budgets: "ClusterResourcePlacementDisruptionBudget",
};

const kinds: Readonly<Record<string, string>> = {
  namespace: "Namespace",
  configmap: "ConfigMap",
  secret: "Secret",
  deployment: "Deployment",
};

/** The manifest of an object whose content is `value`. */
export function manifestOf(object: string, value: string): JsonObject {
  const { apiVersion, kind, namespace, name } = identityOf(object);
  const labels = { app: name };
  const base = { apiVersion, kind, metadata: { name, labels, ...(namespace === null ? {} : { namespace }) } };
  switch (kind) {
    case "Namespace":
      return { ...base, metadata: { name, labels: { ...labels, version: `v${value}` } } };
    case "Secret":
      return { ...base, data: { value: Buffer.from(value).toString("base64") } };
    case "Deployment":
      return {
        ...base,
        spec: {
          replicas: 1,
          progressDeadlineSeconds: 60,
          selector: { matchLabels: { app: name } },
          template: templateOf(name, value),
        },
      };
    default:
      return { ...base, data: { value } };
  }
}

const templateOf = (app: string, value: string): Json => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "main", image: `app:${value}` }] },
});

/** What a live object says of its content: the counterpart of {@link manifestFrom}. */
export function wordIn(live: JsonObject): string | null {
  const at = (...path: readonly (string | number)[]): Json => path.reduce<Json>((it, key) => memberOf(it, key), live);
  switch (live["kind"]) {
    case "Namespace":
      return text(at("metadata", "labels", "version"))?.slice(1) ?? null;
    case "Secret": {
      const encoded = text(at("data", "value"));
      return encoded === null ? null : Buffer.from(encoded, "base64").toString();
    }
    case "Deployment":
      return text(at("spec", "template", "spec", "containers", 0, "image"))?.replace(/^app:/, "") ?? null;
    default:
      return text(at("data", "value"));
  }
}

const memberOf = (value: Json, key: string | number): Json =>
  typeof value === "object" && value !== null ? ((value as JsonObject)[key] ?? null) : null;
const text = (value: Json): string | null => (typeof value === "string" ? value : null);

/** Whether a placement moves by its runs alone. */
export const isExternal = ({ options }: Extract<Document, { kind: "placement" }>): boolean =>
  optionsOf(options).has("external");

/** Options by name: `ns=web,extra unavailable=1 abandon`. */
export const optionsOf = (options: string): ReadonlyMap<string, string> =>
  new Map(
    options
      .split(" ")
      .filter((it) => it !== "")
      .map((it) => [it.split("=")[0] ?? "", it.slice(it.indexOf("=") + 1)]),
  );

/** `env=prod` as labels. */
export const labelsOf = (words: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    words
      .split(" ")
      .filter((it) => it.includes("="))
      .map((it) => it.split("=") as [string, string]),
  );

/** Whether a cluster's words have every label that others ask for. */
export function hasLabels(words: string, asked: string): boolean {
  const labels = labelsOf(words);
  return Object.entries(labelsOf(asked)).every(([key, value]) => labels[key] === value);
}

/** The property of a cluster. */
export const propertyIn = (words: string): number | null => {
  const [, value] = /(?:^| )np:(\d+)(?: |$)/.exec(words) ?? [];
  return value === undefined ? null : Number(value);
};

/** Whether a cluster's property is what a policy needs. */
export function hasProperty(words: string, asked: string): boolean {
  const [, least] = /(?:^| )need:np:(\d+)(?: |$)/.exec(asked) ?? [];
  return least === undefined || (propertyIn(words) ?? -1) >= Number(least);
}

/** Keys of taints among words. */
export const taintsOf = (words: string): readonly string[] =>
  words
    .split(" ")
    .filter((it) => it.startsWith("taint:"))
    .map((it) => it.slice("taint:".length));

type Placement = Extract<Document, { kind: "placement" }>;

/** The namespace of a ResourcePlacement; null of one of the fleet. */
export const homeOf = ({ name }: Placement): string | null => (name.includes("/") ? name.replace(/\/.*$/, "") : null);

/** The namespaces that a placement selects, with all that is in them unless {@link aloneOf} says otherwise. */
export const namespacesOf = (document: Placement): readonly string[] =>
  homeOf(document) !== null ? [] : (optionsOf(document.options).get("ns") ?? document.name).split(",");

/** Those of them of which it selects the Namespace alone: `only=web`. */
export const aloneOf = ({ options }: Placement): readonly string[] => optionsOf(options).get("only")?.split(",") ?? [];

/** Whether a placement selects an object, wrapped or not. */
export function covers(document: Placement, { namespace, name }: Pick<Identity, "namespace" | "name">): boolean {
  const home = homeOf(document);
  if (home !== null) return namespace === home;
  const space = namespace ?? name;
  return namespacesOf(document).includes(space) && (namespace === null || !aloneOf(document).includes(space));
}

function selectorsOf(document: Placement): Json {
  if (homeOf(document) !== null)
    return [
      { group: "", version: "v1", kind: "ConfigMap" },
      { group: "", version: "v1", kind: "Secret" },
      { group: "apps", version: "v1", kind: "Deployment" },
      { group: "placement.kubernetes-fleet.io", version: "v1beta1", kind: "ResourceEnvelope" },
    ];
  const alone = aloneOf(document);
  return namespacesOf(document).map((name) => ({
    ...{ group: "", version: "v1", kind: "Namespace", name },
    ...(alone.includes(name) ? { selectionScope: "NamespaceOnly" } : {}),
  }));
}

function placementOf(document: Extract<Document, { kind: "placement" }>): JsonObject {
  const options = optionsOf(document.options);
  const namespace = homeOf(document);
  const bound = (name: string): Json => {
    const given = options.get(name) ?? "25%";
    return given.endsWith("%") ? given : Number(given);
  };
  const annotations = {
    ...(options.has("delete-adopted") ? { "flotilla.dev/delete-adopted": "true" } : {}),
    ...(options.has("deadline") ? { "flotilla.dev/progress-deadline": `${options.get("deadline")}m` } : {}),
  };
  const takeOver = options.has("never") ? "Never" : options.has("if-no-diff") ? "IfNoDiff" : "Always";
  const pace = {
    type: "RollingUpdate",
    rollingUpdate: { maxUnavailable: bound("unavailable"), maxSurge: bound("surge"), unavailablePeriodSeconds: 60 },
  };
  return {
    apiVersion: fleetGroup,
    kind: namespace === null ? "ClusterResourcePlacement" : "ResourcePlacement",
    metadata: { name: document.name.replace(/^.*\//, ""), ...(namespace === null ? {} : { namespace }), annotations },
    spec: {
      resourceSelectors: selectorsOf(document),
      policy: policyOf(document.policy),
      strategy: {
        ...(options.has("external") ? { type: "External" } : pace),
        applyStrategy: {
          type: options.has("server-side") ? "ServerSideApply" : "ClientSideApply",
          whenToTakeOver: takeOver,
        },
        deleteStrategy: { propagationPolicy: options.has("abandon") ? "Abandon" : "Delete" },
      },
      revisionHistoryLimit: Number(options.get("history") ?? "10"),
    },
  };
}

function policyOf(words: string): JsonObject {
  const [kind = "", ...rest] = words.split(" ");
  if (kind === "PickFixed") return { placementType: kind, clusterNames: (rest[0] ?? "").split(",") };
  const matchLabels = labelsOf(rest.join(" "));
  const hasLabel = Object.keys(matchLabels).length > 0;
  const needs = rest
    .filter((it) => it.startsWith("need:"))
    .map((it) => it.split(":"))
    .map(([, name = "", value = ""]) => ({ name, operator: "Ge", values: [value] }));
  const term = {
    ...(hasLabel ? { labelSelector: { matchLabels } } : {}),
    ...(needs.length > 0 ? { propertySelector: { matchExpressions: needs } } : {}),
  };
  const terms = Object.keys(term).length === 0 ? [] : [term];
  const preferred = rest
    .filter((it) => it.startsWith("sort:"))
    .map((it) => ({ weight: 20, preference: { propertySorter: { name: it.slice(5), sortOrder: "Descending" } } }));
  const topologySpreadConstraints = rest
    .filter((it) => it.startsWith("spread:"))
    .map((it) => it.split(":"))
    .map(([, topologyKey = "", any]) => ({
      topologyKey,
      whenUnsatisfiable: any === undefined ? "DoNotSchedule" : "ScheduleAnyway",
    }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: terms } };
  return {
    placementType: kind,
    ...(kind === "PickN" ? { numberOfClusters: Number(rest[0]) } : {}),
    ...(terms.length + preferred.length === 0
      ? {}
      : {
          affinity: {
            clusterAffinity: {
              ...(terms.length === 0 ? {} : required),
              ...(preferred.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
            },
          },
        }),
    ...(topologySpreadConstraints.length === 0 ? {} : { topologySpreadConstraints }),
  };
}

function clusterOf({ name, words }: Extract<Document, { kind: "cluster" }>): JsonObject {
  const taints = taintsOf(words).map((key) => ({ key, value: "true", effect: "NoSchedule" }));
  const property = propertyIn(words);
  return {
    apiVersion: clusterGroup,
    kind: "MemberCluster",
    metadata: { name, labels: labelsOf(words) },
    spec: { identity: { kind: "ServiceAccount", name, namespace: "fleet-system" }, taints },
    ...(property === null ? {} : { status: { properties: { np: { value: String(property) } } } }),
  };
}

function overrideOf({ name, object, label, value }: Extract<Document, { kind: "override" }>): JsonObject {
  const { group, kind, namespace, name: objectName } = identityOf(object);
  const clusterSelector = { clusterSelectorTerms: [{ labelSelector: { matchLabels: labelsOf(label) } }] };
  const action =
    value === "delete"
      ? { overrideType: "Delete" }
      : { overrideType: "JSONPatch", jsonPatchOverrides: [{ op: "add", path: "/metadata/labels/more", value }] };
  const selectors = [{ group, version: "v1", kind, name: objectName }];
  const policy = { overrideRules: [{ clusterSelector, ...action }] };
  return namespace === null
    ? {
        ...{ apiVersion: fleetGroup, kind: "ClusterResourceOverride", metadata: { name } },
        spec: { clusterResourceSelectors: selectors, policy },
      }
    : {
        ...{ apiVersion: fleetGroup, kind: "ResourceOverride", metadata: { name, namespace } },
        spec: { resourceSelectors: selectors, policy },
      };
}

/** What of a commit is not understood, though nobody broke it: a world that asks for that tests nothing. */
export function* unusableIn({ problems }: Intent, said: Draft): Generator<string> {
  for (const { severity, code, path, message } of problems) {
    const isRefused = path !== "." && (severity === "error" || code === "FLT1900");
    const kind = said.get(path)?.kind;
    // What a run or an eviction is about may be gone by now, and some states of a run lead nowhere: it says so.
    const isMeant = code === "FLT1314" || (code === "FLT1315" && kind === "run");
    if (isRefused && !isMeant && kind !== "broken" && !isBrokenTrust(path, said))
      yield `${path} is meant to be usable: ${code} ${message}`;
  }
}

/** Somebody broke the trust file, or it is not there while signatures under it are. */
function isBrokenTrust(path: string, said: Draft): boolean {
  const document = said.get("trust/root.yaml");
  return path.startsWith("trust/") && (document?.kind !== "plain" || !document.text.startsWith("apiVersion"));
}
