import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { placementFolder, type StateEdit } from "../../../src/core/ledger/layout.ts";
import { readLedger } from "../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../src/core/ledger/writer.ts";
import { assert, known } from "../../../src/core/model/assert.ts";
import type { Json } from "../../../src/core/model/json.ts";
import {
  emptyLedger,
  type Ledger,
  type PlacementRecord,
  type ResourceSnapshot,
  type SnapshotResource,
} from "../../../src/core/model/ledger.ts";
import { placementKey } from "../../../src/core/model/placement.ts";
import type { BlobId, Commit, Digest } from "../../../src/core/model/value.ts";
import { readCanonical } from "../../../src/core/yaml/canonical-read.ts";
import { randomLedger } from "./ledgers.ts";

const rowsOf = ({ bindings }: PlacementRecord): readonly Json[] =>
  [...bindings.values()].map((it) => ({
    clusterName: it.cluster,
    conditions: [{ type: "Scheduled", status: "True" }],
  }));
const shown = {
  rowsOf,
  indexOf: (record: PlacementRecord): string => String(record.resourceSnapshots.at(-1)?.index ?? ""),
  selectedOf: (): readonly Json[] => [{ kind: "Namespace", name: "shop", version: "v1" }],
};

const edits = (before: Ledger, after: Ledger): readonly StateEdit[] => stateEdits(before, after, shown);
const seeds = Array.from({ length: 30 }, (_, at) => at + 1);

describe("a ledger written and read again", () => {
  test.each(seeds)("is the same ledger (seed %i)", (seed) => {
    const ledger = randomLedger(seed);
    const read = readLedger(textsOf(edits(emptyLedger, ledger)));
    deepStrictEqual(read, { kind: "read", ledger });
    if (read.kind === "read") deepStrictEqual(keysOf(read.ledger), keysOf(ledger));
  });

  test("is the same ledger whatever order the files come in", () => {
    const ledger = randomLedger(3);
    const texts = new Map([...textsOf(edits(emptyLedger, ledger))].reverse());
    deepStrictEqual(readLedger(texts), { kind: "read", ledger });
  });

  test("is written in canonical text, whatever it holds", () => {
    for (const [path, text] of textsOf(edits(emptyLedger, randomLedger(11)))) {
      // Word for word what people wrote.
      if (path === "trust/root.yaml") continue;
      expect([path, readCanonical(text) === null]).toEqual([path, false]);
    }
  });
});

describe("the edits from one ledger to another", () => {
  test.each(seeds)("turn the one's tree into the other's (seed %i)", (seed) => {
    const before = randomLedger(seed);
    const after = mixed(before, randomLedger(seed + 1000));
    const tree = applied(applied(new Map(), edits(emptyLedger, before)), edits(before, after));
    deepStrictEqual(tree, applied(new Map(), edits(emptyLedger, after)));
  });

  test("name every path once, in order", () => {
    for (const seed of seeds) {
      const paths = edits(randomLedger(seed), randomLedger(seed + 1)).map((it) => it.path);
      expect(paths).toEqual([...new Set(paths)].sort());
    }
  });

  test("never make a file of what is a folder", () => {
    for (const seed of seeds) {
      const paths = edits(emptyLedger, randomLedger(seed)).map((it) => it.path);
      expect(paths.filter((it) => paths.some((other) => other.startsWith(`${it}/`)))).toEqual([]);
    }
  });

  test("of a ledger to itself are none", () => {
    const ledger = randomLedger(5);
    expect(edits(ledger, { ...ledger })).toEqual([]);
  });

  test("of one binding touch its placement's head and bindings", () => {
    const before = randomLedger(8);
    const record = [...before.placements.values()].find((it) => it.bindings.size > 1);
    assert(record !== undefined, "seed 8 has a placement with two bindings");
    const [first] = record.bindings.values();
    const binding = known(first, "it has bindings");
    const bindings = new Map(record.bindings).set(binding.cluster, { ...binding, generation: 77 });
    const placements = new Map(before.placements).set(record.key, { ...record, bindings });
    const touched = edits(before, { ...before, placements }).map((it) => `${it.kind} ${it.path}`);
    const folder = placementFolder(record.key);
    expect(touched).toEqual([`write ${folder}bindings.yaml`, `write ${folder}placement.yaml`]);
  });

  test("write the snapshot that ceases to be the latest again, and keep its blobs", () => {
    const before = withSnapshots(2);
    const after = withSnapshots(3);
    expect(edits(before, after).map((it) => `${it.kind} ${it.path}`)).toEqual([
      "write placements/web/placement.yaml",
      "write placements/web/resource-snapshots/1/snapshot.yaml",
      "link placements/web/resource-snapshots/2/files/resources/shop.yaml",
      "write placements/web/resource-snapshots/2/snapshot.yaml",
    ]);
  });

  test("keep two versions of one file that a snapshot names", () => {
    const [first] = snapshots;
    const snapshot = known(first, "there are three");
    const resources = snapshot.resources.flatMap((it) => [it, { ...it, blob: "c".repeat(40) as BlobId }]);
    const record = { ...web, resourceSnapshots: [{ ...snapshot, resources }] };
    const ledger = { ...base, placements: new Map([[web.key, record]]) };
    const links = edits(emptyLedger, ledger).filter((it) => it.kind === "link");
    expect(links.map((it) => it.path)).toEqual([
      `placements/web/resource-snapshots/0/files/.held/${"c".repeat(40)}`,
      "placements/web/resource-snapshots/0/files/resources/shop.yaml",
    ]);
  });
});

