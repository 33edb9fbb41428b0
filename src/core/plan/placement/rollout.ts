import type { Binding, Target } from "../../model/binding.ts";
import type { MemberCluster } from "../../model/fleet.ts";
import { revised, revisedMap } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { Reason } from "../../model/reason.ts";
import { type ClusterName, earliest, type Instant } from "../../model/value.ts";
import type { RolloutBinding } from "../../rollout/budget.ts";
import { type Readiness, readinessChangesAt } from "../../rollout/readiness.ts";
import { decideRollout, type RolloutDecision, type RolloutState } from "../../rollout/rolling-update.ts";
import { firstNames } from "../../status/run-words.ts";
import { guardMoves } from "../guard/protection.ts";
import { relabelled } from "../moves/begin.ts";
import { type FailedRendering, isUncounted, type PlanContext } from "../moves/context.ts";
import type { Move } from "../moves/move.ts";
import { begin, type PlacementProgress } from "../moves/progress.ts";
import { readinessIn } from "../moves/readiness.ts";
import { isCurrent, type Version } from "../moves/version.ts";

/** How far a placement's rollout goes in this pass, and its reasons. */
export interface RolloutResult {
  readonly progress: PlacementProgress;
  readonly reasons: readonly Reason[];
  /** Clusters that wait for the budget. */
  readonly heldBack: ReadonlySet<ClusterName>;
  /** Who waits for the budget once all that may start has started, and its numbers; null when nobody does, or nobody counted. */
  readonly arithmetic: string | null;
  /** Clusters whose version cannot be rendered, with the reason. */
  readonly unrenderable: ReadonlyMap<ClusterName, FailedRendering>;
  readonly readiness: ReadonlyMap<ClusterName, Readiness>;
  readonly wakeAt: Instant | null;
  /** Every cluster is on the version that it should have, so that a new commit as such takes nothing away. */
  readonly isSettled: boolean;
}

/** A binding with all that decides what becomes of it now. */
interface Row {
  readonly binding: Binding;
  /** Null where there is nothing to move to: the placement leaves the cluster, or the cluster left the fleet. */
  readonly version: Version | null;
  readonly isCurrent: boolean;
  readonly failure: FailedRendering | null;
  /** Null where nothing changes, or nothing can be rendered. */
  readonly move: Move | null;
  readonly readiness: Readiness;
}

/**
 * The rolling update: proposes to bring every cluster to its latest version and to leave those that are not picked any
 * more, and admits of that what its budget allows (`rollout/README.md#rolling-update`).
 */
export function rollingUpdate(
  before: PlacementProgress,
  versionOf: (cluster: MemberCluster) => Version,
  context: PlanContext,
): RolloutResult {
  const { record, rows } = proposeUpdates(before.record, versionOf, context);
  const moves = rows.flatMap((it) => it.move ?? []);
  const isSettled = rows.every((it) => it.isCurrent);
  const guarded = guardMoves(moves, before.guarded, context);
  const proposed: PlacementProgress = {
    ...before,
    record,
    guarded,
    moves: [...before.moves, ...moves],
    counted: [...before.counted, ...moves.filter((it) => isCountedNow(it, context))],
  };
  const isWaiting = ({ move }: Row): boolean => move !== null && guarded.waiting.has(move);
  const outcome = decideRollout(
    stateOf(
      record,
      rows.map((it) => asIs(it, isWaiting(it))),
    ),
  );
  const progress = begin(proposed, admitted(outcome, rows), context);
  const after = progress === proposed ? outcome : onceBegun(outcome, progress, rows, { isWaiting, context });
  const unrenderable = new Map(rows.flatMap((it) => (it.failure === null ? [] : [[it.binding.cluster, it.failure]])));
  return {
    progress,
    reasons: [...failureReasons(record, unrenderable), ...waitReasons(record, outcome)],
    heldBack: new Set(outcome.heldBack.flatMap((it) => it.clusters)),
    arithmetic: waitsText(after),
    unrenderable,
    readiness: new Map(rows.map((it) => [it.binding.cluster, it.readiness])),
    wakeAt: rows.reduce((at, it) => earliest(at, readinessChangesAt(it.readiness)), outcome.wakeAt),
    isSettled,
  };
}

interface Proposed {
  /** Under the names of the latest version, where that changes nothing on a cluster. */
  readonly record: PlacementRecord;
  readonly rows: readonly Row[];
}

function proposeUpdates(
  before: PlacementRecord,
  versionOf: (cluster: MemberCluster) => Version,
  context: PlanContext,
): Proposed {
  const versions = versionsFor(before, versionOf, context);
  const record = revised(before, { bindings: renamed(before.bindings, versions) });
  const targets = new Map<Version, Target>();
  const rows: Row[] = [];
  for (const [cluster, binding] of record.bindings) {
    const version = versions.get(cluster) ?? null;
    const isOn = version !== null && isCurrent(binding.target, version);
    // What a cluster is on was rendered when it got there.
    const rendering = version === null || isOn ? null : version.rendering();
    const failure = rendering?.kind === "failed" ? rendering : null;
    const readiness = readinessIn(context, record, binding);
    let move: Move | null = null;
    if (version !== null && rendering?.kind === "rendered") {
      const target = targets.get(version) ?? targetOf(version, rendering.digest, context);
      targets.set(version, target);
      const { deleteAdopted } = record.spec.strategy;
      const to = { target, rendering: version.rendering, deleteAdopted };
      move = { record, cause: "rollout", binding, to, gate: null };
    } else if (binding.state === "Unscheduled" && binding.removal === null)
      move = { record, cause: "rollout", binding, to: null, gate: null };
    rows.push({ binding, version, isCurrent: isOn, failure, move, readiness });
  }
  return { record, rows };
}

