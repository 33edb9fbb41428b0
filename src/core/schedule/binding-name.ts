import { digestOf } from "../model/json.ts";
import type { ClusterName } from "../model/value.ts";

/**
 * KubeFleet's pieces and lengths (`schedule/README.md#bindings`), with a hash of both names for the random suffix
 * (`#a-40`). `others` tells apart bindings of the same two names.
 */
export const bindingName = (placement: string, cluster: ClusterName, others = 0): string =>
  `${placement.slice(0, 26)}-${cluster.slice(0, 27)}-${suffix(placement, cluster, others)}`;

const suffix = (placement: string, cluster: ClusterName, others: number): string =>
  digestOf(others === 0 ? [placement, cluster] : [placement, cluster, others]).slice(0, 8);
