import { isObject, type Json, type JsonObject, listAt, member, memberAt, sameJson } from "../../../core/model/json.ts";
import { kindKey } from "../../../core/model/manifest.ts";
import { schemaCauses } from "../api/custom-resources.ts";
import type { ServedKind } from "../api/kinds.ts";
import { invalid, type StatusCause } from "../api/status.ts";
import { objectName } from "../storage/store.ts";

/** Refuses, with 422, an object that its kind does not allow: the rules that people run into, not all that Kubernetes has. */
export function validateObject(object: JsonObject, live: JsonObject | null, kind: ServedKind): void {
  const causes = [
    ...(live === null ? nameCauses(object, kind) : finalizerCauses(object, live)),
    ...(kind.custom === null ? builtInCauses(object, live, kind) : schemaCauses(object, kind.custom.schema)),
  ];
  if (causes.length > 0) {
    throw invalid({ group: kind.group, resource: kind.plural, kind: kind.kind, name: objectName(object) }, causes);
  }
}

const required = (field: string, detail = ""): StatusCause => ({
  reason: "FieldValueRequired",
  message: `Required value${detail === "" ? "" : `: ${detail}`}`,
  field,
});

const wrong = (field: string, value: Json, because: string): StatusCause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${JSON.stringify(value)}: ${because}`,
  field,
});

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = new RegExp(`^${label}(\\.${label})*$`);
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  `with an alphanumeric character (e.g. 'example.com', regex used for validation is '${label}(\\.${label})*')`;
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  `alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`;

/** Kinds whose names need only be path segments: `system:node` is a role. */
const looselyNamed = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);

function nameCauses(object: JsonObject, kind: ServedKind): readonly StatusCause[] {
  const name = objectName(object);
  if (name === "") return [required("metadata.name", "name or generateName is required")];
  if (looselyNamed.has(kind.kind))
    return /[/%]|^\.{1,2}$/.test(name) ? [wrong("metadata.name", name, "may not contain '/' or '%'")] : [];
  const short = kind.kind === "Namespace" || kind.kind === "Service";
  if (short)
    return name.length <= 63 && new RegExp(`^${label}$`).test(name) ? [] : [wrong("metadata.name", name, labelRule)];
  return name.length <= 253 && subdomain.test(name) ? [] : [wrong("metadata.name", name, subdomainRule)];
}

/** An object that is being deleted takes no new finalizers. */
function finalizerCauses(object: JsonObject, live: JsonObject): readonly StatusCause[] {
  if (memberAt(live, "metadata", "deletionTimestamp") === null) return [];
  const before = new Set(listAt(live, "metadata", "finalizers"));
  const more = listAt(object, "metadata", "finalizers").filter((it) => !before.has(it));
  if (more.length === 0) return [];
  const added = `[]string{${more.map((it) => JSON.stringify(it)).join(", ")}}`;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${added}`;
  return [{ reason: "FieldValueForbidden", message, field: "metadata.finalizers" }];
}

const workloads = new Set(["apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet"]);

function builtInCauses(object: JsonObject, live: JsonObject | null, kind: ServedKind): readonly StatusCause[] {
  const key = kindKey(kind);
  const causes = workloads.has(key) ? workloadCauses(object) : key === "batch/Job" ? containerCauses(object) : [];
  return live === null ? causes : [...causes, ...fixedCauses(object, live, key)];
}

function workloadCauses(object: JsonObject): readonly StatusCause[] {
  const selector = memberAt(object, "spec", "selector");
  const labels = memberAt(object, "spec", "template", "metadata", "labels");
  const wanted = member(selector, "matchLabels");
  const matches =
    selector !== null &&
    Object.entries(isObject(wanted) ? wanted : {}).every(([name, it]) => member(labels, name) === it);
  return [
    ...(selector === null ? [required("spec.selector")] : []),
    ...(matches ? [] : [wrong("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")]),
    ...containerCauses(object),
  ];
}

function containerCauses(object: JsonObject): readonly StatusCause[] {
  const path = "spec.template.spec.containers";
  const containers = listAt(object, "spec", "template", "spec", "containers");
  if (containers.length === 0) return [required(path)];
  return containers.flatMap((it, at) =>
    ["name", "image"].filter((key) => member(it, key) === null).map((key) => required(`${path}[${at}].${key}`)),
  );
}

