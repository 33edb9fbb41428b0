/** A kubeconfig as kubectl reads it. Its JSON is valid YAML. */
export interface Kubeconfig {
  readonly apiVersion: "v1";
  readonly kind: "Config";
  readonly "current-context": string;
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, unknown>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, unknown>> }[];
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
}

/** Gives a kubeconfig of one context. The cluster and the user carry the context's name, so that several merge. */
export function kubeconfigOf(context: string, url: string, certificate: string, token: string): Kubeconfig {
  const authority = Buffer.from(certificate).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": context,
    clusters: [{ name: context, cluster: { server: url, "certificate-authority-data": authority } }],
    users: [{ name: context, user: { token } }],
    contexts: [{ name: context, context: { cluster: context, user: context } }],
  };
}

/** Merges kubeconfigs of different contexts, as a fleet's operator keeps them; the first one's context is current. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const contexts = configs.flatMap((it) => it.contexts);
  const twice = contexts.find((a, i) => contexts.findIndex((b) => b.name === a.name) !== i);
  if (twice)
    throw new Error(`two of the kubeconfigs have a context ${twice.name}; give each server a context of its own`);
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": configs[0]?.["current-context"] ?? "",
    clusters: configs.flatMap((it) => it.clusters),
    users: configs.flatMap((it) => it.users),
    contexts,
  };
}
