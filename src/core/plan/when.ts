import type { MemberCluster } from "../model/cluster.ts";
import type { Binding, PlacementRecord } from "../model/ledger.ts";
import type { ObjectId } from "../model/manifest.ts";
import type { Reason, RenderedTarget } from "../model/plan.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { type Readiness, readinessOf, turnsAt } from "../rollout/readiness.ts";
import { type RollOut, rollOut } from "../rollout/rolling-update.ts";
import type { FailedRendering, PlanContext } from "./context.ts";
import { doomedObjects, foreseenDooms } from "./doom.ts";
import type { Doom } from "./guard.ts";
import { sameMap } from "./record.ts";
import { admitted, relabelled, withdrawn } from "./transition.ts";
import { isCurrent, type Version } from "./version.ts";

/** How far a placement's rollout goes now: its bindings with new targets and removals, and what that takes away. */
export interface When {
  readonly bindings: ReadonlyMap<ClusterName, Binding>;
  readonly rendered: readonly RenderedTarget[];
  readonly dooms: readonly Doom[];
  readonly reasons: readonly Reason[];
  /** Clusters that wait for the budget. */
  readonly heldBack: ReadonlySet<ClusterName>;
  /** Clusters whose version cannot be rendered, with the reason. */
  readonly unrenderable: ReadonlyMap<ClusterName, FailedRendering>;
  readonly readiness: ReadonlyMap<ClusterName, Readiness>;
  /** Objects that a cluster carries and is to lose, although nothing of that has begun. */
  readonly doomed: (cluster: ClusterName) => readonly ObjectId[];
  readonly wakeAt: Instant | null;
}

type Versions = ReadonlyMap<ClusterName, Version>;

/** Admits new versions, new clusters and removals as far as the rolling update's budget goes (`spec/rollout.md` §1). */
export function decideWhen(
  before: PlacementRecord,
  versionOf: (cluster: MemberCluster) => Version,
  context: PlanContext,
): When {
  const versions = versionsFor(before, versionOf, context);
  const record = { ...before, bindings: renamed(before.bindings, versions) };
  const readiness = new Map([...record.bindings.values()].map((it) => [it.cluster, readinessIn(context, record, it)]));
  const outcome = rollOut({
    policy: record.spec.policy,
    rollingUpdate: record.spec.strategy.rollingUpdate,
    bindings: [...record.bindings.values()].map((it) => ({
      cluster: it.cluster,
      state: it.state,
      removing: it.removal !== null,
      upToDate: isSettledOn(it, versions.get(it.cluster)),
      readiness: readiness.get(it.cluster) ?? { kind: "unknown" },
    })),
  });
  const moved = carryOut(outcome, { record, versions, context });
  const unrenderable = failuresOf(versions);
  return {
    ...moved,
    dooms: foreseenDooms(record, versions, context),
    reasons: [
      ...startReasons(record, moved.rendered),
      ...failureReasons(record, unrenderable),
      ...waitReasons(record, outcome),
    ],
    heldBack: new Set(outcome.heldBack.flatMap((it) => it.clusters)),
    unrenderable,
    readiness,
    doomed: (cluster) => {
      const binding = moved.bindings.get(cluster);
      return binding === undefined ? [] : doomedObjects(binding, versions.get(cluster), record, context);
    },
    wakeAt: earliest(outcome.wakeAt, ...[...readiness.values()].map(turnsAt)),
  };
}

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
function renamed(bindings: PlacementRecord["bindings"], versions: Versions): PlacementRecord["bindings"] {
  const next = new Map(
    [...bindings].map(([cluster, it]) => {
      const version = versions.get(cluster);
      return [cluster, version === undefined ? it : relabelled(it, version)];
    }),
  );
  return sameMap(next, bindings) ? bindings : next;
}

/** How a binding is, as its member's silence, its deadlines and its facts have it. */
export function readinessIn({ world, ledger }: PlanContext, record: PlacementRecord, binding: Binding): Readiness {
  const { strategy } = record.spec;
  const isTroubled = ledger.clusters.get(binding.cluster)?.trouble != null;
  return readinessOf(binding, {
    contact: isTroubled ? "unreachable" : world.observed.has(binding.cluster) ? "reached" : "unasked",
    progressDeadline: strategy.progressDeadline,
    unavailablePeriod: strategy.rollingUpdate.unavailablePeriod,
    now: world.now,
  });
}

/** A version that cannot be rendered is nothing to move to: the cluster keeps what it has and takes no one's turn. */
const isSettledOn = ({ target }: Binding, version: Version | undefined): boolean =>
  version === undefined || version.rendering.kind === "failed" || isCurrent(target, version);

interface Move {
  readonly record: PlacementRecord;
  readonly versions: Versions;
  readonly context: PlanContext;
}

function carryOut(outcome: RollOut, { record, versions, context }: Move): Pick<When, "bindings" | "rendered"> {
  const bindings = new Map(record.bindings);
  const rendered: RenderedTarget[] = [];
  for (const cluster of [...outcome.bind, ...outcome.update]) {
    const rendering = versions.get(cluster)?.rendering;
    const binding = bindings.get(cluster);
    const version = versions.get(cluster);
    if (binding === undefined || version === undefined || rendering?.kind !== "rendered") continue;
    bindings.set(cluster, admitted(binding, { version, rendering, record, context }));
    rendered.push({ cluster, placement: record.key, manifests: rendering.manifests });
  }
  for (const cluster of outcome.remove) {
    const binding = bindings.get(cluster);
    const gone = binding === undefined ? null : withdrawn(binding, { record, context });
    if (gone === null) bindings.delete(cluster);
    else bindings.set(cluster, gone);
  }
  const isMoved = rendered.length > 0 || outcome.remove.length > 0;
  return { bindings: isMoved ? bindings : record.bindings, rendered };
}

const failuresOf = (versions: Versions): ReadonlyMap<ClusterName, FailedRendering> =>
  new Map(
    [...versions].flatMap(([cluster, { rendering }]): [ClusterName, FailedRendering][] =>
      rendering.kind === "failed" ? [[cluster, rendering]] : [],
    ),
  );

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

const waitReasons = (record: PlacementRecord, { heldBack, pendingRemovals }: RollOut): readonly Reason[] =>
  [...heldBack, ...(pendingRemovals === null ? [] : [pendingRemovals])].map(({ clusters, arithmetic }) => ({
    kind: "heldBack",
    placement: record.key,
    clusters,
    arithmetic,
  }));
