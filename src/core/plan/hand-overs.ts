import type { LiveComparison, Stay } from "../apply/actions.ts";
import type { Binding, PendingRemoval } from "../model/binding.ts";
import type { InventoryEntry } from "../model/inventory.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectKey } from "../model/manifest.ts";
import type { ObjectHandOver, RenderedManifest } from "../model/plan.ts";
import type { PlacementKey } from "../model/value.ts";
import type { Reached } from "./facts/members.ts";
import type { PlanContext } from "./moves/context.ts";
import { targetKeys, targetRendering } from "./moves/version.ts";

/** What one placement on one member is told of others that want what it has, or have what it wants. */
type HandOvers = Pick<LiveComparison, "stay" | "renderKept" | "sourcesOf">;

interface HandOverInput {
  readonly ledger: Ledger;
  readonly context: PlanContext;
  readonly member: Reached;
}

/**
 * Who keeps, takes and gives what on one member (`plan/README.md#d-9`): until the turn of the next owner comes, the one
 * before keeps the object; then the next one takes it, and once its inventory says so, the one before forgets it.
 */
export function handOversOf(record: PlacementRecord, binding: Binding, input: HandOverInput): HandOvers {
  return {
    stay: (leave) => stayOf(leave, record, binding, input),
    renderKept: () => keptManifests(record, binding, input),
    sourcesOf: (key) => sourcesOf(key, record, binding, input),
  };
}

function stayOf(
  { id, handOver }: PendingRemoval,
  { key: placement }: PlacementRecord,
  { cluster, removal }: Binding,
  { ledger, context, member }: HandOverInput,
): Stay | null {
  const key = objectKey(id);
  if (handOver !== undefined) {
    const { to } = handOver;
    const isTaken = isTakenBy(to, key, member);
    // While nothing is done about it, its next owner takes nothing.
    const isComing = isTaken || !ledger.quarantines.has(to);
    if (!isComing || !isTurn(to, key, cluster, { ledger, context })) return "kept";
    return isTaken ? "taken" : "due";
  }
  const { wants } = context;
  // The version that brings it back is still to come, or something in it is wanted.
  const isWanted = removal === null && wants.wantersOf(cluster, key).includes(placement);
  return isWanted || wants.isAnythingWantedIn({ cluster, placement }, id, removal !== null) ? "due" : null;
}

/** Whether a placement is to carry an object by what it was admitted to. */
function isTurn(
  to: PlacementKey,
  key: ObjectKey,
  cluster: Binding["cluster"],
  { ledger, context }: Pick<HandOverInput, "ledger" | "context">,
): boolean {
  const record = ledger.placements.get(to);
  const binding = record?.bindings.get(cluster);
  if (record === undefined || binding === undefined || binding.removal !== null || binding.target === null)
    return false;
  if (binding.state === "Scheduled") return false;
  return targetKeys(binding, record, context).has(key);
}

/**
 * Whether the next owner has written what stands there: then it is its own, whatever the one before lists. What was made anew
 * since is another object, which it is still to take.
 */
function isTakenBy(to: PlacementKey, key: ObjectKey, { inventory, objects }: Reached): boolean {
  const entry = inventory.placements.get(to)?.entries.get(key);
  const live = objects.get(key);
  return entry?.outcome.kind === "applied" && (live === undefined || live.uid === entry.uid);
}

/** What is kept, as it was carried last. What cannot be rendered is kept as it is. */
function keptManifests(
  record: PlacementRecord,
  { cluster, target, leaving }: Binding,
  { context }: HandOverInput,
): readonly RenderedManifest[] {
  return leaving.flatMap(({ id, handOver }): readonly RenderedManifest[] => {
    if (handOver === undefined) return [];
    const rendering = targetRendering({ cluster, target: handOver.by ?? target }, record, context);
    if (rendering?.kind !== "rendered") return [];
    const key = objectKey(id);
    return rendering.manifests.filter((it) => it.key === key);
  });
}

/**
 * From whom an object may be taken that a placement is to carry and its member's inventory lists as others', the likeliest
 * first. Where one took it from another and died before its result, both list it.
 */
function sourcesOf(
  key: ObjectKey,
  { key: placement }: PlacementRecord,
  { cluster }: Binding,
  { ledger, member }: HandOverInput,
): ReturnType<HandOvers["sourcesOf"]> {
  const uid = member.objects.get(key)?.uid ?? null;
  const found: { readonly rank: number; readonly source: Omit<ObjectHandOver, "key"> }[] = [];
  for (const [from, { entries }] of member.inventory.placements) {
    const entry = from === placement ? undefined : entries.get(key);
    if (entry === undefined) continue;
    const giver = ledger.placements.get(from)?.bindings.get(cluster);
    const leave = giver?.leaving.find((it) => objectKey(it.id) === key);
    const upTo = giver?.removal?.sequence ?? giver?.target?.sequence;
    if (leave?.handOver?.to !== placement || upTo === undefined) continue;
    found.push({ rank: holding(entry, uid), source: { from, upTo } });
  }
  return found.sort((a, b) => b.rank - a.rank).map((it) => it.source);
}

/** How surely an entry is that of who has the object: whoever was refused lists it as well. */
function holding({ uid, outcome }: InventoryEntry, live: string | null): number {
  if (uid !== null) return uid === live ? 3 : 2;
  return outcome.kind === "claimed" ? 1 : 0;
}
