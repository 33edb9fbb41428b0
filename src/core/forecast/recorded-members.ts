import { writeText } from "../apply/mark.ts";
import type { Binding, BindingFacts } from "../model/binding.ts";
import type { InventoryEntry, InventoryPlacement } from "../model/inventory.ts";
import { digestOf } from "../model/json.ts";
import type { ClusterRecord, PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectKey } from "../model/manifest.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import { type Health, type LiveObject, noProperties, type Observation } from "../model/observation.ts";
import type { RenderedManifest, World } from "../model/plan.ts";
import {
  type ClusterName,
  type DurationMs,
  type Instant,
  later,
  type PlacementKey,
  type Sequence,
} from "../model/value.ts";
import type { Content } from "../plan/moves/context.ts";
import { contentOf, targetRendering } from "../plan/moves/version.ts";
import { snapshotOf } from "../render/resource-snapshot.ts";
import {
  assumedFailure,
  carriedObject,
  type HealthChange,
  type MemberBehaviour,
  type VirtualMember,
} from "./member.ts";

export interface Assumptions {
  /** How long an update of a cluster takes to become available. */
  readonly landing: DurationMs;
  /** Clusters that fail, and after how long; null: with their next update. */
  readonly failing: ReadonlyMap<ClusterName, DurationMs | null>;
  /** Clusters that do not answer. */
  readonly silent: ReadonlySet<ClusterName>;
}

/**
 * Every member as the ledger has it: with the objects and health that it last reported; what was in progress becomes
 * available. A recorded failure lasts until the next version, and an unreachable member stays unreachable.
 */
export function membersAsRecorded(world: World, assumed: Assumptions): ReadonlyMap<ClusterName, VirtualMember> {
  const inputs: MemberInputs = { world, assumed, content: contentOf(world) };
  return new Map([...world.intent.clusters.keys()].map((name) => [name, memberAsRecorded(name, inputs)]));
}

interface MemberInputs {
  readonly world: World;
  readonly assumed: Assumptions;
  readonly content: Content;
}

function memberAsRecorded(name: ClusterName, inputs: MemberInputs): VirtualMember {
  const { world, assumed } = inputs;
  const fate = fateOf(assumed.failing.get(name), world.now);
  const known = world.ledger.clusters.get(name);
  const silence = silenceOf(known, assumed.silent.has(name));
  if (silence !== null) return { name, seen: silence, fate, coming: new Map() };
  const builder: MemberBuilder = { name, fate, inputs, placements: new Map(), objects: new Map(), coming: new Map() };
  for (const it of world.ledger.placements.values()) carry(it, builder);
  return { name, seen: reached(known, builder), fate, coming: builder.coming };
}

function fateOf(failsAfter: DurationMs | null | undefined, now: Instant): MemberBehaviour {
  if (failsAfter === undefined) return { kind: "lands" };
  return failsAfter === null ? { kind: "rejects" } : { kind: "breaks", at: later(now, failsAfter) };
}

/** Why a member does not answer; null if it does, even if it is a different cluster now. */
function silenceOf(known: ClusterRecord | undefined, isSupposed: boolean): Observation | null {
  if (isSupposed) return { kind: "unreachable", code: "Unreachable", message: "as assumed" };
  const objectFailure = known?.contactFailure ?? null;
  if (objectFailure === null) return null;
  const { code, message } = objectFailure;
  if (code !== "IdentityChanged") return { kind: "unreachable", code, message };
  return known?.kubeSystemUid == null ? { kind: "unreachable", code: "Unreachable", message } : null;
}

function reached(known: ClusterRecord | undefined, { name, inputs, placements, objects }: MemberBuilder): Observation {
  const { fleet, epoch } = inputs.world.ledger;
  const joined = known?.kubeSystemUid ?? `forecast-${name}`;
  return {
    kind: "reached",
    clusterUid: known?.contactFailure?.code === "IdentityChanged" ? `not-${joined}` : joined,
    properties: new Map([[kubernetesVersionProperty, "unknown"], ...(known?.properties ?? noProperties)]),
    ...namespacesAsRecorded(known),
    inventory: { fleet, epoch, placements },
    objects,
    unlisted: new Set(),
  };
}

