import type { MemberCluster } from "../model/fleet.ts";
import { remembered } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import { isCollectedProperty, resourcePrefix } from "../model/names.ts";
import type { Placement } from "../model/placement.ts";
import { quantityOf } from "../model/quantity.ts";
import { nameList } from "../model/value.ts";
import { didYouMean } from "../yaml/nearest.ts";
import { type FieldProblems, type JsonPath, warning } from "../yaml/problems.ts";

const affinity: JsonPath = ["spec", "policy", "affinity", "clusterAffinity"];
const requiredAt: JsonPath = [...affinity, "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms"];
const preferredAt: JsonPath = [...affinity, "preferredDuringSchedulingIgnoredDuringExecution"];

/**
 * Warns of properties that a policy looks at and that no cluster has, or that are no quantities: both count as missing
 * (`schedule/README.md#a-29`).
 */
export function propertyAdvice(
  { spec: { policy } }: Pick<Placement, "spec">,
  { clusters }: Pick<Intent, "clusters">,
): FieldProblems {
  if (policy.kind === "PickFixed" || clusters.size === 0) return [];
  const required = policy.required.flatMap(({ properties }, term) =>
    properties.map(({ name }, at) => ({
      name,
      at: [...requiredAt, term, "propertySelector", "matchExpressions", at, "name"],
    })),
  );
  const preferred = policy.kind === "PickN" ? policy.preferred : [];
  const sorters = preferred.flatMap(({ preference: { sorter } }, term) =>
    sorter === null ? [] : [{ name: sorter.name, at: [...preferredAt, term, "preference", "propertySorter", "name"] }],
  );
  return [...required, ...sorters].flatMap(({ name, at }) => adviceOf(name, at, knownValues(clusters)));
}

type KnownValues = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Collected once, and only where a policy names a property: every placement asks. */
const knownValues = remembered(
  (clusters: Intent["clusters"]): KnownValues => new Map([...clusters.values()].map((it) => [it.name, valuesOf(it)])),
);

function adviceOf(name: string, at: JsonPath, known: KnownValues): FieldProblems {
  const { isKnown, bad } = findingOn(name, known);
  if (!isKnown) {
    if (isCollectedProperty(name)) return [];
    const names = new Set([...known.values()].flatMap((it) => [...it.keys()]));
    const fix = didYouMean(
      name,
      names,
      "have a provider say it, declare it in the status of MemberClusters, or correct the name",
    );
    return [warning("FLT1340", at, `no MemberCluster declares the property ${name}`, fix)];
  }
  if (bad.length === 0) return [];
  const message = `is no quantity, and counts as missing, on ${nameList(bad)}`;
  return [warning("FLT1340", at, message, "correct their files", name)];
}

interface PropertyFinding {
  readonly isKnown: boolean;
  /** Clusters whose value is no quantity. */
  readonly bad: readonly string[];
}

/** The same for all placements, of which each asks. */
function findingOn(name: string, known: KnownValues): PropertyFinding {
  const findings = findingsIn(known);
  const before = findings.get(name);
  if (before !== undefined) return before;
  const having = [...known].filter(([, values]) => values.has(name));
  const bad = having.filter(([, values]) => quantityOf(values.get(name) ?? "") === null).map(([cluster]) => cluster);
  const found = { isKnown: having.length > 0, bad };
  findings.set(name, found);
  return found;
}

const findingsIn = remembered((_: KnownValues) => new Map<string, PropertyFinding>());

/** Under the names by which policies ask for them (`schedule/README.md#properties`). */
function valuesOf({ properties, resourceUsage }: MemberCluster): ReadonlyMap<string, string> {
  const { capacity, allocatable, available } = resourceUsage;
  const amounts = Object.entries({ total: capacity, allocatable, available }).flatMap(([kind, all]) =>
    Object.entries(all).map(([resource, value]) => [`${resourcePrefix}${kind}-${resource}`, value] as const),
  );
  return new Map([...Object.entries(properties).map(([name, { value }]) => [name, value] as const), ...amounts]);
}
