import type { ClusterResourcePlacementDisruptionBudget as WrittenBudget } from "#schemas/cluster-resource-placement-disruption-budget";
import { type DisruptionBudget, placementKey } from "../../model/placement.ts";
import { error, type FieldProblem } from "../../yaml/problems.ts";
import { countOrPercent, countOrPercentRemarks } from "./fields.ts";
import { annotationRemarks, dnsSubdomainRemarks, oldVersionRemarks } from "./metadata.ts";

/** A disruption budget that has passed its schema and its rules. */
export function disruptionBudgetFrom({ metadata, spec }: WrittenBudget): Omit<DisruptionBudget, "source"> {
  const bound = spec.minAvailable === undefined ? "maxUnavailable" : "minAvailable";
  // The rules have read it before.
  const limit = countOrPercent(spec[bound] ?? 0) ?? { count: 0 };
  return { placement: placementKey(null, metadata.name), bound, limit };
}

/**
 * Checks a budget that its schema has passed: `intent/README.md#v-pdb-01`, `#v-pdb-02`.
 *
 * KubeFleet reads one without a bound as "never"; here it is refused (`rollout/README.md#b-12`).
 */
export function disruptionBudgetProblems({ apiVersion, metadata, spec }: WrittenBudget): readonly FieldProblem[] {
  const { maxUnavailable, minAvailable } = spec;
  const isUnbounded = maxUnavailable === undefined && minAvailable === undefined;
  const isTwice = maxUnavailable !== undefined && minAvailable !== undefined;
  const exclusive = "maxUnavailable and minAvailable exclude each other";
  return [
    ...dnsSubdomainRemarks(metadata.name),
    ...annotationRemarks(metadata.annotations, []),
    ...oldVersionRemarks(apiVersion, "v1beta1"),
    ...(isUnbounded ? [error("FLT1300", ["spec"], "names no bound", "write maxUnavailable: 1, or minAvailable")] : []),
    ...(isTwice ? [error("FLT1307", ["spec"], exclusive, "remove one of them")] : []),
    ...countOrPercentRemarks(maxUnavailable, ["spec", "maxUnavailable"]),
    ...countOrPercentRemarks(minAvailable, ["spec", "minAvailable"]),
  ];
}
