// A world for staged runs that is small enough to be told in one line: members with labels, one External placement,
// runs, and people who answer. Nothing happens in it but what a script says.
import type { Binding } from "../../../src/core/model/binding.ts";
import type { MemberCluster } from "../../../src/core/model/fleet.ts";
import { digestOf } from "../../../src/core/model/json.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import {
  type ApplyStrategy,
  type CountOrPercent,
  type PlacementPolicy,
  placementKey,
} from "../../../src/core/model/placement.ts";
import type { ClockTrust, Gate } from "../../../src/core/model/stage-task.ts";
import type { Authors, GateAnswer } from "../../../src/core/model/trust.ts";
import {
  type RunPlan,
  type RunRecord,
  runKey,
  type Stage,
  strategyKey,
  type UpdateStrategy,
} from "../../../src/core/model/update-run.ts";
import {
  type ClusterName,
  type Digest,
  type DurationMs,
  type Instant,
  later,
  minutes,
  type RunKey,
  type Sequence,
  seconds,
} from "../../../src/core/model/value.ts";
import type { Readiness } from "../../../src/core/rollout/readiness.ts";
import type { RunBinding, RunContext } from "../../../src/core/rollout/run-context.ts";
import { type Planning, type PlanVersion, planRun } from "../../../src/core/rollout/run-plan.ts";
import { initialized, notStartedDeletion } from "../../../src/core/rollout/run-progress.ts";
import { type RunStep, stepRun } from "../../../src/core/rollout/run-step.ts";
import { requestDigest } from "../../../src/core/rollout/tasks/approval.ts";
import { clientSide, defaultStrategy } from "../../strategy.ts";

export const noon = Date.UTC(2026, 10, 21, 12) as Instant;
export const web = placementKey(null, "web");

/** What a member says of what it is to carry. */
export type Mood = "ok" | "blind" | "slow" | "bad" | "?";

/** A binding, as the world really is. */
export interface Spot {
  readonly state: "Scheduled" | "Bound" | "Unscheduled";
  readonly removing: boolean;
  /** The index it carries; null while it carries none. */
  readonly index: number | null;
  readonly sequence: Sequence | null;
  readonly startedAt: Instant;
  readonly mood: Mood;
}

export interface World {
  now: Instant;
  sequence: Sequence;
  clock: ClockTrust;
  hasPlacement: boolean;
  scheduled: "True" | "False" | "never";
  type: "External" | "RollingUpdate";
  policy: PlacementPolicy;
  /** A policy is another one when this is. */
  policyName: string;
  applyStrategy: ApplyStrategy;
  readonly members: Map<ClusterName, MemberCluster>;
  readonly spots: Map<ClusterName, Spot>;
  /** From the oldest to the newest. */
  readonly runs: Map<RunKey, RunRecord>;
  readonly answers: Map<Digest, GateAnswer>;
  /** Under which rules people are asked. */
  rules: Digest | null;
  /** How long a request stands. */
  maxAge: DurationMs | null;
  /** Who changed what they are asked about. */
  authors: Authors;
  /** Clusters whose version cannot be had any more, or from which the placement may not be removed. */
  readonly lost: Set<ClusterName>;
}

/** A world in which every member of `a:env=canary,order=2 b:env=prod` is picked and has had nothing yet. */
export function worldOf(fleet: string): World {
  const world: World = {
    now: noon,
    sequence: 1 as Sequence,
    clock: "sound",
    hasPlacement: true,
    scheduled: "True",
    type: "External",
    policy: { kind: "PickAll", required: [], tolerations: [] },
    policyName: "first",
    applyStrategy: clientSide,
    members: new Map(),
    spots: new Map(),
    runs: new Map(),
    answers: new Map(),
    rules: null,
    maxAge: null,
    authors: { principals: [], unknown: 0 },
    lost: new Set(),
  };
  for (const text of fleet.split(" ")) join(world, text);
  return world;
}

export function join(world: World, text: string): void {
  const [name = "", labels = ""] = text.split(":");
  const member = memberOf(name, labels === "" ? {} : Object.fromEntries(labels.split(",").map((it) => it.split("="))));
  world.members.set(member.name, member);
  world.spots.set(member.name, { ...vacant, state: "Scheduled" });
}

const vacant = { removing: false, index: null, sequence: null, startedAt: noon, mood: "slow" } as const;

const source = { path: "", document: 0, line: 0, column: 0 };

export const memberOf = (name: string, labels: Readonly<Record<string, string>>): MemberCluster => ({
  name: name as ClusterName,
  labels,
  taints: [],
  properties: {},
  resourceUsage: { capacity: {}, allocatable: {}, available: {}, observedAt: null },
  spec: {},
  source,
});

/**
 * `staging env=staging 30% after:1m | canary env=canary sort:order x2 fails:1 before after`: name, selector (`*` takes
 * all, `-` none), then what is not the default.
 */
