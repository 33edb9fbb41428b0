// No two things share a path, nor does one stand where another one has a folder, whatever people call them.
import { describe, expect, test } from "vitest";
import { markOf } from "../../../src/core/apply/mark.ts";
import {
  approvalRequestPath,
  askedCommitsPath,
  askedPagePath,
  askedPath,
  askedRequestFolder,
  bindingsPath,
  changeRequestName,
  clusterPath,
  evictionPath,
  overridePath,
  placementFolder,
  placementOfFolder,
  placementPath,
  policySnapshotsPath,
  renderedPath,
  runOfFolder,
  runPath,
  runPlanPath,
  snapshotPath,
  stateFileOf,
} from "../../../src/core/ledger/layout.ts";
import { placementKey } from "../../../src/core/model/placement.ts";
import { approvalRequestName } from "../../../src/core/model/stage-task.ts";
import { isApprovalPath } from "../../../src/core/model/trust.ts";
import { runKey } from "../../../src/core/model/update-run.ts";
import type { ClusterName, Digest, PlacementKey } from "../../../src/core/model/value.ts";
import { approvalFile, approvalFolder } from "../../../src/core/report/approval-files.ts";
import { type Random, seeded } from "../intent/random.ts";

/** Words that paths are made of: names that are made of them are the ones that could collide. */
const words = [
  ...["approvals", "runs", "deletions", "namespaces", "placements", "overrides", "rendered", "asked", "files"],
  ...["change", "before", "after", "web", "a", "b", "0", "canary", "commits"],
];
const longs = ["n".repeat(63), "n".repeat(54), `${"n".repeat(53)}m`];

function label(random: Random): string {
  if (random.below(12) === 0) return random.pick(longs);
  const parts = Array.from({ length: 1 + random.below(3) }, () => random.pick(words));
  return parts.join("-").slice(0, 63).replace(/-+$/, "");
}

/** A DNS subdomain: names of runs, overrides and evictions have dots. */
const subdomain = (random: Random): string =>
  Array.from({ length: 1 + random.below(3) }, () => random.pick([...words, "yaml", label(random)]))
    .join(".")
    .slice(0, 63)
    .replace(/[-.]+$/, "");

const namespaceOf = (random: Random): string | null => (random.below(2) === 0 ? null : label(random));
const stageOf = (random: Random): string => random.pick(["change", "before", "after", "a", "0", "deletions", "web"]);
const whenOf = (random: Random): "before" | "after" => random.pick(["before", "after"] as const);

type Named = readonly [identity: string, path: string];

/** One of everything on the state branch, under random names. */
function stateFiles(random: Random): readonly Named[] {
  const placement = placementKey(namespaceOf(random), label(random));
  const run = { namespace: namespaceOf(random), name: subdomain(random) };
  const key = runKey(run.namespace, run.name);
  const cluster = label(random) as ClusterName;
  const [when, stage] = [whenOf(random), stageOf(random)];
  const [namespace, name] = placement.includes("/") ? placement.split("/") : [null, placement];
  const own = namespace ?? null;
  const override = { namespace: namespaceOf(random), override: subdomain(random) };
  const change = changeRequestName(String(name));
  const gate = approvalRequestName(run.name, when, stage);
  const asked = [
    [`change ${placement}`, askedRequestFolder(own, change)],
    [`gate ${key} ${when} ${stage}`, askedRequestFolder(run.namespace, gate)],
  ] as const;
  return [
    [`placement ${placement}`, placementPath(placement)],
    [`bindings ${placement}`, bindingsPath(placement)],
    [`policies ${placement}`, policySnapshotsPath(placement)],
    [`snapshot ${placement}`, snapshotPath(placement, 0)],
    [`run ${key}`, runPath(key)],
    [`plan ${key}`, runPlanPath(key)],
    [`override ${override.namespace}/${override.override}`, overridePath(override)],
    [`cluster ${cluster}`, clusterPath(cluster)],
    [`rendered ${cluster} ${placement}`, renderedPath(cluster, placement)],
    [`eviction ${run.name}`, evictionPath(run.name)],
    [`request change ${placement}`, approvalRequestPath(own, change)],
    [`request gate ${key} ${when} ${stage}`, approvalRequestPath(run.namespace, gate)],
    ...asked.flatMap(([request, folder]): readonly Named[] => [
      [`asked ${request} ${cluster} ${placement}`, askedPath(folder, cluster, placement)],
      [`asked commits ${request}`, askedCommitsPath(folder)],
      [`asked page ${request}`, askedPagePath(folder)],
    ]),
  ];
}

