import { placementDocumentKey, strategyDocumentKey } from "../model/history.ts";
import type { Intent } from "../model/intent.ts";
import { type DisruptionBudget, type Eviction, mayPick, type Placement, placementKey } from "../model/placement.ts";
import type { Stage, UpdateRun, UpdateStrategy } from "../model/update-run.ts";
import { type ClusterName, type PlacementKey, partsOfKey, selects } from "../model/value.ts";
import { didYouMean } from "../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath, warning } from "../yaml/problems.ts";

type AdviceContext = Pick<Intent, "clusters" | "placements" | "strategies" | "unusable">;

/**
 * Whether the placement and the strategy of a run exist and suit it: `intent/README.md#v-ur-07`, `#v-ur-09`,
 * `#v-ur-12`; and which clusters that the placement may pick are in no stage (`rollout/README.md#the-plan-of-a-run`).
 */
export function runAdvice(
  run: Omit<UpdateRun, "source">,
  { clusters, placements, strategies, unusable }: AdviceContext,
): FieldProblems {
  const { placement: key, strategy } = run.spec;
  const { scope, namespace } = run;
  const placement = placements.get(key);
  // A document that cannot be used has a problem of its own.
  const isBroken = (documentKey: typeof placementDocumentKey, of: string): boolean =>
    unusable.has(documentKey({ scope, namespace, name: nameIn(namespace, of) ?? of }));
  const isKnown = strategies.has(strategy) || isBroken(strategyDocumentKey, strategy);
  return [
    ...(placement !== undefined
      ? placementMismatch(placement, clusters.size)
      : isBroken(placementDocumentKey, key)
        ? []
        : [unknownPlacementProblem(key, namespace, { placements, otherwise: "remove the run when it is over" })]),
    ...(isKnown ? [] : [unknownStrategyProblem(strategy, namespace, strategies)]),
    ...(placement === undefined ? [] : unstagedProblems(placement, strategies.get(strategy), clusters)),
  ];
}

function unknownStrategyProblem(
  strategy: string,
  namespace: string | null,
  strategies: AdviceContext["strategies"],
): FieldProblem {
  const name = nameIn(namespace, strategy) ?? strategy;
  const fix = didYouMean(name, namesIn(namespace, strategies.keys()), "add it, or remove the run when it is over");
  const message = `there is no strategy ${name}${inNamespace(namespace)}`;
  return error("FLT1314", ["spec", "stagedRolloutStrategyName"], message, fix);
}

/** The name of what has this key, if that is of this namespace; null is the whole fleet's. */
function nameIn(namespace: string | null, key: string): string | null {
  const [own, name] = partsOfKey(key);
  return own === namespace ? name : null;
}

const namesIn = (namespace: string | null, keys: Iterable<string>): readonly string[] =>
  [...keys].flatMap((it) => nameIn(namespace, it) ?? []);

const inNamespace = (namespace: string | null): string => (namespace === null ? "" : ` in the namespace ${namespace}`);

function unstagedProblems(
  { spec: { policy } }: Placement,
  strategy: UpdateStrategy | undefined,
  clusters: AdviceContext["clusters"],
): FieldProblems {
  if (strategy === undefined || strategy.stages.length === 0) return [];
  const names = [...clusters.values()]
    .filter((it) => mayPick(policy, it))
    .filter(({ labels }) => !strategy.stages.some(({ selector }) => selector !== null && selects(selector, labels)))
    .map((it) => it.name);
  if (names.length === 0) return [];
  const message = `${listed(names)} in no stage of ${strategy.key}, and the placement may pick ${names.length === 1 ? "it" : "them"}`;
  const fix = "let a stage select every cluster, or keep the placement from it: a run with such a cluster cannot begin";
  return [warning("FLT1317", ["spec", "stagedRolloutStrategyName"], message, fix)];
}

function placementMismatch({ key, spec: { strategy, policy } }: Placement, members: number): FieldProblems {
  if (strategy.type !== "External") {
    const message = `placement ${key} does not wait for runs: its strategy is ${strategy.type}`;
    return [error("FLT1314", atPlacement, message, "set spec.strategy.type of the placement to External")];
  }
  if (policy.kind !== "PickN" || policy.numberOfClusters <= members) return [];
  const message = `placement ${key} wants ${policy.numberOfClusters} clusters and there are ${members}`;
  return [warning("FLT1314", atPlacement, message, "add clusters: a run begins when all of them are found")];
}

const atPlacement: JsonPath = ["spec", "placementName"];

interface Known {
  readonly placements: AdviceContext["placements"];
  /** What to do where nothing like it is there, beside adding it. */
  readonly otherwise: string;
}

function unknownPlacementProblem(
  key: PlacementKey,
  namespace: string | null,
  { placements, otherwise }: Known,
): FieldProblem {
  const name = nameIn(namespace, key) ?? key;
  const other = otherKindOf(name, namespace, placements);
  const near = didYouMean(name, namesIn(namespace, placements.keys()), `add it, or ${otherwise}`);
  const fix = other === null ? near : `${other.key} is a ${kindOf(other)}: ${wayTo(other)}`;
  return error("FLT1314", atPlacement, `there is no placement ${name}${inNamespace(namespace)}`, fix);
}

