// What the last release before hand-overs wrote, word for word: it placed `web` and `shop` on m1 and m2, and the file of
// `shop` was removed, which waits for a confirmation. `state/` is its state branch without what is only shown;
// `inventories.json` is what its executor stored in the members. The current release goes on from there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeText } from "../../../../src/core/apply/mark.ts";
import { check } from "../../../../src/core/check/check.ts";
import { decodeBlob } from "../../../../src/core/intent/documents.ts";
import { readIntent } from "../../../../src/core/intent/intent.ts";
import { readLedger } from "../../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../../src/core/ledger/writer.ts";
import { noHistory } from "../../../../src/core/model/history.ts";
import type { Inventory } from "../../../../src/core/model/inventory.ts";
import type { Ledger } from "../../../../src/core/model/ledger.ts";
import type { ObjectKey } from "../../../../src/core/model/manifest.ts";
import { type LiveObject, noProperties, type Observation } from "../../../../src/core/model/observation.ts";
import type { World } from "../../../../src/core/model/plan.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  later,
  minutes,
  type PlacementKey,
} from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { decodeInventory, encodeInventory, type Shard } from "../../../../src/shell/kube/inventory/inventory-text.ts";
import { morning } from "../../../world.ts";

const here = new URL(".", import.meta.url).pathname;
const files = new Map(
  readdirSync(join(here, "state"), { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => {
      const path = join(it.parentPath, it.name);
      return [path.slice(join(here, "state/").length), readFileSync(path, "utf8")] as const;
    }),
);
const stored = JSON.parse(readFileSync(join(here, "inventories.json"), "utf8")) as Readonly<
  Record<string, readonly Shard[]>
>;

function recorded(): Ledger {
  const read = readLedger(files);
  if (read.kind !== "read") throw new Error(JSON.stringify(read));
  return read.ledger;
}

function inventoryOf(member: string): Inventory {
  const read = decodeInventory(new Map((stored[member] ?? []).map((it, at) => [at, it] as const)));
  if (read === null) throw new Error(`the inventory of ${member} cannot be read`);
  return read;
}

/** The member as its inventory tells of it: everything is there, and as it was applied. */
function observed(member: string, clusterUid: string): Observation {
  const inventory = inventoryOf(member);
  const { fleet, epoch } = inventory;
  const objects = new Map<ObjectKey, LiveObject>();
  for (const { sequence, entries } of inventory.placements.values())
    for (const [key, { uid, fingerprint }] of entries) {
      const mark = writeText({ fleet, epoch, sequence });
      const health = { phase: "available" } as const;
      objects.set(key, { uid: uid ?? "", generation: 1, fingerprint, health, terminating: false, mark });
    }
  return { kind: "reached", clusterUid, properties: noProperties, inventory, objects, unlisted: new Set() };
}

/** What the files that were accepted last say, with these in addition; null takes one away. */
function intentWith(changes: Readonly<Record<string, string | null>>, commit: Commit): World["intent"] {
  const texts = new Map<string, string | null>();
  for (const [path, text] of files) if (path.startsWith("accepted/")) texts.set(path.slice("accepted/".length), text);
  for (const [path, text] of Object.entries(changes)) texts.set(path, text);
  const all = [...texts].flatMap(([path, text]) =>
    text === null
      ? []
      : [
          {
            path,
            blob: path.padEnd(40, "0").slice(0, 40) as BlobId,
            kind: "file" as const,
            decoded: decodeBlob(Buffer.from(text)),
          },
        ],
  );
  return readIntent({ commit, files: all, accepted: null });
}

function worldOf(ledger: Ledger, intent: World["intent"]): World {
  const uidOf = (name: string): string => ledger.clusters.get(name as ClusterName)?.kubeSystemUid ?? "";
  const members = ["m1", "m2"].map((it) => [it as ClusterName, observed(it, uidOf(it))] as const);
  const others = { unsound: new Map(), archive: new Map(), trustAnchor: null, entropy: "", clockOffset: null };
  return {
    ...others,
    intent,
    ledger,
    observed: new Map(members),
    history: noHistory(intent.commit),
    now: later(morning, minutes(60 * 24 * 7)),
    patience: "none",
  };
}

const shown = { rowsOf: () => [], indexOf: () => "", selectedOf: () => [] };
const headOf = (before: Ledger, after: Ledger): string =>
  stateEdits(before, after, shown).flatMap((it) =>
    it.kind === "write" && it.path === "ledger.yaml" ? it.text : [],
  )[0] ?? "";

const [web, shop, site] = ["web", "shop", "site"] as [PlacementKey, PlacementKey, PlacementKey];

test("a state branch and inventories of formats 2 and 1 are read, and say what they said", () => {
  const ledger = recorded();
  expect(files.get("ledger.yaml")).toMatch(/^formatVersion: 2$/m);
  expect([...ledger.placements.keys()]).toEqual([shop, web]);
  expect(ledger.deletions.held.map((it) => [it.because, it.confirmed])).toEqual([["bounds", false]]);
  expect([...(ledger.placements.get(shop)?.bindings.values() ?? [])].map((it) => it.leaving.length)).toEqual([14, 14]);
  expect(ledger.quarantines.size).toBe(0);
  for (const member of ["m1", "m2"]) {
    expect(stored[member]?.[0]?.["_inventory"]).toContain('"format":1');
    const { fleet, placements } = inventoryOf(member);
    expect([fleet, [...placements].map(([key, { entries }]) => [key, entries.size])]).toEqual([
      ledger.fleet,
      [
        [shop, 14],
        [web, 2],
      ],
    ]);
  }
});

test("the current release goes on from there: nothing is deleted, and what waits for a confirmation still does", () => {
  const ledger = recorded();
  const world = worldOf(ledger, intentWith({}, ledger.sourceCommit as Commit));
  expect(world.intent.problems).toEqual([]);
  const made = plan(world);
  expect(check(made, world)).toEqual([]);
  expect(made.refusal).toBeNull();
  expect(made.actions.flatMap((it) => it.placements.flatMap(({ remove, apply }) => [...remove, ...apply]))).toEqual([]);
  expect(made.ledger.deletions.held).toEqual(ledger.deletions.held);
  expect(made.ledger.placements.get(shop)?.bindings).toEqual(ledger.placements.get(shop)?.bindings);
});

test("what the earlier release placed is handed over by the current one, and both formats rise with that", () => {
  const ledger = recorded();
  const renamed = (files.get("accepted/placements/web.yaml") ?? "").replace("name: web}", "name: site}");
  const edits = { "placements/web.yaml": null, "placements/site.yaml": `${renamed}  strategy: {type: External}\n` };
  const world = worldOf(ledger, intentWith(edits, "b".repeat(40) as Commit));
  expect(world.intent.problems).toEqual([]);
  const made = plan(world);
  expect(check(made, world)).toEqual([]);
  const leaving = [...(made.ledger.placements.get(web)?.bindings.values() ?? [])].flatMap((it) => it.leaving);
  expect(leaving.map((it) => it.handOver?.to)).toEqual([site, site, site, site]);
  expect(made.actions.flatMap((it) => it.placements.flatMap(({ remove }) => remove))).toEqual([]);
  const [, version] = /^formatVersion: (\d+)$/m.exec(headOf(ledger, made.ledger)) ?? [];
  expect(Number(version)).toBeGreaterThan(2);
  expect(encodeInventory(inventoryOf("m1"))[0]?.["_inventory"]).toContain('"format":2');
});
