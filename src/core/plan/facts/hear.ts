import { isFenced } from "../../apply/actions.ts";
import { isFight } from "../../apply/fight.ts";
import type { Binding, BindingFacts, ObjectFailure, Target } from "../../model/binding.ts";
import { commonKeys, sameList } from "../../model/identity.ts";
import type { InventoryEntry, InventoryPlacement } from "../../model/inventory.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { kindKey, type ObjectKey, objectIdOf, objectKey } from "../../model/manifest.ts";
import type { LiveObject } from "../../model/observation.ts";
import { type ClusterName, compareText, type Instant } from "../../model/value.ts";
import { keysOf, snapshotOf } from "../../render/resource-snapshot.ts";
import { calmFrom, contestsOf } from "./contests.ts";
import { changesSince, type Reached, type Roster } from "./members.ts";

/** What is heard, and by whom it counts. */
export interface Hearing {
  readonly voices: ReadonlyMap<ClusterName, Reached>;
  readonly roster: Roster;
  readonly now: Instant;
  /** Facts that this pass made already: a hundred thousand bindings come to the same few. */
  readonly made: Map<string, BindingFacts>;
}

/** The roster under which a record was found to say already what the members say, and until when that stands. */
const heardUnder = new WeakMap<PlacementRecord, { readonly roster: Roster; readonly until: Instant | null }>();

/**
 * The placement with what the members say of it, in a normal form. The record itself when they say nothing new.
 *
 * Only members that changed since the record was last found complete are heard again: saying the same twice is no news,
 * whatever the time. Only that a fight is over is told by time alone.
 */
export function hearPlacement(record: PlacementRecord, hearing: Hearing): PlacementRecord {
  const last = heardUnder.get(record);
  const known = last === undefined || (last.until !== null && hearing.now >= last.until) ? null : last.roster;
  if (known === hearing.roster) return record;
  const bindings = hearBindings(record, hearing, known === null ? null : changesSince(known, hearing.roster).all);
  if (bindings !== record.bindings) return { ...record, bindings };
  heardUnder.set(record, { roster: hearing.roster, until: calmFrom(record, hearing.voices) });
  return record;
}

/** Notes that a record says all that the members of a roster say: it was made from one that did. */
export const hasBeenHeard = (record: PlacementRecord, { roster, voices }: Pick<Hearing, "roster" | "voices">): void =>
  void heardUnder.set(record, { roster, until: calmFrom(record, voices) });

function hearBindings(
  record: PlacementRecord,
  hearing: Hearing,
  members: ReadonlySet<ClusterName> | null,
): PlacementRecord["bindings"] {
  const { bindings } = record;
  const heard = new Map<ClusterName, Binding | null>();
  const hear = (binding: Binding | undefined): void => {
    const next = binding === undefined ? undefined : hearOne(binding, record, hearing);
    if (binding !== undefined && next !== undefined && next !== binding) heard.set(binding.cluster, next);
  };
  for (const it of members === null ? bindings.keys() : commonKeys(members, bindings)) hear(bindings.get(it));
  if (heard.size === 0) return bindings;
  const next = new Map<ClusterName, Binding>();
  for (const [name, binding] of bindings) {
    const told = heard.get(name);
    if (told !== null) next.set(name, told ?? binding);
  }
  return next;
}

