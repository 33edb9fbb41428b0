import { member, memberAt } from "../model/json.ts";
import { kindKey, objectKey, placedText, type SourcedManifest } from "../model/manifest.ts";
import { kubeFleetPrefix } from "../model/names.ts";
import type { ObjectIndex } from "./object-index.ts";

/** Whether controllers make this object in every cluster: it is skipped (`render/README.md#what-is-never-placed`). */
export function isMadeByCluster(object: SourcedManifest, index: ObjectIndex): boolean {
  const { id, manifest } = object;
  switch (kindKey(id)) {
    case "apps/ReplicaSet":
    case "apps/ControllerRevision": {
      const owners = memberAt(manifest, "metadata", "ownerReferences");
      return Array.isArray(owners) && owners.length > 0;
    }
    case "/ConfigMap":
      return id.name === "kube-root-ca.crt";
    case "/ServiceAccount":
      return id.name === "default";
    case "/Secret":
      return member(manifest, "type") === "kubernetes.io/service-account-token";
    case "/Endpoints":
      return index.objects.get(objectKey({ ...id, kind: "Service" })) !== undefined;
    case "discovery.k8s.io/EndpointSlice":
      return memberAt(manifest, "metadata", "labels", "endpointslice.kubernetes.io/managed-by") !== null;
    default:
      return false;
  }
}

const configMapEnvelope = `${kubeFleetPrefix}/envelope-configmap`;

/** Why a selected object makes its placement invalid, such as an old envelope (`render/README.md#a-9`); null if not. */
export function unplaceable(object: SourcedManifest): string | null {
  const { id, manifest } = object;
  const marked =
    kindKey(id) === "/ConfigMap" && memberAt(manifest, "metadata", "annotations", configMapEnvelope) !== null;
  if (!marked) return null;
  return (
    `${placedText(object)} carries ${configMapEnvelope}, which is no longer read ` +
    "(ClusterResourceEnvelope and ResourceEnvelope replaced it); commit what it wraps as documents"
  );
}
