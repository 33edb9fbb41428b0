import type { MemberCluster } from "../model/cluster.ts";
import { type Condition, settleConditions, type Verdict } from "../model/condition.ts";
import { digestOf } from "../model/digest.ts";
import type { InventoryEntry, InventoryPlacement } from "../model/inventory.ts";
import { type Json, sameJson } from "../model/json.ts";
import type {
  Binding,
  BindingFacts,
  ClusterRecord,
  Ledger,
  ObjectTrouble,
  PlacementRecord,
  Trouble,
} from "../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import { clusterGroup } from "../model/names.ts";
import type { LiveObject, Observation } from "../model/observation.ts";
import type { World } from "../model/plan.ts";
import { kindKey } from "../model/scope.ts";
import { type ClusterName, compareText, type Instant } from "../model/value.ts";
import { keysOf } from "./version.ts";

type Reached = Extract<Observation, { kind: "reached" }>;

/**
 * Writes down what the members told us, in a normal form: decisions read the ledger and nothing else.
 *
 * What did not change keeps its identity. A member that was not asked changes nothing.
 */
export function record({ intent, ledger, observed, now }: World): Ledger {
  // A member whose document cannot be used has not left.
  const unread = [...ledger.clusters].filter(([name]) => intent.unusable.has(memberKey(name)));
  const read: [ClusterName, ClusterRecord][] = [];
  const names = new Map<string, ClusterName>();
  for (const it of longestJoined(intent.clusters.values(), ledger)) {
    const told = recordCluster(it, { ledger, observed, now, names });
    if (told.kubeSystemUid !== null && told.trouble?.code !== "IdentityChanged") names.set(told.kubeSystemUid, it.name);
    read.push([it.name, told]);
  }
  const clusters = new Map([...read, ...unread].sort(([a], [b]) => compareText(a, b)));
  const placements = new Map(
    [...ledger.placements].map(([key, it]) => {
      const bindings = recordBindings(it, { observed, clusters, now });
      return [key, bindings === it.bindings ? it : { ...it, bindings }];
    }),
  );
  const sameClusters = sameMap(clusters, ledger.clusters);
  const samePlacements = sameMap(placements, ledger.placements);
  if (sameClusters && samePlacements) return ledger;
  return {
    ...ledger,
    clusters: sameClusters ? ledger.clusters : clusters,
    placements: samePlacements ? ledger.placements : placements,
  };
}

/** A MemberCluster as an object of the repository. */
export const memberKey = (name: ClusterName): ObjectKey =>
  objectKey({ group: clusterGroup, kind: "MemberCluster", namespace: null, name });

/** Whether two maps hold the same values under the same keys. Ours iterate in the order of their keys. */
export function sameMap<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value || !b.has(key)) return false;
  return true;
}

/** Members whose cluster is known come first, so that a second name for a cluster never takes it from the first. */
const longestJoined = (members: Iterable<MemberCluster>, { clusters }: Ledger): readonly MemberCluster[] => {
  const isJoined = (it: MemberCluster): boolean => clusters.get(it.name)?.kubeSystemUid != null;
  const all = [...members];
  return [...all.filter(isJoined), ...all.filter((it) => !isJoined(it))];
};

/** What a member's record depends on besides the member. */
interface Roll {
  readonly ledger: Ledger;
  readonly observed: World["observed"];
  readonly now: Instant;
  /** Members by the cluster that they are, those that were recorded before this one. */
  readonly names: ReadonlyMap<string, ClusterName>;
}

function recordCluster(cluster: MemberCluster, roll: Roll): ClusterRecord {
  const { ledger, observed, now } = roll;
  const before = ledger.clusters.get(cluster.name);
  const specDigest = digestOf({ labels: cluster.labels, spec: cluster.spec });
  const base: ClusterRecord = before ?? {
    name: cluster.name,
    uid: digestOf(["MemberCluster", cluster.name, ledger.fleet, ledger.sequence]).slice(0, 32),
    generation: 0,
    specDigest: "" as ClusterRecord["specDigest"],
    kubeSystemUid: null,
    kubernetesVersion: null,
    trouble: null,
    conditions: [],
  };
  const spec = base.specDigest === specDigest ? base : { ...base, specDigest, generation: base.generation + 1 };
  const seen = observed.get(cluster.name);
  const told = seen === undefined ? spec : hear(spec, seen, roll);
  const conditions = settleConditions(told.conditions, clusterVerdicts(told), now);
  return conditions === told.conditions ? told : { ...told, conditions };
}

