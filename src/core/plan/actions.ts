import { isUpToDate, placementActions } from "../apply/actions.ts";
import type { Binding } from "../model/binding.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import type { ClusterActions, PlacementActions, RenderedTarget } from "../model/plan.ts";
import { type ClusterName, compareText, earliest, type Instant, type PlacementKey } from "../model/value.ts";
import type { Reached } from "./facts/members.ts";
import { type HeldIndex, heldIndex } from "./guard/deletions.ts";
import { handOversOf } from "./hand-overs.ts";
import type { PlanContext } from "./moves/context.ts";
import { isOnlyHandingOver } from "./moves/hand-over.ts";
import { targetKeys, targetRendering } from "./moves/version.ts";
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
  isIdle: (record: PlacementRecord, ledger: Ledger, context: PlanContext) => boolean,
): readonly ClusterActions[] {
  const work = new Map<ClusterName, PlacementActions[]>();
  const input: ActionInput = { ledger, context, held: heldIndex(ledger.deletions) };
  const fresh = manifestsByTarget(rendered);
  for (const [key, record] of ledger.placements) {
    if (ledger.quarantines.has(key) || isIdle(record, ledger, context)) continue;
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
      holders: holdersOn(cluster, placements, input),
    }));
}

/**
 * Who has a say in what is applied on a member, where somebody else has. Whatever becomes of a binding, its placement has one
 * in what it carries and in what leaves it, until the binding is gone; and in what it wants before its turn comes.
 */
function holdersOn(
  cluster: ClusterName,
  work: readonly PlacementActions[],
  { ledger, context }: ActionInput,
): ClusterActions["holders"] {
  const { wants } = context;
  const shared = wants.sharedObjects();
  const losing = losingOn(cluster, ledger);
  const holders = new Map<ObjectKey, readonly PlacementKey[]>();
  if (shared.size + losing.size === 0) return holders;
  const isCarrying = (placement: PlacementKey, key: ObjectKey): boolean => {
    const record = ledger.placements.get(placement);
    const binding = record?.bindings.get(cluster);
    return record !== undefined && binding !== undefined && targetKeys(binding, record, context).has(key);
  };
  for (const { placement, apply } of work)
    for (const { key } of apply) {
      const having = shared.get(key)?.filter((it) => isCarrying(it, key) || wants.isWantedBy(it, cluster, key));
      const all = new Set([...(having ?? []), ...(losing.get(key) ?? [])]);
      if ([...all].some((it) => it !== placement)) holders.set(key, [...all].sort(compareText));
    }
  return holders;
}

/** What leaves placements on a cluster, and whom. */
function losingOn(cluster: ClusterName, { placements }: Ledger): ReadonlyMap<ObjectKey, readonly PlacementKey[]> {
  const found = new Map<ObjectKey, PlacementKey[]>();
  for (const [placement, { bindings }] of placements)
    for (const { id } of bindings.get(cluster)?.leaving ?? []) {
      const key = objectKey(id);
      const list = found.get(key);
      if (list === undefined) found.set(key, [placement]);
      else list.push(placement);
    }
  return found;
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

/**
 * Until when a placement asks nothing of any of these members while they stay as they are; null where it asks something
 * of one.
 */
export function untilAsked(
  record: PlacementRecord,
  clusters: Iterable<ClusterName>,
  ledger: Ledger,
  context: PlanContext,
): { readonly until: Instant | null } | null {
  const { world, trustedObservations } = context;
  const { now, patience } = world;
  const input: ActionInput = { ledger, context, held: heldIndex(ledger.deletions) };
  let until: Instant | null = null;
  for (const cluster of clusters) {
    const member = trustedObservations.get(cluster);
    const binding = record.bindings.get(cluster);
    if (member === undefined || binding === undefined) continue;
    const isDone =
      isUpToDate({ placement: record.key, binding, member, now, patience }) ||
      isWaitingCalmly(record, binding, { ...input, member });
    if (!isDone) return null;
    until = earliest(until, retryOn(member, now));
  }
  return { until };
}

/** Whether a cluster only waits to hand over, and all that it keeps until then can be told and is as it should be. */
function isWaitingCalmly(
  record: PlacementRecord,
  binding: Binding,
  input: ActionInput & { readonly member: Reached },
): boolean {
  if (!isOnlyHandingOver(binding)) return false;
  const { cluster, target, leaving } = binding;
  const versions = new Set([target, ...leaving.map((it) => it.handOver?.by ?? target)]);
  const isTold = [...versions].every(
    (it) => targetRendering({ cluster, target: it }, record, input.context)?.kind === "rendered",
  );
  return isTold && actionsOn(record, binding, none, input) === null;
}

function* actionsOf(
  record: PlacementRecord,
  fresh: Fresh,
  input: ActionInput,
): Generator<readonly [ClusterName, PlacementActions]> {
  const { trustedObservations } = input.context;
  for (const [cluster, binding] of record.bindings) {
    const member = trustedObservations.get(cluster);
    if (member === undefined) continue;
    const actions = actionsOn(record, binding, fresh, { ...input, member });
    if (actions !== null) yield [cluster, actions];
  }
}

function actionsOn(
  record: PlacementRecord,
  binding: Binding,
  fresh: Fresh,
  input: ActionInput & { readonly member: Reached },
): PlacementActions | null {
  const { ledger, context, held, member } = input;
  const { key: placement } = record;
  const { cluster } = binding;
  return placementActions({
    placement,
    binding,
    member,
    render: () => fresh.get(cluster) ?? manifestsOf(binding, record, input),
    isHeld: (key) => held.isHeld(cluster, placement, objectIdOf(key)),
    confirmedOthers: (key) => held.confirmedOthers(cluster, placement, objectIdOf(key)),
    applyStrategy: binding.target?.applyStrategy ?? record.spec.strategy.applyStrategy,
    ...handOversOf(record, binding, { ledger, context, member }),
    now: context.world.now,
    patience: context.world.patience,
  });
}

function manifestsOf(binding: Binding, record: PlacementRecord, { context }: ActionInput) {
  const rendering = targetRendering(binding, record, context);
  return rendering?.kind === "rendered" ? rendering.manifests : null;
}
