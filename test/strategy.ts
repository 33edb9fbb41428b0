import type { ApplyStrategy, RolloutStrategy } from "../src/core/model/placement.ts";
import { minutes, seconds } from "../src/core/model/value.ts";

/** What a placement that says nothing of it gets: KubeFleet's defaults (`apply/README.md#the-apply-strategy`). */
export const clientSide: ApplyStrategy = {
  type: "ClientSideApply",
  comparisonOption: "PartialComparison",
  whenToApply: "Always",
  whenToTakeOver: "Always",
  allowCoOwnership: false,
  forceConflicts: false,
};

/** The same of the whole strategy (`rollout/README.md#rolling-update`), with our deadline (B 1). */
export const defaultStrategy: RolloutStrategy = {
  type: "RollingUpdate",
  rollingUpdate: { maxUnavailable: { percent: 25 }, maxSurge: { percent: 25 }, unavailablePeriod: seconds(60) },
  applyStrategy: clientSide,
  propagationPolicy: "Delete",
  progressDeadline: minutes(10),
  deleteAdopted: false,
};