export const strategyOf = (text: string, name = "staged"): UpdateStrategy => ({
  key: strategyKey(null, name),
  scope: "Cluster",
  namespace: null,
  name,
  stages: text === "" ? [] : text.split(" | ").map(stageOf),
  source,
});

function stageOf(text: string): Stage {
  const [name = "", selector = "", ...words] = text.split(" ");
  const word = (pattern: RegExp): string | null => words.flatMap((it) => pattern.exec(it)?.[1] ?? []).at(0) ?? null;
  const wait = word(/^after:(.+)$/);
  return {
    name,
    selector: selectorOf(selector),
    sortingLabelKey: word(/^sort:(.+)$/),
    maxConcurrency: boundOf(word(/^x(\d+)$/) ?? word(/^(\d+%)$/) ?? "1"),
    before: words.includes("before") ? [{ kind: "Approval" }] : [],
    after: [
      ...(wait === null ? [] : [{ kind: "TimedWait", wait: durationOf(wait) } as const]),
      ...(words.includes("after") ? [{ kind: "Approval" } as const] : []),
    ],
    maxFailures: boundOf(word(/^fails:(.+)$/) ?? "0"),
  };
}

function selectorOf(text: string): Stage["selector"] {
  if (text === "-") return null;
  if (text === "*") return {};
  const [key = "", value = ""] = text.split("=");
  return { matchExpressions: [{ key, operator: "In", values: value.split("/") }] };
}

const boundOf = (text: string): CountOrPercent =>
  text.endsWith("%") ? { percent: Number(text.slice(0, -1)) } : { count: Number(text) };

export function durationOf(text: string): DurationMs {
  const [, count = "", unit = ""] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  const number = Number(count);
  return unit === "s" ? seconds(number) : minutes(unit === "m" ? number : 60 * number);
}

/** The placement as it is now. */
export function placementOf(world: World): PlacementRecord | null {
  if (!world.hasPlacement) return null;
  const condition = {
    type: "Scheduled",
    status: world.scheduled === "True" ? "True" : "False",
    reason: "",
    message: "found 2 of 3 clusters",
    observedGeneration: 1,
    lastTransitionTime: noon,
  } as const;
  const verdict = world.scheduled === "never" ? null : { observedGeneration: 1, condition, decisions: [] };
  const strategy = { ...defaultStrategy, type: world.type, applyStrategy: world.applyStrategy };
  return {
    key: web,
    scope: "Cluster",
    namespace: null,
    name: "web",
    uid: "web",
    generation: 1,
    specDigest: digestOf("spec"),
    spec: { resourceSelectors: [], policy: world.policy, strategy, revisionHistoryLimit: 10 },
    deleting: null,
    policySnapshots: [{ index: 0, hash: digestOf(world.policyName), policy: world.policy, verdict }],
    resourceSnapshots: [],
    bindings: new Map([...world.spots].map(([cluster, spot]) => [cluster, bindingOf(cluster, spot)])),
    change: null,
    selectionError: null,
    unrolled: null,
    conditions: [],
  };
}

const bindingOf = (cluster: ClusterName, { state }: Spot): Binding => ({
  cluster,
  name: cluster,
  uid: cluster,
  generation: 1,
  state,
  previousState: null,
  policySnapshot: 0,
  decision: { cluster, selected: true, score: null, reason: "" },
  target: null,
  removal: null,
  leaving: [],
  facts: null,
  conditions: [],
});

/** Creates a run, and gives it its plan where there is one. */
export function create(
  world: World,
  name: string,
  index: number,
  strategy: UpdateStrategy | null,
  version: PlanVersion = versionOf(index),
): Planning {
  world.sequence = (world.sequence + 1) as Sequence;
  const bare = runOf(name, index, world.sequence);
  const planning = planRun({
    run: bare,
    placement: placementOf(world),
    strategy,
    members: world.members,
    underWay: [...world.runs.values()].filter((it) => it.end === null),
    version,
  });
  if (planning.kind === "planned") world.runs.set(bare.key, initialized(bare, planning.plan));
  return planning;
}

const runOf = (name: string, index: number, since: Sequence): RunRecord => ({
  key: runKey(null, name),
  scope: "Cluster",
  namespace: null,
  name,
  uid: `uid-${name}-${since}`,
  generation: 1,
  spec: {
    placement: web,
    resourceIndex: String(index),
    strategy: strategyKey(null, "staged"),
    state: "Initialize",
  },
  since,
  plan: null,
  stages: [],
  deletion: notStartedDeletion,
  end: null,
  conditions: [],
});

/** Every cluster is to carry the index, by a digest of its own. */
export const versionOf = (index: number): PlanVersion => ({
  kind: "found",
  resourceIndex: index,
  clusterOf: (cluster) => ({
    cluster,
    clusterOverrides: [],
    resourceOverrides: [],
    labels: {},
    digest: digestOf([index, cluster]),
  }),
});

