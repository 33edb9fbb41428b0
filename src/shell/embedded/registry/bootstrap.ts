import { type JsonObject, memberAt } from "../../../core/model/json.ts";
import type { ServedKind } from "../api/kinds.ts";
import { StatusError } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { ordinaryNodes, type SimulatedNode } from "./declared-nodes.ts";
import { create } from "./objects.ts";
import type { RequestTarget } from "./preconditions.ts";

const namespaces = ["kube-system", "default", "kube-public", "kube-node-lease"];

/** Four namespaces, with kube-system's uid that says which cluster this is, and its nodes. */
export function bootstrapCluster(cluster: Cluster, nodes: readonly SimulatedNode[] = ordinaryNodes): void {
  for (const name of namespaces) {
    make(cluster, "Namespace", null, { metadata: { name } });
    bootstrapNamespace(cluster, name);
  }
  for (const it of nodes) bootstrapNode(cluster, it);
}

function bootstrapNode(cluster: Cluster, { name, labels, capacity, allocatable }: SimulatedNode): void {
  make(cluster, "Node", null, { metadata: { name, labels } });
  const kind = cluster.kinds.byKind("", "Node") as ServedKind;
  const node = cluster.store.get(kind, null, name) as JsonObject;
  const condition = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "kubelet is posting ready status",
  };
  const times = { lastHeartbeatTime: cluster.time(), lastTransitionTime: cluster.time() };
  const nodeInfo = { kubeletVersion: "v1.36.3", operatingSystem: "linux", architecture: "amd64", osImage: "simulated" };
  const status = { capacity, allocatable, conditions: [{ ...condition, ...times }], nodeInfo };
  cluster.store.put(kind, { ...node, status });
}

/** Every namespace gets a service account and the root certificate that pods would use. */
export function bootstrapNamespace(cluster: Cluster, name: string): void {
  const namespace = cluster.store.get(cluster.kinds.byKind("", "Namespace") as ServedKind, null, name);
  if (namespace === null || memberAt(namespace, "metadata", "deletionTimestamp") !== null) return;
  make(cluster, "ServiceAccount", name, account);
  make(cluster, "ConfigMap", name, certificate);
}

const account: JsonObject = { metadata: { name: "default" } };
const certificate: JsonObject = { metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": "simulated" } };

/** Creates what is not there yet. */
function make(cluster: Cluster, kindName: string, namespace: string | null, object: JsonObject): void {
  const kind = cluster.kinds.byKind("", kindName) as ServedKind;
  const name = String(memberAt(object, "metadata", "name"));
  if (cluster.store.get(kind, namespace, name) !== null) return;
  const target: RequestTarget = { kind, namespace, name, subresource: null };
  try {
    create(cluster, target, object, { manager: "kube-controller-manager", force: false, dryRun: false, strict: false });
  } catch (error) {
    // Whoever deletes the namespace at this moment is right.
    if (!(error instanceof StatusError)) throw error;
  }
}
