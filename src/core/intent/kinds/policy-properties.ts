import type { Policy as WrittenPolicy, ClusterTerm as WrittenTerm } from "#schemas/cluster-resource-placement";
import { authorityProperty, entrypointProperty, kubernetesVersionProperty, resourcePrefix } from "../../model/names.ts";
import { type Quantity, quantityOf } from "../../model/quantity.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { repeatedProblems } from "./fields.ts";
import { isDnsSubdomain, isQualifiedName, malformedProblem } from "./metadata.ts";

type WrittenRequirement = NonNullable<WrittenTerm["propertySelector"]>["matchExpressions"][number];

/** Properties whose values are texts: compared with a quantity, they would match nowhere (`schedule/README.md#a-30`). */
const texts: ReadonlySet<string> = new Set([kubernetesVersionProperty, entrypointProperty, authorityProperty]);

/** Checks the name of a property that is to be compared or sorted by (`intent/README.md#v-pl-38`, `#v-pl-39`). */
export function propertyNameProblems(name: string, at: JsonPath): FieldProblems {
  if (texts.has(name))
    return [error("FLT1305", at, `${name} is no quantity`, "compare a property that is a number, or select by labels")];
  if (name.startsWith(resourcePrefix)) {
    const isSplit = /^(?:total|allocatable|available)-./.test(name.slice(resourcePrefix.length));
    if (isSplit && isQualifiedName(name)) return [];
    const fix = `write ${resourcePrefix}, then total, allocatable or available, a hyphen, and cpu, memory or another resource`;
    return [error("FLT1305", at, "names no capacity of a cluster", fix, JSON.stringify(name))];
  }
  const [first = "", ...more] = name.split("/");
  const isFirst = isQualifiedName(first) || (more.length > 0 && isDnsSubdomain(first));
  return isFirst && more.every(isQualifiedName) ? [] : [malformedProblem("property name", at, name)];
}

/** Checks the requirements of one term: names, quantities, and whether a cluster can meet all of them. */
export function propertySelectorProblems(term: WrittenTerm, at: JsonPath): FieldProblems {
  const path: JsonPath = [...at, "propertySelector", "matchExpressions"];
  const written = term.propertySelector?.matchExpressions ?? [];
  return [
    ...written.flatMap((it, i) => [
      ...propertyNameProblems(it.name, [...path, i, "name"]),
      ...valueProblems(it, [...path, i, "values", 0]),
    ]),
    ...contradictions(written, path),
  ];
}

function valueProblems({ values }: WrittenRequirement, at: JsonPath): FieldProblems {
  const [value = ""] = values;
  if (quantityOf(value) !== null) return [];
  return [error("FLT1305", at, "is not a quantity", "write 4, 500m or 16Gi", JSON.stringify(value))];
}

/** Requirements of one property that no value meets together (`intent/README.md#v-pl-40`): each is named once. */
function contradictions(written: readonly WrittenRequirement[], at: JsonPath): FieldProblems {
  const problems: FieldProblem[] = [];
  const byName = new Map<string, Bounds>();
  for (const [i, { name, operator, values }] of written.entries()) {
    const value = quantityOf(values[0] ?? "");
    if (value === null) continue;
    const next = narrowed(byName.get(name) ?? anything, operator, value);
    if (next !== null) byName.set(name, next);
    else
      problems.push(
        error("FLT1307", [...at, i], `no value of ${name} meets this and what stands before it`, "remove one of them"),
      );
  }
  return problems;
}

/** The values that are left: an interval, without some of its values. */
interface Bounds {
  readonly low: Bound | null;
  readonly high: Bound | null;
  readonly not: readonly bigint[];
}

interface Bound {
  readonly at: bigint;
  readonly isOpen: boolean;
}

const anything: Bounds = { low: null, high: null, not: [] };

function narrowed(bounds: Bounds, operator: WrittenRequirement["operator"], { nanos }: Quantity): Bounds | null {
  const strict = { at: nanos, isOpen: true };
  const loose = { at: nanos, isOpen: false };
  const next: Record<WrittenRequirement["operator"], () => Bounds> = {
    Gt: () => ({ ...bounds, low: higher(bounds.low, strict) }),
    Ge: () => ({ ...bounds, low: higher(bounds.low, loose) }),
    Lt: () => ({ ...bounds, high: lower(bounds.high, strict) }),
    Le: () => ({ ...bounds, high: lower(bounds.high, loose) }),
    Eq: () => ({ ...bounds, low: higher(bounds.low, loose), high: lower(bounds.high, loose) }),
    Ne: () => ({ ...bounds, not: [...bounds.not, nanos] }),
  };
  const after = next[operator]();
  return isEmpty(after) ? null : after;
}

const higher = (a: Bound | null, b: Bound): Bound => (a === null || b.at > a.at || (b.at === a.at && b.isOpen) ? b : a);
const lower = (a: Bound | null, b: Bound): Bound => (a === null || b.at < a.at || (b.at === a.at && b.isOpen) ? b : a);

function isEmpty({ low, high, not }: Bounds): boolean {
  if (low === null || high === null || low.at < high.at) return false;
  return low.at > high.at || low.isOpen || high.isOpen || not.includes(low.at);
}

/** Checks spread constraints: `intent/README.md#v-pl-42` … `#v-pl-45`. */
export function spreadProblems(constraints: WrittenPolicy["topologySpreadConstraints"], at: JsonPath): FieldProblems {
  const written = constraints ?? [];
  return [
    ...written.flatMap(({ topologyKey }, i) =>
      isQualifiedName(topologyKey) ? [] : [malformedProblem("label key", [...at, i, "topologyKey"], topologyKey)],
    ),
    ...repeatedProblems(written, (it) => it.topologyKey, [at, "this topologyKey occurs twice"]),
  ];
}
