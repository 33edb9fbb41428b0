import { withAskedProperties } from "../../members/access.ts";
import { withPlacedNamespaces } from "../../members/namespaces.ts";
import { type Condition, settleConditions, type Verdict } from "../../model/condition.ts";
import type { MemberCluster } from "../../model/fleet.ts";
import { remembered, revised, revisedMap, sameMap } from "../../model/identity.ts";
import { digestOf } from "../../model/json.ts";
import {
  type ClusterRecord,
  type ContactFailure,
  type Ledger,
  nothingCollected,
  type PlacementRecord,
} from "../../model/ledger.ts";
import { type ObjectKey, objectKey } from "../../model/manifest.ts";
import { clusterGroup } from "../../model/names.ts";
import { type Collected, type NamespacesSeen, noProperties, type Observation } from "../../model/observation.ts";
import { placedNamespaces } from "../../model/placement.ts";
import type { World } from "../../model/plan.ts";
import { type ClusterName, compareText, type Instant } from "../../model/value.ts";
import { collectedIn, collectionVerdict, factsOf } from "./collected-facts.ts";
import { fleetViewOf, type Reached, trustedObservationsOf } from "./members.ts";
import { namespacesIn, namespacesOf, namespacesVerdict } from "./namespaces.ts";
import { type ObservationContext, withObservedFacts } from "./observed-facts.ts";

/**
 * Writes down what was observed of the members, in a normal form: decisions read the ledger and nothing else.
 *
 * What did not change keeps its identity. A member that was not asked changes nothing. `observe` does it for one placement.
 */
export function record(world: World, observe: Observe = withObservedFacts): Ledger {
  const { ledger, now } = world;
  const clusters = recordClusters(world);
  const recorded = { clusters };
  const context = {
    trustedObservations: trustedObservationsOf(world, recorded),
    fleetView: fleetViewOf(world, recorded),
    now,
    made: new Map(),
  };
  const placements = revisedMap(ledger.placements, (it) => observe(it, context));
  return revised(ledger, { clusters, placements });
}

/** The placement with what the members say of it; the record itself when they say nothing new. */
type Observe = (record: PlacementRecord, context: ObservationContext) => PlacementRecord;

function recordClusters({ intent, ledger, observed, now }: World): Ledger["clusters"] {
  const asked = (it: ClusterRecord): ClusterRecord => withoutUnasked(it, intent);
  // A member whose document cannot be used has not left.
  const unread =
    intent.unusable.size === 0
      ? []
      : [...ledger.clusters].flatMap(([name, it]) =>
          intent.unusable.has(memberKey(name)) ? [[name, asked(it)] as const] : [],
        );
  const read: [ClusterName, ClusterRecord][] = [];
  const names = new Map<string, ClusterName>();
  for (const it of longestJoined(intent.clusters.values(), ledger)) {
    const recorded = recordCluster(it, { intent, ledger, observed, now, names });
    if (recorded.kubeSystemUid !== null && recorded.contactFailure?.code !== "IdentityChanged")
      names.set(recorded.kubeSystemUid, it.name);
    read.push([it.name, recorded]);
  }
  const all = [...read, ...unread];
  if (all.length === ledger.clusters.size && all.every(([name, it]) => it === ledger.clusters.get(name)))
    return ledger.clusters;
  const clusters = new Map(all.sort(([a], [b]) => compareText(a, b)));
  return sameMap(clusters, ledger.clusters) ? ledger.clusters : clusters;
}

/** A MemberCluster as an object of the repository. */
export const memberKey = (name: ClusterName): ObjectKey =>
  objectKey({ group: clusterGroup, kind: "MemberCluster", namespace: null, name });

/** Members whose cluster is known come first, so that a second name for a cluster never takes it from the first. */
const longestJoined = (members: Iterable<MemberCluster>, { clusters }: Ledger): readonly MemberCluster[] => {
  const isJoined = (it: MemberCluster): boolean => clusters.get(it.name)?.kubeSystemUid != null;
  const all = [...members];
  return [...all.filter(isJoined), ...all.filter((it) => !isJoined(it))];
};

/** What a member's record depends on besides the member. */
interface ContactInput {
  readonly intent: World["intent"];
  readonly ledger: Ledger;
  readonly observed: World["observed"];
  readonly now: Instant;
  /** Members by the cluster that they are, those that were recorded before this one. */
  readonly names: ReadonlyMap<string, ClusterName>;
}

