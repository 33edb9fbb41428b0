import type { MemberCluster } from "../../model/fleet.ts";
import type { PastDocument } from "../../model/history.ts";
import type { Json } from "../../model/json.ts";
import { resourcePrefix } from "../../model/names.ts";
import type { PlacementSpec } from "../../model/placement.ts";
import { type Labels, selectorKeys } from "../../model/value.ts";
import type { ClusterUpdate } from "./cluster-content.ts";
import type { DecisionScope } from "./decision-scope.ts";

/** What one kind of document means to a decision; null where it means nothing, or is another kind. */
export type Reader = (document: PastDocument) => Json | null;

/** Whether the scheduler's word is asked for: the cluster gets the placement, or loses it. */
export const isPicked = ({ carried, wanted }: ClusterUpdate): boolean => carried === null || wanted === null;

/** The cluster itself: the labels that were looked at, and, where the scheduler is asked, all that it goes by. */
export function clusterReader(update: ClusterUpdate, { placements, lookedAt }: DecisionScope): Reader {
  const { clusters, subject } = update;
  const policies = [subject.record, ...placements].map((it) => it.spec.policy);
  const asked = isPicked(update) ? new Set([...lookedAt, ...policies.flatMap(labelsOf)]) : lookedAt;
  return ({ key, said }) => {
    // Whoever says what machines cost has a say in where a policy that looks at costs places something.
    if (said.kind === "prices")
      return isPicked(update) && policies.some((it) => propertiesOf(it).some(isCost)) ? json(said.prices) : null;
    if (said.kind !== "cluster") return null;
    const { name, labels, taints, properties, resourceUsage, spec } = said.cluster;
    if (!clusters.has(name) && !(isPicked(update) && policies.some((it) => it.kind === "PickN"))) return null;
    const own = [key, json(only(labels, asked))];
    if (!isPicked(update)) return own;
    return [...own, json(taints), json(readProperties({ properties, resourceUsage }, policies)), spec];
  };
}

const isCost = (property: string): boolean => /^kubernetes\.azure\.com\/per-.*-cost$/.test(property);

/** The values of the properties that policies compare or sort by, capacities among them. */
function readProperties(
  {
    properties,
    resourceUsage: { capacity, allocatable, available },
  }: Pick<MemberCluster, "properties" | "resourceUsage">,
  policies: readonly PlacementSpec["policy"][],
): Json {
  const names = new Set(policies.flatMap(propertiesOf));
  const isCapacityRead = [...names].some((it) => it.startsWith(resourcePrefix));
  const values = Object.entries(properties)
    .filter(([name]) => names.has(name))
    .map(([name, { value }]) => [name, value] as const);
  return json([values, isCapacityRead ? { capacity, allocatable, available } : null]);
}

function propertiesOf(policy: PlacementSpec["policy"]): readonly string[] {
  if (policy.kind === "PickFixed") return [];
  const sorters = policy.kind === "PickN" ? policy.preferred.flatMap((it) => it.preference.sorter?.name ?? []) : [];
  return [...policy.required.flatMap((it) => it.properties.map(({ name }) => name)), ...sorters];
}

function labelsOf(policy: PlacementSpec["policy"]): readonly string[] {
  if (policy.kind === "PickFixed") return [];
  const preferred = policy.kind === "PickN" ? policy.preferred.map((it) => it.preference) : [];
  const selected = [...policy.required, ...preferred].flatMap(({ labelSelector }) =>
    labelSelector === null ? [] : selectorKeys(labelSelector),
  );
  return policy.kind === "PickN" ? [...selected, ...policy.spread.map((it) => it.topologyKey)] : selected;
}

/** Those labels that have one of these keys. */
export const only = (labels: Labels, keys: ReadonlySet<string>): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => keys.has(key)));

const json = (value: unknown): Json => value as Json;