/** Answers on the source branch, as `approve` and the page suggest them. */
function sourceFiles(random: Random): readonly Named[] {
  const placement = { namespace: namespaceOf(random), name: label(random) };
  const run = { namespace: namespaceOf(random), name: subdomain(random) };
  const at = { run, stage: stageOf(random), when: whenOf(random) };
  const gate = approvalFile(at, { digest: "ab".repeat(32) as Digest }, "ann").path;
  const key = runKey(run.namespace, run.name);
  return [
    [`gate ${key} ${at.when} ${at.stage}`, gate],
    [`gate ${key} ${at.when} ${at.stage} of ann`, gate.replace(/yaml$/, "ann.yaml")],
    [`change ${placementKey(placement.namespace, placement.name)}`, `${approvalFolder(placement)}/change.ann.yaml`],
  ];
}

/** Everything that shares its path with another thing, or stands where that one has a folder. */
function collisions(all: readonly Named[]): readonly string[] {
  const byPath = new Map<string, string>();
  const folders = new Map<string, string>();
  const found: string[] = [];
  for (const [identity, path] of all) {
    const other = byPath.get(path) ?? identity;
    if (other !== identity) found.push(`${path}: ${other}, and ${identity}`);
    byPath.set(path, identity);
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.set(path.slice(0, at), identity);
  }
  for (const [path, identity] of byPath)
    if (folders.has(path)) found.push(`${path}: ${identity}, and in it ${folders.get(path)}`);
  return found;
}

const many = (of: (random: Random) => readonly Named[], seed: number): readonly Named[] => {
  const random = seeded(seed);
  return Array.from({ length: 1500 }, () => of(random)).flat();
};

describe("whatever people call what they place", () => {
  test.each([1, 2])("no two files of the state branch collide: %i", (seed) => {
    expect(collisions(many(stateFiles, seed))).toEqual([]);
  });

  test.each([1, 2])("no two answers collide, and each stands where answers are read: %i", (seed) => {
    const all = many(sourceFiles, seed);
    expect(collisions(all)).toEqual([]);
    expect(all.filter(([, path]) => !isApprovalPath(path))).toEqual([]);
  });

  test("a folder of the state branch leads back to its placement or run", () => {
    const random = seeded(4);
    for (let i = 0; i < 500; i++) {
      const placement = placementKey(namespaceOf(random), label(random));
      const run = runKey(namespaceOf(random), subdomain(random));
      expect(placementOfFolder(placementFolder(placement))).toBe(placement);
      expect(stateFileOf(placementPath(placement))).toEqual({ kind: "placement", folder: placementFolder(placement) });
      const file = stateFileOf(runPath(run));
      expect(file.kind === "run" && runOfFolder(file.folder)).toBe(run);
    }
  });

  test("no two placements have one mark", () => {
    const random = seeded(5);
    const keys = Array.from({ length: 4000 }, () => placementKey(namespaceOf(random), label(random)));
    // Somebody may call a placement like the mark of another one, as far as that is a name.
    const copied = keys.flatMap((it): readonly PlacementKey[] => {
      const mark = markOf(it);
      const dot = mark.indexOf(".");
      const isName = (text: string): boolean => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
      const [namespace, name] = dot < 0 ? [null, mark] : [mark.slice(0, dot), mark.slice(dot + 1)];
      return isName(name) && (namespace === null || isName(namespace)) ? [placementKey(namespace, name)] : [];
    });
    const all = [...new Set([...keys, ...copied])];
    expect(collisions(all.map((it) => [it, markOf(it)]))).toEqual([]);
    for (const it of all) expect(markOf(it)).toMatch(/^[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$/);
  });
});
