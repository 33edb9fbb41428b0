/**
 * What a field of a message holds: a scalar, a message by its name, `[]` a list or `{}` a map from texts of those. With `!`
 * at its end the value counts although it is empty or nought: Kubernetes tells it from a value that was not given.
 * `inline`: the fields of the message stand where the field would.
 */
type FieldType = string;

/** The fields of a message by their numbers. */
type Message = Readonly<Record<number, readonly [name: string, type: FieldType]>>;

const object = { 1: ["metadata", "ObjectMeta"] } as const;
const objectOf = (spec: string): Message => ({ ...object, 2: ["spec", spec] });

/**
 * The messages of what `kubectl create` makes by kind and options, from Kubernetes' `generated.proto` (v1.36). Fields that
 * it never fills in are left out.
 */
export const messages: Readonly<Record<string, Message>> = {
  TypeMeta: { 1: ["apiVersion", "string"], 2: ["kind", "string"] },
  Unknown: { 1: ["typeMeta", "TypeMeta"], 2: ["raw", "bytes"], 3: ["contentEncoding", "string"] },
  ObjectMeta: {
    1: ["name", "string"],
    2: ["generateName", "string"],
    3: ["namespace", "string"],
    5: ["uid", "string"],
    6: ["resourceVersion", "string"],
    11: ["labels", "{}string"],
    12: ["annotations", "{}string"],
    13: ["ownerReferences", "[]OwnerReference"],
    14: ["finalizers", "[]string"],
  },
  OwnerReference: {
    5: ["apiVersion", "string"],
    1: ["kind", "string"],
    3: ["name", "string"],
    4: ["uid", "string"],
    6: ["controller", "bool!"],
    7: ["blockOwnerDeletion", "bool!"],
  },
  LabelSelector: { 1: ["matchLabels", "{}string"], 2: ["matchExpressions", "[]LabelSelectorRequirement"] },
  LabelSelectorRequirement: { 1: ["key", "string"], 2: ["operator", "string"], 3: ["values", "[]string"] },

  Namespace: objectOf("NamespaceSpec"),
  NamespaceSpec: { 1: ["finalizers", "[]string"] },
  ConfigMap: { ...object, 2: ["data", "{}string"], 3: ["binaryData", "{}bytes"], 4: ["immutable", "bool!"] },
  Secret: {
    ...object,
    2: ["data", "{}bytes"],
    3: ["type", "string"],
    4: ["stringData", "{}string"],
    5: ["immutable", "bool!"],
  },
  ServiceAccount: {
    ...object,
    2: ["secrets", "[]ObjectReference"],
    3: ["imagePullSecrets", "[]LocalObjectReference"],
    4: ["automountServiceAccountToken", "bool!"],
  },
  ObjectReference: { 1: ["kind", "string"], 2: ["namespace", "string"], 3: ["name", "string"], 4: ["uid", "string"] },
  LocalObjectReference: { 1: ["name", "string"] },
  Service: objectOf("ServiceSpec"),
  ServiceSpec: {
    1: ["ports", "[]ServicePort"],
    2: ["selector", "{}string"],
    3: ["clusterIP", "string"],
    4: ["type", "string"],
    7: ["sessionAffinity", "string"],
    10: ["externalName", "string"],
  },
  ServicePort: {
    1: ["name", "string"],
    2: ["protocol", "string"],
    3: ["port", "int!"],
    4: ["targetPort", "IntOrString!"],
    5: ["nodePort", "int"],
    6: ["appProtocol", "string"],
  },
  ResourceQuota: objectOf("ResourceQuotaSpec"),
  ResourceQuotaSpec: { 1: ["hard", "{}Quantity"], 2: ["scopes", "[]string"] },
  PodTemplateSpec: objectOf("PodSpec"),
  PodSpec: {
    2: ["containers", "[]Container"],
    3: ["restartPolicy", "string"],
    4: ["terminationGracePeriodSeconds", "int!"],
    6: ["dnsPolicy", "string"],
    7: ["nodeSelector", "{}string"],
    8: ["serviceAccountName", "string"],
    15: ["imagePullSecrets", "[]LocalObjectReference"],
    19: ["schedulerName", "string"],
    20: ["initContainers", "[]Container"],
  },
  Container: {
    1: ["name", "string"],
    2: ["image", "string"],
    3: ["command", "[]string"],
    4: ["args", "[]string"],
    5: ["workingDir", "string"],
    6: ["ports", "[]ContainerPort"],
    7: ["env", "[]EnvVar"],
    8: ["resources", "ResourceRequirements"],
    13: ["terminationMessagePath", "string"],
    14: ["imagePullPolicy", "string"],
    20: ["terminationMessagePolicy", "string"],
  },
  ContainerPort: {
    1: ["name", "string"],
    2: ["hostPort", "int"],
    3: ["containerPort", "int!"],
    4: ["protocol", "string"],
    5: ["hostIP", "string"],
  },
  EnvVar: { 1: ["name", "string"], 2: ["value", "string"] },
  ResourceRequirements: { 1: ["limits", "{}Quantity"], 2: ["requests", "{}Quantity"] },

  Deployment: objectOf("DeploymentSpec"),
  DeploymentSpec: {
    1: ["replicas", "int!"],
    2: ["selector", "LabelSelector!"],
    3: ["template", "PodTemplateSpec"],
    4: ["strategy", "DeploymentStrategy"],
    5: ["minReadySeconds", "int"],
    6: ["revisionHistoryLimit", "int!"],
    7: ["paused", "bool"],
    9: ["progressDeadlineSeconds", "int!"],
  },
  DeploymentStrategy: { 1: ["type", "string"], 2: ["rollingUpdate", "RollingUpdateDeployment!"] },
  RollingUpdateDeployment: { 1: ["maxUnavailable", "IntOrString!"], 2: ["maxSurge", "IntOrString!"] },
  Job: objectOf("JobSpec"),
  JobSpec: {
    1: ["parallelism", "int!"],
    2: ["completions", "int!"],
    3: ["activeDeadlineSeconds", "int!"],
    4: ["selector", "LabelSelector!"],
    5: ["manualSelector", "bool!"],
    6: ["template", "PodTemplateSpec"],
    7: ["backoffLimit", "int!"],
    8: ["ttlSecondsAfterFinished", "int!"],
    10: ["suspend", "bool!"],
  },
  CronJob: objectOf("CronJobSpec"),
  CronJobSpec: {
    1: ["schedule", "string"],
    2: ["startingDeadlineSeconds", "int!"],
    3: ["concurrencyPolicy", "string"],
    4: ["suspend", "bool!"],
    5: ["jobTemplate", "JobTemplateSpec"],
    6: ["successfulJobsHistoryLimit", "int!"],
    7: ["failedJobsHistoryLimit", "int!"],
    8: ["timeZone", "string"],
  },
  JobTemplateSpec: objectOf("JobSpec"),

  Role: { ...object, 2: ["rules", "[]PolicyRule"] },
  ClusterRole: { ...object, 2: ["rules", "[]PolicyRule"], 3: ["aggregationRule", "AggregationRule!"] },
  AggregationRule: { 1: ["clusterRoleSelectors", "[]LabelSelector"] },
  PolicyRule: {
    1: ["verbs", "[]string"],
    2: ["apiGroups", "[]string"],
    3: ["resources", "[]string"],
    4: ["resourceNames", "[]string"],
    5: ["nonResourceURLs", "[]string"],
  },
  RoleBinding: { ...object, 2: ["subjects", "[]Subject"], 3: ["roleRef", "RoleRef"] },
  ClusterRoleBinding: { ...object, 2: ["subjects", "[]Subject"], 3: ["roleRef", "RoleRef"] },
  Subject: { 1: ["kind", "string"], 2: ["apiGroup", "string"], 3: ["name", "string"], 4: ["namespace", "string"] },
  RoleRef: { 1: ["apiGroup", "string"], 2: ["kind", "string"], 3: ["name", "string"] },

  PodDisruptionBudget: objectOf("PodDisruptionBudgetSpec"),
  PodDisruptionBudgetSpec: {
    1: ["minAvailable", "IntOrString!"],
    2: ["selector", "LabelSelector!"],
    3: ["maxUnavailable", "IntOrString!"],
    4: ["unhealthyPodEvictionPolicy", "string"],
  },
  PriorityClass: {
    ...object,
    2: ["value", "int!"],
    3: ["globalDefault", "bool"],
    4: ["description", "string"],
    5: ["preemptionPolicy", "string"],
  },

  Ingress: objectOf("IngressSpec"),
  IngressSpec: {
    1: ["defaultBackend", "IngressBackend!"],
    2: ["tls", "[]IngressTLS"],
    3: ["rules", "[]IngressRule"],
    4: ["ingressClassName", "string"],
  },
  IngressBackend: { 4: ["service", "IngressServiceBackend"] },
  IngressServiceBackend: { 1: ["name", "string"], 2: ["port", "ServiceBackendPort"] },
  ServiceBackendPort: { 1: ["name", "string"], 2: ["number", "int"] },
  IngressTLS: { 1: ["hosts", "[]string"], 2: ["secretName", "string"] },
  IngressRule: { 1: ["host", "string"], 2: ["", "inline IngressRuleValue"] },
  IngressRuleValue: { 1: ["http", "HTTPIngressRuleValue!"] },
  HTTPIngressRuleValue: { 1: ["paths", "[]HTTPIngressPath"] },
  HTTPIngressPath: { 1: ["path", "string"], 2: ["backend", "IngressBackend"], 3: ["pathType", "string"] },

  SelfSubjectAccessReview: objectOf("SelfSubjectAccessReviewSpec"),
  SelfSubjectAccessReviewSpec: { 1: ["resourceAttributes", "ResourceAttributes!"] },
  ResourceAttributes: {
    1: ["namespace", "string"],
    2: ["verb", "string"],
    3: ["group", "string"],
    4: ["version", "string"],
    5: ["resource", "string"],
    6: ["subresource", "string"],
    7: ["name", "string"],
  },
};

/** The kinds that are read, with their API versions. */
export const binaryKinds: ReadonlySet<string> = new Set([
  ...["Namespace", "ConfigMap", "Secret", "ServiceAccount", "Service", "ResourceQuota"].map((it) => `v1/${it}`),
  ...["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"].map((it) => `rbac.authorization.k8s.io/v1/${it}`),
  "apps/v1/Deployment",
  "authorization.k8s.io/v1/SelfSubjectAccessReview",
  "batch/v1/CronJob",
  "batch/v1/Job",
  "networking.k8s.io/v1/Ingress",
  "policy/v1/PodDisruptionBudget",
  "scheduling.k8s.io/v1/PriorityClass",
]);
