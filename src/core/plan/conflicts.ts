import type { Binding } from "../model/binding.ts";
import { sameList } from "../model/identity.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import type { Reason } from "../model/reason.ts";
import { type ClusterName, compareText, type PlacementKey } from "../model/value.ts";
import type { PlanContext } from "./moves/context.ts";
import { targetKeys } from "./moves/version.ts";

type Conflict = Extract<Reason, { kind: "wantedTwice" }>;

interface Known {
  /** The intent, runs, members, of which contact decides who is scheduled, quarantines, and overrides. */
  readonly basis: readonly unknown[];
  readonly reasons: readonly Conflict[];
}

const knownOf = new WeakMap<Ledger["placements"], Known>();

/**
 * Objects that two placements want on the same cluster: one keeps them, and the other one cannot have them
 * (`plan/README.md#d-9`). Only what more than one placement selects or carries is looked at, once for the same record.
 */
export function conflictReasons(ledger: Ledger, context: PlanContext): readonly Reason[] {
  const shared = context.wants.sharedObjects();
  if (shared.size === 0) return [];
  const known = knownOf.get(ledger.placements);
  const { quarantines } = context.ledger;
  const basis = [context.world.intent, ledger.runs, ledger.clusters, quarantines, context.latestOverrides];
  if (known !== undefined && sameList(known.basis, basis)) return known.reasons;
  const reasons = conflictsIn(shared, ledger, context);
  knownOf.set(ledger.placements, { basis, reasons });
  return reasons;
}

/** Of more objects than these, nobody reads which they are. */
const mostLookedAt = 200;

function conflictsIn(
  shared: ReadonlyMap<ObjectKey, readonly PlacementKey[]>,
  ledger: Ledger,
  context: PlanContext,
): readonly Conflict[] {
  const found = new Map<string, Gathered>();
  for (const [key, placements] of [...shared].slice(0, mostLookedAt)) {
    const clusters = new Set(placements.flatMap((it) => [...(ledger.placements.get(it)?.bindings.keys() ?? [])]));
    for (const cluster of clusters) {
      const wanters = context.wants.wantersOf(cluster, key).filter((it) => !isLeaving(it, key, cluster, ledger));
      if (wanters.length < 2) continue;
      const keeper = keeperOf(wanters, { key, cluster }, ledger, context);
      const isLettingGo = !context.wants.goesOnWanting(ledger, { cluster, placement: keeper }, key);
      for (const placement of wanters) {
        if (placement === keeper) continue;
        add(found, { placement, keeper, isLettingGo }, cluster, key);
      }
    }
  }
  const fileOf = (it: PlacementKey): string => context.world.intent.placements.get(it)?.source.path ?? it;
  return [...found.values()]
    .sort((a, b) => compareText(orderOf(a), orderOf(b)))
    .map(({ placement, keeper, isLettingGo, clusters, keys }) => ({
      kind: "wantedTwice",
      placement,
      files: [fileOf(placement), fileOf(keeper)],
      keeper,
      isLettingGo,
      clusters: [...clusters].sort(compareText),
      objects: [...keys].sort(compareText).map(objectIdOf),
    }));
}

const orderOf = ({ placement, keeper, isLettingGo }: Gathered): string =>
  `${placement} ${keeper} ${isLettingGo ? "last" : "first"}`;

interface Gathered extends Pick<Conflict, "placement" | "keeper" | "isLettingGo"> {
  readonly clusters: Set<ClusterName>;
  readonly keys: Set<ObjectKey>;
}

function add(
  found: Map<string, Gathered>,
  pair: Pick<Conflict, "placement" | "keeper" | "isLettingGo">,
  cluster: ClusterName,
  key: ObjectKey,
): void {
  const id = `${pair.placement} ${pair.keeper} ${pair.isLettingGo}`;
  const known = found.get(id) ?? { ...pair, clusters: new Set<ClusterName>(), keys: new Set<ObjectKey>() };
  known.clusters.add(cluster);
  known.keys.add(key);
  found.set(id, known);
}

interface PlacedObject {
  readonly key: ObjectKey;
  readonly cluster: ClusterName;
}

/** Who has it by the record, then who is to have it first, by name. */
function keeperOf(
  wanters: readonly PlacementKey[],
  object: PlacedObject,
  { placements }: Ledger,
  context: PlanContext,
): PlacementKey {
  const { key, cluster } = object;
  const carriers = wanters.filter((it) => carries(placements.get(it), object, context));
  const has = (it: PlacementKey): boolean => !isRefused(placements.get(it)?.bindings.get(cluster), key);
  return carriers.find(has) ?? carriers[0] ?? (wanters[0] as PlacementKey);
}

function carries(record: PlacementRecord | undefined, { key, cluster }: PlacedObject, context: PlanContext): boolean {
  const binding = record?.bindings.get(cluster);
  return record !== undefined && binding !== undefined && targetKeys(binding, record, context).has(key);
}

/** Whether a placement let go of an object in this pass. */
const isLeaving = (placement: PlacementKey, key: ObjectKey, cluster: ClusterName, { placements }: Ledger): boolean =>
  placements
    .get(placement)
    ?.bindings.get(cluster)
    ?.leaving.some((it) => objectKey(it.id) === key) === true;

/** Whether a member said that it belongs to somebody else. */
const isRefused = (binding: Binding | undefined, key: ObjectKey): boolean =>
  binding?.facts?.objectFailures.some((it) => it.code === "FailedToTakeOver" && objectKey(it.id) === key) === true ||
  binding?.facts == null;
