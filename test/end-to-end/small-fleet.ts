import { stringify } from "yaml";
import type { Json, JsonObject } from "../../src/core/model/json.ts";

const placementApi = "placement.kubernetes-fleet.io/v1beta1";

/** Objects as one file of the hub. */
export const file = (...objects: readonly JsonObject[]): string =>
  objects.map((it) => stringify(it, { aliasDuplicateObjects: false })).join("---\n");

export const memberCluster = (name: string, labels: { readonly [key: string]: string }): JsonObject => ({
  apiVersion: "cluster.kubernetes-fleet.io/v1beta1",
  kind: "MemberCluster",
  metadata: { name, labels },
  spec: { identity: { kind: "ServiceAccount", name, namespace: "fleet-system" } },
});

/** A fleet in which one commit may take away as much as it likes: for tests of what happens, not of who is asked. */
export const openFleet: JsonObject = {
  apiVersion: "flotilla.dev/v1alpha1",
  kind: "Fleet",
  metadata: { name: "small" },
  spec: { guards: { objectsPerCluster: 1000, percentPerCluster: 100, clusters: 100, percentOfClusters: 100 } },
};

/** Everything in the namespace of its own name, or what `selectors` select, on all members or on those that are named. */
export const placement = (
  name: string,
  how: {
    readonly on?: readonly string[];
    readonly selectors?: readonly JsonObject[];
    readonly maxUnavailable?: Json;
  } = {},
): JsonObject => {
  const { on, selectors = [{ group: "", version: "v1", kind: "Namespace", name }], maxUnavailable = 1 } = how;
  return {
    apiVersion: placementApi,
    kind: "ClusterResourcePlacement",
    metadata: { name },
    spec: {
      resourceSelectors: selectors,
      policy: on === undefined ? { placementType: "PickAll" } : { placementType: "PickFixed", clusterNames: on },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable } },
    },
  };
};

/** Gives what `selector` selects of a placement the label `tier` in every member. */
export const tierOverride = (placement: string, selector: JsonObject, tier: string): JsonObject =>
  override(`${placement}-tier`, placement, selector, [rule([], "/metadata/labels/tier", tier)]);

/** Gives everything of a placement its member's label, for the values that are named. */
export const labelOverride = (placement: string, label: string, values: readonly string[]): JsonObject =>
  override(
    `${placement}-${label}`,
    placement,
    { group: "", version: "v1", kind: "Namespace", name: placement },
    values.map((value) =>
      rule([{ labelSelector: { matchLabels: { [label]: value } } }], `/metadata/labels/${label}`, value),
    ),
  );

const rule = (terms: readonly JsonObject[], path: string, value: string): JsonObject => ({
  clusterSelector: { clusterSelectorTerms: terms },
  jsonPatchOverrides: [{ op: "add", path, value }],
});

const override = (
  name: string,
  placement: string,
  selector: JsonObject,
  overrideRules: readonly JsonObject[],
): JsonObject => ({
  apiVersion: placementApi,
  kind: "ClusterResourceOverride",
  metadata: { name },
  spec: { placement: { name: placement }, clusterResourceSelectors: [selector], policy: { overrideRules } },
});

/** Overrides can only add labels where there are some. */
const labels = { made: "by-hand" };

/** `namespace/name`, or a name alone. */
const metadataOf = (at: string): JsonObject => {
  const [namespace = "", name] = at.split("/");
  return name === undefined ? { name: at, labels } : { name, namespace, labels };
};

export const namespace = (name: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: metadataOf(name),
});

export const configMap = (at: string, data: { readonly [key: string]: string }): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: metadataOf(at),
  data,
});

export const serviceAccount = (at: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: metadataOf(at),
});

export const clusterRole = (name: string): JsonObject => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: metadataOf(name),
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }],
});

export const deployment = (at: string, image: string): JsonObject => {
  const name = at.slice(at.indexOf("/") + 1);
  const pods = { app: name };
  const template = { metadata: { labels: pods }, spec: { containers: [{ name, image }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(at),
    spec: { replicas: 1, selector: { matchLabels: pods }, template },
  };
};
