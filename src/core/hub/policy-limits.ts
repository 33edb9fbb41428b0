import { isObject, type Json } from "../model/json.ts";

type Path = readonly (string | number)[];

/** A number or a list of a policy, and what an API server with KubeFleet's definitions stores of it. */
type Limit = { readonly path: readonly string[] } & (
  | { readonly least: number; readonly most: number }
  | { readonly items: number }
);

/** Every item of a list. */
const each = "*";
const affinity = ["affinity", "clusterAffinity"];
const preferred = [...affinity, "preferredDuringSchedulingIgnoredDuringExecution", each];
const terms = [...affinity, "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms"];
const values = ["propertySelector", "matchExpressions", each, "values"];
const largestInt32 = 2 ** 31 - 1;

const limits: readonly Limit[] = [
  { path: ["numberOfClusters"], least: 0, most: largestInt32 },
  { path: [...preferred, "weight"], least: -100, most: 100 },
  { path: ["topologySpreadConstraints", each, "maxSkew"], least: 1, most: largestInt32 },
  { path: ["clusterNames"], items: 100 },
  { path: terms, items: 10 },
  { path: [...terms, each, ...values], items: 1 },
  { path: [...preferred, "preference", ...values], items: 1 },
  { path: ["tolerations"], items: 100 },
];

/** What is wrong with a policy, and where in it. */
interface BrokenLimit {
  readonly path: Path;
  readonly message: string;
}

/**
 * The first number or list of a policy that is beyond what KubeFleet's API server stores; null where there is none. No hub
 * has such a snapshot, so nothing is known of what KubeFleet would make of it (`schedule/README.md#the-scheduler-alone`).
 */
export function brokenLimit(policy: Json): BrokenLimit | null {
  for (const limit of limits)
    for (const [path, value] of valuesAt(policy, limit.path, [])) {
      const message = complaint(String(limit.path.at(-1)), value, limit);
      if (message !== null) return { path, message };
    }
  return null;
}

function valuesAt(value: Json, [step, ...below]: readonly string[], path: Path): readonly (readonly [Path, Json])[] {
  if (step === undefined) return [[path, value]];
  if (step === each)
    return Array.isArray(value)
      ? (value as readonly Json[]).flatMap((it, at) => valuesAt(it, below, [...path, at]))
      : [];
  const next = isObject(value) ? value[step] : undefined;
  return next === undefined || next === null ? [] : valuesAt(next, below, [...path, step]);
}

function complaint(name: string, value: Json, limit: Limit): string | null {
  if ("items" in limit) {
    if (!Array.isArray(value) || value.length <= limit.items) return null;
    return `${name} has ${value.length} entries; write at most ${limit.items}`;
  }
  const { least, most } = limit;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return null;
  return `${name} is ${JSON.stringify(value)}; write a whole number from ${least} to ${most}`;
}
