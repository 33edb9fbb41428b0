// What differs between two manifests, as people see it: bounded, with what matters first, and without secrets.
import { describe, expect, test } from "vitest";
import { digestOf, type JsonObject } from "../../../src/core/model/json.ts";
import { type Manifest, objectKey } from "../../../src/core/model/manifest.ts";
import type { RenderedManifest } from "../../../src/core/model/plan.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { differenceLines } from "../../../src/core/report/manifest-diff.ts";
import type { ObjectRow } from "../../../src/core/report/request-changes.ts";

const rendered = (manifest: JsonObject): RenderedManifest => {
  const { kind, metadata } = manifest as { readonly kind: string; readonly metadata: { readonly name: string } };
  const id = { group: "", version: "v1", kind, namespace: "web", name: metadata.name };
  return { id, key: objectKey(id), manifest: manifest as Manifest, digest: digestOf(manifest) };
};

const object = (kind: string, name: string, more: JsonObject): JsonObject => ({
  apiVersion: kind === "Deployment" ? "apps/v1" : "v1",
  kind,
  metadata: { name, namespace: "web" },
  ...more,
});

function row(before: JsonObject | null, after: JsonObject): ObjectRow {
  const is = rendered(after);
  return {
    fate: before === null ? "created" : "changed",
    id: is.id,
    to: null,
    before: before && rendered(before),
    after: is,
  };
}

const clusters = ["p1", "p2"] as ClusterName[];
const shown = (rows: readonly ObjectRow[]): readonly string[] =>
  differenceLines([{ clusters, rows, same: 0 }], "git diff A B");

const config = (name: string, values: number, text = "x"): JsonObject =>
  object("ConfigMap", name, {
    data: Object.fromEntries(
      Array.from({ length: values }, (_, at) => [`k${String(at).padStart(4, "0")}`, `${text}${at}`]),
    ),
  });

describe("what differs", () => {
  test("is said once of all clusters that get the same", async () => {
    const lines = shown([row(config("c", 1, "a"), config("c", 1, "b"))]);
    expect(lines.slice(0, 3)).toEqual(["", "what changes on p1, p2, the same on each:", "  ConfigMap web/c, changed"]);
    expect(lines.slice(-2)).toEqual(["    -  k0000: a0", "    +  k0000: b0"]);
  });

  test("is cut where an object or all of it is long, and says by how much", async () => {
    const one = shown([row(config("c", 500, "a"), config("c", 500, "b"))]);
    expect(one.length).toBeLessThan(70);
    expect(one.at(-1)).toBe("some of it is left out; to see all of it, after git fetch: git diff A B");
    expect(one.at(-3)).toMatch(/^ {4}\(\d+ more lines\)$/);
    const many = shown(Array.from({ length: 130 }, (_, at) => row(null, config(`c${at}`, 30))));
    expect(many.filter((it) => it.endsWith(", created")).length).toBe(100);
    expect(many.filter((it) => it.startsWith("    +")).length).toBeLessThanOrEqual(300);
    expect(many).toContain("  (30 more objects)");
  });

  test("is all there where it is just as much as is shown", async () => {
    const lines = shown(Array.from({ length: 100 }, (_, at) => row(config(`c${at}`, 0), config(`c${at}`, 0))));
    expect(lines.at(-1)).toBe("  ConfigMap web/c99, changed");
  });

  test("is not looked for where hardly anything stays", async () => {
    const lines = shown([row(config("c", 2000, "a"), config("c", 2000, "b"))]);
    expect(lines.slice(-3)).toEqual([
      "    (2006 lines become 2006; almost all differ)",
      "",
      "some of it is left out; to see all of it, after git fetch: git diff A B",
    ]);
  });

  test("is shown with lines of bounded length", async () => {
    const lines = shown([row(config("c", 1, "a"), config("c", 1, "b".repeat(5000)))]);
    expect(lines.at(-3)).toMatch(/^ {4}\+ {2}k0000: b{150}… \(\d+ more characters\)$/);
    expect(lines.at(-1)).toMatch(/^some of it is left out; /);
  });

  test("begins with images and replicas", async () => {
    const deployment = (image: string, replicas: number): JsonObject =>
      object("Deployment", "app", { spec: { replicas, template: { spec: { containers: [{ name: "app", image }] } } } });
    const job = (image: string): JsonObject =>
      object("CronJob", "tick", {
        spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: "t", image }] } } } } },
      });
    const lines = shown([
      row(config("c", 1, "a"), config("c", 1, "b")),
      row(deployment("app:1", 2), deployment("app:2", 4)),
      row(job("tick:1"), job("tick:2")),
    ]);
    expect(lines.filter((it) => /^ {2}\S/.test(it))).toEqual([
      "  Deployment web/app, changed; image of app app:1 to app:2; replicas 2 to 4",
      "  CronJob web/tick, changed; image of t tick:1 to tick:2",
      "  ConfigMap web/c, changed",
    ]);
  });

  test("never tells a Secret's values, not even those that kubectl repeats, nor that stringData held", async () => {
    const secret = (value: string): JsonObject => ({
      ...object("Secret", "key", { data: { a: value, b: "same" }, stringData: { c: value } }),
      metadata: {
        name: "key",
        namespace: "web",
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":"${value}"}`, plain: "told" },
      },
    });
    const changed = shown([row(secret("hush-one"), secret("hush-two"))]).join("\n");
    const created = shown([row(null, secret("hush-two"))]).join("\n");
    for (const text of [changed, created]) expect(text).not.toMatch(/hush|: same/);
    expect(changed).toContain('-  a: "(secret)"\n    +  a: "(another secret)"');
    expect(created).toContain("plain: told");
  });

  test.each([
    ["no map", { data: "hush" }, 'data: "(secret)"'],
    ["a list", { data: ["hush"] }, 'data: "(secret)"'],
    ["under a field that is misspelt", { stringdata: { a: "hush" } }, '  a: "(secret)"'],
  ])("tells no values of a Secret that nobody could apply: %s", async (_, more, told) => {
    const lines = shown([row(null, object("Secret", "key", { type: "Opaque", ...more }))]).join("\n");
    expect(lines).not.toContain("hush");
    expect(lines).toContain(told);
    expect(lines).toContain("type: Opaque");
  });
});
