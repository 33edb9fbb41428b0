import { revised, revisedMap } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { Reason } from "../../model/reason.ts";
import type { ClockTrust } from "../../model/stage-task.ts";
import type { RunRecord, RunWait } from "../../model/update-run.ts";
import {
  type ClusterName,
  compareText,
  type DurationMs,
  earliest,
  type Instant,
  later,
  seconds,
} from "../../model/value.ts";
import type { RunContext } from "../../rollout/run-context.ts";
import { plannedIn, planRun } from "../../rollout/run-plan.ts";
import { hasWorkLeft, initialized as withPlan } from "../../rollout/run-progress.ts";
import { type RunStep, stepRun } from "../../rollout/run-step.ts";
import { settledRun } from "../../status/run-conditions.ts";
import { guardMoves } from "../guard/protection.ts";
import { isUncounted, type PlanContext } from "../moves/context.ts";
import type { Move } from "../moves/move.ts";
import { begin, type PlacementProgress } from "../moves/progress.ts";
import { blockedBecause, runConsents } from "./run-consent.ts";
import { proposeRun, renamedBy, runBindings } from "./run-moves.ts";
import { type Selected, versionFor } from "./run-version.ts";
import { isUnusable, recordsOf, runsNewestFirst, runsOf } from "./runs-of.ts";

