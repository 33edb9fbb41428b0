import type { JsonObject } from "../../../core/model/json.ts";
import { apiVersionOf, builtInScopes, kindKey, type Scope } from "../../../core/model/manifest.ts";
import { builtInShape } from "./list-keys.ts";
import type { Shape } from "./shape.ts";

/** One kind as an API server serves it in one version. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** Where its objects are stored. */
  readonly table: TableKey;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: Scope;
  /** `status` and `scale`, where served. */
  readonly subresources: readonly string[];
  /** Whether `metadata.generation` counts changes of what people write. */
  readonly counts: boolean;
  readonly shape: Shape;
  /** What its CustomResourceDefinition says; null for Kubernetes' own kinds. */
  readonly custom: CustomSchema | null;
}

/** What a CustomResourceDefinition says about one version. */
interface CustomSchema {
  /** `openAPIV3Schema`; null where the definition has none. */
  readonly schema: JsonObject | null;
  readonly columns: readonly PrinterColumn[];
}

/** A column that a definition adds to `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
}

/** Where objects of a kind are stored, whatever version they are written in. */
export type TableKey = string & { readonly tableKey: unique symbol };

export const tableKey = ({ group, plural }: { readonly group: string; readonly plural: string }): TableKey =>
  `${group}/${plural}` as TableKey;

// plural, kind, short names, then: a = in `all`, e = in `api-extensions`, s = has /status, x = has /scale, g = counts generations.
const table: Readonly<Record<string, readonly string[]>> = {
  "/v1": [
    "configmaps ConfigMap cm",
    "endpoints Endpoints ep",
    "events Event ev",
    "limitranges LimitRange limits",
    "namespaces Namespace ns s",
    "nodes Node no s",
    "persistentvolumeclaims PersistentVolumeClaim pvc s",
    "persistentvolumes PersistentVolume pv s",
    "pods Pod po asg",
    "podtemplates PodTemplate - g",
    "replicationcontrollers ReplicationController rc asxg",
    "resourcequotas ResourceQuota quota s",
    "secrets Secret",
    "serviceaccounts ServiceAccount sa",
    "services Service svc as",
  ],
  "apiregistration.k8s.io/v1": ["apiservices APIService - es"],
  "apps/v1": [
    "controllerrevisions ControllerRevision",
    "daemonsets DaemonSet ds asg",
    "deployments Deployment deploy asxg",
    "replicasets ReplicaSet rs asxg",
    "statefulsets StatefulSet sts asxg",
  ],
  "events.k8s.io/v1": ["events Event ev"],
  "autoscaling/v2": ["horizontalpodautoscalers HorizontalPodAutoscaler hpa as"],
  "autoscaling/v1": ["horizontalpodautoscalers HorizontalPodAutoscaler hpa as"],
  "batch/v1": ["cronjobs CronJob cj asg", "jobs Job - asg"],
  "certificates.k8s.io/v1": ["certificatesigningrequests CertificateSigningRequest csr s"],
  "networking.k8s.io/v1": [
    "ingressclasses IngressClass - g",
    "ingresses Ingress ing sg",
    "ipaddresses IPAddress ip",
    "networkpolicies NetworkPolicy netpol g",
    "servicecidrs ServiceCIDR - s",
  ],
  "policy/v1": ["poddisruptionbudgets PodDisruptionBudget pdb sg"],
  "rbac.authorization.k8s.io/v1": [
    "clusterrolebindings ClusterRoleBinding",
    "clusterroles ClusterRole",
    "rolebindings RoleBinding",
    "roles Role",
  ],
  "storage.k8s.io/v1": [
    "csidrivers CSIDriver",
    "csinodes CSINode",
    "csistoragecapacities CSIStorageCapacity",
    "storageclasses StorageClass sc",
    "volumeattachments VolumeAttachment - s",
    "volumeattributesclasses VolumeAttributesClass vac",
  ],
  "admissionregistration.k8s.io/v1": [
    "mutatingadmissionpolicies MutatingAdmissionPolicy - eg",
    "mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding - eg",
    "mutatingwebhookconfigurations MutatingWebhookConfiguration - eg",
    "validatingadmissionpolicies ValidatingAdmissionPolicy - esg",
    "validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding - eg",
    "validatingwebhookconfigurations ValidatingWebhookConfiguration - eg",
  ],
  "apiextensions.k8s.io/v1": ["customresourcedefinitions CustomResourceDefinition crd,crds esg"],
  "scheduling.k8s.io/v1": ["priorityclasses PriorityClass pc g"],
  "coordination.k8s.io/v1": ["leases Lease"],
  "node.k8s.io/v1": ["runtimeclasses RuntimeClass"],
  "discovery.k8s.io/v1": ["endpointslices EndpointSlice - g"],
  "resource.k8s.io/v1": [
    "deviceclasses DeviceClass - g",
    "resourceclaims ResourceClaim - s",
    "resourceclaimtemplates ResourceClaimTemplate",
    "resourceslices ResourceSlice - g",
  ],
  "flowcontrol.apiserver.k8s.io/v1": [
    "flowschemas FlowSchema - sg",
    "prioritylevelconfigurations PriorityLevelConfiguration - sg",
  ],
};

