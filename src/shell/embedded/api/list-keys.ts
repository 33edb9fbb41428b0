import { atomic, keyed, type Shape, set, struct } from "./shape.ts";

// Where Kubernetes' own kinds depart from the plain rule: the list and map types of kube-apiserver v1.36's OpenAPI.

const byName = (members: Readonly<Record<string, Shape>> = {}): Shape => keyed(["name"], struct(members));

const metadata = struct({ finalizers: set, ownerReferences: keyed(["uid"], atomic) });
const conditions = keyed(["type"]);
const statusWith = (members: Readonly<Record<string, Shape>> = {}): Shape => struct({ conditions, ...members });

const env = byName({
  valueFrom: struct({
    configMapKeyRef: atomic,
    fieldRef: atomic,
    fileKeyRef: atomic,
    resourceFieldRef: atomic,
    secretKeyRef: atomic,
  }),
});

const resources = struct({ claims: byName() });

const container = byName({
  env,
  ports: keyed(["containerPort", "protocol"], struct({}), { protocol: "TCP" }),
  resources,
  volumeDevices: keyed(["devicePath"]),
  volumeMounts: keyed(["mountPath"]),
});

const claimSpec = struct({ dataSource: atomic, selector: atomic });

const volume = byName({
  cephfs: struct({ secretRef: atomic }),
  cinder: struct({ secretRef: atomic }),
  csi: struct({ nodePublishSecretRef: atomic }),
  ephemeral: struct({ volumeClaimTemplate: struct({ metadata, spec: claimSpec }) }),
  flexVolume: struct({ secretRef: atomic }),
  iscsi: struct({ secretRef: atomic }),
  rbd: struct({ secretRef: atomic }),
  scaleIO: struct({ secretRef: atomic }),
  storageos: struct({ secretRef: atomic }),
});

const podSpec = struct({
  affinity: struct({ nodeAffinity: struct({ requiredDuringSchedulingIgnoredDuringExecution: atomic }) }),
  containers: container,
  ephemeralContainers: container,
  hostAliases: keyed(["ip"]),
  imagePullSecrets: keyed(["name"], atomic),
  initContainers: container,
  nodeSelector: atomic,
  resourceClaims: byName(),
  schedulingGates: byName(),
  topologySpreadConstraints: keyed(["topologyKey", "whenUnsatisfiable"], struct({ labelSelector: atomic })),
  volumes: volume,
});

const template = struct({ metadata, spec: podSpec });
const workloadSpec = struct({ selector: atomic, template });
const jobSpec = struct({ selector: atomic, template });

const webhooks = byName({ matchConditions: byName(), namespaceSelector: atomic, objectSelector: atomic });
const admissionPolicy = struct({
  matchConditions: byName(),
  matchConstraints: atomic,
  paramKind: atomic,
  variables: byName(),
});
const policyBinding = struct({ matchResources: atomic, paramRef: atomic, validationActions: set });
const scaling = struct({ scaleTargetRef: atomic });
const backend = struct({ resource: atomic, service: struct({ port: atomic }) });

const departures: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  "/Pod": { spec: podSpec, status: statusWith({ podIPs: keyed(["ip"]), resourceClaimStatuses: byName() }) },
  "/PodTemplate": { template },
  "/ReplicationController": { spec: struct({ selector: atomic, template }) },
  "/Service": {
    spec: struct({ ports: keyed(["port", "protocol"], struct({}), { protocol: "TCP" }), selector: atomic }),
  },
  "/ServiceAccount": { secrets: keyed(["name"], atomic) },
  "/PersistentVolumeClaim": { spec: claimSpec },
  "/PersistentVolume": { spec: struct({ nodeAffinity: struct({ required: atomic }) }) },
  "/ResourceQuota": { spec: struct({ scopeSelector: atomic }) },
  "/Node": { spec: struct({ podCIDRs: set }), status: statusWith({ addresses: conditions }) },
  "/Event": { involvedObject: atomic, related: atomic },
  "events.k8s.io/Event": { regarding: atomic, related: atomic },
  "apps/DaemonSet": { spec: workloadSpec },
  "apps/Deployment": { spec: workloadSpec },
  "apps/ReplicaSet": { spec: workloadSpec },
  "apps/StatefulSet": { spec: workloadSpec },
  "autoscaling/HorizontalPodAutoscaler": { spec: scaling },
  "batch/Job": {
    spec: jobSpec,
    status: statusWith({ uncountedTerminatedPods: struct({ failed: set, succeeded: set }) }),
  },
  "batch/CronJob": { spec: struct({ jobTemplate: struct({ metadata, spec: jobSpec }) }) },
  "networking.k8s.io/Ingress": { spec: struct({ defaultBackend: backend }) },
  "networking.k8s.io/NetworkPolicy": { spec: struct({ podSelector: atomic }) },
  "policy/PodDisruptionBudget": { spec: struct({ selector: atomic }) },
  "rbac.authorization.k8s.io/RoleBinding": { roleRef: atomic },
  "rbac.authorization.k8s.io/ClusterRoleBinding": { roleRef: atomic },
  "node.k8s.io/RuntimeClass": { scheduling: struct({ nodeSelector: atomic }) },
  "storage.k8s.io/CSIDriver": { spec: struct({ volumeLifecycleModes: set }) },
  "storage.k8s.io/CSINode": { spec: struct({ drivers: byName() }) },
  "storage.k8s.io/CSIStorageCapacity": { nodeTopology: atomic },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": { webhooks },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": { webhooks },
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": { spec: admissionPolicy },
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": { spec: admissionPolicy },
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": { spec: policyBinding },
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": { spec: policyBinding },
};

const usual = struct({ metadata, status: statusWith() });

const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries(departures).map(([kind, members]) => [kind, struct({ metadata, status: statusWith(), ...members })]),
);

/** The shape of a built-in kind, by `group/Kind`. */
export const builtInShape = (kind: string): Shape => shapes.get(kind) ?? usual;

export const metadataShape = metadata;