function hear(cluster: ClusterRecord, seen: Observation, roll: Roll): ClusterRecord {
  const { now } = roll;
  if (seen.kind === "unreachable") return withTrouble(cluster, { code: seen.code, message: seen.message }, now);
  const message = mistakeOf(cluster, seen, roll);
  if (message !== null) return withTrouble(cluster, { code: "IdentityChanged", message }, now);
  const { clusterUid, kubernetesVersion } = seen;
  const same = cluster.kubeSystemUid === clusterUid && cluster.kubernetesVersion === kubernetesVersion;
  if (same && cluster.trouble === null) return cluster;
  return { ...cluster, kubeSystemUid: clusterUid, kubernetesVersion, trouble: null };
}

/** Why what answers is not this member: nothing may be written there (`RULINGS.md` D 8). Null when it is. */
function mistakeOf({ kubeSystemUid, name }: ClusterRecord, seen: Reached, { ledger, names }: Roll): string | null {
  const { clusterUid, inventory } = seen;
  if (kubeSystemUid !== null && kubeSystemUid !== clusterUid)
    return `its address answers for another cluster: kube-system has uid ${clusterUid}, ${kubeSystemUid} joined`;
  const first = names.get(clusterUid);
  // Two names for one cluster would delete what the other one wants.
  if (first !== undefined && first !== name) return `it is the same cluster as ${first}`;
  if (inventory.fleet !== "" && ledger.fleet !== "" && inventory.fleet !== ledger.fleet)
    return `it belongs to another fleet: its inventory was written by ${inventory.fleet}`;
  return null;
}

/** The first words about one kind of trouble stay: a message that counts or names a port would be news on every pass. */
function withTrouble(cluster: ClusterRecord, trouble: Omit<Trouble, "since">, now: Instant): ClusterRecord {
  if (cluster.trouble?.code === trouble.code) return cluster;
  return { ...cluster, trouble: { ...trouble, since: cluster.trouble?.since ?? now } };
}

/** KubeFleet's Joined, and the health that its member agent would report (`RULINGS.md` A 48). */
function clusterVerdicts({ kubeSystemUid, trouble, generation }: ClusterRecord): readonly Verdict[] {
  const verdict = (type: string, status: Condition["status"], reason: string, message: string): Verdict => ({
    type,
    status,
    reason,
    message,
    observedGeneration: generation,
  });
  const joined =
    kubeSystemUid === null
      ? verdict("Joined", "Unknown", "MemberClusterJoinStateUnknown", "it was never reached")
      : verdict("Joined", "True", "MemberClusterJoined", `it is the cluster with kube-system uid ${kubeSystemUid}`);
  if (trouble !== null) return [joined, verdict("Healthy", "False", trouble.code, trouble.message)];
  return kubeSystemUid === null
    ? [joined, verdict("Healthy", "Unknown", "NeverAsked", "it was never asked")]
    : [joined, verdict("Healthy", "True", "APIServerAnswers", "its API server answers")];
}

interface Hearing {
  readonly observed: World["observed"];
  readonly clusters: ReadonlyMap<Binding["cluster"], ClusterRecord>;
  readonly now: Instant;
}

function recordBindings(record: PlacementRecord, { observed, clusters, now }: Hearing): PlacementRecord["bindings"] {
  const { bindings } = record;
  const next = new Map<Binding["cluster"], Binding>();
  for (const [name, binding] of bindings) {
    const seen = observed.get(name);
    const usable = seen?.kind === "reached" && clusters.get(name)?.trouble === null;
    const heard = usable ? hearBinding(binding, seen, record, now) : binding;
    if (heard !== null) next.set(name, heard);
  }
  return sameMap(next, bindings) ? bindings : next;
}

/** The binding with what its member says of it; null when everything that had to go is confirmed gone. */
function hearBinding(binding: Binding, member: Reached, record: PlacementRecord, now: Instant): Binding | null {
  const carried = listedOf(member.inventory.placements.get(record.key) ?? null, binding, record);
  const stays = binding.leaving.filter((it) => carried?.entries.has(objectKey(it.id)));
  const leaving = stays.length === binding.leaving.length ? binding.leaving : stays;
  if (binding.removal !== null && leaving.length === 0) return startAnew(binding);
  const facts = binding.removal === null ? hearFacts({ ...binding, leaving }, member, carried, now) : binding.facts;
  if (leaving === binding.leaving && facts === binding.facts) return binding;
  return { ...binding, leaving, facts };
}

/**
 * What the inventory lists of a binding. Other entries of its placement are nobody's: a member that came back with old
 * state is not unwell because of them.
 */