/** A run of the world, which the test has created. */
export function runIn(world: World, name: string): RunRecord {
  const run = world.runs.get(runKey(null, name));
  if (run === undefined) throw new Error(`no run ${name} was planned`);
  return run;
}

/** The request of a stage, if it was made. */
export const gateAt = (run: RunRecord, stage: string, when: "before" | "after"): Gate | null =>
  run.stages[(run.plan as RunPlan).stages.findIndex((it) => it.name === stage)]?.[when].Approval ?? null;

/**
 * What people answer before or after a stage. Where nobody has asked them yet, it is the best that they can guess: they
 * know everything but the nonce, and take that of the pass that was.
 */
export const digestAt = (world: World, run: RunRecord, stage: string, when: "before" | "after"): Digest =>
  gateAt(run, stage, when)?.digest ??
  requestDigest({
    fleet: "fleet",
    run,
    stage,
    when,
    root: (run.plan as RunPlan).root,
    nonce: nonceIn(world),
    rules: world.rules,
    authors: world.authors,
  });

/** Of what is asked for in a pass; another one in every pass. */
export const nonceIn = ({ sequence }: World): string => String(sequence).padStart(32, "0");

/** One pass: the newest run first, each in a world in which the steps before it are done. */
export function pass(world: World): readonly RunStep[] {
  world.sequence = (world.sequence + 1) as Sequence;
  return [...world.runs.values()].reverse().map((run) => {
    const step = stepRun(run, contextOf(world, run));
    world.runs.set(run.key, step.run);
    for (const cluster of step.start) {
      const { now, sequence } = world;
      change(world, cluster, { state: "Bound", index: indexOf(run), sequence, startedAt: now, mood: "slow" });
    }
    for (const cluster of step.remove) change(world, cluster, { removing: true });
    return step;
  });
}

export const indexOf = (run: RunRecord): number => Number(run.spec.resourceIndex);

export function contextOf(world: World, run: RunRecord): RunContext {
  const { now, sequence, clock } = world;
  const bindings = new Map([...world.spots].map(([cluster, spot]) => [cluster, seenBy(world, run, cluster, spot)]));
  return {
    now,
    clock,
    latest: now,
    sequence,
    canGetPlannedVersion: (cluster) => !world.lost.has(cluster),
    fleet: "fleet",
    placement: placementOf(world),
    bindings,
    requestRulesOf: () => ({ rules: world.rules, maxAge: world.maxAge, authors: () => world.authors }),
    nonceFor: () => nonceIn(world),
    answerTo: (_stage, _when, { digest }) => world.answers.get(digest) ?? { kind: "none" },
    newerOn: (cluster) => {
      const movers = [...world.runs.values()].filter((it) => it.since > run.since && hasMoved(it, cluster));
      return movers.at(-1)?.key ?? null;
    },
  };
}

export const hasMoved = (run: RunRecord, cluster: ClusterName): boolean =>
  run.stages.some((it) => (it.clusters.get(cluster)?.startedAt ?? null) !== null);

const isOnTrial = ({ runs }: World, run: RunRecord, cluster: ClusterName, { sequence }: Spot): boolean =>
  [...runs.values()].some(
    (it) =>
      it.key !== run.key &&
      it.stages.some((stage) => stage.endedAt === null && stage.clusters.get(cluster)?.sequence === sequence),
  );

const seenBy = (world: World, run: RunRecord, cluster: ClusterName, spot: Spot): RunBinding => ({
  cluster,
  state: spot.state,
  removing: spot.removing,
  sequence: spot.sequence,
  isOn: spot.state === "Bound" && spot.index === indexOf(run),
  hasPlannedContent: spot.state === "Bound" && spot.index === indexOf(run),
  isOnTrial: isOnTrial(world, run, cluster, spot),
  readiness: readinessOf(spot, world.now),
});

export function readinessOf({ mood, startedAt }: Spot, now: Instant): Readiness {
  const failsAt = later(startedAt, minutes(10));
  switch (mood) {
    case "ok":
      return { kind: "available" };
    case "blind":
      return { kind: "untrackable", countsFrom: later(startedAt, minutes(60)) };
    case "slow":
      return now >= failsAt ? { kind: "failed", because: "deadline" } : { kind: "progressing", failsAt, isHeard: true };
    case "bad":
      return { kind: "failed", because: "explicit" };
    case "?":
      return { kind: "unknown" };
  }
}

/** Changes a binding that is there. */
export function change(world: World, cluster: ClusterName, spot: Partial<Spot>): void {
  const before = world.spots.get(cluster);
  if (before !== undefined) world.spots.set(cluster, { ...before, ...spot });
}
