import type { Binding } from "../model/binding.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { ObjectId, ObjectKey } from "../model/manifest.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan, RenderedManifest, World } from "../model/plan.ts";
import type { ActionDefectCode, DeletionDefectCode, PlanDefect } from "../model/plan-defect.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import { defect, inventoryKey, placementActionsIn } from "./check-defect.ts";
import { certainlySelected } from "./check-selected.ts";

/**
 * Lists wanted objects that a plan takes away, and Namespaces and definitions that would take some along
 * (`plan/README.md#d-9`): what another placement is to carry on the same cluster, by its target there, by its newest
 * snapshot, by the plan of a run that is under way, or since it selects that now and moves by runs alone, stays, whatever
 * was confirmed. Where overrides might drop it, only what its member carries for that placement and is to keep counts.
 */
export function* checkHandOvers({ actions, ledger }: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  let index: ReadonlyMap<string, readonly PlacementRecord[]> | null = null;
  for (const [cluster, work] of placementActionsIn(actions)) {
    if (work.remove.length === 0) continue;
    index ??= recordsByWant(ledger, (record) => selectedNext(record, world));
    for (const gone of work.remove) {
      // Without a uid nothing is deleted: it is looked up first.
      if (gone.uid === null) continue;
      const key = inventoryKey(gone.id);
      const subject = { kind: "object", placement: work.placement, cluster, object: key as ObjectKey } as const;
      const wants = { cluster, besides: work.placement, world, ledger };
      const wanter = (index.get(key) ?? []).find((it) => isWanting(it, wants, (id) => inventoryKey(id) === key));
      const place = gone.how === "delete" ? placeOf(gone.id) : null;
      const user = (place === null ? [] : (index.get(place) ?? [])).find((it) =>
        isWanting(it, wants, (id) => placesOf(id).includes(place ?? "")),
      );
      if (wanter !== undefined)
        yield defect(
          "WantedObjectRemoved",
          subject,
          `takes ${key} of ${work.placement} off ${cluster}, where ${wanter.key} wants it`,
        );
      else if (user !== undefined)
        yield defect(
          "WantedObjectRemoved",
          subject,
          `deletes ${key} of ${work.placement} from ${cluster} with what ${user.key} wants in it`,
        );
    }
  }
}

/**
 * Lists objects that a plan would take for left behind although another placement carries them on the same cluster by its
 * target, or is still to let go of them there (`apply/README.md#left-behind`). What overrides might drop is left aside.
 */
export function* checkHolders({ actions, ledger }: Plan): Generator<PlanDefect<ActionDefectCode>> {
  const index = actions.length === 0 ? null : recordsByWant(ledger, () => nothing);
  for (const { cluster, placements, holders } of actions)
    for (const { placement, apply } of placements)
      for (const { key } of apply) {
        const named = new Set(holders.get(key));
        for (const record of index?.get(key) ?? []) {
          if (record.key === placement || named.has(record.key) || !isHolding(record, cluster, key)) continue;
          yield defect(
            "BoundPlacementMissing",
            { kind: "binding", placement: record.key, cluster },
            `takes ${key}, which ${record.key} has on ${cluster}, for left behind`,
          );
        }
      }
}

function isHolding({ bindings, resourceSnapshots }: PlacementRecord, cluster: ClusterName, key: string): boolean {
  const binding = bindings.get(cluster);
  if (binding === undefined) return false;
  const { target, leaving } = binding;
  const isOverridden = target !== null && target.clusterOverrides.length + target.resourceOverrides.length > 0;
  const carried = resourceSnapshots.find((it) => !isOverridden && it.index === target?.resourceIndex)?.resources ?? [];
  return [...carried, ...leaving].some(({ id }) => inventoryKey(id) === key);
}

/**
 * Lists objects that a plan has one placement take from another one which is not to hand them over to it, whichever kinds
 * the two are of: both would write what stands there once (`plan/README.md#hand-over`).
 */
export function* checkTakers({ actions, ledger }: Plan): Generator<PlanDefect<ActionDefectCode>> {
  for (const [cluster, { placement, handOvers }] of placementActionsIn(actions))
    for (const { key, from } of handOvers ?? []) {
      const leaving = ledger.placements.get(from)?.bindings.get(cluster)?.leaving ?? [];
      if (leaving.some((it) => inventoryKey(it.id) === key && it.handOver?.to === placement)) continue;
      yield defect(
        "HandOverUndecided",
        { kind: "object", placement, cluster, object: key },
        `has ${placement} take ${key} on ${cluster} from ${from}, which does not hand it over`,
      );
    }
}

const nothing: readonly never[] = [];

/** Placements by the keys of all objects that they may want, and by where those stand. */
function recordsByWant(
  { placements }: Ledger,
  alsoWanted: (record: PlacementRecord) => readonly ObjectId[],
): ReadonlyMap<string, readonly PlacementRecord[]> {
  const found = new Map<string, Set<PlacementRecord>>();
  for (const record of placements.values()) {
    const recorded = record.resourceSnapshots.flatMap(({ resources }) => resources.map(({ id }) => id));
    for (const id of [...recorded, ...alsoWanted(record)])
      for (const text of [inventoryKey(id), ...placesOf(id)])
        found.set(text, (found.get(text) ?? new Set<PlacementRecord>()).add(record));
  }
  return new Map([...found].map(([text, records]) => [text, [...records]]));
}