/** Where a list was cut, whoever knows no more than that says nothing: what is recorded stands. */
const namespacesAsRecorded = (known: ClusterRecord | undefined): Pick<Reached, "namespaces"> =>
  known?.namespaces == null || known.namespaces.isCut
    ? {}
    : { namespaces: { kind: "listed", names: known.namespaces.names } };

type Reached = Extract<Observation, { kind: "reached" }>;

interface MemberBuilder {
  readonly name: ClusterName;
  readonly fate: MemberBehaviour;
  readonly inputs: MemberInputs;
  readonly placements: Map<PlacementKey, InventoryPlacement>;
  readonly objects: Map<ObjectKey, LiveObject>;
  readonly coming: Map<ObjectKey, HealthChange>;
}

function carry(placement: PlacementRecord, builder: MemberBuilder): void {
  const binding = placement.bindings.get(builder.name);
  if (binding === undefined) return;
  const { leaving, target, removal } = binding;
  const facts = saidOfTarget(binding);
  const isClaimed = target !== null && (facts !== null || removal !== null);
  const sequence = isClaimed ? target.sequence : unclaimed;
  const entries = new Map<ObjectKey, InventoryEntry>();
  for (const { id, released } of leaving) {
    const item = { id: { ...id, version: "v1" }, key: objectKey(id), digest: digestOf(["leaving"]) };
    entries.set(item.key, { ...put(item, available, sequence, builder), adopted: released });
  }
  if (facts !== null && removal === null)
    for (const it of carriedBy(binding, placement, builder.inputs))
      entries.set(it.key, {
        ...put(it, healthIn(facts, it.key), sequence, builder),
        adopted: isAdopted(facts, it.key),
      });
  const digest = isClaimed ? target.digest : digestOf([]);
  if (isClaimed || entries.size > 0) builder.placements.set(placement.key, { sequence, digest, entries });
}

/** Puts an object on the member, and gives its inventory entry. */
function put(item: Carried, health: Health, sequence: Sequence, builder: MemberBuilder): InventoryEntry {
  const { name, fate, inputs, objects, coming } = builder;
  const { fleet, epoch } = inputs.world.ledger;
  const { entry, live } = carriedObject(name, item, sequence);
  objects.set(item.key, { ...live, health, mark: writeText({ fleet, epoch, sequence }) });
  const at = later(inputs.world.now, inputs.assumed.landing);
  if (health.phase === "progressing")
    coming.set(item.key, { at, health: fate.kind === "rejects" ? assumedFailure : available });
  return entry;
}

const unclaimed = 0 as Sequence;
const available: Health = { phase: "available" };

/** What the member reported about its current target, once applied; null before. */
const saidOfTarget = ({ facts, target }: Binding): BindingFacts | null =>
  facts !== null && facts.sequence === target?.sequence && facts.applied !== "pending" ? facts : null;

type Carried = Pick<RenderedManifest, "id" | "key" | "digest">;

/** The objects of a target; if they cannot be rendered any longer, those that the snapshot lists. */
function carriedBy(binding: Binding, placement: PlacementRecord, { world, content }: MemberInputs): readonly Carried[] {
  const rendering = targetRendering(binding, placement, { overrides: world.ledger.overrides, content, world });
  if (rendering?.kind === "rendered") return rendering.manifests;
  const snapshot = binding.target === null ? null : snapshotOf(placement, binding.target.resourceIndex);
  return (snapshot?.resources ?? []).map(({ id, digest }) => ({ id, digest, key: objectKey(id) }));
}

function healthIn({ phase, objectFailures }: BindingFacts, key: ObjectKey): Health {
  const objectFailure = objectFailures.find((it) => objectKey(it.id) === key);
  if (objectFailure === undefined) return phase === "untrackable" ? { phase } : available;
  const isOver = objectFailure.type === "Applied" || objectFailure.code === "Failed";
  return { phase: isOver ? "failed" : "progressing", message: objectFailure.message };
}

const isAdopted = ({ adopted }: BindingFacts, key: ObjectKey): boolean => adopted.some((it) => objectKey(it) === key);
