import type { Binding, Target } from "../model/binding.ts";
import type { MemberCluster } from "../model/fleet.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { ObjectId } from "../model/manifest.ts";
import type { Reason, RenderedTarget } from "../model/plan.ts";
import type { RunRecord } from "../model/update-run.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import type { Rendering } from "../render/render.ts";
import type { RolloutBinding } from "../rollout/budget.ts";
import { type Readiness, readinessOf, turnsAt } from "../rollout/readiness.ts";
import { type RollOut, type RolloutState, rollOut } from "../rollout/rolling-update.ts";
import { named } from "../status/run-words.ts";
import type { FailedRendering, PlanContext } from "./context.ts";
import { doomedObjects, foreseenDooms } from "./guard/doom.ts";
import type { Doom } from "./guard/guard.ts";
import { revisedMap } from "./identity.ts";
import { admitted, relabelled, targetOf, withdrawn } from "./transition.ts";
import { isCurrent, type Version } from "./version.ts";

/** How far a placement's rollout goes now: its bindings with new targets and removals, and what that takes away. */
export interface When {
  readonly bindings: ReadonlyMap<ClusterName, Binding>;
  readonly rendered: readonly RenderedTarget[];
  readonly dooms: readonly Doom[];
  readonly reasons: readonly Reason[];
  /** Clusters that wait for the budget. */
  readonly heldBack: ReadonlySet<ClusterName>;
  /** Who waits for the budget once all that may start has started, and its numbers; null when nobody does, or nobody counted. */
  readonly arithmetic: string | null;
  /** Clusters whose version cannot be rendered, with the reason. */
  readonly unrenderable: ReadonlyMap<ClusterName, FailedRendering>;
  readonly readiness: ReadonlyMap<ClusterName, Readiness>;
  /** Objects that a cluster carries and is to lose, although nothing of that has begun. */
  readonly doomed: (cluster: ClusterName) => readonly ObjectId[];
  readonly wakeAt: Instant | null;
  /** Every cluster is on the version that it should have, so that a new commit as such takes nothing away. */
  readonly isSettled: boolean;
  /** Nothing can be decided now: what is asked for stands. */
  readonly isSuspended?: boolean;
  /** Its update runs as they left it; those on record where they were not decided with it. */
  readonly runs?: readonly RunRecord[];
}

/** A binding with all that decides what becomes of it now. */
interface Row {
  readonly binding: Binding;
  /** Null where there is nothing to move to: the placement leaves the cluster, or the cluster left the fleet. */
  readonly version: Version | null;
  readonly isCurrent: boolean;
  readonly failure: FailedRendering | null;
  /** What it is to become waits for an approval: until then it stays as it is and takes no one's turn. */
  readonly isProtected: boolean;
  readonly readiness: Readiness;
}

/**
 * Admits new versions, new clusters and removals as far as the rolling update's budget goes
 * (`rollout/README.md#rolling-update`).
 */
