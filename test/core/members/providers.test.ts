import { describe, expect, test } from "vitest";
import type { PropertyProvider } from "../../../src/core/members/provider.ts";
import { observedProperties, propertyPaths, recordedProperties } from "../../../src/core/members/providers.ts";
import type { MemberProperties } from "../../../src/core/model/observation.ts";

/** Counts that are worth a commit when they change by more than five. */
const counts: PropertyProvider = {
  path: "/counts",
  properties: () => [],
  gives: (name) => name.startsWith("count/"),
  isNews: (_, recorded, observed) => Math.abs(Number(observed) - Number(recorded)) > 5,
};

const properties = (values: Readonly<Record<string, string>>): MemberProperties => new Map(Object.entries(values));

describe("what is recorded of the properties of a member", () => {
  const recorded = properties({ "count/nodes": "10", "count/pods": "100" });
  const cases: readonly [name: string, observed: MemberProperties, expected: MemberProperties][] = [
    ["what was never seen is recorded", properties({ a: "1" }), properties({ a: "1" })],
    [
      "a value that hardly changed stays, beside one that did",
      properties({ "count/nodes": "11", "count/pods": "200" }),
      properties({ "count/nodes": "10", "count/pods": "200" }),
    ],
    ["what is not observed any more is gone", properties({ "count/nodes": "12" }), properties({ "count/nodes": "10" })],
    ["names are in order", properties({ b: "2", a: "1" }), properties({ a: "1", b: "2" })],
  ];
  test.each(cases)("%s", (_, observed, expected) => {
    expect([...recordedProperties(recorded, observed, [counts])]).toEqual([...expected]);
  });

  test("the same map stays where nothing is worth a commit", () => {
    const drifted = properties({ "count/pods": "103", "count/nodes": "8" });
    expect(recordedProperties(recorded, drifted, [counts])).toBe(recorded);
    expect(recordedProperties(recorded, new Map(recorded), [counts])).toBe(recorded);
  });
});

describe("Kubernetes' version", () => {
  const name = "k8s.io/k8s-version";
  const observed = (response: Readonly<Record<string, string>>): MemberProperties =>
    observedProperties(propertyPaths.map((path) => (path === "/version" ? response : {})));

  test("is what the API server says, and empty where it says nothing", () => {
    expect(observed({ gitVersion: "v1.36.3" }).get(name)).toBe("v1.36.3");
    expect(observed({}).get(name)).toBe("");
    expect(observed({ gitVersion: "v".repeat(129) }).get(name)).toBe("");
  });

  test("is recorded with every change", () => {
    const next = recordedProperties(observed({ gitVersion: "v1.36.3" }), observed({ gitVersion: "v1.36.4" }));
    expect(next.get(name)).toBe("v1.36.4");
  });
});
