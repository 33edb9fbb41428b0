import { exceededOn, type MemberCluster, type Tenant } from "../../model/fleet.ts";
import { remembered } from "../../model/identity.ts";
import type { Aspect, Plugin } from "../framework/plugin.ts";

/**
 * Refuses clusters that the tenant whose file the placement is in is not granted (`schedule/README.md#tenantclusters`).
 * Asks nothing for a placement of the platform's. KubeFleet has no such thing: it is in both profiles, as nothing but
 * `tenants` brings it about.
 */
export const tenantClusters: Plugin = {
  name: "TenantClusters",
  changesWithPicks: false,

  prepare({ policy, grants }) {
    if (grants.length === 0 || policy.kind === "PickFixed") return { parts: { fits: [], scores: [] } };
    return {
      filter: ({ cluster }) => (exceededOn(cluster, grants) === null ? "fits" : "unschedulable"),
      because: ({ cluster }) => notGranted(cluster, grants) ?? "",
      remedy: () => "have the cluster granted to the tenant, or label it as the grant says",
      parts: {
        fits: [{ asked: grantedText(grants), of: ({ cluster }) => (exceededOn(cluster, grants) === null ? 1 : 0) }],
        scores: [],
      },
    };
  },

  looksAt: (_, { grants }) => labelsOfGrants(grants),
};

const grantedText = remembered(
  (grants: readonly Tenant[]) => `fits ${JSON.stringify(grants.map((it) => it.clusters))}`,
);

/** Why a placement that has to keep to these grants may not be on a cluster, in words; null where it may. */
export function notGranted(cluster: Pick<MemberCluster, "labels">, grants: readonly Tenant[]): string | null {
  const grant = exceededOn(cluster, grants);
  return grant === null ? null : `${grant.folder}** is not granted this cluster (${grant.place})`;
}

/** The labels of clusters that grants look at. */
export const labelsOfGrants = (grants: readonly Tenant[]): readonly Aspect[] =>
  grants.flatMap(({ clusters }) =>
    [...Object.keys(clusters?.matchLabels ?? {}), ...(clusters?.matchExpressions ?? []).map((it) => it.key)].map(
      (key) => `label ${key}` as const,
    ),
  );
