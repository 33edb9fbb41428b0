import { describe, expect, test } from "vitest";
import { recordedFacts } from "../../../src/core/members/recorded-facts.ts";
import { type ClusterRecord, nothingCollected } from "../../../src/core/model/ledger.ts";
import type { Collected, FactSource, MemberProperties } from "../../../src/core/model/observation.ts";
import { type Instant, later, minutes, seconds } from "../../../src/core/model/value.ts";

const now = Date.parse("2026-11-02T08:00:00Z") as Instant;
const read: MemberProperties = new Map([["k8s.io/k8s-version", "v1.36.3"]]);

const resource = (name: string): string =>
  /^(total|allocatable|available)-/.test(name) ? `resources.kubernetes-fleet.io/${name}` : name;

/** `total-cpu=8 nodes=3`: values by name; resources by what stands behind their prefix. */
const properties = (text: string): MemberProperties =>
  new Map(
    text
      .split(" ")
      .filter((it) => it !== "")
      .map((it) => it.split("="))
      .map(([name = "", value = ""]) => [resource(name), value]),
  );

interface Found {
  readonly own?: string;
  readonly provided?: string;
  readonly labels?: string;
  readonly unread?: readonly FactSource[];
}

const collected = ({ own = "", provided = "", labels = "", unread = [] }: Found): Collected => ({
  properties: properties(own),
  provided: properties(provided),
  labels: properties(labels),
  machines: [],
  missing: unread.map((source) => ({ source, code: "Forbidden", message: `${source} may not be listed` })),
});

type Recorded = Pick<ClusterRecord, "properties" | "collection">;

const nothing: Recorded = { properties: read, collection: nothingCollected };
const compared = new Map([
  [resource("total-cpu"), [10_000_000_000n]],
  [resource("available-cpu"), [4_000_000_000n]],
]);

const record = (before: Recorded, found: Found, at: Instant = now) =>
  recordedFacts(before, { read, collected: collected(found) }, { compared, now: at });

/** Without the version, and with short names. */
const words = ({ properties: all }: Recorded): string =>
  [...all]
    .filter(([name]) => !read.has(name))
    .map(([name, value]) => `${name.replace("resources.kubernetes-fleet.io/", "")}=${value}`)
    .join(" ");

const measured: Found = { own: "available-cpu=6 available-memory=32Gi total-cpu=8 total-memory=64Gi" };

describe("what is recorded of resources", () => {
  const soon = later(now, minutes(14));
  const due = later(now, minutes(15));
  const cases: readonly [name: string, after: Instant, own: string, recorded: string | null][] = [
    ["the same is nothing new", due, "", null],
    ["another spelling of the same is nothing new", due, "total-cpu=8000m", null],
    ["5 % more of what there is stays as recorded", due, "total-memory=70464307Ki", null],
    ["more than 5 % of what there is are recorded", soon, "total-memory=70464308Ki", "total-memory=70464308Ki"],
    ["what there is may fall as well", soon, "total-memory=60Gi", "total-memory=60Gi"],
    ["a value of a policy that is crossed is recorded", soon, "total-cpu=10", "total-cpu=10"],
    ["more than 5 % of what is available waits for 15 minutes", soon, "available-cpu=5", null],
    ["more than 5 % of what is available are recorded then", due, "available-cpu=5", "available-cpu=5"],
    ["5 % of what is available wait for ever", later(now, minutes(999)), "available-cpu=5700m", null],
    ["what is available crosses the value of a policy at once", soon, "available-cpu=4", "available-cpu=4"],
    [
      "all resources are recorded together",
      soon,
      "available-cpu=3 available-memory=31Gi",
      "available-cpu=3 available-memory=31Gi",
    ],
    ["something out of nothing is recorded", due, "total-gpu=1", "total-gpu=1"],
  ];
  test.each(cases)("%s", (_, at, own, expected) => {
    const before = record(nothing, measured);
    const is = new Map([...properties(measured.own ?? ""), ...properties(own)]);
    const again = recordedFacts(
      before,
      { read, collected: { ...collected({}), properties: is } },
      { compared, now: at },
    );
    if (expected === null) {
      expect([again.properties, again.collection]).toStrictEqual([before.properties, before.collection]);
      expect(again.properties).toBe(before.properties);
      expect(again.collection).toBe(before.collection);
    } else {
      const changed = new Map([...properties(measured.own ?? ""), ...properties(expected)]);
      for (const [name, value] of changed) expect(again.properties.get(name)).toBe(value);
      expect(again.collection.measuredAt).toBe(at);
    }
  });

  test("says when a change that waits is recorded, and at that moment records it", () => {
    const before = record(nothing, measured);
    const changed = { own: (measured.own ?? "").replace("available-cpu=6", "available-cpu=5") };
    const waiting = record(before, changed, later(now, seconds(1)));
    expect(waiting.until).toBe(due);
    expect(record(waiting, changed, later(due, seconds(-1))).properties).toBe(before.properties);
    const then = record(waiting, changed, due);
    expect(words(then)).toContain("available-cpu=5");
    expect(then.until).toBeNull();
  });

  test("a value that crosses one of a policy crosses it once", () => {
    const before = record(nothing, measured);
    const below = record(before, { own: (measured.own ?? "").replace("cpu=6", "cpu=3900m") }, soon);
    const again = record(below, { own: (measured.own ?? "").replace("cpu=6", "cpu=3899m") }, soon);
    expect(words(below)).toContain("available-cpu=3900m");
    expect(again.properties).toBe(below.properties);
    expect(again.until).toBeNull();
  });
});

