import type { ClusterResourcePlacementDisruptionBudget as WrittenBudget } from "#schemas/cluster-resource-placement-disruption-budget";
import schema from "../../../../schemas/cluster-resource-placement-disruption-budget.json" with { type: "json" };
import { placementGroup } from "../../model/names.ts";
import { type DisruptionBudget, placementKey } from "../../model/placement.ts";
import { error, type FieldProblems } from "../../yaml/problems.ts";
import { countOrPercent, countOrPercentProblems } from "./fields.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";
import { commonProblems } from "./metadata.ts";

/** What evictions have to leave alone. */
export const disruptionBudgetKind: ReadKind<WrittenBudget, ContentOf<"budget">> = {
  names: [
    {
      group: placementGroup,
      kind: "ClusterResourcePlacementDisruptionBudget",
      scope: "Cluster",
      versions: ["v1alpha1", "v1beta1"],
    },
  ],
  schema,
  ownPlace: null,
  rules: (it) => disruptionBudgetProblems(it),
  content: (it) => ({ kind: "budget", budget: disruptionBudgetFrom(it) }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

function disruptionBudgetFrom({ metadata, spec }: WrittenBudget): Omit<DisruptionBudget, "source"> {
  const bound = spec.minAvailable === undefined ? "maxUnavailable" : "minAvailable";
  // The rules have read it before.
  const limit = countOrPercent(spec[bound] ?? 0) ?? { count: 0 };
  return { placement: placementKey(null, metadata.name), bound, limit };
}

/**
 * Checks a budget (`intent/README.md#v-pdb-01`, `#v-pdb-02`). KubeFleet reads one without a bound as "never"; here it
 * is refused (`rollout/README.md#b-12`).
 */
function disruptionBudgetProblems(budget: WrittenBudget): FieldProblems {
  const { maxUnavailable, minAvailable } = budget.spec;
  const isUnbounded = maxUnavailable === undefined && minAvailable === undefined;
  const isTwice = maxUnavailable !== undefined && minAvailable !== undefined;
  const exclusive = "maxUnavailable and minAvailable exclude each other";
  return [
    ...commonProblems(budget),
    ...(isUnbounded
      ? [error("FLT1300", ["spec"], "has neither maxUnavailable nor minAvailable", "add one of them")]
      : []),
    ...(isTwice ? [error("FLT1307", ["spec"], exclusive, "remove one of them")] : []),
    ...countOrPercentProblems(maxUnavailable, ["spec", "maxUnavailable"]),
    ...countOrPercentProblems(minAvailable, ["spec", "minAvailable"]),
  ];
}
