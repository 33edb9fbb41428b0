import { expect, test } from "vitest";
import { brokenLimit } from "../../../src/core/hub/policy-limits.ts";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const clusterAffinity = (value: JsonObject): Json => ({ affinity: { clusterAffinity: value } });
const weight = (value: Json): Json => clusterAffinity({ [preferred]: [{ weight: value, preference: {} }] });
const comparedWith = (...values: readonly string[]): JsonObject => ({
  propertySelector: { matchExpressions: [{ name: "np", operator: "Ge", values }] },
});
const terms = (...clusterSelectorTerms: readonly Json[]): Json =>
  clusterAffinity({ [required]: { clusterSelectorTerms } });
const spread = (maxSkew: Json): Json => ({ topologySpreadConstraints: [{ topologyKey: "r", maxSkew }] });
const many = <T>(count: number, it: T): readonly T[] => Array.from({ length: count }, () => it);

const cases: readonly (readonly [name: string, policy: Json, want: string | null])[] = [
  ["a weight of 100", weight(100), null],
  ["a weight of -100", weight(-100), null],
  [
    "a weight of 101",
    weight(101),
    `affinity.clusterAffinity.${preferred}.0.weight: weight is 101; write a whole number from -100 to 100`,
  ],
  [
    "a weight of -101",
    weight(-101),
    `affinity.clusterAffinity.${preferred}.0.weight: weight is -101; write a whole number from -100 to 100`,
  ],
  [
    "half a weight",
    weight(0.5),
    `affinity.clusterAffinity.${preferred}.0.weight: weight is 0.5; write a whole number from -100 to 100`,
  ],
  ["a maxSkew of 1", spread(1), null],
  [
    "a maxSkew of 0",
    spread(0),
    "topologySpreadConstraints.0.maxSkew: maxSkew is 0; write a whole number from 1 to 2147483647",
  ],
  ["no maxSkew", { topologySpreadConstraints: [{ topologyKey: "r" }] }, null],
  [
    "fewer clusters than none",
    { numberOfClusters: -1 },
    "numberOfClusters: numberOfClusters is -1; write a whole number from 0 to 2147483647",
  ],
  ["100 names", { clusterNames: many(100, "a") }, null],
  ["101 names", { clusterNames: many(101, "a") }, "clusterNames: clusterNames has 101 entries; write at most 100"],
  ["10 terms", terms(...many(10, {})), null],
  [
    "11 terms",
    terms(...many(11, {})),
    `affinity.clusterAffinity.${required}.clusterSelectorTerms: clusterSelectorTerms has 11 entries; write at most 10`,
  ],
  ["one value", terms(comparedWith("4")), null],
  [
    "two values",
    terms({}, comparedWith("4", "5")),
    `affinity.clusterAffinity.${required}.clusterSelectorTerms.1.propertySelector.matchExpressions.0.values: values has 2 entries; write at most 1`,
  ],
  [
    "two values where they are not looked at",
    clusterAffinity({ [preferred]: [{ weight: 1, preference: comparedWith("4", "5") }] }),
    `affinity.clusterAffinity.${preferred}.0.preference.propertySelector.matchExpressions.0.values: values has 2 entries; write at most 1`,
  ],
  [
    "101 tolerations",
    { tolerations: many(101, { operator: "Exists" }) },
    "tolerations: tolerations has 101 entries; write at most 100",
  ],
  ["what is no policy", "PickAll", null],
];

test.each(cases)("of a policy with %s", (_, policy, want) => {
  const broken = brokenLimit(policy);
  expect(broken === null ? null : `${broken.path.join(".")}: ${broken.message}`).toBe(want);
});