type Versions = ReadonlyMap<ClusterName, Version>;

function versionsFor(
  { bindings }: PlacementRecord,
  versionOf: (cluster: MemberCluster) => Version,
  { world }: PlanContext,
): Versions {
  const versions = new Map<ClusterName, Version>();
  for (const { cluster, state, removal } of bindings.values()) {
    const member = world.intent.clusters.get(cluster);
    // A cluster that the placement leaves has no version to move to.
    const isLeft = state === "Unscheduled" || (removal !== null && state !== "Scheduled");
    if (member !== undefined && !isLeft) versions.set(cluster, versionOf(member));
  }
  return versions;
}

/** Clusters that the latest version would change nothing on are on it: there is nothing to pace. */
const renamed = (bindings: PlacementRecord["bindings"], versions: Versions): PlacementRecord["bindings"] =>
  revisedMap(bindings, (it, cluster) => {
    const version = versions.get(cluster);
    return version === undefined ? it : relabelled(it, version);
  });

/** The target that a version becomes once it is admitted: one for all clusters that are to carry the same. */
function targetOf(version: Version, digest: Target["digest"], { sequence, world }: PlanContext): Target {
  const { resourceIndex, clusterOverrides, resourceOverrides, labels, applyStrategy } = version;
  const startedAt = world.now;
  return { resourceIndex, clusterOverrides, resourceOverrides, labels, applyStrategy, digest, sequence, startedAt };
}

/**
 * Whether what a move takes away is counted in this pass, wherever its turn comes, now or later: so a rollout does not
 * delete in small bites what would not have passed as a whole (`plan/README.md#d-3`). Counted anew with every commit,
 * and when a cluster is picked again or keeps what it was to lose.
 */
function isCountedNow({ record, binding, to }: Move, context: PlanContext): boolean {
  const was = context.ledger.placements.get(record.key)?.bindings.get(binding.cluster);
  // A removal that is called off brings back what was gone already: whatever of it goes again has not been counted.
  const isBack = was !== undefined && was.removal !== null && binding.removal === null;
  return isUncounted(record.key, context) || isBack || (was?.state === "Unscheduled") !== (to === null);
}

const stateOf = ({ spec }: PlacementRecord, bindings: readonly RolloutBinding[]): RolloutState => ({
  policy: spec.policy,
  rollingUpdate: spec.strategy.rollingUpdate,
  bindings,
});

/**
 * A binding as the budget sees it. What waits for an approval stays as it is until then, and takes no one's turn
 * (`rollout/README.md#kept`).
 */
const asIs = ({ binding, version, isCurrent, failure, readiness }: Row, isWaiting: boolean): RolloutBinding => ({
  cluster: binding.cluster,
  state: isWaiting && binding.state === "Unscheduled" ? "Bound" : binding.state,
  removing: binding.removal !== null,
  // A version that cannot be rendered is nothing to move to: the cluster keeps what it has and takes no one's turn.
  upToDate: version === null || isCurrent || failure !== null || isWaiting,
  readiness,
});

/** The moves whose turn it is, in the order in which they were admitted. */
function admitted({ bind, update, remove }: RolloutDecision, rows: readonly Row[]): readonly Move[] {
  const names = [...bind, ...update, ...remove];
  if (names.length === 0) return [];
  const moves = new Map(rows.map((it) => [it.binding.cluster, it.move]));
  return names.flatMap((it) => moves.get(it) ?? []);
}

/**
 * What the next pass finds held back if nothing else happens. What is recorded of it is then the same in that pass, and
 * not news because something started in between.
 */
function onceBegun(
  outcome: RolloutDecision,
  { record }: PlacementProgress,
  rows: readonly Row[],
  { isWaiting, context }: { readonly isWaiting: (row: Row) => boolean; readonly context: PlanContext },
): Pick<RolloutDecision, "heldBack" | "pendingRemovals"> {
  if (outcome.heldBack.length === 0 && outcome.pendingRemovals === null) return outcome;
  const after = rows.flatMap((row): readonly RolloutBinding[] => {
    const { cluster } = row.binding;
    const binding = record.bindings.get(cluster);
    if (binding === row.binding) return [asIs(row, isWaiting(row))];
    if (binding === undefined) return [];
    const readiness = readinessIn(context, record, binding);
    return [{ cluster, state: binding.state, removing: binding.removal !== null, upToDate: true, readiness }];
  });
  return decideRollout(stateOf(record, after));
}

const failureReasons = (
  record: PlacementRecord,
  failures: ReadonlyMap<ClusterName, FailedRendering>,
): readonly Reason[] =>
  [...failures].map(([cluster, { message }]) => ({ kind: "renderFailed", placement: record.key, cluster, message }));

function waitsText({
  heldBack,
  pendingRemovals,
}: Pick<RolloutDecision, "heldBack" | "pendingRemovals">): string | null {
  const updates = heldBack.map((it) => `${firstNames(it.clusters)} held back: ${it.arithmetic}`);
  const removals =
    pendingRemovals === null
      ? []
      : [`removal from ${firstNames(pendingRemovals.clusters)} held back: ${pendingRemovals.arithmetic}`];
  const all = [...updates, ...removals];
  return all.length === 0 ? null : all.join("; ");
}

const waitReasons = (record: PlacementRecord, { heldBack, pendingRemovals }: RolloutDecision): readonly Reason[] =>
  [...heldBack, ...(pendingRemovals === null ? [] : [pendingRemovals])].map(({ clusters, arithmetic }) => ({
    kind: "heldBack",
    placement: record.key,
    clusters,
    arithmetic,
  }));
