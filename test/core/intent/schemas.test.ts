import { describe, expect, it } from "vitest";
import { knownKinds, schemas } from "../../../src/core/intent/kinds/known-kinds.ts";
import { validators } from "../../../src/core/intent/kinds/validators.ts";
import { isObject, type Json } from "../../../src/core/model/json.ts";
import { eviction, override, problemsOf } from "./reading.ts";

/** Paths of fields without a description; a reference is described where it leads. */
function undescribed(schema: Json, path: string): readonly string[] {
  if (!isObject(schema)) return [];
  const nested = (key: string): readonly string[] =>
    Object.entries(isObject(schema[key]) ? schema[key] : {}).flatMap(([name, it]) =>
      undescribed(it ?? null, `${path}.${name}`),
    );
  const isDescribed = typeof schema["description"] === "string" || "$ref" in schema;
  return [
    ...(isDescribed ? [] : [path]),
    ...nested("properties"),
    ...nested("definitions"),
    ...(isObject(schema["items"]) && "properties" in schema["items"] ? undescribed(schema["items"], `${path}[]`) : []),
  ];
}

describe("schemas", () => {
  for (const [kind, schema] of Object.entries(schemas))
    it(`every field of ${kind} is described`, () => {
      expect(undescribed(schema as Json, kind)).toEqual([]);
    });

  it("there is one for every kind that is read", () => {
    expect([...new Set(knownKinds.flatMap((it) => it.schema ?? []))].sort()).toEqual(Object.keys(schemas).sort());
  });

  it("no two kinds have the same name, and what is read is not ignored as well", () => {
    const names = knownKinds.map((it) => `${it.group}/${it.kind}`);
    expect(names.filter((it, at) => names.indexOf(it) !== at)).toEqual([]);
  });

  it("a namespaced variant is written as its cluster-scoped kind, in some of its versions", () => {
    const shared = knownKinds.filter((it) => it.schema !== null && it.schema !== it.kind);
    expect(shared.map((it) => [it.kind, it.schema, it.versions])).toEqual([
      ["ResourcePlacement", "ClusterResourcePlacement", ["v1", "v1beta1"]],
      ["ResourceEnvelope", "ClusterResourceEnvelope", ["v1beta1"]],
      ["StagedUpdateStrategy", "ClusterStagedUpdateStrategy", ["v1", "v1beta1"]],
      ["StagedUpdateRun", "ClusterStagedUpdateRun", ["v1", "v1beta1"]],
    ]);
  });

  it("v1alpha1 is an old version where there is a later one, and of our own kinds it is the only one", () => {
    const old = (text: string): readonly string[] =>
      problemsOf(text.replace("v1beta1", "v1alpha1")).filter((it) => it.includes("FLT1910"));
    expect(old(override("o", "web"))).toEqual([
      "1:13: warning FLT1910: apiVersion: v1alpha1 is an old version; change it to v1beta1 or v1",
    ]);
    expect(old(eviction("e", "web", "c1"))).toEqual([
      "1:13: warning FLT1910: apiVersion: v1alpha1 is an old version; change it to v1beta1",
    ]);
    const own = "apiVersion: flotilla.dev/v1alpha1\nmetadata: {name: a}\n";
    expect(old(`${own}kind: Fleet\n`)).toEqual([]);
    expect(old(`${own}kind: DeletionConfirmation\nspec: {digest: "${"0".repeat(64)}"}\n`)).toEqual([]);
  });

  it("versions in the table of kinds and in the schemas are the same", () => {
    for (const { group, kind, schema, versions } of knownKinds) {
      if (schema === null || schema !== kind) continue;
      const error = validators[schema]({ apiVersion: "x", kind: schema }).find((it) => it.keyword === "enum");
      expect(error?.params["allowedValues"]).toEqual(versions.map((it) => `${group}/${it}`));
    }
  });
});
