import { isObject, type Json, member, textOf } from "../model/json.ts";
import { error, type Remark, warning } from "../yaml/remark.ts";

/**
 * What to say about a file that other tools leave beside manifests and that only looks like an object; null for others.
 *
 * They have no name, and would otherwise hold every deletion of the fleet as objects nobody can identify.
 */
export function foreignRemark(value: Json): Remark | null {
  const apiVersion = textOf(member(value, "apiVersion"));
  const kind = textOf(member(value, "kind"));
  if (!isObject(value) || apiVersion === null) return null;
  if (apiVersion.startsWith("kustomize.config.k8s.io/")) return ofTool("Kustomize", "what kustomize build prints");
  if (kind === null && member(value, "kind") === null && isChart(value))
    return ofTool("Helm", "what helm template prints");
  const isKubeconfig =
    apiVersion === "v1" && kind === "Config" && ["clusters", "contexts", "users"].some((it) => it in value);
  return isKubeconfig ? kubeconfig : null;
}

const isChart = (value: Json): boolean =>
  /^v[12]$/.test(textOf(member(value, "apiVersion")) ?? "") && textOf(member(value, "name")) !== null;

const ofTool = (tool: string, result: string): Remark =>
  warning("FLT1903", [], `this is a file of ${tool}, which is not run here; it is ignored`, `commit ${result}`);

const kubeconfig = error(
  "FLT1509",
  [],
  "this is a kubeconfig; it is not read, and credentials must not stand in a repository",
  "remove it, replace the credentials in it, and give the kubeconfig to the process instead",
);