/** Paths that may not change once they are set. A wildcard stands for everything of the spec but the fields after it. */
const fixed: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "apps/Deployment": [["spec", "selector"]],
  "apps/DaemonSet": [["spec", "selector"]],
  "apps/ReplicaSet": [["spec", "selector"]],
  "batch/Job": [
    ["spec", "selector"],
    ["spec", "template"],
    ["spec", "completionMode"],
  ],
  "rbac.authorization.k8s.io/RoleBinding": [["roleRef"]],
  "rbac.authorization.k8s.io/ClusterRoleBinding": [["roleRef"]],
  "/Secret": [["type"]],
  "storage.k8s.io/StorageClass": [["provisioner"], ["parameters"], ["reclaimPolicy"], ["volumeBindingMode"]],
  "apiextensions.k8s.io/CustomResourceDefinition": [
    ["spec", "group"],
    ["spec", "scope"],
    ["spec", "names", "plural"],
  ],
  "scheduling.k8s.io/PriorityClass": [["value"], ["preemptionPolicy"]],
};

/** All that may change of a StatefulSet's spec. */
const changeable = new Set([
  ...["replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"],
  ...["persistentVolumeClaimRetentionPolicy", "minReadySeconds"],
]);

function fixedCauses(object: JsonObject, live: JsonObject, key: string): readonly StatusCause[] {
  const paths = fixed[key] ?? [];
  const changed = paths.filter((path) => !sameJson(memberAt(live, ...path), memberAt(object, ...path)));
  const causes = changed.map((path) =>
    path[0] === "roleRef"
      ? wrong("roleRef", object["roleRef"] ?? null, "cannot change roleRef")
      : wrong(path.join("."), memberAt(object, ...path), "field is immutable"),
  );
  if (key === "apps/StatefulSet") return [...causes, ...statefulSetCauses(object, live)];
  if (key === "/Service") return [...causes, ...serviceCauses(object, live)];
  if (key === "/PersistentVolumeClaim") return [...causes, ...claimCauses(object, live)];
  if (key === "/ConfigMap" || key === "/Secret") return [...causes, ...immutableCauses(object, live)];
  return causes;
}

function statefulSetCauses(object: JsonObject, live: JsonObject): readonly StatusCause[] {
  const before = (live["spec"] ?? {}) as JsonObject;
  const after = (object["spec"] ?? {}) as JsonObject;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((it) => !changeable.has(it));
  if (keys.every((it) => sameJson(before[it], after[it]))) return [];
  const message = `Forbidden: updates to statefulset spec for fields other than ${[...changeable].map((it) => `'${it}'`).join(", ")} are forbidden`;
  return [{ reason: "FieldValueForbidden", message, field: "spec" }];
}

function serviceCauses(object: JsonObject, live: JsonObject): readonly StatusCause[] {
  const before = memberAt(live, "spec", "clusterIPs");
  const after = memberAt(object, "spec", "clusterIPs");
  const external =
    memberAt(object, "spec", "type") === "ExternalName" || memberAt(live, "spec", "type") === "ExternalName";
  if (external || before === null || sameJson(before, after)) return [];
  return [wrong("spec.clusterIPs[0]", after, "may not change once set")];
}

/** A bound claim may grow, and nothing else. */
function claimCauses(object: JsonObject, live: JsonObject): readonly StatusCause[] {
  if (memberAt(live, "status", "phase") !== "Bound") return [];
  const rest = (it: JsonObject): JsonObject => {
    const { resources: _, volumeAttributesClassName: __, ...spec } = (it["spec"] ?? {}) as JsonObject;
    return spec;
  };
  if (sameJson(rest(live), rest(object))) return [];
  const message =
    "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [{ reason: "FieldValueForbidden", message, field: "spec" }];
}

function immutableCauses(object: JsonObject, live: JsonObject): readonly StatusCause[] {
  if (live["immutable"] !== true) return [];
  const changed = ["immutable", "data", "binaryData"].filter((key) => !sameJson(live[key], object[key]));
  return changed.map((field) => ({
    reason: "FieldValueForbidden",
    message: `Forbidden: field is immutable when \`immutable\` is set`,
    field,
  }));
}
