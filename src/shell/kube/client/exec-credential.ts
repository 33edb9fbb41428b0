import {
  canonicalJson,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  memberAt,
  textOf,
} from "../../../core/model/json.ts";
import { MemberUnreachable } from "./member-unreachable.ts";

/** A credential plugin as a kubeconfig names it (`users[].user.exec`). */
export interface ExecPlugin {
  /** The API version of its input; its output has to be in the same one. */
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
}

/** A plugin's output: a token, a client certificate with its key, or both. */
export interface ExecCredential {
  readonly token: string | null;
  /** In PEM. */
  readonly certificate: { readonly chain: string; readonly key: string } | null;
  /** Milliseconds since 1970; null when it holds until the member refuses it. */
  readonly expiresAt: number | null;
}

/** The cluster that a plugin is to get credentials for, as `spec.cluster` of an ExecCredential has it. */
export interface ExecCluster {
  readonly server: string;
  readonly tlsServerName: string | null;
  readonly skipsVerification: boolean;
  /** In PEM. */
  readonly authority: Buffer | null;
  readonly proxyUrl: string | null;
  /** The cluster's extension `client.authentication.k8s.io/exec`. */
  readonly config: Json;
}

const versions: readonly ExecPlugin["apiVersion"][] = [
  "client.authentication.k8s.io/v1",
  "client.authentication.k8s.io/v1beta1",
];

const could = "cannot get the credentials of its context";

/** No credential was obtained; `why` never quotes a plugin's output, arguments or environment. */
export const credentialFailure = (why: string): MemberUnreachable =>
  new MemberUnreachable("Unauthorized", `${could}: ${why}`);

/** Reads `users[].user.exec` by kubectl's rules (KEP-541), without a terminal. Throws {@link MemberUnreachable}. */
export function execPluginOf(exec: Json): ExecPlugin {
  const command = textOf(memberAt(exec, "command"));
  if (command === null || command === "") throw credentialFailure("the exec plugin in the kubeconfig names no command");
  const version = textOf(memberAt(exec, "apiVersion")) ?? "";
  const apiVersion = versions.find((it) => it === version);
  if (apiVersion === undefined)
    throw credentialFailure(`the exec plugin in the kubeconfig needs apiVersion ${versions.join(" or ")}`);
  const mode = textOf(memberAt(exec, "interactiveMode")) ?? (apiVersion === versions[0] ? null : "IfAvailable");
  if (mode === "Always")
    throw credentialFailure("the exec plugin in the kubeconfig needs a terminal (interactiveMode Always)");
  if (mode !== "Never" && mode !== "IfAvailable")
    throw credentialFailure("the exec plugin in the kubeconfig needs interactiveMode Never or IfAvailable");
  const pairs = listAt(exec, "env")
    .filter(isObject)
    .map((it) => [it["name"], it["value"]] as const);
  return {
    apiVersion,
    command,
    args: listAt(exec, "args").map(String),
    env: Object.fromEntries(
      pairs.filter((it): it is readonly [string, string] => it.every((part) => textOf(part) !== null)),
    ),
    provideClusterInfo: memberAt(exec, "provideClusterInfo") === true,
  };
}

/** A plugin's input, `KUBERNETES_EXEC_INFO`. */
export function execInfo({ apiVersion, provideClusterInfo }: ExecPlugin, cluster: ExecCluster): string {
  const spec: Record<string, Json> = { interactive: false };
  if (provideClusterInfo) spec["cluster"] = clusterInfo(cluster);
  return canonicalJson({ apiVersion, kind: "ExecCredential", spec });
}

const clusterInfo = (cluster: ExecCluster): JsonObject => ({
  server: cluster.server,
  ...(cluster.tlsServerName === null ? {} : { "tls-server-name": cluster.tlsServerName }),
  ...(cluster.skipsVerification ? { "insecure-skip-tls-verify": true } : {}),
  ...(cluster.authority === null ? {} : { "certificate-authority-data": cluster.authority.toString("base64") }),
  ...(cluster.proxyUrl === null ? {} : { "proxy-url": cluster.proxyUrl }),
  ...(cluster.config === null ? {} : { config: cluster.config }),
});

/** Reads a plugin's output. Throws {@link MemberUnreachable} `Unauthorized`, whose message quotes nothing of it. */
export function readExecCredential(text: string, { apiVersion }: ExecPlugin): ExecCredential {
  const answer = parsed(text);
  if (answer?.["kind"] !== "ExecCredential") throw credentialFailure("its plugin printed no ExecCredential");
  if (answer["apiVersion"] !== apiVersion) throw credentialFailure(`its plugin did not answer in ${apiVersion}`);
  const [token, chain, key] = ["token", "clientCertificateData", "clientKeyData"].map((it) => {
    const value = memberAt(answer, "status", it);
    return value === "" ? null : textOf(value);
  }) as [string | null, string | null, string | null];
  if ((chain === null) !== (key === null))
    throw credentialFailure("its plugin gave a client certificate without its key, or a key without its certificate");
  if (token === null && chain === null)
    throw credentialFailure("its plugin gave neither a token nor a client certificate");
  const certificate = chain === null || key === null ? null : { chain, key };
  return { token, certificate, expiresAt: expiryOf(memberAt(answer, "status", "expirationTimestamp")) };
}

/** RFC 3339, as `metav1.Time` is written. */
function expiryOf(timestamp: Json): number | null {
  if (timestamp === null) return null;
  const text = textOf(timestamp) ?? "";
  const at = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(at)) throw credentialFailure("its plugin gave an expirationTimestamp that is not a time");
  return at;
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