describe("what is recorded of all else", () => {
  const cases: readonly [name: string, before: Found, found: Found, expected: string][] = [
    ["any change of a count is recorded", { own: "nodes=100" }, { own: "nodes=101" }, "nodes=101"],
    ["what is there no more is gone", { own: "nodes=3 sku=1" }, { own: "nodes=3" }, "nodes=3"],
    ["what could not be read stays", { own: "nodes=3 sku=1" }, { unread: ["nodes", "pods"] }, "nodes=3 sku=1"],
    [
      "without pods the rest is recorded, and what is available stays",
      { own: "available-cpu=6 total-cpu=8" },
      { own: "total-cpu=16", unread: ["pods"] },
      "available-cpu=6 total-cpu=16",
    ],
    ["what a provider says is recorded", {}, { provided: "tier=2" }, "tier=2"],
    [
      "any change of what a provider says is recorded, of amounts as well",
      { provided: "total-gpu=100" },
      { provided: "total-gpu=101" },
      "total-gpu=101",
    ],
    ["the cluster itself comes before its providers", {}, { own: "nodes=3", provided: "nodes=9" }, "nodes=3"],
    [
      "what was read once comes before providers as well",
      { own: "nodes=3" },
      { provided: "nodes=9", unread: ["nodes"] },
      "nodes=3",
    ],
    [
      "a provider that cannot be asked leaves what it said",
      { provided: "tier=2" },
      { unread: ["providers"] },
      "tier=2",
    ],
    ["a provider that says less takes it back", { provided: "tier=2 zone=1" }, { provided: "zone=1" }, "zone=1"],
  ];
  test.each(cases)("%s", (_, before, found, expected) => {
    expect(words(record(record(nothing, before), found))).toBe(expected);
  });

  test("it stands beside each value whether a provider says it", () => {
    const first = record(nothing, { own: "nodes=3", provided: "nodes=9 tier=2" });
    expect([...first.collection.origins]).toEqual([["tier", "provider"]]);
    const own = record(first, { own: "nodes=3 tier=2" });
    expect([...own.collection.origins]).toEqual([]);
    expect(own.properties).toBe(first.properties);
  });

  test("labels stay where nodes cannot be read", () => {
    const first = record(nothing, { labels: "fleet.azure.com/location=eu" });
    expect(record(first, { unread: ["nodes"] }).collection).toBe(first.collection);
    expect([...record(first, {}).collection.labels]).toEqual([]);
  });
});

test("a provider's resources are a part of the measurement: they have its time, and the rest is recorded with them", () => {
  const before = record(nothing, { ...measured, provided: "total-gpu=8" });
  const soon = later(now, minutes(1));
  const same = record(
    before,
    { own: "available-cpu=7 available-memory=32Gi total-cpu=8 total-memory=64Gi", provided: "total-gpu=8" },
    soon,
  );
  expect(same.collection).toBe(before.collection);
  const found = { own: "available-cpu=7 available-memory=32Gi total-cpu=8 total-memory=64Gi", provided: "total-gpu=9" };
  const next = record(before, found, soon);
  expect(words(next)).toBe("available-cpu=7 available-memory=32Gi total-cpu=8 total-gpu=9 total-memory=64Gi");
  expect([before.collection.measuredAt, next.collection.measuredAt]).toEqual([now, soon]);
});