function listedOf(
  carried: InventoryPlacement | null,
  { target, leaving }: Binding,
  { resourceSnapshots }: PlacementRecord,
): InventoryPlacement | null {
  const snapshot = resourceSnapshots.find((it) => it.index === target?.resourceIndex);
  if (carried === null || snapshot === undefined) return carried;
  const keys = keysOf(snapshot);
  const isOurs = (key: ObjectKey): boolean => keys.has(key) || leaving.some((it) => objectKey(it.id) === key);
  if ([...carried.entries.keys()].every(isOurs)) return carried;
  return { ...carried, entries: new Map([...carried.entries].filter(([key]) => isOurs(key))) };
}

/** A cluster that was picked again while its removal was under way begins with nothing; any other is done with. */
const startAnew = (binding: Binding): Binding | null =>
  binding.state === "Scheduled" ? { ...binding, removal: null, target: null, leaving: [], facts: null } : null;

function hearFacts(
  binding: Binding,
  member: Reached,
  carried: InventoryPlacement | null,
  now: Instant,
): BindingFacts | null {
  const { target, facts: before } = binding;
  if (target === null) return null;
  const claimed = carried !== null && carried.sequence === target.sequence && carried.digest === target.digest;
  const told = claimed ? hearObjects(binding, member, carried) : unheard;
  const same =
    before !== null &&
    before.sequence === target.sequence &&
    before.applied === told.applied &&
    before.phase === told.phase;
  const next: BindingFacts = { ...told, sequence: target.sequence, since: same ? before.since : now };
  return before !== null && sameFacts(before, next) ? before : next;
}

type Told = Omit<BindingFacts, "sequence" | "since">;

const unheard: Told = { applied: "pending", phase: "progressing", troubles: [], troubleCount: 0, adopted: [] };

const troublesKept = 100;

function hearObjects(binding: Binding, member: Reached, carried: InventoryPlacement): Told {
  const leaving = new Set(binding.leaving.map((it) => objectKey(it.id)));
  const troubles: ObjectTrouble[] = [];
  const adopted: ObjectId[] = [];
  let applied: Told["applied"] = "applied";
  let phase: Told["phase"] = "available";
  for (const key of [...carried.entries.keys()].sort(compareText)) {
    const entry = carried.entries.get(key);
    if (entry === undefined || leaving.has(key)) continue;
    if (entry.adopted) adopted.push(objectIdOf(key));
    const said = hearObject(key, entry, member.objects.get(key), member);
    applied = worse(applied, said.applied, appliedOrder);
    phase = worse(phase, said.phase, phaseOrder);
    if (said.trouble !== null) troubles.push(said.trouble);
  }
  const reached = applied === "applied" ? phase : "progressing";
  return { applied, phase: reached, troubles: troubles.slice(0, troublesKept), troubleCount: troubles.length, adopted };
}

const appliedOrder: readonly Told["applied"][] = ["applied", "pending", "failed"];
const phaseOrder: readonly Told["phase"][] = ["available", "untrackable", "progressing", "failed"];

const worse = <T>(a: T, b: T, order: readonly T[]): T => (order.indexOf(b) > order.indexOf(a) ? b : a);

interface Said {
  readonly applied: Told["applied"];
  readonly phase: Told["phase"];
  readonly trouble: ObjectTrouble | null;
}

function hearObject(key: ObjectKey, entry: InventoryEntry, live: LiveObject | undefined, member: Reached): Said {
  const id = { ...objectIdOf(key), version: entry.version };
  const { outcome } = entry;
  switch (outcome.kind) {
    case "failed":
    case "lingering": {
      const trouble: ObjectTrouble = { id, type: "Applied", code: outcome.code, message: outcome.message };
      return { applied: "failed", phase: "progressing", trouble };
    }
    case "claimed":
      return { applied: "pending", phase: "progressing", trouble: null };
    case "applied": {
      if (live === undefined) {
        const isUnlisted = member.unlisted.has(kindKey(id));
        return {
          applied: isUnlisted ? "applied" : "pending",
          phase: isUnlisted ? "untrackable" : "progressing",
          trouble: null,
        };
      }
      const { health } = live;
      if (health.phase === "available" || health.phase === "untrackable")
        return { applied: "applied", phase: health.phase, trouble: null };
      const code = health.phase === "failed" ? "Failed" : "ManifestNotAvailableYet";
      return {
        applied: "applied",
        phase: health.phase,
        trouble: { id, type: "Available", code, message: health.message },
      };
    }
  }
}

const sameFacts = (a: BindingFacts, b: BindingFacts): boolean => sameJson(a as unknown as Json, b as unknown as Json);