/** The update runs of one placement, as far as they went in this pass. */
interface RunsResult {
  /** Of the placement, with what they moved, and the snapshot that one of them made; null where there is none. */
  readonly progress: PlacementProgress | null;
  /** Every run of the placement that stays on record. */
  readonly runs: readonly RunRecord[];
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/**
 * Takes every update run of a placement as far as it goes now. `progress` is null where there is no such placement, or
 * it is on its way out.
 *
 * The newest goes first: what it has moved, or moves in this pass, an older one leaves alone (`rollout/README.md#b-4`).
 */
export function advanceRuns(
  key: PlacementRecord["key"],
  progress: PlacementProgress | null,
  selected: Selected,
  context: PlanContext,
): RunsResult {
  const asked = runsOf(context.world.intent, key);
  const kept = recordsOf(context.ledger, key);
  let result: RunsResult = { progress, runs: [], reasons: [], wakeAt: null };
  const records = runsNewestFirst(asked, kept, context);
  for (const [at, it] of records.entries())
    result = advanced(result, it, { selected, older: records.slice(at + 1), context });
  return {
    ...result,
    progress: result.progress === null ? null : withMovesAnew(result.progress, result.runs, context),
    runs: [...result.runs].sort((a, b) => compareText(a.key, b.key)),
    reasons: [...result.reasons, ...failures(result.runs)],
  };
}

/** What decides about a run besides the run. */
interface RunInput {
  readonly selected: Selected;
  /** Runs that were recorded before it: they are decided after it. */
  readonly older: readonly RunRecord[];
  readonly context: PlanContext;
}

function advanced(result: RunsResult, run: RunRecord, input: RunInput): RunsResult {
  if (run.end !== null) return { ...result, runs: [...result.runs, run] };
  if (isUnusable(run, input.context)) return suspended(result, run, input);
  const planned = run.plan === null ? initialized(result, run, input) : { result, run, waits: none };
  if (planned.run.plan === null || planned.run.end !== null) return withRun(planned, input);
  return stepped(planned, input);
}

/** A run whose document cannot be used stays as it is: what it was to change is still to come. */
function suspended({ progress, ...result }: RunsResult, run: RunRecord, { context }: RunInput): RunsResult {
  const moves = progress === null || !isRunning(run) ? [] : [...proposeRun(run, progress.record, context).values()];
  return {
    ...result,
    progress: progress === null ? null : { ...progress, moves: [...progress.moves, ...moves] },
    runs: [...result.runs, run],
  };
}

const none: readonly never[] = [];

interface Stepped {
  readonly result: RunsResult;
  readonly run: RunRecord;
  readonly waits: readonly RunWait[];
}

/** Freezes the run's plan; or it fails for good, or waits for what is not there yet. */
function initialized(result: RunsResult, run: RunRecord, { selected, older, context }: RunInput): Stepped {
  const { intent, now } = context.world;
  const { progress, runs } = result;
  const record = progress?.record ?? null;
  const chosen = record === null ? null : versionFor(run, record, selected, context);
  const planning = planRun({
    run,
    placement: record,
    strategy: intent.strategies.get(run.spec.strategy) ?? null,
    members: intent.clusters,
    underWay: [...runs, ...older.map((it) => asObserved(it, result, context))].filter((it) => hasWorkLeft(it, record)),
    version: chosen?.version ?? { kind: "failed", code: "SnapshotNotFound", message: "there is no placement" },
  });
  switch (planning.kind) {
    case "planned": {
      const { plan } = planning;
      if (progress === null || chosen === null) return { result, run: withPlan(run, plan), waits: none };
      const next = revised(progress.record, { resourceSnapshots: chosen.resourceSnapshots });
      return { result: { ...result, progress: { ...progress, record: next } }, run: withPlan(run, plan), waits: none };
    }
    case "failed": {
      const { code, message } = planning;
      return { result, run: { ...run, end: { kind: "failed", at: now, code, message } }, waits: none };
    }
    case "waiting":
      return { result, run, waits: [{ kind: "planning", message: planning.message }] };
  }
}

/** An older run by what was observed in this pass: its turn comes later, and that is true already. */
function asObserved(run: RunRecord, result: RunsResult, context: PlanContext): RunRecord {
  if (run.plan === null || run.end !== null || isUnusable(run, context)) return run;
  return stepRun(run, { ...runContextOf(result, run, context), canGetPlannedVersion: () => false }).run;
}

/** Clusters that the placement picks and the frozen plan does not have (`rollout/README.md#b-22`). */
function joinedSince({ plan }: RunRecord, record: PlacementRecord | null): readonly RunWait[] {
  if (plan === null || record === null) return none;
  const joined = [...record.bindings.values()].flatMap(({ cluster, state }) =>
    state === "Unscheduled" || plannedIn(plan).has(cluster) || plan.deletions.includes(cluster) ? [] : [cluster],
  );
  return joined.length === 0 ? none : [{ kind: "joined", clusters: joined.sort(compareText) }];
}

/** Proposes what an initialized run would change, and lets it change of that what it may now. */
function stepped({ result, run, waits }: Stepped, input: RunInput): RunsResult {
  const { context } = input;
  const { progress } = result;
  const moves = progress === null ? new Map<ClusterName, Move>() : proposeRun(run, progress.record, context);
  const guarded = progress === null ? null : guardMoves(wantedNow(run, moves), progress.guarded, context);
  const blocked = blockedBecause(run, context);
  const refused = new Map<ClusterName, string>();
  const canGetPlannedVersion = (cluster: ClusterName): boolean => {
    const move = moves.get(cluster);
    const rendering = move?.to?.rendering() ?? null;
    if (rendering?.kind === "failed") refused.set(cluster, rendering.message);
    // What is not to be moved carries it under other names.
    return rendering?.kind !== "failed" && (move === undefined || guarded?.waiting.has(move) !== true);
  };
  const step = stepRun(run, {
    ...runContextOf(result, run, context),
    canGetPlannedVersion: blocked === null ? canGetPlannedVersion : () => false,
  });
  const after = progress === null || guarded === null ? null : admitted(step, { ...progress, guarded }, moves, context);
  const next: RunsResult = {
    ...result,
    progress: after,
    reasons: [
      ...result.reasons,
      ...[...refused].map(([cluster, message]): Reason => {
        return { kind: "renderFailed", placement: run.spec.placement, cluster, message };
      }),
    ],
    wakeAt: earliest(result.wakeAt, step.wakeAt),
  };
  const held: readonly RunWait[] =
    blocked === null || step.run.end !== null ? [] : [{ kind: "held", because: blocked }];
  const joined = step.run.end === null ? joinedSince(step.run, progress?.record ?? null) : none;
  return withRun({ result: next, run: step.run, waits: [...waits, ...held, ...step.waits, ...joined] }, input);
}

type Moves = ReadonlyMap<ClusterName, Move>;

/** People are asked about all that a run will do, so that they are asked once; and about nothing while it is stopped. */
const wantedNow = ({ spec }: RunRecord, moves: Moves): readonly Move[] =>
  spec.state === "Run" ? [...moves.values()] : [];

/** Begins what a step starts, and keeps of the rest what is still to come. */
function admitted(
  { run, start, remove }: RunStep,
  before: PlacementProgress,
  moves: Moves,
  context: PlanContext,
): PlacementProgress {
  const wanted = isRunning(run) ? [...moves.values()].filter((it) => !isOver(run, it)) : [];
  const isNew = isUncounted(run.spec.placement, context) || context.ledger.runs.get(run.key)?.plan == null;
  const begins = [...start, ...remove].flatMap((it) => moves.get(it) ?? []);
  const renamed = new Set(start.filter((it) => !moves.has(it)));
  const bindings = revisedMap(before.record.bindings, (it) => (renamed.has(it.cluster) ? renamedBy(run, it) : it));
  const next: PlacementProgress = {
    ...before,
    record: revised(before.record, { bindings }),
    moves: [...before.moves, ...wanted],
    counted: [...before.counted, ...(isNew ? wanted : [])],
  };
  return begin(
    next,
    begins.filter((it) => !before.guarded.waiting.has(it)),
    context,
  );
}

/**
 * Where a run began something in this pass, others may have more to change than they had when they were proposed: what
 * they take away of it is still to be counted (`plan/README.md#d-3`).
 */
function withMovesAnew(
  progress: PlacementProgress,
  runs: readonly RunRecord[],
  context: PlanContext,
): PlacementProgress {
  if (progress.begun.length === 0) return progress;
  const begun = new Set(progress.begun.map((it) => it.binding.cluster));
  const moves = runs
    .filter(isRunning)
    .flatMap((run) => [...proposeRun(run, progress.record, context).values()].filter((it) => !isOver(run, it)))
    .filter((it) => begun.has(it.binding.cluster));
  return moves.length === 0 ? progress : { ...progress, moves: [...progress.moves, ...moves] };
}

const isOver = ({ stages }: RunRecord, { binding }: Move): boolean =>
  stages.some((it) => (it.clusters.get(binding.cluster)?.end ?? null) !== null);

/** What its plan says is to come, however long that takes. */
const isRunning = ({ plan, end, spec }: RunRecord): boolean =>
  plan !== null && end === null && spec.state !== "Initialize";

/** What a run is decided by, apart from which versions clusters can get: that depends on what it proposes. */
function runContextOf(
  { progress, runs }: RunsResult,
  run: RunRecord,
  context: PlanContext,
): Omit<RunContext, "canGetPlannedVersion"> {
  const { world, ledger, sequence } = context;
  const { now } = world;
  const clock = clockTrust(world.clockOffset);
  const record = progress?.record ?? null;
  return {
    now,
    clock,
    latest: clock === "unsound" ? later(now, behind(world.clockOffset ?? 0)) : now,
    sequence,
    fleet: ledger.fleet,
    placement: record,
    bindings: record === null ? new Map() : runBindings(run, record, context),
    ...runConsents(run, record, context),
    newerOn: (cluster) => runs.find((it) => hasMoved(it, cluster))?.key ?? null,
  };
}

/** By how much members' clocks are later than ours, at most: they tell the time down to the second. */
const behind = (offset: number): DurationMs => (offset < 0 ? seconds(1) - offset : 0) as DurationMs;

/** Beyond this, our clock or the members' jumped (`rollout/README.md#i-06`). */
const clockTolerance = 60_000;

const clockTrust = (offset: number | null): ClockTrust => {
  if (offset === null) return "unseen";
  return Math.abs(offset) <= clockTolerance ? "sound" : "unsound";
};

const hasMoved = ({ stages }: RunRecord, cluster: ClusterName): boolean =>
  stages.some((it) => (it.clusters.get(cluster)?.startedAt ?? null) !== null);

/** Adds a run, with its conditions. */
function withRun({ result, run, waits }: Stepped, { context }: RunInput): RunsResult {
  const reasons = waits.map((wait): Reason => ({ kind: "run", run: run.key, placement: run.spec.placement, wait }));
  return {
    ...result,
    runs: [...result.runs, settledRun(run, waits, context.world.now)],
    reasons: [...result.reasons, ...reasons],
  };
}

/** A failed run is worth saying as long as no newer one has taken its place. */
const failures = ([newest]: readonly RunRecord[]): readonly Reason[] =>
  newest?.end?.kind === "failed"
    ? [
        {
          kind: "runFailed",
          run: newest.key,
          placement: newest.spec.placement,
          code: newest.end.code,
          message: newest.end.message,
        },
      ]
    : [];
