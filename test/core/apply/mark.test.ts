import jsonPatch, { type Operation } from "fast-json-patch";
import { describe, expect, it } from "vitest";
import { marked, markOf, readMark, unmarkPatch } from "../../../src/core/apply/mark.ts";
import { migration } from "../../../src/core/apply/migrate.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { Epoch, PlacementKey, Sequence } from "../../../src/core/model/value.ts";

const write = { placement: "team/web" as PlacementKey, fleet: "f1", epoch: 2 as Epoch, sequence: 7 as Sequence };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels: { app: "web" } } };

const patched = (object: JsonObject, operations: readonly JsonObject[] | null): unknown =>
  jsonPatch.applyPatch(structuredClone(object), structuredClone(operations) as unknown as Operation[], true)
    .newDocument;

describe("our mark", () => {
  it("is a label and an annotation beside those that are there", () => {
    expect(marked(manifest, write)).toEqual({
      ...manifest,
      metadata: {
        name: "a",
        labels: { app: "web", "flotilla.dev/placement": "team.web" },
        annotations: { "flotilla.dev/write": "f1/2/7" },
      },
    });
  });

  it("is read back as it was written", () => {
    expect(readMark(marked(manifest, write))).toEqual({ label: "team.web", fleet: "f1", epoch: 2, sequence: 7 });
  });

  it("is nobody's when the annotation is absent or odd", () => {
    expect(readMark(manifest)).toBeNull();
    for (const odd of ["", "f1", "f1/2", "f1/x/7", "f1/2/7/", "f1/2/-7"]) {
      expect(readMark({ metadata: { annotations: { "flotilla.dev/write": odd } } })).toBeNull();
    }
  });

  it("fits into a label and still tells long names apart", () => {
    const long = [`${"n".repeat(63)}/a`, `${"n".repeat(63)}/b`].map((it) => markOf(it as PlacementKey));
    for (const it of long) expect(it).toMatch(/^[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$/);
    expect(new Set(long).size).toBe(2);
  });

  it("is the whole name as long as that fits", () => {
    const name = "n".repeat(63) as PlacementKey;
    expect(markOf(name)).toBe(name);
  });

  it("resets the list of managers where nobody else stands in it", () => {
    const ours = { manager: "flotilla", operation: "Apply", fieldsV1: {} };
    const live = { metadata: { resourceVersion: "5", managedFields: [ours] } };
    expect(patched(live, unmarkPatch(live, "flotilla"))).toEqual({
      metadata: { resourceVersion: "5", managedFields: [{}] },
    });
  });

  it("comes off without a trace, and nothing else with it", () => {
    const theirs = { manager: "kubectl", operation: "Update", fieldsV1: { "f:data": {} } };
    const ours = { manager: "flotilla", operation: "Apply", fieldsV1: { "f:data": {} } };
    const live = marked(
      { ...manifest, metadata: { ...manifest.metadata, resourceVersion: "5", managedFields: [ours, theirs] } },
      write,
    );
    expect(patched(live, unmarkPatch(live, "flotilla"))).toEqual({
      ...manifest,
      metadata: { ...manifest.metadata, resourceVersion: "5", managedFields: [theirs], annotations: {} },
    });
  });
});

const by = (manager: string, operation: string, fields: JsonObject, more: JsonObject = {}): JsonObject => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1: fields,
  ...more,
});
const live = (...managedFields: readonly JsonObject[]): JsonObject => ({
  metadata: { resourceVersion: "5", managedFields },
});
const migrated = (object: JsonObject): unknown => {
  const operations = migration(object, "flotilla");
  if (operations === null) return null;
  return ((patched(object, operations) as JsonObject)["metadata"] as JsonObject)["managedFields"];
};

const data = (...keys: readonly string[]): JsonObject => ({
  "f:data": Object.fromEntries(keys.map((it) => [`f:${it}`, {}])),
});
const kubectl = "kubectl-client-side-apply";

const migrations: { name: string; before: readonly JsonObject[]; want: unknown }[] = [
  { name: "nothing of client-side apply", before: [by("kubectl", "Apply", data("a"))], want: null },
  {
    name: "kubectl's become ours",
    before: [by(kubectl, "Update", data("a"))],
    want: [by("flotilla", "Apply", data("a"))],
  },
  {
    name: "kubectl's join ours",
    before: [by(kubectl, "Update", data("a", "b")), by("flotilla", "Apply", data("b", "c"))],
    want: [by("flotilla", "Apply", data("b", "c", "a"))],
  },
  {
    name: "KubeFleet's become ours, whichever way it applied",
    before: [by("work-api-agent", "Apply", data("a")), by("work-api-agent", "Update", data("b"))],
    want: [by("flotilla", "Apply", data("a", "b"))],
  },
  {
    name: "others' stay, and what was written through a subresource",
    before: [
      by("hpa", "Update", data("x")),
      by(kubectl, "Update", data("s"), { subresource: "status" }),
      by(kubectl, "Update", data("a")),
    ],
    want: [
      by("hpa", "Update", data("x")),
      by(kubectl, "Update", data("s"), { subresource: "status" }),
      by("flotilla", "Apply", data("a")),
    ],
  },
  {
    name: "fields of unknown origin alone leave a list that the server resets",
    before: [by("before-first-apply", "Update", data("a"))],
    want: [{}],
  },
  {
    name: "fields of unknown origin become nobody's",
    before: [by("before-first-apply", "Update", data("a", "b")), by("flotilla", "Apply", data("a"))],
    want: [by("flotilla", "Apply", data("a"))],
  },
];

describe("migration of client-side apply (C 15)", () => {
  for (const { name, before, want } of migrations) {
    it(name, () => expect(migrated(live(...before))).toEqual(want));
  }
});
