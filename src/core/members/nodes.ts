import { type JsonObject, memberAt, textOf } from "../model/json.ts";
import { flotillaGroup, nodeCountProperty, resourcePrefix } from "../model/names.ts";
import type { MachineCount, MemberProperties } from "../model/observation.ts";
import { compareText } from "../model/value.ts";
import { type Amounts, amountsIn, binaryText, decimalText, measured, withAmounts } from "./amounts.ts";
import { isPropertyName } from "./provided.ts";

/** What a Node tells: little of it, since a member may have thousands. */
export interface NodeFacts {
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  /** Its type of machine, as its platform calls it; null where nobody says. */
  readonly machineType: string | null;
  readonly region: string | null;
  readonly subscription: string | null;
}

const typeLabels = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const regionLabels = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];

/** As much of a Node as its facts need: the rest is forgotten with the page that it came in. */
export const reducedNode = (node: JsonObject): JsonObject => ({
  metadata: {
    labels: Object.fromEntries(
      [...typeLabels, ...regionLabels].map((it) => [it, memberAt(node, "metadata", "labels", it)]),
    ),
  },
  spec: { providerID: memberAt(node, "spec", "providerID") },
  status: { capacity: memberAt(node, "status", "capacity"), allocatable: memberAt(node, "status", "allocatable") },
});

/** Reads a Node. What is no quantity is left out, and so is what is no value of a label. */
export function nodeFactsOf(node: JsonObject): NodeFacts {
  const label = (names: readonly string[]): string | null => {
    for (const name of names) {
      const value = textOf(memberAt(node, "metadata", "labels", name));
      if (value !== null && isLabelValue(value)) return value;
    }
    return null;
  };
  const provider = textOf(memberAt(node, "spec", "providerID")) ?? "";
  return {
    capacity: amountsIn(memberAt(node, "status", "capacity")),
    allocatable: amountsIn(memberAt(node, "status", "allocatable")),
    machineType: label(typeLabels),
    region: label(regionLabels),
    subscription: /^azure:\/\/\/subscriptions\/([^/]+)\//i.exec(provider)?.[1] ?? null,
  };
}

/** The properties of a member that its nodes tell (`members/README.md#what-is-collected`). */
export function nodeProperties(nodes: readonly NodeFacts[]): MemberProperties {
  const found = new Map<string, string>([[nodeCountProperty, String(nodes.length)]]);
  const types = new Map<string, number>();
  for (const { machineType } of nodes)
    if (machineType !== null) types.set(machineType, (types.get(machineType) ?? 0) + 1);
  for (const [type, count] of firstOf(types)) found.set(`kubernetes.azure.com/vm-sizes/${type}/count`, String(count));
  const capacity = sumOf(nodes, (it) => it.capacity);
  const allocatable = sumOf(nodes, (it) => it.allocatable);
  for (const name of measured) {
    found.set(`${resourcePrefix}total-${name}`, amountText(name, capacity.get(name) ?? 0n));
    found.set(`${resourcePrefix}allocatable-${name}`, amountText(name, allocatable.get(name) ?? 0n));
  }
  const extended = [...capacity].filter(([name]) => isExtended(name));
  for (const [name, amount] of firstOf(extended))
    found.set(`${flotillaGroup}/total.${name.replace("/", ".")}`, decimalText(amount));
  return new Map([...found].sort(([a], [b]) => compareText(a, b)));
}

/** What is left for more pods, given what those that there are ask for. */
export function availableProperties(nodes: readonly NodeFacts[], requested: Amounts): MemberProperties {
  const allocatable = sumOf(nodes, (it) => it.allocatable);
  return new Map(
    measured.map((name) => {
      const left = (allocatable.get(name) ?? 0n) - (requested.get(name) ?? 0n);
      return [`${resourcePrefix}available-${name}`, amountText(name, left < 0n ? 0n : left)];
    }),
  );
}

/** As many as are recorded, whatever a member makes up: the first by name, so that they stay the same. */
const firstOf = <T>(all: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] =>
  [...all].sort(([a], [b]) => compareText(a, b)).slice(0, mostOfAKind);

const mostOfAKind = 100;

const amountText = (name: (typeof measured)[number], amount: bigint): string =>
  name === "memory" ? binaryText(amount) : decimalText(amount);

const sumOf = (nodes: readonly NodeFacts[], amountsOf: (node: NodeFacts) => Amounts): Amounts =>
  nodes.reduce<Amounts>((sum, it) => withAmounts(sum, amountsOf(it)), new Map());

/** Such as `nvidia.com/gpu`: not Kubernetes' own, and not a page size or a kind of volume. */
const isExtended = (name: string): boolean =>
  isPropertyName(name) && /^[^/]+\/[^/]+$/.test(name) && !/^([^/]*\.)?kubernetes\.io\//.test(name);

/** The labels that all nodes tell alike (`members/README.md#labels`). */
export function nodeLabels(nodes: readonly NodeFacts[]): MemberProperties {
  const labels: readonly (readonly [string, readonly (string | null)[]])[] = [
    ["fleet.azure.com/location", nodes.map((it) => it.region)],
    ["fleet.azure.com/subscription-id", nodes.map((it) => it.subscription)],
  ];
  return new Map(
    labels.flatMap(([name, values]) => {
      const [first = null] = values;
      return first !== null && isLabelValue(first) && values.every((it) => it === first) ? [[name, first]] : [];
    }),
  );
}

const isLabelValue = (text: string): boolean => /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text);

/** Nodes by type and region. */
export function machinesOf(nodes: readonly NodeFacts[]): readonly MachineCount[] {
  const found = new Map<string, MachineCount>();
  for (const { machineType: type, region } of nodes) {
    const key = JSON.stringify([type, region]);
    found.set(key, { type, region, count: (found.get(key)?.count ?? 0) + 1 });
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, it]) => it);
}
