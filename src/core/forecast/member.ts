import { markOf, writeText } from "../apply/mark.ts";
import { healthOf } from "../health/health.ts";
import type { InventoryEntry, InventoryPlacement } from "../model/inventory.ts";
import { digestOf } from "../model/json.ts";
import type { Manifest, ObjectId, ObjectKey } from "../model/manifest.ts";
import type { Health, LiveObject, NamespacesSeen, Observation } from "../model/observation.ts";
import type { ClusterActions, PlacementActions, RenderedManifest } from "../model/plan.ts";
import { type ClusterName, type DurationMs, earliest, type Instant, later } from "../model/value.ts";

/** A simulated member: it knows what the ledger says, and does at once what it is told; others change nothing. */
export interface VirtualMember {
  readonly name: ClusterName;
  readonly seen: Observation;
  readonly fate: MemberBehaviour;
  /** The coming health of objects, and from when on. */
  readonly coming: ReadonlyMap<ObjectKey, HealthChange>;
}

/** How a member reacts to updates. */
export type MemberBehaviour =
  | { readonly kind: "lands" }
  /** Updates fail instead of becoming available. */
  | { readonly kind: "rejects" }
  /** Everything on it fails from that moment on, later updates included. */
  | { readonly kind: "breaks"; readonly at: Instant };

/** The next health of an object, and when. */
export interface HealthChange {
  readonly at: Instant;
  readonly health: Health;
}

export const assumedFailure: Health = { phase: "failed", message: "as assumed" };
const starting: Health = { phase: "progressing", message: "starting" };

/** The member as of `now`; the same object if nothing changed. */
export function memberAtTime(member: VirtualMember, now: Instant): VirtualMember {
  const { seen, fate, coming } = member;
  if (seen.kind !== "reached") return member;
  if (fate.kind === "breaks" && fate.at <= now) {
    const objects = new Map([...seen.objects].map(([key, live]) => [key, { ...live, health: assumedFailure }]));
    return { ...member, seen: { ...seen, objects }, fate: { kind: "rejects" }, coming: new Map() };
  }
  const due = [...coming].filter(([, { at }]) => at <= now);
  if (due.length === 0) return member;
  const objects = new Map(seen.objects);
  const rest = new Map(coming);
  for (const [key, { health }] of due) {
    const live = objects.get(key);
    if (live !== undefined) objects.set(key, { ...live, health });
    rest.delete(key);
  }
  return { ...member, seen: { ...seen, objects }, coming: rest };
}

/** When the member next changes by itself; null if it does not. */
export function nextHealthChange({ seen, fate, coming }: VirtualMember): Instant | null {
  if (seen.kind !== "reached") return null;
  return earliest(fate.kind === "breaks" ? fate.at : null, ...[...coming.values()].map((it) => it.at));
}

/** When actions are carried out, and how long updates take to become available. */
interface ApplyTiming {
  readonly now: Instant;
  readonly landing: DurationMs;
}

/** The member after its actions, as `core/model/plan.ts` has it. Unchanged objects keep their health. */
export function afterActions(member: VirtualMember, actions: ClusterActions, landing: ApplyTiming): VirtualMember {
  const { seen } = member;
  if (seen.kind !== "reached") return member;
  const placements = new Map(seen.inventory.placements);
  const draft: MemberDraft = {
    member,
    actions,
    objects: new Map(seen.objects),
    coming: new Map(member.coming),
    landing,
  };
  for (const it of actions.placements) {
    const given = new Map<ObjectKey, InventoryEntry>();
    for (const { key, from } of it.handOvers ?? []) {
      const giver = placements.get(from);
      const entry = giver?.entries.get(key);
      if (giver === undefined || entry === undefined) continue;
      if (!given.has(key)) given.set(key, entry);
      placements.set(from, { ...giver, entries: new Map([...giver.entries].filter(([object]) => object !== key)) });
    }
    placements.set(it.placement, carriedAfter(it, withEntries(placements.get(it.placement), given), draft));
  }
  const inventory = { fleet: actions.fleet, epoch: actions.epoch, placements };
  const namespaces = namespacesAfter(seen.namespaces, actions);
  const next = { ...seen, ...(namespaces === undefined ? {} : { namespaces }), inventory, objects: draft.objects };
  return { ...member, seen: next, coming: draft.coming };
}

