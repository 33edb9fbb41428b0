import { isFenced } from "../../apply/actions.ts";
import { disturbedPlacements } from "../../apply/disturbed.ts";
import { isFight } from "../../apply/fight.ts";
import type { Binding, BindingFacts, ObjectFailure, Target } from "../../model/binding.ts";
import { sameList } from "../../model/identity.ts";
import type { InventoryEntry, InventoryPlacement } from "../../model/inventory.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { kindKey, type ObjectKey, objectIdOf, objectKey } from "../../model/manifest.ts";
import type { LiveObject } from "../../model/observation.ts";
import { type ClusterName, compareText, type Instant } from "../../model/value.ts";
import { keysOf, snapshotOf } from "../../render/resource-snapshot.ts";
import { contestsOf } from "./contests.ts";
import type { FleetView, Reached } from "./members.ts";

/** What is observed in this pass, and what of it can be trusted. */
export interface ObservationContext {
  readonly trustedObservations: ReadonlyMap<ClusterName, Reached>;
  readonly fleetView: FleetView;
  readonly now: Instant;
  /** Facts that this pass made already: a hundred thousand bindings come to the same few. */
  readonly made: Map<string, BindingFacts>;
}

/**
 * The placement with what `members` say of it, in a normal form. The record itself when they say nothing new.
 *
 * The same answer twice is no news, whatever the time. Only that a fight is over is told by time alone.
 */
export function withObservedFacts(
  record: PlacementRecord,
  context: ObservationContext,
  members: Iterable<ClusterName> = record.bindings.keys(),
): PlacementRecord {
  const bindings = observedBindings(record, context, members);
  return bindings === record.bindings ? record : { ...record, bindings };
}

function observedBindings(
  record: PlacementRecord,
  context: ObservationContext,
  members: Iterable<ClusterName>,
): PlacementRecord["bindings"] {
  const { bindings } = record;
  const changed = new Map<ClusterName, Binding | null>();
  for (const it of members) {
    const binding = bindings.get(it);
    if (binding === undefined) continue;
    const next = observedBinding(binding, record, context);
    if (next !== binding) changed.set(it, next);
  }
  if (changed.size === 0) return bindings;
  const next = new Map<ClusterName, Binding>();
  for (const [name, binding] of bindings) {
    const observed = changed.get(name);
    if (observed !== null) next.set(name, observed ?? binding);
  }
  return next;
}

/** The binding with what its member says of it; null when everything that had to go is confirmed gone. */
function observedBinding(binding: Binding, record: PlacementRecord, context: ObservationContext): Binding | null {
  const member = context.trustedObservations.get(binding.cluster);
  if (member === undefined) return binding;
  const listed = member.inventory.placements.get(record.key) ?? null;
  const isQuiet = binding.leaving.length === 0 && !disturbedPlacements(member).has(record.key);
  const carried = isQuiet ? listed : listedOf(listed, binding, record);
  const leaving = stillThere(binding.leaving, carried);
  const { removal } = binding;
  if (removal !== null && leaving.length === 0 && isFenced(member.inventory, record.key, removal.sequence))
    return startAnew(binding);
  const facts =
    removal === null ? observedFacts(binding, leaving, { member, carried, isQuiet, context }) : binding.facts;
  if (leaving === binding.leaving && facts === binding.facts) return binding;
  return { ...binding, leaving, facts };
}

/**
 * What has not gone yet, and of that, what is let go since it may have been there before us. An inventory that does not
 * know the placement says nothing of its objects: somebody may have deleted it (`apply/README.md#f-43`).
 */
function stillThere(leaving: Binding["leaving"], carried: InventoryPlacement | null): Binding["leaving"] {
  if (leaving.length === 0 || carried === null) return leaving;
  const stays = leaving.flatMap((it) => {
    const entry = carried.entries.get(objectKey(it.id));
    if (entry === undefined) return [];
    return it.released || !entry.adopted || it.evenAdopted ? it : { ...it, released: true };
  });
  return sameList(stays, leaving) ? leaving : stays;
}

/**
 * What the inventory lists of a binding. Other entries of its placement are nobody's: a member that came back with old
 * state is not unwell because of them.
 */
