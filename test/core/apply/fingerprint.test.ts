import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../../src/core/apply/fingerprint.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";

/** What we own of a Deployment: replicas, one container by its name, one finalizer, an atomic map, an index. */
const owned: JsonObject = {
  "f:spec": {
    "f:replicas": {},
    "f:selector": {},
    "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {}, "f:name": {} } },
    "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
    "f:finalizers": { 'v:"ours"': {} },
    "f:odd": { "i:1": {} },
  },
};

const spec: JsonObject = {
  replicas: 2,
  selector: { app: "web" },
  containers: [
    { name: "proxy", image: "p:1" },
    { name: "web", image: "web:1", pullPolicy: "Always" },
  ],
  ports: [{ port: 80 }],
  finalizers: ["theirs", "ours"],
  odd: ["a", "b"],
};

const entry = (more: JsonObject = {}): JsonObject => ({
  manager: "flotilla",
  operation: "Apply",
  fieldsV1: owned,
  ...more,
});

const live = (changes: JsonObject = {}, entries: readonly JsonObject[] = [entry()]): JsonObject => ({
  metadata: { managedFields: entries },
  spec: { ...spec, ...changes },
});

const print = (object: JsonObject) => fingerprintOf(object, "flotilla");
const calm = print(live());

const noDrift: { name: string; changes: JsonObject }[] = [
  { name: "a field that nobody of us owns", changes: { paused: true } },
  {
    name: "another container",
    changes: {
      containers: [
        { name: "proxy", image: "p:2" },
        { name: "web", image: "web:1" },
      ],
    },
  },
  { name: "the order of a keyed list", changes: { containers: [...(spec["containers"] as JsonObject[])].reverse() } },
  { name: "a key of a list item written out that has a default", changes: { ports: [{ port: 80, protocol: "TCP" }] } },
  { name: "an item of others in a set", changes: { finalizers: ["ours"] } },
];

const drift: { name: string; changes: JsonObject }[] = [
  { name: "a value", changes: { replicas: 9 } },
  { name: "an absent value", changes: { replicas: null } },
  { name: "inside an atomic map", changes: { selector: { app: "web", tier: "x" } } },
  { name: "inside a list item", changes: { containers: [{ name: "web", image: "web:2" }] } },
  { name: "a list item that is gone", changes: { containers: [] } },
  { name: "a set item that is gone", changes: { finalizers: ["theirs"] } },
  { name: "an item by its index", changes: { odd: ["a", "c"] } },
];

describe("fingerprint", () => {
  for (const { name, changes } of noDrift) it(`is the same: ${name}`, () => expect(print(live(changes))).toBe(calm));
  for (const { name, changes } of drift) it(`differs: ${name}`, () => expect(print(live(changes))).not.toBe(calm));

  it("differs when somebody took a field over, although its value is the same", () => {
    const { "f:replicas": _, ...rest } = owned["f:spec"] as JsonObject;
    expect(print(live({}, [entry({ fieldsV1: { "f:spec": rest } })]))).not.toBe(calm);
  });

  it("is about our apply only: not others', not updates, not a subresource", () => {
    const others = [{ manager: "kubectl" }, { operation: "Update" }, { subresource: "status" }, { fieldsV1: {} }];
    for (const other of others) expect(print(live({}, [entry(other)]))).toBeNull();
    expect(print({ metadata: {} })).toBeNull();
    expect(print(live({}, [...others.slice(0, 3).map(entry), entry()]))).toBe(calm);
  });
});