export function decideWhen(
  before: PlacementRecord,
  versionOf: (cluster: MemberCluster) => Version,
  context: PlanContext,
): When {
  const versions = versionsFor(before, versionOf, context);
  const record = { ...before, bindings: renamed(before.bindings, versions) };
  const rows = rowsOf(record, versions, context);
  const outcome = rollOut(stateOf(record, rows.map(unmoved)));
  const move = { record, versions, context };
  const moved = carryOut(outcome, move);
  const isSettled = rows.every((it) => it.isCurrent);
  const unrenderable = new Map(rows.flatMap((it) => (it.failure === null ? [] : [[it.binding.cluster, it.failure]])));
  return {
    ...moved,
    dooms: isSettled ? [] : foreseenDooms(record, versions, context),
    reasons: [
      ...startReasons(record, moved.rendered),
      ...failureReasons(record, unrenderable),
      ...waitReasons(record, outcome),
    ],
    heldBack: new Set(outcome.heldBack.flatMap((it) => it.clusters)),
    arithmetic: waitsText(onceStarted(outcome, { ...move, rows, bindings: moved.bindings })),
    unrenderable,
    readiness: new Map(rows.map((it) => [it.binding.cluster, it.readiness])),
    doomed: (cluster) => {
      const binding = moved.bindings.get(cluster);
      return binding === undefined ? [] : doomedObjects(binding, versions.get(cluster), record, context);
    },
    wakeAt: rows.reduce((at, it) => earliest(at, turnsAt(it.readiness)), outcome.wakeAt),
    isSettled,
  };
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

function rowsOf(record: PlacementRecord, versions: Versions, context: PlanContext): readonly Row[] {
  const rows: Row[] = [];
  for (const [cluster, binding] of record.bindings) {
    const version = versions.get(cluster) ?? null;
    const isOn = version !== null && isCurrent(binding.target, version);
    // What a cluster is on was rendered when it got there.
    const rendering = version === null || isOn ? null : version.rendering();
    const failure = rendering?.kind === "failed" ? rendering : null;
    const isProtected = !mayMove(binding, version, { record, rendering, context });
    const readiness = readinessIn(context, record, binding);
    rows.push({ binding, version, isCurrent: isOn, failure, isProtected, readiness });
  }
  return rows;
}

const stateOf = ({ spec }: PlacementRecord, bindings: readonly RolloutBinding[]): RolloutState => ({
  policy: spec.policy,
  rollingUpdate: spec.strategy.rollingUpdate,
  bindings,
});

const unmoved = ({ binding, version, isCurrent, failure, isProtected, readiness }: Row): RolloutBinding => ({
  cluster: binding.cluster,
  state: isProtected && binding.state === "Unscheduled" ? "Bound" : binding.state,
  removing: binding.removal !== null,
  // A version that cannot be rendered is nothing to move to: the cluster keeps what it has and takes no one's turn.
  upToDate: version === null || isCurrent || failure !== null || isProtected,
  readiness,
});

/**
 * What the next pass finds held back if nothing else happens. What is recorded of it is then the same in that pass, and
 * not news because something started in between.
 */
function onceStarted(
  outcome: RollOut,
  { record, rows, bindings, context }: Move & Pick<When, "bindings"> & { readonly rows: readonly Row[] },
): Pick<RollOut, "heldBack" | "pendingRemovals"> {
  const isWaiting = outcome.heldBack.length > 0 || outcome.pendingRemovals !== null;
  if (!isWaiting || bindings === record.bindings) return outcome;
  const after = rows.flatMap((row): readonly RolloutBinding[] => {
    const { cluster } = row.binding;
    const binding = bindings.get(cluster);
    if (binding === row.binding) return [unmoved(row)];
    if (binding === undefined) return [];
    const readiness = readinessIn(context, record, binding);
    return [{ cluster, state: binding.state, removing: binding.removal !== null, upToDate: true, readiness }];
  });
  return rollOut(stateOf(record, after));
}

/** Whether a cluster may become what it is to become, as far as protection goes. */
function mayMove(
  binding: Binding,
  version: Version | null,
  { record, rendering, context }: Pick<Move, "record" | "context"> & { readonly rendering: Rendering | null },
): boolean {
  const { protection } = context;
  if (binding.removal !== null && binding.state === "Unscheduled") return true;
  if (binding.state === "Unscheduled")
    return (
      (binding.target === null && binding.leaving.length === 0) || protection.permits({ record, binding, next: null })
    );
  if (version === null || rendering?.kind !== "rendered") return true;
  const { digest, manifests } = rendering;
  const target = { digest, applyStrategy: version.applyStrategy };
  return protection.permits({ record, binding, next: { target, manifests } });
}

/** How a binding is, as its member's silence, its deadlines and its facts have it. */
export function readinessIn({ world, roster }: PlanContext, record: PlacementRecord, binding: Binding): Readiness {
  const { strategy } = record.spec;
  const seat = roster.get(binding.cluster);
  return readinessOf(binding, {
    contact: seat?.trouble != null ? "unreachable" : seat?.said != null ? "reached" : "unasked",
    progressDeadline: strategy.progressDeadline,
    unavailablePeriod: strategy.rollingUpdate.unavailablePeriod,
    now: world.now,
  });
}

interface Move {
  readonly record: PlacementRecord;
  readonly versions: Versions;
  readonly context: PlanContext;
}

function carryOut(outcome: RollOut, move: Move): Pick<When, "bindings" | "rendered"> {
  const { record, context } = move;
  const { bind, update, remove } = outcome;
  if (bind.length + update.length + remove.length === 0) return { bindings: record.bindings, rendered: [] };
  const bindings = new Map(record.bindings);
  const rendered = admit([...bind, ...update], bindings, move);
  for (const cluster of remove) {
    const binding = bindings.get(cluster);
    const gone = binding === undefined ? null : withdrawn(binding, { record, context });
    if (gone === null) bindings.delete(cluster);
    else bindings.set(cluster, gone);
  }
  const isMoved = rendered.length > 0 || remove.length > 0;
  return { bindings: isMoved ? bindings : record.bindings, rendered };
}

/** Gives each of `clusters` its version, in `bindings`. */
function admit(
  clusters: readonly ClusterName[],
  bindings: Map<ClusterName, Binding>,
  { record, versions, context }: Move,
): readonly RenderedTarget[] {
  const rendered: RenderedTarget[] = [];
  const targets = new Map<Version, Target>();
  for (const cluster of clusters) {
    const binding = bindings.get(cluster);
    const version = versions.get(cluster);
    const rendering = version?.rendering();
    if (binding === undefined || version === undefined || rendering?.kind !== "rendered") continue;
    const target = targets.get(version) ?? targetOf(version, rendering.digest, context);
    targets.set(version, target);
    const { manifests } = rendering;
    bindings.set(cluster, admitted(binding, { target, manifests, record, context }));
    rendered.push({ cluster, placement: record.key, manifests });
  }
  return rendered;
}

function startReasons(record: PlacementRecord, rendered: readonly RenderedTarget[]): readonly Reason[] {
  const resourceIndex = record.resourceSnapshots.at(-1)?.index;
  if (rendered.length === 0 || resourceIndex === undefined) return [];
  return [{ kind: "started", placement: record.key, resourceIndex, clusters: rendered.map((it) => it.cluster) }];
}

const failureReasons = (
  record: PlacementRecord,
  failures: ReadonlyMap<ClusterName, FailedRendering>,
): readonly Reason[] =>
  [...failures].map(([cluster, { message }]) => ({ kind: "renderFailed", placement: record.key, cluster, message }));

function waitsText({ heldBack, pendingRemovals }: Pick<RollOut, "heldBack" | "pendingRemovals">): string | null {
  const updates = heldBack.map((it) => `${named(it.clusters)} held back: ${it.arithmetic}`);
  const removals =
    pendingRemovals === null
      ? []
      : [`removal from ${named(pendingRemovals.clusters)} held back: ${pendingRemovals.arithmetic}`];
  const all = [...updates, ...removals];
  return all.length === 0 ? null : all.join("; ");
}

const waitReasons = (record: PlacementRecord, { heldBack, pendingRemovals }: RollOut): readonly Reason[] =>
  [...heldBack, ...(pendingRemovals === null ? [] : [pendingRemovals])].map(({ clusters, arithmetic }) => ({
    kind: "heldBack",
    placement: record.key,
    clusters,
    arithmetic,
  }));