function listedOf(
  carried: InventoryPlacement | null,
  { target, leaving }: Binding,
  record: PlacementRecord,
): InventoryPlacement | null {
  const snapshot = target === null ? null : snapshotOf(record, target.resourceIndex);
  if (carried === null || snapshot === null) return carried;
  const keys = keysOf(snapshot);
  const isOurs = (key: ObjectKey): boolean => keys.has(key) || leaving.some((it) => objectKey(it.id) === key);
  for (const key of carried.entries.keys()) {
    if (isOurs(key)) continue;
    return { ...carried, entries: new Map([...carried.entries].filter(([it]) => isOurs(it))) };
  }
  return carried;
}

/** A cluster that was picked again while its removal was under way begins with nothing; any other is done with. */
function startAnew(binding: Binding): Binding | null {
  if (binding.state !== "Scheduled") return null;
  const generation = binding.generation + 1;
  return { ...binding, generation, removal: null, target: null, leaving: [], facts: null };
}

interface BindingObservation {
  readonly member: Reached;
  readonly carried: InventoryPlacement | null;
  /** Nothing leaves, and everything that it carries is as it was applied, and available. */
  readonly isQuiet: boolean;
  readonly context: ObservationContext;
}

function observedFacts(
  { target, facts: before }: Binding,
  leaving: Binding["leaving"],
  { member, carried, isQuiet, context }: BindingObservation,
): BindingFacts | null {
  if (target === null) return null;
  const isClaimed = carried !== null && carried.sequence === target.sequence && carried.digest === target.digest;
  const objects = { member, wasUp: wasUp(before, target.sequence), before, now: context.now };
  const claimed = (it: InventoryPlacement) => (isQuiet ? allAvailable : factsOfObjects(it, leaving, objects));
  const observed = isClaimed ? claimed(carried) : nothingObserved;
  const isSame =
    before !== null &&
    before.sequence === target.sequence &&
    before.applied === observed.applied &&
    before.phase === observed.phase;
  if (isSame && sameDetails(before, observed)) return before;
  return factsOf(observed, { sequence: target.sequence, since: isSame ? before.since : context.now }, context);
}

/**
 * Whether the target was seen to be up before: it stays so while what others changed is put right, as long as it is well. A
 * kind that could not be listed tells nothing, like one that has nothing to tell, and shows that nothing was up.
 */
const wasUp = (before: BindingFacts | null, sequence: Target["sequence"]): boolean =>
  before !== null && before.sequence === sequence && before.phase === "available";

