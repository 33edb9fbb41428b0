import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/core/model/json.ts";
import {
  apiVersionOf,
  groupVersionOf,
  idOf,
  objectIdOf,
  objectKey,
  objectText,
} from "../../../src/core/model/manifest.ts";

const objects = [
  { apiVersion: "v1", kind: "Namespace", path: "shop", key: "/Namespace//shop", text: "Namespace shop" },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    path: "shop/web",
    key: "apps/Deployment/shop/web",
    text: "Deployment shop/web",
  },
  { apiVersion: "example.com/v1", kind: "Foo", path: "f", key: "example.com/Foo//f", text: "Foo.example.com f" },
];

describe("an object", () => {
  for (const { apiVersion, kind, path, key, text } of objects)
    it(`is known by its key and shown by its name: ${text}`, () => {
      const [name = "", namespace] = path.split("/").reverse();
      const id = idOf({ apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
      if (id === null) throw new Error("it has an identity");
      const { version: _, ...plain } = id;
      expect([objectKey(id), objectText(id), apiVersionOf(id)]).toEqual([key, text, apiVersion]);
      expect(objectIdOf(objectKey(id))).toEqual(plain);
    });

  it("is the same object in another version", () => {
    const of = (apiVersion: string) => idOf({ apiVersion, kind: "CronJob", metadata: { name: "a", namespace: "b" } });
    const [old, now] = [of("batch/v1beta1"), of("batch/v1")];
    expect(old !== null && now !== null && objectKey(old) === objectKey(now)).toBe(true);
  });

  const nobodies: readonly Json[] = [
    null,
    [],
    { kind: "A", metadata: { name: "a" } },
    { apiVersion: "v1", metadata: { name: "a" } },
    { apiVersion: "v1", kind: "A", metadata: {} },
    { apiVersion: "v1", kind: "A", metadata: { name: 1 } },
  ];
  for (const value of nobodies) it(`has no identity: ${JSON.stringify(value)}`, () => expect(idOf(value)).toBeNull());

  it("in the empty namespace is in none", () =>
    expect(idOf({ apiVersion: "v1", kind: "A", metadata: { name: "a", namespace: "" } })?.namespace).toBeNull());
});

it("the core group has no name", () => {
  expect(groupVersionOf("v1")).toEqual({ group: "", version: "v1" });
  expect(groupVersionOf("apps/v1")).toEqual({ group: "apps", version: "v1" });
});
