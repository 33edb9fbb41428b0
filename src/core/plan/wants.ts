import type { Intent } from "../model/intent.ts";
import { isObject } from "../model/json.ts";
import type { Ledger, PlacementRecord, ResourceSnapshot } from "../model/ledger.ts";
import { documentKeyOf, kindKey, type ObjectId, type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import type { Placement } from "../model/placement.ts";
import { type ClusterName, compareText, type PlacementKey } from "../model/value.ts";
import { overridesOf, overridesOn } from "../render/applicable-overrides.ts";
import { render } from "../render/render.ts";
import { keysOf } from "../render/resource-snapshot.ts";
import { selectResources } from "../render/select.ts";
import { plannedIn } from "../rollout/run-plan.ts";
import type { PlanContext, Wants } from "./moves/context.ts";
import { keysIn, targetKeys } from "./moves/version.ts";
import { acceptedRecord } from "./placement/place.ts";
import { isSuspended } from "./placement/removal.ts";
import { isReturning } from "./placement/returns.ts";
import type { scheduleOf } from "./placement/schedule.ts";
import { recordsOf } from "./runs/runs-of.ts";

/**
 * Tells which placements want an object on a cluster: those that carry it there by their target, or will by their next
 * version, on a cluster that they are scheduled on (`plan/README.md#d-9`).
 *
 * Nothing is worked out before it is asked for, and of a placement no more than where it goes and what it selects: how
 * far it gets changes nothing of what it wants. So all placements of a pass are told the same, in whatever order they are
 * decided. `schedule` runs the scheduler.
 */
export function wantsIn(contextNow: () => PlanContext, schedule: typeof scheduleOf): Wants {
  const prospects = new Map<PlacementKey, Prospect | null>();
  let index: Selectors | null = null;
  const selectors = (): Selectors => {
    index ??= selectorsOf(contextNow());
    return index;
  };
  const prospectOf = (key: PlacementKey): Prospect | null => {
    const known = prospects.get(key);
    if (known !== undefined) return known;
    const made = prospect(key, contextNow(), schedule);
    prospects.set(key, made);
    return made;
  };
  const ends = new Map<Ledger, Map<PlacementKey, Prospect | null>>();
  const endOf = (key: PlacementKey, ledger: Ledger): Prospect | null => {
    const made = ends.get(ledger) ?? new Map<PlacementKey, Prospect | null>();
    if (!made.has(key)) made.set(key, lasting(key, { ...contextNow(), ledger }));
    ends.set(ledger, made);
    return made.get(key) ?? null;
  };
  const wantersOf = (cluster: ClusterName, key: ObjectKey): readonly PlacementKey[] =>
    (selectors().byObject.get(key) ?? none).filter((it) => prospectOf(it)?.wants(cluster, key) === true);
  const goesOnWanting: Wants["goesOnWanting"] = (ledger, { cluster, placement }, key) =>
    endOf(placement, ledger)?.wants(cluster, key) === true;
  return {
    wantersOf,
    isWantedForGood: (ledger, { cluster, placement }, key) =>
      (selectors().byObject.get(key) ?? none).some(
        (it) => it !== placement && goesOnWanting(ledger, { cluster, placement: it }, key),
      ),
    goesOnWanting,
    isWantedBy: (placement, cluster, key) => prospectOf(placement)?.wants(cluster, key) === true,
    sharedObjects: () => selectors().shared,
    isAnythingWantedIn({ cluster, placement }, holder, isGoing) {
      const held = selectors().byHolder.get(objectKey(holder)) ?? none;
      if (held.length === 0) return false;
      const context = contextNow();
      const record = context.ledger.placements.get(placement);
      const defined = kindDefinedBy(holder, record, context);
      const isWanted = (key: ObjectKey): boolean => wantersOf(cluster, key).some((it) => it !== placement || !isGoing);
      return held.some((it) => (defined === null || objectIdOf(it).kind === defined) && isWanted(it));
    },
  };
}

const none: readonly never[] = [];

/** What a placement wants, in this pass. */
interface Prospect {
  readonly wants: (cluster: ClusterName, key: ObjectKey) => boolean;
}

/**
 * Null where it wants nothing: its file was removed. What is in quarantine wants both what it was to have by the last decision
 * and what its document asks for: it gets that as soon as it is planned again.
 */
function prospect(key: PlacementKey, context: PlanContext, schedule: typeof scheduleOf): Prospect | null {
  const { intent } = context.world;
  const before = context.ledger.placements.get(key) ?? null;
  const placement = intent.placements.get(key);
  const isKept = before !== null && isKeptAsRecorded(before, context);
  const recorded = isKept ? prospectBy(before, recordedNext(before, context), context) : null;
  if (placement === undefined || (before !== null && isSuspended(before, intent))) return recorded;
  const record = scheduled(placement, before, { context, schedule });
  const coming = prospectBy(record, nextVersions(placement, record, context), context);
  if (recorded === null || coming === null) return recorded ?? coming;
  return { wants: (cluster, object) => recorded.wants(cluster, object) || coming.wants(cluster, object) };
}

/** Null where it only reports. */
const prospectBy = (record: PlacementRecord, next: Next, context: PlanContext): Prospect | null =>
  record.spec.strategy.applyStrategy.type === "ReportDiff"
    ? null
    : {
        wants(cluster, object) {
          const binding = record.bindings.get(cluster);
          if (binding === undefined || binding.state === "Unscheduled") return false;
          return (
            next(cluster, object) ||
            ((binding.removal === null || isReturning(binding, record, context)) &&
              targetKeys(binding, record, context).has(object))
          );
        },
      };

/**
 * What a placement goes on wanting by a ledger in which it stands as decided: what its target alone holds goes with the
 * next rolling update, or with a run that is to come there, however long its turn takes. Null where it wants nothing.
 */
function lasting(key: PlacementKey, context: PlanContext): Prospect | null {
  const record = context.ledger.placements.get(key);
  const placement = context.world.intent.placements.get(key);
  const decided = record === undefined ? null : lastingOf(record, placement, context);
  if (placement === undefined || !context.ledger.quarantines.has(key)) return decided;
  // Where it is to go nobody has decided: what its document asks for counts as wanted wherever that may be.
  const asked = nextVersions(placement, record ?? acceptedRecord(placement, null, context), context);
  return { wants: (cluster, object) => asked(cluster, object) || decided?.wants(cluster, object) === true };
}

function lastingOf(record: PlacementRecord, placement: Placement | undefined, context: PlanContext): Prospect | null {
  const { applyStrategy, type } = record.spec.strategy;
  const isKept = isKeptAsRecorded(record, context);
  if (applyStrategy.type === "ReportDiff" || (placement === undefined && !isKept)) return null;
  const next =
    placement === undefined || isKept ? recordedNext(record, context) : nextVersions(placement, record, context);
  // Only what is known to come drops anything.
  const stays = isKept || record.selectionError !== null;
  const runs = recordsOf(context.ledger, record.key);
  const plans = runs.flatMap(({ plan, end }) => (plan === null || end !== null ? [] : plan));
  const isUnmoved = (cluster: ClusterName): boolean =>
    type === "External" && !plans.some((it) => plannedIn(it).has(cluster));
  return {
    wants(cluster, object) {
      const binding = record.bindings.get(cluster);
      if (binding === undefined || binding.state === "Unscheduled") return false;
      if (next(cluster, object)) return true;
      const isStill = stays || isUnmoved(cluster);
      return isStill && binding.removal === null && targetKeys(binding, record, context).has(object);
    },
  };
}

const scheduled = (
  placement: Placement,
  before: PlacementRecord | null,
  { context, schedule }: { readonly context: PlanContext; readonly schedule: typeof scheduleOf },
): PlacementRecord => {
  const accepted = acceptedRecord(placement, before, context);
  const isPlaced = selectResources(placement, context.world.intent).kind === "selected";
  return isPlaced || placement.spec.strategy.type === "External" ? schedule(accepted, context).record : accepted;
};

type Next = (cluster: ClusterName, key: ObjectKey) => boolean;

/** Nothing is decided about it: it goes on wanting what it was to have by the last decision. */
const isKeptAsRecorded = (record: PlacementRecord, { world, ledger }: PlanContext): boolean =>
  isSuspended(record, world.intent) || ledger.quarantines.has(record.key);

/** What clusters are to carry next by what was recorded: the newest snapshot, and what unfinished runs bring. */
function recordedNext(record: PlacementRecord, context: PlanContext): Next {
  const snapshots = upcoming(record, true, context);
  return (_, key) => snapshots.some((it) => keysOf(it).has(key));
}

/**
 * What clusters are to carry next: what is selected now, as their overrides have it, and what unfinished runs bring. What
 * is selected and cannot be read now is not deselected; where the selection is refused, all that it picked may come.
 */
function nextVersions(placement: Placement, record: PlacementRecord, context: PlanContext): Next {
  const { intent } = context.world;
  const selection = selectResources(placement, intent);
  const latest = record.resourceSnapshots.at(-1);
  const isUnread = latest?.resources.some((it) => intent.unusable.has(documentKeyOf(it))) === true;
  const snapshots = upcoming(record, selection.kind === "refused" || isUnread, context);
  const isUpcoming = (key: ObjectKey): boolean => snapshots.some((it) => keysOf(it).has(key));
  if (selection.kind === "refused") return (_, key) => isUpcoming(key) || selection.picked.has(key);
  const { resources } = selection;
  const selected = new Set(resources.map((it) => objectKey(it.id)));
  const candidates = overridesOf(placement.key, resources, context.latestOverrides, intent.scopes);
  const kept = (cluster: ClusterName): ReadonlySet<ObjectKey> => {
    if (candidates.length === 0) return selected;
    const labels = intent.clusters.get(cluster)?.labels ?? {};
    const overrides = overridesOn(labels, candidates);
    if (overrides.length === 0) return selected;
    const rendering = render({ resources, overrides, cluster, labels, scopes: intent.scopes });
    return rendering.kind === "rendered" ? keysIn(rendering.manifests) : selected;
  };
  return (cluster, key) => isUpcoming(key) || (selected.has(key) && kept(cluster).has(key));
}

/** The snapshots that unfinished runs bring, and the latest one where what is selected now cannot be told. */
function upcoming(record: PlacementRecord, isUnsure: boolean, { ledger }: PlanContext): readonly ResourceSnapshot[] {
  const { resourceSnapshots } = record;
  const runs = recordsOf(ledger, record.key).filter((it) => it.end === null);
  const indexes = new Set(runs.flatMap(({ plan }) => plan?.resourceIndex ?? []));
  const latest = isUnsure ? resourceSnapshots.at(-1)?.index : undefined;
  return resourceSnapshots.filter((it) => it.index === latest || indexes.has(it.index));
}

/** Which placements may want an object at all, by what they select and what they carry. */
interface Selectors {
  /** Placements in the order of their names. */
  readonly byObject: ReadonlyMap<ObjectKey, readonly PlacementKey[]>;
  /** What stands in a namespace or is of a group, by the object that would take it along. */
  readonly byHolder: ReadonlyMap<ObjectKey, readonly ObjectKey[]>;
  /** Objects that more than one placement may want, in the order of their keys. */
  readonly shared: ReadonlyMap<ObjectKey, readonly PlacementKey[]>;
}

interface Indexed extends Selectors {
  readonly objects: Intent["objects"];
  readonly scopes: Intent["scopes"];
  readonly placements: readonly PlacementKey[];
  readonly snapshots: readonly PlacementRecord["resourceSnapshots"][];
}

const lastIndex = new WeakMap<Intent["placements"], Indexed>();

/** Made again only when anything else is selected: bindings may change as they like. */
function selectorsOf({ world, ledger }: PlanContext): Selectors {
  const { intent } = world;
  const { placements: asked, objects, scopes } = intent;
  const records = [...ledger.placements.values()];
  const placements = records.map((it) => it.key);
  const snapshots = records.map((it) => it.resourceSnapshots);
  const known = lastIndex.get(asked);
  const isSame =
    known?.objects === objects &&
    known.scopes === scopes &&
    known.snapshots.length === snapshots.length &&
    snapshots.every((it, at) => it === known.snapshots[at] && placements[at] === known.placements[at]);
  if (known !== undefined && isSame) return known;
  const byObject = new Map<ObjectKey, PlacementKey[]>();
  const add = (object: ObjectKey, placement: PlacementKey): void => {
    const list = byObject.get(object);
    if (list === undefined) byObject.set(object, [placement]);
    else if (list.at(-1) !== placement) list.push(placement);
  };
  for (const key of [...new Set([...asked.keys(), ...placements])].sort(compareText)) {
    const placement = asked.get(key);
    const selection = placement === undefined ? null : selectResources(placement, intent);
    if (selection?.kind === "selected") for (const { id } of selection.resources) add(objectKey(id), key);
    for (const it of selection?.kind === "refused" ? selection.picked : none) add(it, key);
    for (const it of ledger.placements.get(key)?.resourceSnapshots ?? none)
      for (const object of keysOf(it)) add(object, key);
  }
  const shared = new Map([...byObject].filter(([, it]) => it.length > 1).sort(([a], [b]) => compareText(a, b)));
  const byHolder = holdersOf(byObject.keys());
  const index = { byObject, byHolder, shared, objects, scopes, placements, snapshots };
  lastIndex.set(asked, index);
  return index;
}

function holdersOf(objects: Iterable<ObjectKey>): Selectors["byHolder"] {
  const held = new Map<ObjectKey, ObjectKey[]>();
  const hold = (holder: ObjectKey, key: ObjectKey): void => {
    const list = held.get(holder);
    if (list === undefined) held.set(holder, [key]);
    else list.push(key);
  };
  const definitions = new Map<string, ObjectKey[]>();
  const all = [...objects];
  for (const key of all) {
    const { group, kind, name } = objectIdOf(key);
    if (kindKey({ group, kind }) !== "apiextensions.k8s.io/CustomResourceDefinition") continue;
    const defined = name.slice(name.indexOf(".") + 1);
    definitions.set(defined, [...(definitions.get(defined) ?? none), key]);
  }
  for (const key of all) {
    const { group, namespace } = objectIdOf(key);
    if (namespace !== null) hold(objectKey({ group: "", kind: "Namespace", namespace: null, name: namespace }), key);
    for (const definition of definitions.get(group) ?? none) hold(definition, key);
  }
  return held;
}

/** The kind that a CustomResourceDefinition defines, where its content can be had. */
function kindDefinedBy(id: ObjectId, record: PlacementRecord | undefined, { content }: PlanContext): string | null {
  if (id.kind !== "CustomResourceDefinition" || record === undefined) return null;
  const key = objectKey(id);
  for (const { resources } of record.resourceSnapshots.toReversed()) {
    const found = resources.find((it) => objectKey(it.id) === key);
    const names = found === undefined ? undefined : content(found.digest)?.["spec"];
    const kind = isObject(names) && isObject(names["names"]) ? names["names"]["kind"] : undefined;
    if (typeof kind === "string") return kind;
  }
  return null;
}
