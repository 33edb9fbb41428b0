import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { PatchOperation } from "../../../src/core/model/override.ts";
import { applyOperations } from "../../../src/core/render/json-patch.ts";
import { patch } from "./repository.ts";

const document: JsonObject = {
  metadata: { labels: { app: "web" }, annotations: { "a/b": "1", "c~d": "2" } },
  args: ["a", "b"],
  verbs: ["get", "watch", "list"],
  replicas: 2,
  nothing: null,
};

const operations = (...lines: readonly string[]): readonly PatchOperation[] => {
  const { action } = patch([], ...lines);
  return action.kind === "JSONPatch" ? action.operations : [];
};

/** What changed, as the document's members that differ; or the reason. */
function outcome(...lines: readonly string[]): JsonObject | string {
  const patched = applyOperations(document, operations(...lines));
  if (patched.kind === "failed") return `${patched.operation}: ${patched.reason}`;
  return Object.fromEntries(
    Object.entries(patched.document).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(document[key])),
  );
}

describe("JSON patch", () => {
  const cases: readonly { id: string; lines: readonly string[]; want: JsonObject | string }[] = [
    { id: "O-14", lines: ["remove /verbs/2", "remove /verbs/1"], want: { verbs: ["get"] } },
    { id: "O-14", lines: ["remove /verbs/1", "remove /verbs/2"], want: "1: index 2 is outside of the list /verbs" },
    { id: "O-15", lines: ['add /args/1 "x"'], want: { args: ["a", "x", "b"] } },
    { id: "O-15", lines: ['add /args/- "x"'], want: { args: ["a", "b", "x"] } },
    { id: "O-15", lines: ['add /args/2 "x"'], want: { args: ["a", "b", "x"] } },
    { id: "O-15", lines: ['add /args/3 "x"'], want: "0: index 3 is outside of the list /args" },
    { id: "O-15", lines: ['replace /args/-1 "x"'], want: { args: ["a", "x"] } },
    { id: "O-15", lines: ['replace /args/- "x"'], want: "0: - is no index of the list /args" },
    { id: "RFC 6902", lines: ['add /args/-1 "x"'], want: { args: ["a", "b", "x"] } },
    { id: "RFC 6902", lines: ['add /args/-3 "x"'], want: { args: ["x", "a", "b"] } },
    { id: "RFC 6902", lines: ['add /args/-4 "x"'], want: "0: index -4 is outside of the list /args" },
    { id: "RFC 6902", lines: ["remove /args/-3"], want: "0: index -3 is outside of the list /args" },
    { id: "RFC 6902", lines: ["replace /replicas 5"], want: { replicas: 5 } },
    { id: "RFC 6902", lines: ["add /replicas 5"], want: { replicas: 5 } },
    { id: "RFC 6902", lines: ["replace /Replicas 5"], want: "0: /Replicas does not exist" },
    { id: "RFC 6902", lines: ["remove /metadata/labels/none"], want: "0: /metadata/labels/none does not exist" },
    {
      id: "RFC 6902",
      lines: ["replace /metadata/annotations/a~1b 3"],
      want: { metadata: { labels: { app: "web" }, annotations: { "a/b": 3, "c~d": "2" } } },
    },
    {
      id: "RFC 6902",
      lines: ["remove /metadata/annotations/c~0d"],
      want: { metadata: { labels: { app: "web" }, annotations: { "a/b": "1" } } },
    },
    { id: "RFC 6902", lines: ["add /spec/replicas 5"], want: "0: /spec does not exist" },
    { id: "RFC 6902", lines: ["add /replicas/0 5"], want: "0: /replicas is neither an object nor a list" },
    { id: "RFC 6902", lines: ["add /nothing/x 5"], want: "0: /nothing is neither an object nor a list" },
    { id: "RFC 6902", lines: ["replace /nothing 5"], want: { nothing: 5 } },
    { id: "RFC 6901", lines: ["remove /args/01"], want: "0: 01 is no index of the list /args" },
    { id: "RFC 6901", lines: ['add /args/1e0 "x"'], want: "0: 1e0 is no index of the list /args" },
    {
      id: "RFC 6901",
      lines: ["remove /metadata/annotations/c~d"],
      want: "0: the path is no JSON pointer to a part of the object",
    },
    { id: "RFC 6901", lines: ["remove replicas"], want: "0: the path is no JSON pointer to a part of the object" },
    {
      id: "B-83",
      lines: ['add /metadata/labels/ "x"'],
      want: "0: the path is no JSON pointer to a part of the object",
    },
    { id: "B-83", lines: ["replace /constructor 1"], want: "0: /constructor does not exist" },
    { id: "B-83", lines: ["add /constructor/prototype/x 1"], want: "0: /constructor does not exist" },
    {
      id: "B-83",
      lines: ["add /metadata/__proto__ 1"],
      want: "0: the operation cannot be carried out on this document",
    },
  ];
  for (const { id, lines, want } of cases)
    it(`${id}: ${lines.join(", ")}`, () => expect(outcome(...lines)).toEqual(want));

  it("leaves the document and the override as they were", () => {
    const before = structuredClone(document);
    const own = operations('add /list ["x"]', 'add /list/- "y"');
    expect(applyOperations(document, own)).toMatchObject({ document: { list: ["x", "y"] } });
    expect([document, own[0]?.value]).toEqual([before, ["x"]]);
  });

  it("keeps integers beyond 2^53, in success and in failure", () => {
    const big = { n: 9_223_372_036_854_775_807n };
    expect(applyOperations(big, operations("add /x 1"))).toEqual({ kind: "patched", document: { ...big, x: 1 } });
    expect(applyOperations(big, operations("remove /x"))).toMatchObject({ kind: "failed" });
  });
});
