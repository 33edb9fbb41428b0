/** Objects by member. */
export type Asked = Readonly<Record<string, readonly string[]>>;

const production = ["prod-ap-1", "prod-eu-1", "prod-eu-2", "prod-us-1", "prod-us-2"];
const collecting = ["dev-eu-1", ...production, "staging-eu-1", "staging-us-1"];

const on = (members: readonly string[], objects: readonly string[]): Asked =>
  Object.fromEntries(members.map((it) => [it, [...objects].sort()]));

const inNamespace = (namespace: string, name: string, resources: readonly string[]): readonly string[] => [
  `namespaces ${namespace}`,
  ...resources.map((it) => `${it} ${namespace}/${name}`),
];

const roles = ["clusterroles support-debugger", "clusterroles support-reader"];

/** Where everything of examples-repo belongs: each placement's objects, by member. */
export const asked: Readonly<Record<string, Asked>> = {
  "cluster-policy": {
    ...on(["edge-ap-1", ...production], [...roles, "priorityclasses business-critical"]),
    ...on(["staging-eu-1", "staging-us-1"], roles),
  },
  observability: on(
    collecting,
    inNamespace("observability", "collector", ["configmaps", "deployments", "serviceaccounts"]),
  ),
  payments: on(
    ["prod-eu-1", "prod-us-1"],
    [
      ...inNamespace("payments", "ledger", ["configmaps", "deployments", "serviceaccounts"]),
      "networkpolicies payments/only-shop",
    ],
  ),
  platform: on(
    ["edge-ap-1", ...collecting],
    [
      ...inNamespace("platform", "certificates", ["configmaps", "deployments", "serviceaccounts"]),
      "resourcequotas platform/platform",
    ],
  ),
  "web-shop": on(
    ["prod-eu-1", "prod-eu-2", "prod-us-2"],
    inNamespace("shop", "web", ["configmaps", "deployments", "serviceaccounts", "services"]),
  ),
};
