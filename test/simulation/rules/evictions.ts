import type { Binding } from "../../../src/core/model/binding.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { ClusterName, Commit, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import { namesItsObject } from "../people/document.ts";
import { hasAnswered, type StateCommit, type StateCommitRule } from "../state-commit.ts";
import { evictionsAt, type SeenEviction } from "./recorded-runs.ts";

/** Promises about evictions. */
export const evictionRules: readonly (readonly [string, StateCommitRule])[] = [["I-54", evictsWithinBudget]];

/**
 * I-54: evictions leave as many clusters available as the budget says, what the rollout begins beside them not counted,
 * and a budget that cannot be read denies all of them but where the placement has failed or only reports: then they say so.
 * A text that is no YAML or has no name is nobody's budget, and nobody else may notice it (I-18).
 */
function* evictsWithinBudget(page: StateCommit, judge: Judge): Generator<string> {
  const { hub, people } = judge.simulation;
  const executed = executedIn(page, judge);
  const commit = page.after.sourceCommit as Commit;
  for (const placement of new Set(executed.map((it) => it.placement))) {
    const path = `budgets/${placement}.yaml`;
    const own = executed.filter((it) => it.placement === placement);
    const { bindings = new Map() } = page.after.placements.get(placement as PlacementKey) ?? {};
    const before = page.before?.placements.get(placement as PlacementKey)?.bindings;
    const lost = own.filter(
      (it) =>
        before?.get(it.cluster as ClusterName)?.removal === null &&
        works(bindings.get(it.cluster as ClusterName), page),
    );
    const left = [...bindings.values()].filter((it) => it.removal === null && works(it, page));
    const budget = judge.inForce.at(commit).get(path);
    const names = own.map((it) => it.name).join(", ");
    const said = people.at(commit).get(path);
    const isUnread = budget === undefined && said?.kind === "broken" && namesItsObject(said.how);
    if (isUnread && (lost.length > 0 || own.some((it) => !it.message.endsWith(": no budget applies"))))
      yield `${names} of ${placement} is carried out, and its budget cannot be read`;
    if (budget?.kind !== "budget" || lost.length === 0) continue;
    const least = leastOf(budget.bound, bindings.size, page.after.placements.get(placement as PlacementKey));
    if (left.length < least)
      yield `${names} of ${placement} is carried out (${hub.state?.slice(0, 7)}) and leaves ${left.length} of at least ${least}`;
  }
}

/** Evictions that a commit carries out: not those that found the placement leaving for another reason. */
export function executedIn({ commit }: StateCommit, { simulation: { hub } }: Judge): readonly SeenEviction[] {
  const known = new Set(evictionsAt(hub, hub.commitAt(commit).parent).map((it) => it.name));
  return evictionsAt(hub, commit).filter((it) => it.isExecuted && !known.has(it.name) && it.found === "");
}

/** By what its member said last, if it answers or was not asked. */
const works = (binding: Binding | undefined, page: StateCommit): boolean =>
  binding?.facts?.applied === "applied" &&
  (binding.facts.phase === "available" || binding.facts.phase === "untrackable") &&
  hasAnswered(page, binding.cluster);

/** Percentages are of the number that is asked for, and rounded up; a policy without one knows a fixed least only. */
function leastOf(bound: string, all: number, record: PlacementRecord | undefined): number {
  const [field = "", limit = ""] = bound.split("=");
  const policy = record?.spec.policy;
  const isOfMany = policy?.kind === "PickN";
  if (!isOfMany && (limit.endsWith("%") || field === "maxUnavailable")) return Infinity;
  const wanted = isOfMany ? policy.numberOfClusters : 0;
  const count = limit.endsWith("%") ? Math.ceil((Number(limit.slice(0, -1)) * wanted) / 100) : Number(limit);
  return field === "minAvailable" ? count : all - count;
}
