import type { FleetSpec } from "../model/fleet.ts";
import type { Plugin } from "./framework/plugin.ts";
import { clusterAffinity } from "./plugins/cluster-affinity.ts";
import { clusterEligibility } from "./plugins/cluster-eligibility.ts";
import { samePlacementAntiAffinity } from "./plugins/same-placement-anti-affinity.ts";
import { taintToleration } from "./plugins/taint-toleration.ts";

/** The plugins in use, and which fixes of the default profile (`schedule/README.md#where-we-differ`) apply. */
export interface Profile {
  readonly name: FleetSpec["profile"];
  /** In the order in which they filter: the first one that refuses gives the reason. */
  readonly plugins: readonly Plugin[];
  /**
   * `schedule/README.md#a-23`: clusters of an earlier policy stay preferred for the whole cycle, not only its first
   * batch.
   */
  readonly staysStickyBetweenBatches: boolean;
  /** `schedule/README.md#a-36`: a PickFixed target that became ineligible stays selected. */
  readonly keepsIneligibleTargets: boolean;
  /** `schedule/README.md#a-37`: an emptied PickFixed list means no cluster; in KubeFleet it changes nothing. */
  readonly emptyListMeansNone: boolean;
}

/** The two profiles, by the name that `fleet.yaml` gives. */
export const profiles: Readonly<Record<FleetSpec["profile"], Profile>> = {
  default: {
    name: "default",
    plugins: [
      clusterAffinity,
      clusterEligibility,
      taintToleration,
      samePlacementAntiAffinity({ prefersLeaving: true }),
    ],
    staysStickyBetweenBatches: true,
    keepsIneligibleTargets: true,
    emptyListMeansNone: true,
  },
  kubefleet: {
    name: "kubefleet",
    plugins: [
      clusterAffinity,
      clusterEligibility,
      taintToleration,
      samePlacementAntiAffinity({ prefersLeaving: false }),
    ],
    staysStickyBetweenBatches: false,
    keepsIneligibleTargets: false,
    emptyListMeansNone: false,
  },
};