/** What a member says of its namespaces once it has, and has no more, what it was told to; the same where none is among that. */
function namespacesAfter(
  before: NamespacesSeen | undefined,
  { placements }: ClusterActions,
): NamespacesSeen | undefined {
  if (before?.kind !== "listed") return before;
  const isNamespace = ({ group, kind }: ObjectId): boolean => group === "" && kind === "Namespace";
  const made = placements.flatMap((it) =>
    it.apply.flatMap(({ id }) => (isNamespace(id) ? [[id.name, markOf(it.placement)] as const] : [])),
  );
  const gone = placements.flatMap((it) =>
    it.remove.flatMap(({ id, how }) => (isNamespace(id) && how === "delete" ? id.name : [])),
  );
  if (made.length + gone.length === 0) return before;
  const names = new Map([...before.names, ...made]);
  for (const it of gone) names.delete(it);
  return { kind: "listed", names };
}

/** What was handed over comes along as it was. */
const withEntries = (
  before: InventoryPlacement | undefined,
  given: ReadonlyMap<ObjectKey, InventoryEntry>,
): InventoryPlacement | undefined =>
  given.size === 0
    ? before
    : {
        ...(before ?? { sequence: 0 as InventoryPlacement["sequence"], digest: digestOf([]) }),
        entries: new Map([...(before?.entries ?? []), ...given]),
      };

interface MemberDraft {
  readonly member: VirtualMember;
  readonly actions: ClusterActions;
  readonly objects: Map<ObjectKey, LiveObject>;
  readonly coming: Map<ObjectKey, HealthChange>;
  readonly landing: ApplyTiming;
}

function carriedAfter(
  action: PlacementActions,
  before: InventoryPlacement | undefined,
  draft: MemberDraft,
): InventoryPlacement {
  const entries = new Map(before?.entries);
  for (const item of action.apply) entries.set(item.key, written(item, entries.get(item.key), action, draft));
  for (const { key } of action.remove) {
    entries.delete(key);
    draft.objects.delete(key);
    draft.coming.delete(key);
  }
  for (const key of action.forget) entries.delete(key);
  return { sequence: action.sequence, digest: action.digest ?? before?.digest ?? digestOf([]), entries };
}

function written(
  item: RenderedManifest,
  before: InventoryEntry | undefined,
  { sequence }: PlacementActions,
  { member, actions, objects, coming, landing }: MemberDraft,
): InventoryEntry {
  const { entry, live } = carriedObject(member.name, item, sequence);
  const was = objects.get(item.key);
  const isSame = was !== undefined && before?.digest === item.digest;
  const mark = writeText({ fleet: actions.fleet, epoch: actions.epoch, sequence });
  if (isSame) objects.set(item.key, { ...was, mark });
  else {
    const health = member.fate.kind === "rejects" ? assumedFailure : healthOnceUp(item.manifest);
    objects.set(item.key, { ...live, generation: (was?.generation ?? 0) + 1, health: starting, mark });
    coming.set(item.key, { at: later(landing.now, landing.landing), health });
  }
  return { ...entry, adopted: before?.adopted ?? false };
}

/** The health of an object once it is up, by its kind: some kinds cannot be tracked. */
const healthOnceUp = (manifest: Manifest): Health =>
  healthOf(manifest).phase === "untrackable" ? { phase: "untrackable" } : { phase: "available" };

/** An applied and available object of a member, and its inventory entry. */
export function carriedObject(
  member: ClusterName,
  { id, key, digest }: Pick<RenderedManifest, "id" | "key" | "digest">,
  sequence: InventoryEntry["sequence"],
): { readonly entry: InventoryEntry; readonly live: LiveObject } {
  const uid = `${member} ${key}`;
  const fingerprint = digestOf(["forecast", digest]);
  return {
    entry: {
      version: id.version,
      digest,
      uid,
      adopted: false,
      sequence,
      fingerprint,
      outcome: { kind: "applied" },
    },
    live: { uid, generation: 1, fingerprint, health: { phase: "available" }, terminating: false, mark: "" },
  };
}
