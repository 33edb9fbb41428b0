import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import { builtInScopes, kindKey } from "../../../src/core/model/manifest.ts";
import { canonicalQuantity } from "../../../src/shell/embedded/admission/normalize.ts";
import { builtInKinds } from "../../../src/shell/embedded/api/kinds.ts";
import { builtInShape } from "../../../src/shell/embedded/api/list-keys.ts";
import { difference, intersection, pathsOf, union } from "../../../src/shell/embedded/apply/field-set.ts";
import { mergeValue } from "../../../src/shell/embedded/apply/merge.ts";
import { strategicPatch } from "../../../src/shell/embedded/apply/patch.ts";
import { parseLabelSelector } from "../../../src/shell/embedded/registry/selectors.ts";

const quantities: readonly (readonly [string, string | null])[] = [
  ["1000m", "1"],
  ["0.5", "500m"],
  ["1500m", "1500m"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["1000", "1k"],
  ["1000Ki", "1000Ki"],
  ["512", "512"],
  ["0.5Ki", "512"],
  ["1e3", "1e3"],
  ["2500000", "2500k"],
  ["0", "0"],
  ["-1000m", "-1"],
  ["+3", "3"],
  ["100Ei", "100Ei"],
  ["1Q", null],
  ["", null],
];

describe("a quantity is written back as Kubernetes writes it", () => {
  test.each(quantities)("%s → %s", (text, want) => expect(canonicalQuantity(text)).toBe(want));
});

const selections: readonly (readonly [string, JsonObject, boolean])[] = [
  ["a=b", { a: "b" }, true],
  ["a==b", { a: "c" }, false],
  ["a!=b", {}, true],
  ["a", { a: "" }, true],
  ["!a", { a: "b" }, false],
  ["a in (b,c), d", { a: "c", d: "e" }, true],
  ["a notin (b)", {}, true],
  ["a in (b)", {}, false],
  ["x.io/y=z", { "x.io/y": "z" }, true],
  ["a=", { a: "" }, true],
];

describe("a label selector", () => {
  test.each(selections)("%s on %j: %s", (text, labels, want) =>
    expect(parseLabelSelector(text)({ metadata: { labels } })).toBe(want),
  );
  test.each(["=b", "a in b", "a b", "a=b=c", "-"])("%s is refused", (text) =>
    expect(() => parseLabelSelector(text)).toThrow(),
  );
});

test("every kind that is served has the scope that the model knows, and the model knows no other", () => {
  const served = new Map(builtInKinds.map((it) => [kindKey(it), it.scope]));
  const unserved = ["/ComponentStatus", "certificates.k8s.io/ClusterTrustBundle", "coordination.k8s.io/LeaseCandidate"];
  expect(served).toEqual(new Map([...builtInScopes].filter(([it]) => !unserved.includes(it))));
});

test("sets of fields join, differ and meet, members and the way to them apart", () => {
  const a = { "f:spec": { ".": {}, "f:a": {}, "f:b": { 'k:{"name":"x"}': { ".": {}, "f:image": {} } } } };
  const b = { "f:spec": { "f:a": {}, "f:c": {} } };
  expect(union(a, b)).toEqual({ "f:spec": { ...a["f:spec"], "f:c": {} } });
  expect(difference(a, b)).toEqual({ "f:spec": { ".": {}, "f:b": a["f:spec"]["f:b"] } });
  expect(difference(a, { "f:spec": {} })).toEqual({ "f:spec": { "f:a": {}, "f:b": a["f:spec"]["f:b"] } });
  expect(intersection(a, b)).toEqual({ "f:spec": { "f:a": {} } });
  expect(pathsOf(a)).toEqual([".spec", ".spec.a", '.spec.b[name="x"]', '.spec.b[name="x"].image']);
});

const shape = builtInShape("apps/Deployment");
const withContainers = (...names: readonly string[]): Json => ({
  spec: { template: { spec: { containers: names.map((name) => ({ name })) } } },
});

/** As structured-merge-diff orders them. */
const orders: readonly (readonly [string, string, string])[] = [
  ["a", "b", "ab"],
  ["ab", "ba", "ba"],
  ["abc", "cxa", "bcxa"],
  ["ab", "xb", "axb"],
  ["abc", "b", "abc"],
  ["", "ab", "ab"],
];

describe("containers of two appliers stand in order", () => {
  test.each(orders)("%s, then %s: %s", (live, patch, want) =>
    expect(mergeValue(withContainers(...live), withContainers(...patch), shape)).toEqual(withContainers(...want)),
  );
});

test("a patch that says nothing new gives the very same object", () => {
  const live = { metadata: { name: "x", labels: { a: "b" } }, ...(withContainers("a", "b") as object) } as JsonObject;
  expect(mergeValue(live, { metadata: { labels: { a: "b" } }, ...(withContainers("a") as object) }, shape)).toBe(live);
});

const strategic: readonly (readonly [string, Json, readonly string[]])[] = [
  ["new items come first", { containers: [{ name: "c" }] }, ["c", "a", "b"]],
  ["a directive deletes", { containers: [{ name: "a", $patch: "delete" }] }, ["b"]],
  [
    "an order is kept",
    { containers: [{ name: "c" }], "$setElementOrder/containers": [{ name: "a" }, { name: "c" }, { name: "b" }] },
    ["a", "c", "b"],
  ],
  ["a list can be replaced", { containers: [{ $patch: "replace" }, { name: "z" }] }, ["z"]],
];

describe("a strategic patch of containers", () => {
  test.each(strategic)("%s", (_, patch, want) => {
    const patched = strategicPatch(withContainers("a", "b"), { spec: { template: { spec: patch } } }, shape);
    expect(patched).toEqual(withContainers(...want));
  });
});
