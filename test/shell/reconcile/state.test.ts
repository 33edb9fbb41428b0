import { deepStrictEqual } from "node:assert/strict";
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { BlobId } from "../../../src/core/model/value.ts";
import { Fault } from "../../../src/shell/reconcile/fault.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { observe } from "../../../src/shell/reconcile/observe.ts";
import { readStateBranch } from "../../../src/shell/reconcile/state.ts";
import { editedFleet } from "./edited-fleet.ts";
import { hubRepository, listingRepository } from "./hub-repository.ts";

const record = { members: "record", patience: "none", acceptRewrite: null, trustAnchor: null } as const;

/** Every state that some edits and passes lead to. */
async function history(seed: number) {
  const fleet = editedFleet(seed);
  for (let at = 0; at < 10; at++) {
    fleet.edit();
    fleet.push();
    for (let count = fleet.random.below(3); count >= 0; count--) await fleet.pass();
  }
  return fleet;
}

test("a state read on top of any other is the state that is there", async () => {
  for (const seed of [1, 2, 3]) {
    const { hub } = await history(seed);
    const repository = hubRepository(hub);
    const states = await Promise.all(hub.history.map((it) => readStateBranch(repository, it)));
    for (const [at, want] of states.entries())
      for (const known of [states[at - 1], states[at + 1], states.at(-1), states[0]])
        deepStrictEqual(await readStateBranch(repository, want.commit, known ?? null), want);
  }
});

test("what is the same in another state keeps its identity, and only what differs is read", async () => {
  const { hub } = await history(4);
  const repository = hubRepository(hub);
  let known = await readStateBranch(repository, hub.history[0] ?? null);
  for (const commit of hub.history.slice(1)) {
    const before = known;
    repository.read.length = 0;
    const next = await readStateBranch(repository, commit, before);
    const [tree, old] = [hub.treeAt(commit), hub.treeAt(before.commit)];
    const again = [...tree].filter(([path, blob]) => old.get(path) === blob && repository.read.includes(blob));
    expect(again.map(([path]) => path)).toEqual([]);
    expectKept(before.ledger, next.ledger);
    known = next;
  }
});

/** Whatever says the same in both is the same. */
function expectKept(before: Ledger, after: Ledger): void {
  for (const [key, record] of after.placements) {
    const was = before.placements.get(key);
    for (const [cluster, binding] of record.bindings) {
      const old = was?.bindings.get(cluster);
      if (JSON.stringify(old) === JSON.stringify(binding)) expect(binding).toBe(old);
    }
    for (const it of record.resourceSnapshots) {
      const old = was?.resourceSnapshots.find(({ index }) => index === it.index);
      if (JSON.stringify(old) === JSON.stringify(it)) expect(it).toBe(old);
    }
  }
  for (const [name, cluster] of after.clusters)
    if (JSON.stringify(before.clusters.get(name)) === JSON.stringify(cluster))
      expect(cluster).toBe(before.clusters.get(name));
}

test("a state whose past is lost is read anew", async () => {
  const { hub } = await history(5);
  const [first, last] = [hub.history[0], hub.history.at(-1)];
  const known = await readStateBranch(hubRepository(hub), first ?? null);
  const repository = hubRepository(hub);
  const forgetful = {
    ...repository,
    changes: async (...[from, to, enters]: Parameters<NonNullable<typeof repository.changes>>) => {
      if (from !== null) throw new Fault("RepositoryCorrupt", "reading the hub", "there is no such commit", "fetch it");
      return repository.changes?.(from, to, enters) ?? [];
    },
  };
  deepStrictEqual(
    await readStateBranch(forgetful, last ?? null, known),
    await readStateBranch(repository, last ?? null),
  );
});

test("an intent read on top of any other is the intent that is there, and what stays keeps its identity", async () => {
  for (const seed of [6, 7, 8]) {
    const fleet = editedFleet(seed);
    const [warm, listing] = [newMemory(), newMemory()];
    const lister = listingRepository(fleet.hub);
    let before = null;
    for (let at = 0; at < 20; at++) {
      fleet.edit();
      fleet.push();
      const { world } = await observe(fleet.ports, record, warm);
      const { intent } = world;
      deepStrictEqual(intent, (await observe(fleet.ports, record, newMemory())).world.intent);
      deepStrictEqual((await observe({ ...fleet.ports, repository: lister }, record, listing)).world.intent, intent);
      for (const key of ["placements", "clusters", "objects"] as const)
        for (const [name, it] of intent[key] as ReadonlyMap<string, unknown>) {
          const old: unknown = (before?.[key] as ReadonlyMap<string, unknown> | undefined)?.get(name);
          if (JSON.stringify(old) === JSON.stringify(it)) expect(it).toBe(old);
        }
      before = intent;
      if (fleet.random.below(2) === 0) await fleet.pass();
    }
  }
}, 60_000);

test("nothing is read where nothing changed, nor again after a commit of ours", async () => {
  const fleet = editedFleet(9);
  const repository = hubRepository(fleet.hub);
  const ports = { ...fleet.ports, repository };
  const memory = newMemory();
  fleet.push();
  await fleet.pass();
  const first = await observe(ports, record, memory);
  repository.seen.length = 0;
  repository.read.length = 0;
  const second = await observe(ports, record, memory);
  expect([second.world.intent === first.world.intent, repository.seen, repository.read]).toEqual([true, [], []]);
});

test("a file that people keep in a folder called like one of ours stays accepted for a process that has just begun", async () => {
  const { hub, files, ports, push, pass } = editedFleet(10);
  files.set(
    "apps/resource-snapshots/1/files/space.yaml",
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: nested}\n",
  );
  push();
  await pass();
  const { accepted } = await readStateBranch(ports.repository, hub.state);
  expect([...accepted.keys()].sort()).toEqual([...files.keys()].sort());
});

test("a link that became a file nobody reads is forgotten", async () => {
  const { hub, ports, push } = editedFleet(11);
  const { repository } = ports;
  const tree: Record<string, "link" | "file"> = {};
  const linking = {
    ...repository,
    changes: async (...[from, to, enters]: Parameters<NonNullable<typeof repository.changes>>) => {
      const kind = to in tree ? tree[to] : undefined;
      const changes = (await repository.changes?.(from, to, enters)) ?? [];
      const file = { path: "apps/link", blob: "0".repeat(40) as BlobId, size: null };
      return kind === undefined ? changes : [{ path: file.path, file: { ...file, kind } }, ...changes];
    },
  };
  const memory = newMemory();
  const seen: boolean[] = [];
  for (const kind of ["link", "file"] as const) {
    tree[push()] = kind;
    const { world } = await observe({ ...ports, repository: linking }, record, memory);
    seen.push(world.intent.problems.some((it) => it.path === "apps/link"));
  }
  expect([seen, hub.state]).toEqual([[true, false], null]);
});