/** What a placement that moves by runs alone selects now: a run that is still to come brings it. */
function selectedNext({ key, spec }: PlacementRecord, { intent }: World): readonly ObjectId[] {
  const placement = spec.strategy.type === "External" ? intent.placements.get(key) : undefined;
  return placement === undefined || intent.overrides.length > 0 ? nothing : certainlySelected(placement, intent);
}

interface Wants {
  readonly cluster: ClusterName;
  /** Who takes it away: it may do so with what it has itself. */
  readonly besides: PlacementKey;
  readonly world: World;
  /** As the plan has it. */
  readonly ledger: Ledger;
}

/** Whether a placement certainly wants an object on a cluster that `is` one of those looked for. */
function isWanting(
  record: PlacementRecord,
  { cluster, besides, world, ledger }: Wants,
  is: (id: ObjectId) => boolean,
): boolean {
  const { intent, observed } = world;
  const binding = record.bindings.get(cluster);
  if (record.key === besides || binding === undefined || !isScheduled(binding, record)) return false;
  if (!intent.placements.has(record.key)) return false;
  const isOverridden = intent.overrides.length > 0;
  const seen = observed.get(cluster);
  const entries = seen?.kind === "reached" ? seen.inventory.placements.get(record.key)?.entries : undefined;
  const isLeaving = (key: string): boolean =>
    binding.leaving.some((it) => it.handOver === undefined && inventoryKey(it.id) === key);
  const isCarried = (key: string): boolean =>
    entries?.get(key as ObjectKey)?.outcome.kind === "applied" && !isLeaving(key);
  const isCertain = (id: ObjectId): boolean => !isOverridden || isCarried(inventoryKey(id));
  const runs = isOverridden ? [] : indexesToCome(record.key, cluster, [world.ledger, ledger]);
  const wanted = [...wantedBy(binding, record, { isOverridden, runs }), ...selectedNext(record, world)];
  return wanted.some((id) => is(id) && isCertain(id));
}

/** The versions that runs which were and are under way are to bring to a cluster by their plans. */
const indexesToCome = (
  placement: PlacementKey,
  cluster: ClusterName,
  [before, after]: readonly [Ledger, Ledger],
): readonly number[] =>
  [...after.runs.values()].flatMap(({ key, spec, plan, end }) => {
    const was = before.runs.get(key);
    const isUnderWay = end === null && was !== undefined && was.end === null && was.plan === plan;
    if (spec.placement !== placement || plan === null || !isUnderWay) return [];
    return plan.stages.some((it) => it.clusters.some((at) => at.cluster === cluster)) ? plan.resourceIndex : [];
  });

const isScheduled = ({ state, removal }: Binding, { deleting, spec }: PlacementRecord): boolean =>
  state !== "Unscheduled" && removal === null && deleting === null && spec.strategy.applyStrategy.type !== "ReportDiff";

/** What is selected of the newest snapshot is what comes next; an External placement carries what its runs bring. */
function wantedBy(
  { target }: Binding,
  { resourceSnapshots, spec }: PlacementRecord,
  { isOverridden, runs }: { readonly isOverridden: boolean; readonly runs: readonly number[] },
): readonly ObjectId[] {
  const isNext = spec.strategy.type !== "External" && !isOverridden;
  const latest = isNext ? resourceSnapshots.at(-1)?.index : undefined;
  return resourceSnapshots
    .filter((it) => it.index === target?.resourceIndex || it.index === latest || runs.includes(it.index))
    .flatMap(({ resources }) => resources.map(({ id }) => id));
}

/** What stands in an object, as where it stands; null for what holds nothing. */
function placeOf({ group, kind, name }: ObjectId): string | null {
  if (group === "" && kind === "Namespace") return `in ${name}`;
  return kind === "CustomResourceDefinition" ? `of ${name}` : null;
}

/** Where an object stands: its namespace, and what is likely to be the name of its kind's definition. */
const placesOf = ({ group, kind, namespace }: ObjectId): readonly string[] => [
  ...(namespace === null ? [] : [`in ${namespace}`]),
  ...(group === "" ? [] : [`of ${kind.toLowerCase()}s.${group}`]),
];

/** Whether an object only waits for another placement to take it: until then it is put right. */
export const isKeptForOthers = ({ id }: RenderedManifest, { leaving }: Binding): boolean =>
  leaving.some((it) => it.handOver !== undefined && inventoryKey(it.id) === inventoryKey(id));

/** Whether another placement's part of the inventory has the very object as its own: it was handed over. */
export const carriedByOthers = (
  seen: Observation | undefined,
  placement: PlacementKey,
  key: ObjectKey,
  uid: string | null,
): boolean =>
  uid !== null &&
  seen?.kind === "reached" &&
  [...seen.inventory.placements].some(([other, { entries }]) => {
    const entry = entries.get(key);
    return other !== placement && entry?.uid === uid && entry.outcome.kind === "applied";
  });