/** One object for all bindings that have the same to tell, and nothing in particular. */
function factsOf(
  observed: ObservedFacts,
  when: Pick<BindingFacts, "sequence" | "since">,
  { made }: ObservationContext,
): BindingFacts {
  if (observed.objectFailureCount > 0 || observed.adopted.length > 0 || observed.contested !== undefined)
    return { ...observed, ...when };
  const key = `${observed.applied} ${observed.phase} ${when.sequence} ${when.since}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const facts = { ...observed, ...when };
  made.set(key, facts);
  return facts;
}

type ObservedFacts = Omit<BindingFacts, "sequence" | "since">;

const sameDetails = (a: ObservedFacts, b: ObservedFacts): boolean =>
  a.objectFailureCount === b.objectFailureCount &&
  // Facts are plain data; their types merely lack the index signature that Json asks for.
  sameJson(a.objectFailures as unknown as Json, b.objectFailures as unknown as Json) &&
  sameJson(a.adopted as unknown as Json, b.adopted as unknown as Json) &&
  sameJson((a.contested ?? null) as unknown as Json, (b.contested ?? null) as unknown as Json);

const noneOf: readonly never[] = [];
const nothingObserved: ObservedFacts = {
  applied: "pending",
  phase: "progressing",
  objectFailures: noneOf,
  objectFailureCount: 0,
  adopted: noneOf,
};

const allAvailable: ObservedFacts = { ...nothingObserved, applied: "applied", phase: "available" };

const failuresKept = 100;

interface ObjectsContext {
  readonly member: Reached;
  /** Whether the same target was available when it was last observed. */
  readonly wasUp: boolean;
  /** The facts before, even if they are about another target. */
  readonly before: BindingFacts | null;
  readonly now: Instant;
}

function factsOfObjects(
  carried: InventoryPlacement,
  leaving: Binding["leaving"],
  objects: ObjectsContext,
): ObservedFacts {
  const gone = leaving.length === 0 ? null : new Set(leaving.map((it) => objectKey(it.id)));
  const troubled: ObjectKey[] = [];
  const adopted: ObjectKey[] = [];
  const fought: ObjectKey[] = [];
  let applied = 0;
  let phase = 0;
  for (const [key, entry] of carried.entries) {
    if (gone?.has(key) === true) continue;
    if (entry.adopted) adopted.push(key);
    if (isFight(entry.repairs, objects.now)) fought.push(key);
    const state = stateOf(key, entry, objects);
    applied = Math.max(applied, appliedOrder.indexOf(state.applied));
    phase = Math.max(phase, phaseOrder.indexOf(state.phase));
    if (state.isTroubled) troubled.push(key);
  }
  const objectFailures = troubled.sort(compareText).slice(0, failuresKept);
  return {
    applied: appliedOrder[applied] ?? "failed",
    phase: applied === 0 ? (phaseOrder[phase] ?? "failed") : "progressing",
    objectFailures:
      objectFailures.length === 0
        ? noneOf
        : objectFailures.flatMap((it) => troubleOf(it, carried, objects.member) ?? []),
    objectFailureCount: troubled.length,
    adopted: adopted.length === 0 ? noneOf : adopted.sort(compareText).map(objectIdOf),
    ...(fought.length === 0 ? {} : { contested: contestsOf(fought, carried, objects) }),
  };
}

// Of all objects together, the worst counts.
const appliedOrder: readonly ObservedFacts["applied"][] = ["applied", "pending", "failed"];
const phaseOrder: readonly ObservedFacts["phase"][] = ["available", "untrackable", "progressing", "failed"];

interface ObjectState {
  readonly applied: ObservedFacts["applied"];
  readonly phase: ObservedFacts["phase"];
  readonly isTroubled: boolean;
}

const refused: ObjectState = { applied: "failed", phase: "progressing", isTroubled: true };
const awaited: ObjectState = { applied: "pending", phase: "progressing", isTroubled: false };
const going: ObjectState = { ...awaited, isTroubled: true };
const unseen: ObjectState = { applied: "applied", phase: "untrackable", isTroubled: false };
const seenAs: Readonly<Record<LiveObject["health"]["phase"], ObjectState>> = {
  available: { applied: "applied", phase: "available", isTroubled: false },
  untrackable: unseen,
  progressing: { applied: "applied", phase: "progressing", isTroubled: true },
  failed: { applied: "applied", phase: "failed", isTroubled: true },
};

/**
 * How one object is, by its inventory's last word and by what is live. Absence in a list that failed proves nothing, and
 * what others made of an object does not show that ours comes up: nobody else gets a version because of it. What is being
 * deleted is as good as gone, however well it still is and whatever was written to it: ours is made once it is gone.
 */
function stateOf(key: ObjectKey, entry: InventoryEntry, { member, wasUp, now }: ObjectsContext): ObjectState {
  const live = member.objects.get(key);
  if (live?.terminating === true && live.uid === entry.uid) return going;
  switch (entry.outcome.kind) {
    case "failed":
    case "lingering":
      return refused;
    case "claimed":
      return awaited;
    case "applied":
      if (live !== undefined) return !wasUp && isChanged(live, entry) ? seenAs.progressing : seenAs[live.health.phase];
      if (member.unlisted.has(kindKey(objectIdOf(key)))) return unseen;
      // What others delete again and again is not on its way.
      return isFight(entry.repairs, now) ? refused : awaited;
  }
}

/** Whether somebody changed the object, or made it anew, since we applied it. */
const isChanged = (live: LiveObject, { uid, fingerprint }: InventoryEntry): boolean =>
  live.uid !== uid || live.fingerprint !== fingerprint;

function troubleOf(key: ObjectKey, { entries }: InventoryPlacement, member: Reached): ObjectFailure | null {
  const entry = entries.get(key);
  if (entry === undefined) return null;
  const id = { ...objectIdOf(key), version: entry.version };
  const { outcome } = entry;
  if (outcome.kind === "failed" || outcome.kind === "lingering")
    return { id, type: "Applied", code: outcome.code, message: outcome.message };
  const live = member.objects.get(key);
  if (live === undefined)
    return { id, type: "Applied", code: "FieldFight", message: "others delete it again and again" };
  if (live.terminating)
    return { id, type: "Applied", code: "Terminating", message: "is being deleted, and is made anew once it is gone" };
  const { health } = live;
  const message =
    "message" in health ? health.message : "Somebody changed it after it was applied. It is being put right.";
  return { id, type: "Available", code: health.phase === "failed" ? "Failed" : "ManifestNotAvailableYet", message };
}