/** The kinds that Kubernetes 1.36 serves by itself, in its order of groups and versions; the first version is preferred. */
export const builtInKinds: readonly ServedKind[] = Object.entries(table).flatMap(([groupVersion, rows]) => {
  const slash = groupVersion.lastIndexOf("/");
  const group = groupVersion.slice(0, slash);
  const version = groupVersion.slice(slash + 1);
  return rows.map((row) => kindOf(group, version, row));
});

function kindOf(group: string, version: string, row: string): ServedKind {
  const [plural = "", kind = "", short = "-", flags = ""] = row.split(" ");
  const key = kindKey({ group, kind });
  return {
    group,
    version,
    kind,
    plural,
    table: tableKey({ group, plural }),
    singular: kind.toLowerCase(),
    shortNames: short === "-" ? [] : short.split(","),
    categories: flags.includes("a") ? ["all"] : flags.includes("e") ? ["api-extensions"] : [],
    // Every row is in the model's table of scopes; a test holds the two together.
    scope: builtInScopes.get(key) ?? "Namespaced",
    subresources: [...(flags.includes("x") ? ["scale"] : []), ...(flags.includes("s") ? ["status"] : [])],
    counts: flags.includes("g"),
    shape: builtInShape(key),
    custom: null,
  };
}

const addressOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

/** The kinds that a cluster serves, found by what they are asked for; of several versions of a kind, the preferred one. */
interface Served {
  readonly all: readonly ServedKind[];
  readonly byAddress: ReadonlyMap<string, ServedKind>;
  readonly byTable: ReadonlyMap<string, ServedKind>;
  readonly byName: ReadonlyMap<string, ServedKind>;
  readonly groupVersions: ReadonlySet<string>;
}

function indexed(all: readonly ServedKind[]): Served {
  // Of two with the same key, a map keeps the last: the first of the list.
  const backwards = [...all].reverse();
  return {
    all,
    byAddress: new Map(backwards.map((it) => [addressOf(it.group, it.version, it.plural), it])),
    byTable: new Map(backwards.map((it) => [it.table, it])),
    byName: new Map(backwards.map((it) => [kindKey(it), it])),
    groupVersions: new Set(all.map(apiVersionOf)),
  };
}

const builtIn = indexed(builtInKinds);

/** The kinds of one cluster: Kubernetes' own, and those that its CustomResourceDefinitions add. */
export class Kinds {
  readonly #custom = new Map<string, readonly ServedKind[]>();
  #served = builtIn;

  /** Every kind in every served version, in order. The same array until something changes. */
  get all(): readonly ServedKind[] {
    return this.#served.all;
  }

  find(group: string, version: string, plural: string): ServedKind | null {
    return this.#served.byAddress.get(addressOf(group, version, plural)) ?? null;
  }

  serves(group: string, version: string): boolean {
    return this.#served.groupVersions.has(apiVersionOf({ group, version }));
  }

  /** The kind whose objects stand in a table, in its preferred version. */
  ofTable(table: TableKey): ServedKind | null {
    return this.#served.byTable.get(table) ?? null;
  }

  /** The kind under its preferred version, by group and kind. */
  byKind(group: string, kind: string): ServedKind | null {
    return this.#served.byName.get(kindKey({ group, kind })) ?? null;
  }

  /** Serves what a CustomResourceDefinition defines, or nothing of it any more. */
  define(definition: string, kinds: readonly ServedKind[]): void {
    if (kinds.length === 0) this.#custom.delete(definition);
    else this.#custom.set(definition, kinds);
    const names = [...this.#custom.keys()].sort();
    const custom = names.flatMap((it) => this.#custom.get(it) ?? []);
    this.#served = custom.length === 0 ? builtIn : indexed([...builtInKinds, ...custom]);
  }
}