function recordCluster(cluster: MemberCluster, input: ContactInput): ClusterRecord {
  const { ledger, observed, now } = input;
  const before = ledger.clusters.get(cluster.name);
  const specDigest = specDigestOf(cluster);
  const base: ClusterRecord = (before && withoutUnasked(before, input.intent)) ?? {
    name: cluster.name,
    uid: digestOf(["MemberCluster", cluster.name, ledger.fleet, ledger.sequence]).slice(0, 32),
    generation: 0,
    specDigest: "" as ClusterRecord["specDigest"],
    kubeSystemUid: null,
    properties: noProperties,
    collection: nothingCollected,
    namespaces: null,
    contactFailure: null,
    conditions: [],
  };
  const spec = base.specDigest === specDigest ? base : { ...base, specDigest, generation: base.generation + 1 };
  const seen = observed.get(cluster.name);
  const recorded = seen === undefined ? spec : withContact(spec, seen, input);
  // What another cluster says of itself is not said of the member.
  const collected = recorded.contactFailure === null ? collectedIn(seen) : null;
  const namespaces = recorded.contactFailure === null ? namespacesIn(seen) : null;
  const { prices, placements } = input.intent;
  const by: SettledBy = { collected, namespaces, placed: placedNamespaces(placements), prices, cluster };
  const known = settled.get(recorded);
  if (known !== undefined && isSettledAlike(known, by)) return recorded;
  const verdicts = [
    ...clusterVerdicts(recorded),
    ...collectionVerdict(recorded, collected, input.intent),
    ...namespacesVerdict(recorded, namespaces, input.intent),
  ];
  const conditions = settleConditions(recorded.conditions, verdicts, now);
  const next = conditions === recorded.conditions ? recorded : { ...recorded, conditions };
  settled.set(next, by);
  return next;
}

/** Records whose conditions say what the rest of them and a collection say: nothing settles twice. */
const settled = new WeakMap<ClusterRecord, SettledBy>();

interface SettledBy {
  readonly collected: Collected | null;
  readonly namespaces: NamespacesSeen | null;
  readonly placed: ReadonlySet<string>;
  readonly prices: World["intent"]["prices"];
  readonly cluster: MemberCluster;
}

const isSettledAlike = (a: SettledBy, b: SettledBy): boolean =>
  a.collected === b.collected &&
  a.namespaces === b.namespaces &&
  a.placed === b.placed &&
  a.prices === b.prices &&
  a.cluster === b.cluster;

/** The record without what nobody asks for any more, whether or not the member answers. */
const withoutUnasked = (before: ClusterRecord, { fleet, placements }: World["intent"]): ClusterRecord =>
  withPlacedNamespaces(withAskedProperties(before, fleet), placements);

const specDigestOf = remembered(({ labels, spec }: MemberCluster) => digestOf({ labels, spec }));

function withContact(cluster: ClusterRecord, seen: Observation, input: ContactInput): ClusterRecord {
  const { now } = input;
  if (seen.kind === "unreachable") return withTrouble(cluster, { code: seen.code, message: seen.message }, now);
  const message = mistakeOf(cluster, seen, input);
  if (message !== null) return withTrouble(cluster, { code: "IdentityChanged", message }, now);
  const { clusterUid } = seen;
  const { properties, collection } = factsOf(cluster, seen, input);
  const { namespaces } = namespacesOf(cluster, seen, input);
  return revised(cluster, { kubeSystemUid: clusterUid, properties, collection, namespaces, contactFailure: null });
}

/** Why what answers is not this member: nothing may be written there (`plan/README.md#d-8`). Null when it is. */
function mistakeOf(
  { kubeSystemUid, name }: ClusterRecord,
  seen: Reached,
  { ledger, names }: ContactInput,
): string | null {
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

/** The first message about one kind of failure stays: one that counts or names a port would be news on every pass. */
function withTrouble(
  cluster: ClusterRecord,
  contactFailure: Omit<ContactFailure, "since">,
  now: Instant,
): ClusterRecord {
  if (cluster.contactFailure?.code === contactFailure.code) return cluster;
  return { ...cluster, contactFailure: { ...contactFailure, since: cluster.contactFailure?.since ?? now } };
}

/** KubeFleet's Joined, and the health that its member agent would report (`schedule/README.md#a-48`). */
function clusterVerdicts({ kubeSystemUid, contactFailure, generation }: ClusterRecord): readonly Verdict[] {
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
  if (contactFailure !== null)
    return [joined, verdict("Healthy", "False", contactFailure.code, contactFailure.message)];
  return kubeSystemUid === null
    ? [joined, verdict("Healthy", "Unknown", "NeverAsked", "it was never asked")]
    : [joined, verdict("Healthy", "True", "APIServerAnswers", "its API server answers")];
}
