import { isObject, type Json, type JsonList, type JsonObject, member } from "../../../core/model/json.ts";
import { kindKey } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";

type Defaulting = (object: JsonObject) => JsonObject;

/**
 * Fills in what Kubernetes fills in; the same object when nothing is missing. Nobody owns a default until somebody
 * writes it: a comparison with the manifest alone sees drift everywhere.
 */
export function withDefaults(object: JsonObject, kind: ServedKind): JsonObject {
  if (kind.custom !== null) return object;
  const fill = defaulters.get(kindKey(kind));
  return fill === undefined ? object : fill(object);
}

/** Adds members that are absent; the same object when none is. */
function filled(object: JsonObject, defaults: JsonObject): JsonObject {
  const absent = Object.entries(defaults).filter(([key]) => !Object.hasOwn(object, key));
  return absent.length === 0 ? object : { ...object, ...Object.fromEntries(absent) };
}

/** Changes one member, an absent object counting as empty; the same object when nothing changes. */
function within(object: JsonObject, key: string, change: Defaulting): JsonObject {
  const before = object[key];
  if (before !== undefined && !isObject(before)) return object;
  const after = change(before ?? {});
  return after === before ? object : { ...object, [key]: after };
}

/** Changes one member where it is present. */
const withinPresent = (object: JsonObject, key: string, change: Defaulting): JsonObject =>
  isObject(object[key]) ? within(object, key, change) : object;

function each(object: JsonObject, key: string, change: Defaulting): JsonObject {
  const list = object[key];
  if (!Array.isArray(list)) return object;
  const after = (list as JsonList).map((it) => (isObject(it) ? change(it) : it));
  return after.every((it, at) => it === list[at]) ? object : { ...object, [key]: after };
}

const steps =
  (...all: readonly Defaulting[]): Defaulting =>
  (object) =>
    all.reduce((it, step) => step(it), object);

const spec =
  (...all: readonly Defaulting[]): Defaulting =>
  (object) =>
    within(object, "spec", steps(...all));

const fills =
  (defaults: JsonObject): Defaulting =>
  (object) =>
    filled(object, defaults);

const probe = fills({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });

/** `web`, `web:latest` and no tag at all are pulled always; everything else once. */
const pullPolicyOf = (image: Json | null): string => {
  const name = typeof image === "string" ? image.slice(image.lastIndexOf("/") + 1) : "";
  const tagged = name.includes(":") || name.includes("@");
  return !tagged || name.endsWith(":latest") ? "Always" : "IfNotPresent";
};

const container: Defaulting = steps(
  (it) =>
    filled(it, {
      imagePullPolicy: pullPolicyOf(member(it, "image")),
      resources: {},
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    }),
  (it) => each(it, "ports", fills({ protocol: "TCP" })),
  (it) => each(it, "env", (env) => withinPresent(env, "valueFrom", fieldReference)),
  // Limits without requests are requests too.
  (it) => withinPresent(it, "resources", requestsFromLimits),
  (it) => ["livenessProbe", "readinessProbe", "startupProbe"].reduce((out, key) => withinPresent(out, key, probe), it),
);

const fieldReference: Defaulting = (it) => withinPresent(it, "fieldRef", fills({ apiVersion: "v1" }));

function requestsFromLimits(resources: JsonObject): JsonObject {
  const limits = resources["limits"];
  return isObject(limits) && Object.keys(limits).length > 0
    ? within(resources, "requests", (it) => filled(it, limits))
    : resources;
}

const volume: Defaulting = steps(
  (it) => withinPresent(it, "configMap", fills({ defaultMode: 420 })),
  (it) => withinPresent(it, "secret", fills({ defaultMode: 420 })),
  (it) => withinPresent(it, "downwardAPI", fills({ defaultMode: 420 })),
  (it) => withinPresent(it, "projected", fills({ defaultMode: 420 })),
  (it) => withinPresent(it, "hostPath", fills({ type: "" })),
);

const podSpec: Defaulting = steps(
  fills({
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  }),
  (it) =>
    Object.hasOwn(it, "serviceAccountName") ? filled(it, { serviceAccount: it["serviceAccountName"] ?? "" }) : it,
  (it) => each(it, "containers", container),
  (it) => each(it, "initContainers", container),
  (it) => each(it, "volumes", volume),
);

const template: Defaulting = (it) => within(it, "template", steps(fills({ metadata: {} }), spec(podSpec)));

const rolling =
  (key: string, defaults: JsonObject): Defaulting =>
  (it) =>
    within(it, key, (strategy) => {
      const typed = filled(strategy, { type: "RollingUpdate" });
      return typed["type"] === "RollingUpdate" ? within(typed, "rollingUpdate", fills(defaults)) : typed;
    });

const claim: Defaulting = spec(fills({ resources: {}, volumeMode: "Filesystem" }));

const servicePort: Defaulting = (it) => filled(it, { protocol: "TCP", targetPort: it["port"] ?? 0 });

const loadBalancing: Defaulting = (it) => {
  const outside = it["type"] === "LoadBalancer" || it["type"] === "NodePort";
  return filled(it, {
    ...(outside ? { externalTrafficPolicy: "Cluster" } : {}),
    ...(it["type"] === "LoadBalancer" ? { allocateLoadBalancerNodePorts: true } : {}),
    ...(it["type"] === "ExternalName" ? {} : { internalTrafficPolicy: "Cluster" }),
  });
};

const jobSpec: Defaulting = steps(
  (it) => (Object.hasOwn(it, "parallelism") || Object.hasOwn(it, "completions") ? it : filled(it, { completions: 1 })),
  fills({
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
    manualSelector: false,
  }),
  template,
);

