import type { FleetSpec } from "../model/fleet.ts";
import type { Plugin } from "./framework/plugin.ts";
import { clusterAffinity } from "./plugins/cluster-affinity.ts";
import { clusterEligibility } from "./plugins/cluster-eligibility.ts";
import { namespaceAffinity } from "./plugins/namespace-affinity.ts";
import { doubleArithmetic, exactArithmetic } from "./plugins/property-sorter.ts";
import { samePlacementAntiAffinity } from "./plugins/same-placement-anti-affinity.ts";
import { taintToleration } from "./plugins/taint-toleration.ts";
import { tenantClusters } from "./plugins/tenant-clusters.ts";
import { topologySpreadConstraints } from "./plugins/topology-spread-constraints.ts";

/** The plugins in use, and which fixes of the default profile (`schedule/README.md#where-we-differ`) apply. */
export interface Profile {
  readonly name: FleetSpec["profile"];
  /** In the order in which they filter: the first one that refuses gives the reason. */
  readonly plugins: readonly Plugin[];
  /** `schedule/README.md#a-21`: of too many, clusters in the fullest domain go first. */
  readonly trimsFullestDomain: boolean;
  /**
   * `schedule/README.md#a-23`: clusters of an earlier policy stay preferred for the whole cycle, not only its first
   * batch.
   */
  readonly staysStickyBetweenBatches: boolean;
  /** `schedule/README.md#a-25`: clusters count, however many bindings there are to one. */
  readonly countsClusters: boolean;
  /** `schedule/README.md#a-36`: a PickFixed target that became ineligible stays selected. */
  readonly keepsIneligibleTargets: boolean;
  /** `schedule/README.md#a-37`: an emptied PickFixed list means no cluster; in KubeFleet it changes nothing. */
  readonly emptyListMeansNone: boolean;
  /**
   * `schedule/README.md#a-39`: clusters that are not needed are judged after the picks, in every cycle. In KubeFleet they
   * are judged before the last batch, and not at all where nothing has to be picked.
   */
  readonly explainsAfterPicks: boolean;
}

/** The two profiles, by the name that `fleet.yaml` gives. */
export const profiles: Readonly<Record<FleetSpec["profile"], Profile>> = {
  default: {
    name: "default",
    plugins: [
      clusterAffinity(exactArithmetic),
      clusterEligibility,
      tenantClusters,
      namespaceAffinity,
      taintToleration,
      samePlacementAntiAffinity({ prefersLeaving: true }),
      topologySpreadConstraints({ scoresSingleDomain: false, refusesRepairs: false, countsOutsiders: false }),
    ],
    trimsFullestDomain: true,
    staysStickyBetweenBatches: true,
    countsClusters: true,
    keepsIneligibleTargets: true,
    emptyListMeansNone: true,
    explainsAfterPicks: true,
  },
  kubefleet: {
    name: "kubefleet",
    plugins: [
      clusterAffinity(doubleArithmetic),
      clusterEligibility,
      tenantClusters,
      namespaceAffinity,
      taintToleration,
      samePlacementAntiAffinity({ prefersLeaving: false }),
      topologySpreadConstraints({ scoresSingleDomain: true, refusesRepairs: true, countsOutsiders: true }),
    ],
    trimsFullestDomain: false,
    staysStickyBetweenBatches: false,
    countsClusters: false,
    keepsIneligibleTargets: false,
    emptyListMeansNone: false,
    explainsAfterPicks: false,
  },
};