describe("a state branch that cannot be read", () => {
  const good = textsOf(edits(emptyLedger, withSnapshots(1)));
  const cases: readonly {
    readonly name: string;
    readonly path: string;
    readonly swap: [RegExp, string];
    readonly want: RegExp;
  }[] = [
    {
      name: "because a newer flotilla wrote it",
      path: "ledger.yaml",
      swap: [/formatVersion: 3/, "formatVersion: 7"],
      want: /^ledger.yaml:1:1: "formatVersion" is 7: written by a newer flotilla; upgrade$/,
    },
    {
      name: "because a field is missing",
      path: "placements/web/placement.yaml",
      swap: [/ {2}uid: .*\n/, ""],
      want: /^placements\/web\/placement.yaml:3:1: "uid" is missing$/,
    },
    {
      name: "because a word is not one of ours",
      path: "placements/web/placement.yaml",
      swap: [/placementType: .*/, "placementType: PickSome"],
      want: /^placements\/web\/placement.yaml:\d+:5: "placementType" is not one of PickAll, PickN, PickFixed$/,
    },
    {
      name: "because it is no YAML",
      path: "ledger.yaml",
      swap: [/fleet: .*/, "fleet: [a"],
      want: /^ledger.yaml: Flow sequence/,
    },
    {
      name: "because a file was moved",
      path: "placements/web/placement.yaml",
      swap: [/ {2}name: web\n/, "  name: other\n"],
      want: /^placements\/web\/placement.yaml: contains what belongs in another file$/,
    },
  ];
  test.each(cases)("says so $name", ({ path, swap, want }) => {
    const text = good.get(path) ?? "";
    const broken = text.replace(...swap);
    expect(broken).not.toBe(text);
    const read = readLedger(new Map(good).set(path, broken));
    expect(read).toEqual({ kind: "unreadable", message: expect.stringMatching(want) });
  });

  test.each(["ledger.yaml", "placements/web/placement.yaml"])("says so because %s is missing", (path) => {
    const files = new Map(good);
    files.delete(path);
    expect(readLedger(files)).toEqual({ kind: "unreadable", message: `${path} is missing` });
  });
});

test("a ledger of version 1 is read: nothing was judged, and nobody was shown what of others goes along", () => {
  const held = {
    cause: "c".repeat(40) as Commit,
    because: "foreign",
    digest: "d".repeat(64) as Digest,
    confirmed: true,
    groups: [],
    others: [],
  } as const;
  const ledger = { ...base, deletions: { ...base.deletions, held: [held] } };
  const texts = textsOf(edits(emptyLedger, ledger));
  const text = (texts.get("ledger.yaml") ?? "").replace("formatVersion: 3", "formatVersion: 1");
  expect(text).not.toMatch(/others|confirmations/);
  deepStrictEqual(readLedger(new Map(texts).set("ledger.yaml", text)), { kind: "read", ledger });
});

