import { describe, expect, it } from "vitest";
import type { Override, OverrideSnapshot } from "../../../src/core/model/override.ts";
import { latestOf, nextOverrideSnapshots, overrideSnapshotKey } from "../../../src/core/render/override-snapshot.ts";
import { everywhere, override, patch } from "./repository.ts";

/** An override whose spec says `value`: `ro` in namespace app, `cro` cluster-scoped. */
function written(name: "app/ro" | "cro", value: string): Override {
  const {
    namespace,
    override: own,
    spec,
  } = override(`${name}-0`, "apps/v1 Deployment web", [
    patch(everywhere, `add /metadata/labels/value ${JSON.stringify(value)}`),
  ]);
  const source = { path: "overrides/o.yaml", document: 0, line: 1, column: 1 };
  return { scope: namespace === null ? "Cluster" : "Namespaced", namespace, name: own, spec, source };
}

const nobody: ReadonlySet<string> = new Set();

function history(name: "app/ro" | "cro", values: readonly string[], inUse = nobody): readonly OverrideSnapshot[] {
  let snapshots: readonly OverrideSnapshot[] = [];
  for (const value of values) snapshots = nextOverrideSnapshots(snapshots, [written(name, value)], inUse);
  return snapshots;
}

const names = (snapshots: readonly OverrideSnapshot[]): readonly string[] => snapshots.map(overrideSnapshotKey);

describe("override snapshots", () => {
  it("the first is <override>-0, in the override's namespace", () =>
    expect(names(history("app/ro", ["a"]))).toEqual(["app/ro-0"]));

  it("a changed spec makes the next index, and so does going back", () =>
    expect(names(history("cro", ["a", "b", "a"]))).toEqual(["cro-0", "cro-1", "cro-2"]));

  it("the same spec, read again, changes nothing at all", () => {
    const before = history("cro", ["a", "b"]);
    expect(nextOverrideSnapshots(before, [written("cro", "b")], nobody)).toBe(before);
  });

  it("what stays keeps its identity when another override changes", () => {
    const before = nextOverrideSnapshots([], [written("cro", "a"), written("app/ro", "a")], nobody);
    const after = nextOverrideSnapshots(before, [written("cro", "b"), written("app/ro", "a")], nobody);
    expect(names(after)).toEqual(["cro-0", "cro-1", "app/ro-0"]);
    expect([after[0], after[2]].map((it, at) => it === before[at])).toEqual([true, true]);
  });

  const many = Array.from({ length: 13 }, (_, at) => String(at));

  it("ten are kept", () => expect(names(history("cro", many)).at(0)).toBe("cro-3"));

  it("O-26, against it A 51: what a held-back binding names is not trimmed", () => {
    const kept = names(history("cro", many, new Set(["cro-0"])));
    expect([kept.length, kept[0], kept[1]]).toEqual([11, "cro-0", "cro-3"]);
  });

  it("the snapshots of a deleted override go, but not while a binding names them", () => {
    const before = history("app/ro", ["a", "b"]);
    expect(names(nextOverrideSnapshots(before, [], new Set(["app/ro-1"])))).toEqual(["app/ro-1"]);
    expect(nextOverrideSnapshots(before, [], nobody)).toEqual([]);
  });

  it("a deleted override that comes back goes on counting while its old snapshot is in use", () => {
    const left = nextOverrideSnapshots(history("cro", ["a", "b"]), [], new Set(["cro-1"]));
    expect(names(nextOverrideSnapshots(left, [written("cro", "c")], new Set(["cro-1"])))).toEqual(["cro-1", "cro-2"]);
  });
});

it("the latest of every override that still exists", () => {
  const snapshots = [...history("cro", ["a", "b"]), ...history("app/ro", ["a", "b"])];
  expect(names(latestOf(snapshots, [written("cro", "b"), written("app/ro", "b")]))).toEqual(["cro-1", "app/ro-1"]);
  expect(names(latestOf(snapshots, [written("app/ro", "b")]))).toEqual(["app/ro-1"]);
});
