import { parse } from "yaml";
import { isObject, type Json, type JsonObject, memberAt, textOf } from "../../../src/core/model/json.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import type { Hub } from "../world/hub.ts";

// What a judge reads of runs in the record: the files as they are written, and nothing of the code that wrote them.

/** One cluster of a run's plan, and how far it is. Instants are in milliseconds. */
export interface SeenCluster {
  readonly name: string;
  /** Of what it is to carry. */
  readonly digest: string;
  readonly startedAt: number | null;
  /** The reason of its end: `ClusterUpdatingSucceeded`, `…Skipped`, `…Superseded`. Null while it has not ended. */
  readonly end: string | null;
  /** Of the target that the run gave it. */
  readonly sequence: number | null;
}

/** One stage of a run's plan, and how far it is. */
export interface SeenStage {
  readonly name: string;
  /** At most so many at once. */
  readonly most: number;
  readonly mayFail: number;
  /** How long it waits behind its last cluster; null for no such task. */
  readonly waitMs: number | null;
  readonly before: SeenGate | null;
  readonly after: SeenGate | null;
  readonly clusters: readonly SeenCluster[];
  readonly finishedAt: number | null;
  readonly endedAt: number | null;
}

/** An approval that a stage asks for. */
export interface SeenGate {
  readonly digest: string | null;
  readonly isApproved: boolean;
}

/** A run as the record has it. */
export interface SeenRun {
  readonly name: string;
  readonly uid: string;
  readonly placement: string;
  readonly state: string;
  /** Of two runs, the one with the higher is newer. */
  readonly since: number;
  /** The text of its plan; null for none. */
  readonly plan: string | null;
  readonly stages: readonly SeenStage[];
  readonly deletions: readonly SeenCluster[];
  /** `succeeded`, or the code with which it failed; null while it has not ended. */
  readonly end: string | null;
}

/** An approval request. */
export interface SeenRequest {
  readonly name: string;
  readonly digest: string;
  readonly isApproved: boolean;
  /** What a change of what is protected is about; empty for gates. */
  readonly clusters: readonly string[];
  /** What of them leaves, and how: keys of objects, of clusters that lose the same. */
  readonly leaves: readonly SeenLeaves[];
  /** What of others goes along: `cluster key uid`. */
  readonly others: readonly string[];
}

/** What some clusters lose by a change. */
export interface SeenLeaves {
  readonly clusters: readonly string[];
  readonly delete: readonly string[];
  readonly release: readonly string[];
  readonly handOver: readonly { readonly to: string; readonly objects: readonly string[] }[];
}

/** An eviction that was judged. */
export interface SeenEviction {
  readonly name: string;
  readonly placement: string;
  readonly cluster: string;
  readonly isExecuted: boolean;
  /** What it found instead of something to take; empty: nothing of that kind. */
  readonly found: string;
  readonly message: string;
}

const runsByCommit = new WeakMap<Hub, Map<Commit, readonly SeenRun[]>>();

/** The runs of a state commit, newest first. */
export function runsAt(hub: Hub, commit: Commit | null): readonly SeenRun[] {
  if (commit === null) return [];
  const own = runsByCommit.get(hub) ?? new Map<Commit, readonly SeenRun[]>();
  runsByCommit.set(hub, own);
  const found = own.get(commit) ?? readRuns(hub, commit);
  own.set(commit, found);
  return found;
}

const readRuns = (hub: Hub, commit: Commit): readonly SeenRun[] =>
  pathsAt(hub, commit, /^runs\/[^/]+\/run\.yaml$/)
    .map((path) => {
      const planPath = path.replace("run.yaml", "plan.yaml");
      const key = `${hub.treeAt(commit).get(path)} ${hub.treeAt(commit).get(planPath)}`;
      return read(key, () => runOf(documentAt(hub, commit, path) ?? {}, hub, commit, planPath));
    })
    .sort((a, b) => b.since - a.since || (a.name < b.name ? 1 : -1));

