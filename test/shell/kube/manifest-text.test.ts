import { describe, expect, it } from "vitest";
import { canonicalJson, type JsonObject } from "../../../src/core/model/json.ts";
import { manifestText } from "../../../src/shell/kube/apply/manifest-text.ts";
import { configMap, deployment, namespace } from "./member-world.ts";

const metadata = { uid: "u", name: "n", labels: { b: "2", a: "1" } };

const manifests: readonly (readonly [string, JsonObject])[] = [
  ["only keys before metadata", namespace("shop")],
  ["keys on both sides", deployment("shop/web")],
  ["nothing else", { metadata: {} }],
  ["large integers", { spec: { n: 9_007_199_254_740_993n }, metadata: {}, 'a"b': [null] }],
];

describe("a manifest with other metadata", () => {
  it.each(manifests)("is the same canonical text however often it is asked for: %s", (_, manifest) => {
    const want = canonicalJson({ ...manifest, metadata });
    expect([1, 2, 3].map(() => manifestText(manifest, metadata))).toEqual([want, want, want]);
  });

  it("takes nothing over from the metadata of the time before", () => {
    const settings = configMap("shop/a", { a: "1" });
    for (const name of ["x", "y", "z"])
      expect(manifestText(settings, { name })).toBe(canonicalJson({ ...settings, metadata: { name } }));
  });
});
