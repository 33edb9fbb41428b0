import { describe, expect, it } from "vitest";
import { liveFingerprint } from "../../../src/core/apply/fingerprint.ts";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";

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

const print = (object: JsonObject) => liveFingerprint(object, "flotilla");
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

describe("a long list", () => {
  /** A list that counts how often anybody looks at an item of it. */
  function counted(items: readonly Json[]): { readonly list: readonly Json[]; readonly looks: () => number } {
    let looks = 0;
    const get = (all: readonly Json[], key: string | symbol): unknown => {
      if (/^\d+$/.test(String(key))) looks += 1;
      return Reflect.get(all, key);
    };
    return { list: new Proxy(items, { get }), looks: () => looks };
  }
  const names = Array.from({ length: 1_000 }, (_, at) => `n${at}`);
  const ours = (fields: JsonObject): JsonObject => ({ manager: "flotilla", operation: "Apply", fieldsV1: fields });

  it.each([
    ["of keyed items", names.map((name) => ({ name, port: 1 })), (it: string) => `k:{"name":"${it}"}`],
    [
      "of keyed items that leave a key out",
      names.map((name) => ({ name })),
      (it: string) => `k:{"name":"${it}","x":1}`,
    ],
    ["that is a set", names, (it: string) => `v:"${it}"`],
  ])("%s is looked at a few times, however many items are owned", (_, items, step) => {
    const { list, looks } = counted(items);
    const fields = { "f:list": Object.fromEntries(names.map((it) => [step(it), { ".": {} }])) };
    expect(print({ metadata: { managedFields: [ours(fields)] }, list })).not.toBeNull();
    expect(looks()).toBeLessThan(10 * names.length);
  });

  it("gives the first item that a key means, also where an earlier one leaves it out", () => {
    const fields = { "f:list": { 'k:{"name":"a","zone":"x"}': { "f:value": {} } } };
    const of = (...list: readonly JsonObject[]) => print({ metadata: { managedFields: [ours(fields)] }, list });
    const early = { name: "a", value: 1 };
    const exact = { name: "a", zone: "x", value: 2 };
    expect(of(early, exact)).toBe(of(early));
    expect(of(exact, early)).toBe(of(exact));
    expect(of({ name: "b", value: 1 }, exact)).toBe(of(exact));
  });
});