/** The approval requests of a state commit. */
export const requestsAt = (hub: Hub, commit: Commit | null): readonly SeenRequest[] =>
  pathsAt(hub, commit, /^(?:namespaces\/[^/]+\/)?approvals\//).map((path) =>
    read(`request ${hub.treeAt(commit).get(path)}`, () => {
      const request = documentAt(hub, commit, path) ?? {};
      return {
        name: path.replace(/^namespaces\/([^/]+)\/approvals\//, "$1/").replace(/^approvals\/|\.yaml$/g, ""),
        digest: wordAt(request, "metadata", "annotations", "flotilla.dev/request-digest"),
        isApproved: conditionIn(request["status"] ?? null, "Approved") !== null,
        clusters: changedIn(wordAt(request, "metadata", "annotations", "flotilla.dev/clusters")),
        leaves: leavesIn(wordAt(request, "metadata", "annotations", "flotilla.dev/leaves")),
        others: othersIn(wordAt(request, "metadata", "annotations", "flotilla.dev/others")),
      };
    }),
  );

/** The evictions of a state commit. */
export const evictionsAt = (hub: Hub, commit: Commit | null): readonly SeenEviction[] =>
  pathsAt(hub, commit, /^evictions\//).map((path) =>
    read(`eviction ${hub.treeAt(commit).get(path)}`, () => {
      const eviction = documentAt(hub, commit, path) ?? {};
      const status = eviction["status"] ?? null;
      const executed = conditionIn(status, "Executed");
      return {
        name: wordAt(eviction, "metadata", "name"),
        placement: wordAt(eviction, "spec", "placementName"),
        cluster: wordAt(eviction, "spec", "clusterName"),
        isExecuted: executed !== null && executed["status"] === "True",
        found: wordAt(eviction, "metadata", "annotations", "flotilla.dev/eviction-found"),
        message: textOf((executed ?? conditionIn(status, "Valid"))?.["message"] ?? null) ?? "",
      };
    }),
  );

/** Names among what a change says of its clusters, whatever it says of them. */
const changedIn = (written: string): readonly string[] =>
  [...written.matchAll(/"(m\d+)"/g)].map(([, name = ""]) => name);

const leavesIn = (written: string): readonly SeenLeaves[] =>
  (written === "" ? [] : (JSON.parse(written) as readonly Partial<SeenLeaves>[])).map((it) => ({
    clusters: [],
    delete: [],
    release: [],
    handOver: [],
    ...it,
  }));

const othersIn = (written: string): readonly string[] =>
  (written === "" ? [] : (JSON.parse(written) as readonly SeenCascade[])).flatMap(({ cluster, objects }) =>
    objects.map(({ object, uid }) => `${cluster} ${object} ${uid}`),
  );

interface SeenCascade {
  readonly cluster: string;
  readonly objects: readonly { readonly object: string; readonly uid: string }[];
}

const pathsAt = (hub: Hub, commit: Commit | null, pattern: RegExp): readonly string[] =>
  commit === null ? [] : [...hub.treeAt(commit).keys()].filter((it) => pattern.test(it));

const most = 5_000;
const known = new Map<string, unknown>();

/** Equal blobs say the same. */
function read<T>(key: string, reading: () => T): T {
  if (known.size > most) known.clear();
  const found = (known.get(key) as T | undefined) ?? reading();
  known.set(key, found);
  return found;
}

function documentAt(hub: Hub, commit: Commit | null, path: string): JsonObject | null {
  const text = hub.textAt(commit, path);
  return text === null ? null : (parse(text) as JsonObject);
}

function runOf(run: JsonObject, hub: Hub, commit: Commit, planPath: string): SeenRun {
  const annotation = (name: string) => textOf(memberAt(run, "metadata", "annotations", `flotilla.dev/${name}`));
  const notes = JSON.parse(annotation("progress") ?? "{}") as JsonObject;
  const plan = documentAt(hub, commit, planPath);
  const planned = listAt(plan, "spec", "stages");
  const told = listAt(run, "status", "stagesStatus");
  const noted = listAt(notes, "stages");
  const deletion = memberAt(run, "status", "deletionStageStatus");
  const end = memberAt(notes, "end");
  return {
    name: wordAt(run, "metadata", "name"),
    uid: wordAt(run, "metadata", "uid"),
    placement: wordAt(run, "spec", "placementName"),
    state: wordAt(run, "spec", "state"),
    since: Number(annotation("since-sequence")),
    plan: hub.textAt(commit, planPath),
    stages: planned.map((it, at) => stageOf(it, told[at] ?? null, noted[at] ?? null)),
    deletions: listAt(plan, "spec", "deletions").map((it) =>
      clusterOf({ cluster: it }, deletion, memberAt(notes, "deletion")),
    ),
    end: end === null ? null : wordAt(end, "kind") === "succeeded" ? "succeeded" : wordAt(end, "code"),
  };
}

function stageOf(planned: Json, told: Json, noted: Json): SeenStage {
  const clusters = listAt(planned, "clusters").map((it) => clusterOf(it, told, noted));
  const wait = listAt(planned, "afterStageTasks").find((it) => memberAt(it, "type") === "TimedWait");
  const most = boundOf(memberAt(planned, "maxConcurrency"), clusters.length);
  return {
    name: wordAt(planned, "name"),
    most: Math.max(1, most),
    mayFail: boundOf(memberAt(planned, "maxFailures"), clusters.length),
    waitMs: wait === undefined ? null : durationOf(wordAt(wait, "waitTime")),
    before: gateOf(planned, told, noted, "before"),
    after: gateOf(planned, told, noted, "after"),
    clusters,
    finishedAt: instantOf(memberAt(noted, "finishedAt")),
    endedAt: instantOf(memberAt(told, "endTime")),
  };
}

function gateOf(planned: Json, told: Json, noted: Json, when: "before" | "after"): SeenGate | null {
  if (!listAt(planned, `${when}StageTasks`).some((it) => memberAt(it, "type") === "Approval")) return null;
  const task = listAt(told, `${when}StageTaskStatus`).find((it) => memberAt(it, "type") === "Approval") ?? null;
  return {
    digest: textOf(memberAt(noted, when, "digest")),
    isApproved: conditionIn(task, "ApprovalRequestApproved") !== null,
  };
}

function clusterOf(planned: Json, told: Json, noted: Json): SeenCluster {
  const name = wordAt(planned, "cluster");
  const own = listAt(told, "clusters").find((it) => memberAt(it, "clusterName") === name) ?? null;
  const sequence = memberAt(noted, "sequences", name);
  return {
    name,
    digest: wordAt(planned, "digest"),
    startedAt: instantOf(conditionIn(own, "Started")?.["lastTransitionTime"] ?? null),
    end: textOf(conditionIn(own, "Succeeded")?.["reason"] ?? null),
    sequence: sequence === null ? null : Number(sequence),
  };
}

const listAt = (value: Json, ...path: readonly string[]): readonly Json[] => {
  const found = memberAt(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : [];
};

const wordAt = (value: Json, ...path: readonly string[]): string => textOf(memberAt(value, ...path)) ?? "";

const conditionIn = (status: Json, type: string): JsonObject | null =>
  listAt(status, "conditions").find((it): it is JsonObject => isObject(it) && it["type"] === type) ?? null;

/** A number, or a percentage that rounds down. */
const boundOf = (written: Json, of: number): number =>
  typeof written === "string" ? Math.floor((Number(written.replace("%", "")) * of) / 100) : Number(written ?? 0);

const instantOf = (written: Json): number | null => (typeof written === "string" ? Date.parse(written) : null);

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** `1h7m0s` in milliseconds. */
const durationOf = (written: string): number =>
  [...written.matchAll(/([\d.]+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0),
    0,
  );