/** A placement of this name and of the other kind: of the fleet for whoever looks in a namespace, else in any. */
function otherKindOf(name: string, namespace: string | null, placements: Known["placements"]): Placement | null {
  if (namespace !== null) return placements.get(placementKey(null, name)) ?? null;
  for (const it of placements.values()) if (it.namespace !== null && it.name === name) return it;
  return null;
}

const kindOf = ({ scope }: Placement): string =>
  scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement";

const wayTo = ({ namespace }: Placement): string =>
  namespace === null
    ? "its runs are ClusterStagedUpdateRuns"
    : `its runs are StagedUpdateRuns in the namespace ${namespace}, and nothing is evicted from it`;

/** How many clusters a warning names. */
const shown = 3;

/** What would end a run on these clusters (`intent/README.md#v-ur-10`, `#v-ur-11`, `rollout/README.md#b-20`). */
export function strategyAdvice({ stages }: Omit<UpdateStrategy, "source">, { clusters }: AdviceContext): FieldProblems {
  const twice = new Map<number, ClusterName[]>();
  const unsorted = new Map<number, ClusterName[]>();
  for (const { name, labels } of clusters.values()) {
    const holders = [...stages.entries()].filter(([, { selector }]) => selector !== null && selects(selector, labels));
    for (const [i, { sortingLabelKey }] of holders)
      if (sortingLabelKey !== null && !isWhole(labels[sortingLabelKey])) listIn(unsorted, i).push(name);
    for (const [i] of holders.slice(1)) listIn(twice, i).push(name);
  }
  return [
    ...[...twice].map(([i, names]) => stageAdvice(i, "labelSelector", `${listed(names)} in an earlier stage too`)),
    ...[...unsorted].map(([i, names]) =>
      stageAdvice(i, "sortingLabelKey", `${listed(names)} without a whole number in label ${keyOf(stages[i])}`),
    ),
  ];
}

const keyOf = (stage: Stage | undefined): string => stage?.sortingLabelKey ?? "";

/** The value of a label has no sign. */
const isWhole = (text: string | undefined): boolean => text !== undefined && /^[0-9]{1,18}$/.test(text);

function listIn(map: Map<number, ClusterName[]>, key: number): ClusterName[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

function listed(names: readonly ClusterName[]): string {
  const surplus = names.length - shown;
  const more = surplus > 0 ? ` and ${surplus} more` : "";
  return `${names.slice(0, shown).join(", ")}${more} ${names.length === 1 ? "is" : "are"}`;
}

const stageAdvice = (i: number, field: string, message: string): FieldProblem =>
  warning(
    "FLT1317",
    ["spec", "stages", i, field],
    message,
    "correct the stages or the labels: a run with such a cluster cannot begin",
  );

/** `intent/README.md#v-crpe-03` and `#v-crpe-05`; of `#v-crpe-06` that the cluster exists. */
export function evictionAdvice(
  eviction: Omit<Eviction, "source">,
  { clusters, placements }: AdviceContext,
): FieldProblems {
  const placement = placements.get(eviction.placement);
  const problems: FieldProblem[] = [];
  if (placement === undefined) {
    const otherwise = "remove the eviction when it is over";
    problems.push(unknownPlacementProblem(eviction.placement, null, { placements, otherwise }));
  }
  if (placement?.spec.policy.kind === "PickFixed") {
    const message = `placement ${placement.key} is PickFixed: nothing is evicted from it`;
    problems.push(error("FLT1314", atPlacement, message, "remove the cluster from its clusterNames"));
  }
  if (!clusters.has(eviction.cluster)) {
    const fix = didYouMean(eviction.cluster, clusters.keys(), "add its MemberCluster, or remove the eviction");
    problems.push(warning("FLT1335", ["spec", "clusterName"], `there is no MemberCluster ${eviction.cluster}`, fix));
  }
  return problems;
}

/**
 * `intent/README.md#v-pdb-03` … `#v-pdb-05`: for PickAll only a number of clusters that stay available is a bound. A
 * budget that does not suit its placement stays in force and allows no eviction.
 */
export function budgetAdvice(
  { placement: key, bound, limit }: Omit<DisruptionBudget, "source">,
  { placements }: AdviceContext,
): FieldProblems {
  const placement = placements.get(key);
  const problems: FieldProblem[] = [];
  if (placement === undefined) {
    const other = otherKindOf(key, null, placements);
    const near = didYouMean(key, namesIn(null, placements.keys()), "add the placement, or correct the name");
    const fix =
      other === null ? near : `${other.key} is a ${kindOf(other)}: nothing is evicted from it; remove the budget`;
    problems.push(warning("FLT1337", ["metadata", "name"], `there is no placement ${key}`, fix));
  }
  if (placement?.spec.policy.kind !== "PickAll" || (bound === "minAvailable" && "count" in limit)) return problems;
  const what = bound === "maxUnavailable" ? bound : "a percentage";
  const message = `placement ${key} is PickAll, for which ${what} is not a bound: nothing is evicted from it`;
  return [...problems, error("FLT1314", ["spec", bound], message, "use minAvailable with a number")];
}
