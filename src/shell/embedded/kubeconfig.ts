import { stringify } from "yaml";

/** One cluster as a kubeconfig names it. */
export interface Entry {
  readonly name: string;
  readonly server: string;
  readonly token: string | null;
}

/** A kubeconfig with one context per cluster, named like it; the first is current. */
export function kubeconfigOf(entries: readonly Entry[]): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: entries.map(({ name, server }) => ({ name, cluster: { server } })),
    users: entries.map(({ name, token }) => ({ name, user: token === null ? {} : { token } })),
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    ...(entries[0] === undefined ? {} : { "current-context": entries[0].name }),
  });
}
