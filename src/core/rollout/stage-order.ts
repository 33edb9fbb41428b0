import type { MemberCluster } from "../model/fleet.ts";
import type { RunFailure, Stage } from "../model/update-run.ts";
import { type ClusterName, compareText, type Labels, nameList, selects } from "../model/value.ts";

/** The clusters of every stage in the order in which they start, or why there is no such order. */
type StageOrder = { readonly kind: "ordered"; readonly clusters: readonly (readonly ClusterName[])[] } | OrderFailure;

interface OrderFailure {
  readonly kind: "failed";
  readonly code: Extract<RunFailure, "ClusterInTwoStages" | "BadSortLabel" | "ClusterInNoStage">;
  readonly message: string;
}

/**
 * Assigns every cluster of a placement to exactly one stage of a strategy (`rollout/README.md#the-order-of-a-stage`).
 * Clusters that a selector matches and the placement does not pick are ignored; a stage may be empty.
 */
export function orderStages(
  stages: readonly Stage[],
  selected: readonly ClusterName[],
  members: ReadonlyMap<ClusterName, MemberCluster>,
): StageOrder {
  const labelsOf = (cluster: ClusterName): Labels => members.get(cluster)?.labels ?? {};
  const stageOf = new Map<ClusterName, string>();
  const clusters: (readonly ClusterName[])[] = [];
  for (const stage of stages) {
    const { name, selector } = stage;
    const candidates = selected.filter((it) => selector !== null && selects(selector, labelsOf(it)));
    const twice = candidates.flatMap((it) => (stageOf.has(it) ? [`${it} (${stageOf.get(it)})`] : []));
    if (twice.length > 0) return inTwoStages(name, twice);
    const order = ordered(stage, candidates, labelsOf);
    if ("kind" in order) return order;
    for (const it of order) stageOf.set(it, name);
    clusters.push(order);
  }
  const inNone = selected.filter((it) => !stageOf.has(it));
  return inNone.length > 0 ? inNoStage(inNone) : { kind: "ordered", clusters };
}

/** By the integer of the sorting label, then by name (`rollout/README.md#the-order-of-a-stage`; `#u13`). */
function ordered(
  { name, sortingLabelKey: key }: Stage,
  candidates: readonly ClusterName[],
  labelsOf: (cluster: ClusterName) => Labels,
): readonly ClusterName[] | OrderFailure {
  if (key === null) return [...candidates].sort(compareText);
  const rank = new Map<ClusterName, bigint>();
  for (const it of candidates) {
    const value = integerOf(Object.hasOwn(labelsOf(it), key) ? labelsOf(it)[key] : undefined);
    if (value !== null) rank.set(it, value);
  }
  const unranked = candidates.filter((it) => !rank.has(it));
  if (unranked.length > 0) return badSortLabel(name, key, unranked);
  const rankOf = (it: ClusterName): bigint => rank.get(it) ?? 0n;
  return [...candidates].sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : rankOf(a) > rankOf(b) ? 1 : compareText(a, b)));
}

/** As Go's `strconv.ParseInt` with base 10 and 64 bits: `-3`, `+2`, `007`; neither `1.5` nor ` 1`. */
function integerOf(text: string | undefined): bigint | null {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return null;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value === BigInt.asIntN(64, value) ? value : null;
}

const inTwoStages = (stage: string, twice: readonly string[]): OrderFailure => ({
  kind: "failed",
  code: "ClusterInTwoStages",
  message:
    `stage ${stage} selects ${count(twice)} that an earlier stage has already: ${nameList(twice)}; ` +
    "narrow one of the labelSelectors, then create a new run",
});

const badSortLabel = (stage: string, key: string, unranked: readonly ClusterName[]): OrderFailure => ({
  kind: "failed",
  code: "BadSortLabel",
  message:
    `stage ${stage} is sorted by the label ${key}, which is no integer on ${count(unranked)}: ${nameList(unranked)}; ` +
    "label them, then create a new run",
});

const inNoStage = (inNone: readonly ClusterName[]): OrderFailure => ({
  kind: "failed",
  code: "ClusterInNoStage",
  message:
    `no stage selects ${count(inNone)} that the placement picks: ${nameList(inNone)}; ` +
    "add a stage or widen a labelSelector, then create a new run",
});

const count = ({ length }: readonly unknown[]): string => (length === 1 ? "1 cluster" : `${length} clusters`);
