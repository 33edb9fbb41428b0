import { isUpToDate, placementActions } from "../apply/actions.ts";
import type { Binding } from "../model/binding.ts";
import { commonKeys } from "../model/identity.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { objectIdOf } from "../model/manifest.ts";
import type { ClusterActions, PlacementActions, RenderedTarget, World } from "../model/plan.ts";
import { type ClusterName, compareText, earliest, type Instant, type PlacementKey } from "../model/value.ts";
import { changesSince, type FleetView } from "./facts/members.ts";
import { type HeldIndex, heldIndex } from "./guard/deletions.ts";
import type { PlanContext } from "./moves/context.ts";
import { targetRendering } from "./moves/version.ts";
import { retryOn } from "./retries.ts";

/**
 * What each member that answered has to do to carry what the ledger says.
 *
 * A member in trouble gets nothing: one that is silent cannot be told, and one that is another cluster than the one
 * that joined must not be (`plan/README.md#d-8`).
 */
export function actionsFor(
  ledger: Ledger,
  rendered: readonly RenderedTarget[],
  context: PlanContext,
): readonly ClusterActions[] {
  const work = new Map<ClusterName, PlacementActions[]>();
  const input: ActionInput = { ledger, context, held: heldIndex(ledger.deletions) };
  const fresh = manifestsByTarget(rendered);
  for (const [key, record] of ledger.placements) {
    if (isIdle(record, input)) continue;
    for (const [cluster, actions] of actionsOf(record, fresh.get(key) ?? none, input)) {
      const list = work.get(cluster);
      if (list === undefined) work.set(cluster, [actions]);
      else list.push(actions);
    }
  }
  return [...work]
    .sort(([a], [b]) => compareText(a, b))
    .map(([cluster, placements]) => ({
      cluster,
      clusterUid: ledger.clusters.get(cluster)?.kubeSystemUid ?? "",
      fleet: ledger.fleet,
      epoch: ledger.epoch,
      placements,
    }));
}

/** What this plan brings, by cluster. */
type Fresh = ReadonlyMap<ClusterName, RenderedTarget["manifests"]>;

const none: Fresh = new Map();

function manifestsByTarget(rendered: readonly RenderedTarget[]): ReadonlyMap<PlacementKey, Fresh> {
  const found = new Map<PlacementKey, Map<ClusterName, RenderedTarget["manifests"]>>();
  for (const { placement, cluster, manifests } of rendered) {
    const known = found.get(placement);
    if (known === undefined) found.set(placement, new Map([[cluster, manifests]]));
    else known.set(cluster, manifests);
  }
  return found;
}

/** What the actions of all placements are made from. */
interface ActionInput {
  readonly ledger: Ledger;
  readonly context: PlanContext;
  readonly held: HeldIndex;
}

/** A placement that asked nothing of any member, and from when until when that stands while all members stay as they are. */
interface Idleness {
  readonly fleetView: FleetView;
  readonly patience: World["patience"];
  readonly from: Instant;
  readonly until: Instant | null;
}

const idle = new WeakMap<PlacementRecord, Idleness>();

/**
 * Whether a placement asks nothing of any member. Only members that changed since it last was idle are looked at.
 *
 * Who asks for nothing although nobody is patient has nothing to be patient about: that stands for both.
 */
function isIdle(record: PlacementRecord, input: ActionInput): boolean {
  const { world, fleetView, trustedObservations } = input.context;
  const known = idle.get(record);
  const stands =
    known !== undefined &&
    (known.patience === world.patience || known.patience === "none") &&
    world.now >= known.from &&
    (known.until === null || world.now < known.until);
  if (stands && known.fleetView === fleetView) return true;
  const changed = stands ? changesSince(known.fleetView, fleetView).all : null;
  let until = stands ? known.until : null;
  let patience: World["patience"] = stands ? known.patience : "none";
  for (const cluster of changed === null ? record.bindings.keys() : commonKeys(changed, record.bindings)) {
    const member = trustedObservations.get(cluster);
    const binding = record.bindings.get(cluster);
    if (member === undefined || binding === undefined) continue;
    const look = { placement: record.key, binding, member, now: world.now };
    if (!isUpToDate({ ...look, patience })) {
      if (patience === world.patience || !isUpToDate({ ...look, patience: world.patience })) return false;
      patience = world.patience;
    }
    until = earliest(until, retryOn(member, world.now));
  }
  idle.set(record, { fleetView, patience, from: world.now, until });
  return true;
}

function* actionsOf(
  record: PlacementRecord,
  fresh: Fresh,
  input: ActionInput,
): Generator<readonly [ClusterName, PlacementActions]> {
  const { world, trustedObservations } = input.context;
  const { isHeld, confirmedOthers } = input.held;
  const { key: placement } = record;
  for (const [cluster, binding] of record.bindings) {
    const member = trustedObservations.get(cluster);
    if (member === undefined) continue;
    const actions = placementActions({
      placement,
      binding,
      member,
      render: () => fresh.get(cluster) ?? manifestsOf(binding, record, input),
      isHeld: (key) => isHeld(cluster, placement, objectIdOf(key)),
      confirmedOthers: (key) => confirmedOthers(cluster, placement, objectIdOf(key)),
      applyStrategy: binding.target?.applyStrategy ?? record.spec.strategy.applyStrategy,
      now: world.now,
      patience: world.patience,
    });
    if (actions !== null) yield [cluster, actions];
  }
}

function manifestsOf(binding: Binding, record: PlacementRecord, { context }: ActionInput) {
  const rendering = targetRendering(binding, record, context);
  return rendering?.kind === "rendered" ? rendering.manifests : null;
}