/** What people write as text is stored encoded. */
const secret: Defaulting = steps(fills({ type: "Opaque" }), (it) => {
  const { stringData, ...rest } = it;
  if (!isObject(stringData)) return it;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  return { ...rest, data: { ...(isObject(rest["data"]) ? rest["data"] : {}), ...Object.fromEntries(encoded) } };
});

const networkPolicy: Defaulting = (it) => {
  const egress = Array.isArray(it["egress"]) && it["egress"].length > 0;
  return filled(it, { podSelector: {}, policyTypes: egress ? ["Ingress", "Egress"] : ["Ingress"] });
};

const webhook: Defaulting = fills({
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
});

const definitionNames: Defaulting = (it) => {
  const kind = String(it["kind"] ?? "");
  return filled(it, { singular: kind.toLowerCase(), listKind: `${kind}List` });
};

/** Every namespace can be selected by its name. */
const namespaceLabel: Defaulting = (it) =>
  within(it, "metadata", (metadata) =>
    within(metadata, "labels", fills({ "kubernetes.io/metadata.name": metadata["name"] ?? "" })),
  );

/** Until its names are accepted, a definition has none. */
const definitionStatus: Defaulting = (it) => {
  const versions = member(it["spec"] ?? null, "versions");
  const stored = Array.isArray(versions)
    ? (versions as JsonList).filter((version) => member(version, "storage") === true)
    : [];
  const storedVersions = stored.map((version) => member(version, "name"));
  return filled(it, { status: { acceptedNames: { plural: "", kind: "" }, storedVersions } });
};

const rbacGroup = fills({ apiGroup: "rbac.authorization.k8s.io" });
const subject: Defaulting = (it) => (it["kind"] === "ServiceAccount" ? it : rbacGroup(it));
const binding: Defaulting = steps(
  (it) => withinPresent(it, "roleRef", rbacGroup),
  (it) => each(it, "subjects", subject),
);

const status = (defaults: JsonObject): Defaulting => fills({ status: defaults });

/** Unset limits stand open: these are what `kubectl get deployment -o yaml` shows next to what was written. */
const defaulters: ReadonlyMap<string, Defaulting> = new Map<string, Defaulting>([
  [
    "apps/Deployment",
    steps(
      spec(
        fills({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
        rolling("strategy", { maxUnavailable: "25%", maxSurge: "25%" }),
        template,
      ),
      status({}),
    ),
  ],
  [
    "apps/StatefulSet",
    steps(
      spec(
        fills({ replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady", serviceName: "" }),
        fills({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" } }),
        rolling("updateStrategy", { partition: 0 }),
        template,
        (it) =>
          each(it, "volumeClaimTemplates", steps(fills({ apiVersion: "v1", kind: "PersistentVolumeClaim" }), claim)),
      ),
      status({ replicas: 0, availableReplicas: 0 }),
    ),
  ],
  [
    "apps/DaemonSet",
    steps(
      spec(
        fills({ revisionHistoryLimit: 10 }),
        rolling("updateStrategy", { maxUnavailable: 1, maxSurge: 0 }),
        template,
      ),
      status({ currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }),
    ),
  ],
  ["apps/ReplicaSet", steps(spec(fills({ replicas: 1 }), template), status({ replicas: 0 }))],
  ["/ReplicationController", steps(spec(fills({ replicas: 1 }), template), status({ replicas: 0 }))],
  ["/Pod", steps(spec(podSpec), status({ phase: "Pending", qosClass: "BestEffort" }))],
  ["/PodTemplate", template],
  ["batch/Job", steps(spec(jobSpec), status({}))],
  [
    "batch/CronJob",
    steps(
      spec(
        fills({ concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }),
        (it) => within(it, "jobTemplate", steps(fills({ metadata: {} }), spec(template))),
      ),
      status({}),
    ),
  ],
  [
    "/Service",
    steps(
      spec(fills({ type: "ClusterIP", sessionAffinity: "None" }), loadBalancing, (it) =>
        each(it, "ports", servicePort),
      ),
      status({ loadBalancer: {} }),
    ),
  ],
  ["/Secret", secret],
  ["/Namespace", steps(namespaceLabel, spec(), status({ phase: "Active" }))],
  ["/PersistentVolumeClaim", steps(claim, status({ phase: "Pending" }))],
  [
    "/PersistentVolume",
    steps(
      spec(fills({ persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" })),
      status({ phase: "Pending" }),
    ),
  ],
  ["/ResourceQuota", steps(spec(), status({}))],
  ["networking.k8s.io/Ingress", steps(spec(), status({ loadBalancer: {} }))],
  ["networking.k8s.io/NetworkPolicy", spec(networkPolicy)],
  [
    "policy/PodDisruptionBudget",
    steps(spec(), status({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 })),
  ],
  ["rbac.authorization.k8s.io/RoleBinding", binding],
  ["rbac.authorization.k8s.io/ClusterRoleBinding", binding],
  ["storage.k8s.io/StorageClass", fills({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate" })],
  ["scheduling.k8s.io/PriorityClass", fills({ preemptionPolicy: "PreemptLowerPriority" })],
  [
    "autoscaling/HorizontalPodAutoscaler",
    steps(spec(fills({ minReplicas: 1 })), status({ currentMetrics: null, desiredReplicas: 0 })),
  ],
  ["admissionregistration.k8s.io/ValidatingWebhookConfiguration", (it) => each(it, "webhooks", webhook)],
  [
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
    (it) => each(it, "webhooks", steps(webhook, fills({ reinvocationPolicy: "Never" }))),
  ],
  [
    "apiextensions.k8s.io/CustomResourceDefinition",
    steps(
      spec(fills({ conversion: { strategy: "None" } }), (it) => withinPresent(it, "names", definitionNames)),
      definitionStatus,
    ),
  ],
]);