/** The binding with what its member says of it; null when everything that had to go is confirmed gone. */
function hearOne(binding: Binding, record: PlacementRecord, hearing: Hearing): Binding | null {
  const member = hearing.voices.get(binding.cluster);
  if (member === undefined) return binding;
  const carried = listedOf(member.inventory.placements.get(record.key) ?? null, binding, record);
  const leaving = stillThere(binding.leaving, carried);
  const { removal } = binding;
  if (removal !== null && leaving.length === 0 && isFenced(member.inventory, record.key, removal.sequence))
    return startAnew(binding);
  const facts = removal === null ? hearFacts(binding, leaving, { member, carried, hearing }) : binding.facts;
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

interface Said {
  readonly member: Reached;
  readonly carried: InventoryPlacement | null;
  readonly hearing: Hearing;
}

function hearFacts(
  { target, facts: before }: Binding,
  leaving: Binding["leaving"],
  { member, carried, hearing }: Said,
): BindingFacts | null {
  if (target === null) return null;
  const isClaimed = carried !== null && carried.sequence === target.sequence && carried.digest === target.digest;
  const witness = { member, wasUp: wasUp(before, target.sequence), before, now: hearing.now };
  const told = isClaimed ? hearObjects(carried, leaving, witness) : unheard;
  const isSame =
    before !== null &&
    before.sequence === target.sequence &&
    before.applied === told.applied &&
    before.phase === told.phase;
  if (isSame && sameDetails(before, told)) return before;
  return factsOf(told, { sequence: target.sequence, since: isSame ? before.since : hearing.now }, hearing);
}

/**
 * Whether the target was seen to be up before: it stays so while what others changed is put right, as long as it is well. A
 * kind that could not be listed tells nothing, like one that has nothing to tell, and shows that nothing was up.
 */
const wasUp = (before: BindingFacts | null, sequence: Target["sequence"]): boolean =>
  before !== null && before.sequence === sequence && before.phase === "available";

/** One object for all bindings that have the same to tell, and nothing in particular. */
function factsOf(told: Told, when: Pick<BindingFacts, "sequence" | "since">, { made }: Hearing): BindingFacts {
  if (told.objectFailureCount > 0 || told.adopted.length > 0 || told.contested !== undefined)
    return { ...told, ...when };
  const key = `${told.applied} ${told.phase} ${when.sequence} ${when.since}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const facts = { ...told, ...when };
  made.set(key, facts);
  return facts;
}

type Told = Omit<BindingFacts, "sequence" | "since">;

const sameDetails = (a: Told, b: Told): boolean =>
  a.objectFailureCount === b.objectFailureCount &&
  // Facts are plain data; their types merely lack the index signature that Json asks for.
  sameJson(a.objectFailures as unknown as Json, b.objectFailures as unknown as Json) &&
  sameJson(a.adopted as unknown as Json, b.adopted as unknown as Json) &&
  sameJson((a.contested ?? null) as unknown as Json, (b.contested ?? null) as unknown as Json);

const noneOf: readonly never[] = [];
const unheard: Told = {
  applied: "pending",
  phase: "progressing",
  objectFailures: noneOf,
  objectFailureCount: 0,
  adopted: noneOf,
};

const troublesKept = 100;

interface Witness {
  readonly member: Reached;
  /** Whether the same target was up when it was heard last. */
  readonly wasUp: boolean;
  /** What was heard last, be it about another target. */
  readonly before: BindingFacts | null;
  readonly now: Instant;
}

function hearObjects(carried: InventoryPlacement, leaving: Binding["leaving"], witness: Witness): Told {
  const gone = leaving.length === 0 ? null : new Set(leaving.map((it) => objectKey(it.id)));
  const troubled: ObjectKey[] = [];
  const adopted: ObjectKey[] = [];
  const fought: ObjectKey[] = [];
  let applied = 0;
  let phase = 0;
  for (const [key, entry] of carried.entries) {
    if (gone?.has(key) === true) continue;
    if (entry.adopted) adopted.push(key);
    if (isFight(entry.repairs, witness.now)) fought.push(key);
    const said = saidOf(key, entry, witness);
    applied = Math.max(applied, appliedOrder.indexOf(said.applied));
    phase = Math.max(phase, phaseOrder.indexOf(said.phase));
    if (said.isTroubled) troubled.push(key);
  }
  const objectFailures = troubled.sort(compareText).slice(0, troublesKept);
  return {
    applied: appliedOrder[applied] ?? "failed",
    phase: applied === 0 ? (phaseOrder[phase] ?? "failed") : "progressing",
    objectFailures:
      objectFailures.length === 0
        ? noneOf
        : objectFailures.flatMap((it) => troubleOf(it, carried, witness.member) ?? []),
    objectFailureCount: troubled.length,
    adopted: adopted.length === 0 ? noneOf : adopted.sort(compareText).map(objectIdOf),
    ...(fought.length === 0 ? {} : { contested: contestsOf(fought, carried, witness) }),
  };
}

// Of all objects together, the worst counts.
const appliedOrder: readonly Told["applied"][] = ["applied", "pending", "failed"];
const phaseOrder: readonly Told["phase"][] = ["available", "untrackable", "progressing", "failed"];

interface ObjectSaid {
  readonly applied: Told["applied"];
  readonly phase: Told["phase"];
  readonly isTroubled: boolean;
}

const refused: ObjectSaid = { applied: "failed", phase: "progressing", isTroubled: true };
const awaited: ObjectSaid = { applied: "pending", phase: "progressing", isTroubled: false };
const going: ObjectSaid = { ...awaited, isTroubled: true };
const unseen: ObjectSaid = { applied: "applied", phase: "untrackable", isTroubled: false };
const seenAs: Readonly<Record<LiveObject["health"]["phase"], ObjectSaid>> = {
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
function saidOf(key: ObjectKey, entry: InventoryEntry, { member, wasUp, now }: Witness): ObjectSaid {
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
