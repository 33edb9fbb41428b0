import { type DisruptionBudget, placementKey } from "../../model/placement.ts";
import { error, type Remark } from "../../yaml/remark.ts";
import { annotationRemarks, dnsSubdomainRemarks, oldVersionRemarks, statusRemarks } from "./metadata.ts";
import { countOrPercent } from "./placement.ts";
import type { WrittenBudget } from "./written.ts";

/** A disruption budget that has passed its schema and its rules. */
export function disruptionBudgetOf({ metadata, spec }: WrittenBudget): Omit<DisruptionBudget, "source"> {
  const bound = spec.minAvailable === undefined ? "maxUnavailable" : "minAvailable";
  // The rules have read it before.
  return {
    placement: placementKey(null, metadata.name),
    bound,
    limit: countOrPercent(spec[bound] ?? 0) ?? { count: 0 },
  };
}

/**
 * Checks a budget that its schema has passed: `intent/README.md#v-pdb-01`, `#v-pdb-02`.
 *
 * KubeFleet reads one without a bound as "never"; here it is refused (`rollout/README.md#b-12`).
 */
export function disruptionBudgetRemarks({ apiVersion, metadata, spec, status }: WrittenBudget): readonly Remark[] {
  const { maxUnavailable, minAvailable } = spec;
  const remarks = [
    ...dnsSubdomainRemarks(metadata.name),
    ...annotationRemarks(metadata.annotations, []),
    ...oldVersionRemarks(apiVersion, "v1beta1"),
    ...statusRemarks(status),
  ];
  if (maxUnavailable === undefined && minAvailable === undefined)
    remarks.push(error("FLT1300", ["spec"], "names no bound", "write maxUnavailable: 1, or minAvailable"));
  if (maxUnavailable !== undefined && minAvailable !== undefined)
    remarks.push(
      error("FLT1307", ["spec"], "maxUnavailable and minAvailable exclude each other", "remove one of them"),
    );
  for (const [field, it] of Object.entries({ maxUnavailable, minAvailable }))
    if (it !== undefined && countOrPercent(it) === null)
      remarks.push({ ...error("FLT1303", ["spec", field], amount, "write 3 or 25%"), got: JSON.stringify(it) });
  return remarks;
}

const amount = "must be a whole number from 0, or a percentage from 0% to 100%";