test("what the release before wrote is read, and what is handed over is written so that it refuses it", () => {
  const ledger = withSnapshots(1);
  const texts = textsOf(edits(emptyLedger, ledger));
  const text = texts.get("ledger.yaml") ?? "";
  // That release read up to version 2.
  expect(Number(/^formatVersion: (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(2);
  const before = new Map(texts).set("ledger.yaml", text.replace(/^formatVersion: .*$/m, "formatVersion: 2"));
  deepStrictEqual(readLedger(before), { kind: "read", ledger });
});

test.each<{ name: string; add: (ledger: Ledger) => Ledger; version: number }>([
  { name: "nothing that an older release does not know", add: (it) => it, version: 3 },
  {
    name: "an approval that was taken away",
    add: (it) => ({ ...it, takenAway: new Set(["a".repeat(40) as BlobId]) }),
    version: 5,
  },
  {
    name: "what an envelope wraps",
    add: (it) => withResource(it, { envelope: { type: "ClusterResourceEnvelope", namespace: null, name: "all" } }),
    version: 5,
  },
  { name: "a placement in a namespace", add: withNamespaced, version: 6 },
])("$name is written so that a release that would forget it refuses it", ({ add, version }) => {
  const ledger = withSnapshots(1);
  const texts = textsOf(edits(emptyLedger, add(ledger)));
  expect(texts.get("ledger.yaml")).toContain(`formatVersion: ${version}\n`);
  const [kept, again] = [textsOf(edits(emptyLedger, ledger)), textsOf(edits(ledger, add(ledger)))];
  expect(new Map([...kept, ...again]).get("ledger.yaml")).toBe(texts.get("ledger.yaml"));
});

test("a file edited by hand is read as YAML, wherever its rows stand", () => {
  const ledger = withSnapshots(1);
  const texts = textsOf(edits(emptyLedger, ledger));
  const path = "placements/web/placement.yaml";
  const text = `${texts.get(path)}  observedAgain: 1\n# a note\n`;
  deepStrictEqual(readLedger(new Map(texts).set(path, text)), { kind: "read", ledger });
});

test("rows are not read", () => {
  const ledger = withSnapshots(1);
  const texts = textsOf(edits(emptyLedger, ledger));
  const path = "placements/web/placement.yaml";
  const text = (texts.get(path) ?? "").replace(
    /( {2}placementStatuses:\n).*/s,
    "$1  - this is [ no YAML\n    at all: {\n",
  );
  deepStrictEqual(readLedger(new Map(texts).set(path, text)), { kind: "read", ledger });
});

/** The ledger of one placement `web` that has had `count` resource snapshots, all sharing what they can. */
function withSnapshots(count: number): Ledger {
  return { ...base, placements: new Map([[web.key, { ...web, resourceSnapshots: snapshots.slice(0, count) }]]) };
}

function withNamespaced(ledger: Ledger): Ledger {
  const own: PlacementRecord = { ...web, key: placementKey("shop", "web"), scope: "Namespaced", namespace: "shop" };
  return { ...ledger, placements: new Map([[own.key, own], ...ledger.placements]) };
}

function withResource(ledger: Ledger, more: Partial<SnapshotResource>): Ledger {
  const resourceSnapshots = snapshots
    .slice(0, 1)
    .map((it) => ({ ...it, resources: it.resources.map((one) => ({ ...one, ...more })) }));
  return { ...ledger, placements: new Map([[web.key, { ...web, resourceSnapshots }]]) };
}

const base: Ledger = { ...emptyLedger, fleet: "1234" };
const found = seeds
  .flatMap((it) => [...randomLedger(it).placements.values()])
  .find((it) => it.key === "web" && it.bindings.size > 2);
const web: PlacementRecord = { ...known(found, "some seed has it"), policySnapshots: [] };
const snapshots: readonly ResourceSnapshot[] = [0, 1, 2].map((index) => ({
  index,
  hash: "f".repeat(64) as Digest,
  commit: "e".repeat(40) as Commit,
  resources: [
    {
      id: { group: "", version: "v1", kind: "Namespace", namespace: null, name: "shop" },
      digest: "d".repeat(64) as Digest,
      path: "resources/shop.yaml",
      document: 0,
      blob: String(index).repeat(40) as BlobId,
    },
  ],
}));

/** Some of the one, some of the other: what a pass leaves alone is the same object. */
function mixed(before: Ledger, other: Ledger): Ledger {
  const clusters = new Map([...before.clusters].filter((_, at) => at % 3 !== 0));
  for (const [name, it] of other.clusters) if (!clusters.has(name)) clusters.set(name, it);
  const placements = new Map([...before.placements].filter((_, at) => at % 3 !== 0));
  for (const [key, it] of other.placements) {
    const old = placements.get(key);
    placements.set(
      key,
      old === undefined ? it : { ...old, resourceSnapshots: it.resourceSnapshots, generation: 5, change: it.change },
    );
  }
  const runs = new Map([...before.runs].filter((_, at) => at % 3 !== 0));
  for (const [key, it] of other.runs) {
    const old = runs.get(key);
    runs.set(key, old === undefined ? it : { ...old, generation: 12, conditions: it.conditions });
  }
  const { sequence, evictions, hasTrust, trust, answers, overrides } = other;
  return { ...before, sequence, clusters, placements, runs, evictions, hasTrust, trust, answers, overrides };
}

function applied(tree: ReadonlyMap<string, string>, changes: readonly StateEdit[]): ReadonlyMap<string, string> {
  const next = new Map(tree);
  for (const edit of changes) {
    if (edit.kind === "write") next.set(edit.path, edit.text);
    else if (edit.kind === "link") next.set(edit.path, edit.blob);
    else if (!next.delete(edit.path)) throw new Error(`${edit.path} is removed and was not there`);
  }
  return new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const textsOf = (changes: readonly StateEdit[]): ReadonlyMap<string, string> =>
  new Map(changes.flatMap((it): [string, string][] => (it.kind === "write" ? [[it.path, it.text]] : [])));

const keysOf = (ledger: Ledger): readonly (readonly string[])[] => [
  [...ledger.clusters.keys()],
  [...ledger.placements.keys()],
  [...ledger.deletions.permitted.keys()],
  [...ledger.runs.keys()],
  [...ledger.evictions.keys()],
  ...[...ledger.runs.values()].flatMap(({ stages, deletion }) =>
    [...stages, deletion].map((it) => [...it.clusters.keys()]),
  ),
  ...[...ledger.placements.values()].map((it) => [...it.bindings.keys()]),
];
