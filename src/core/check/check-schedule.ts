import type { Binding } from "../model/binding.ts";
import type { MemberCluster } from "../model/fleet.ts";
import type { ClusterRecord, PlacementRecord } from "../model/ledger.ts";
import { resourcePrefix } from "../model/names.ts";
import type { PlacementPolicy, PropertyRequirement } from "../model/placement.ts";
import type { Plan, World } from "../model/plan.ts";
import type { PlanDefect, ScheduleDefectCode } from "../model/plan-defect.ts";
import { quantityOf } from "../model/quantity.ts";
import { type ClusterName, later, minutes, seconds, selectsIfAny } from "../model/value.ts";
import { defect } from "./check-defect.ts";

/**
 * Lists where a plan places what a policy keeps away, more of it than was asked for, or takes away what nobody gave cause
 * to take away (`schedule/README.md#one-cycle`). Which of the clusters that fit is the best one is the scheduler's to say.
 */
export function* checkSchedules(plan: Plan, world: World): Generator<PlanDefect<ScheduleDefectCode>> {
  for (const [key, record] of plan.ledger.placements) {
    const before = world.ledger.placements.get(key);
    // The same bindings have nothing new.
    if (record.bindings === before?.bindings || record.deleting !== null) continue;
    const picked = picksOf(record, before);
    const subject = { kind: "placement", placement: key } as const;
    for (const { binding, isNew } of picked)
      for (const [code, why] of objections({ record, binding, isNew }, plan, world))
        yield defect(
          code,
          { ...subject, kind: "binding", cluster: binding.cluster },
          `picks ${binding.cluster} for ${key}, ${why}`,
        );
    if (picked.length > 0)
      for (const [code, what] of excesses(record, picked, world)) yield defect(code, subject, `${what} of ${key}`);
    if (before === undefined) continue;
    for (const cluster of dropsWithoutCause(record, before, plan, world))
      yield defect(
        "PickDropped",
        { ...subject, kind: "binding", cluster },
        `gives up ${key} on ${cluster}, where it belongs`,
      );
  }
}

interface Pick {
  readonly binding: Binding;
  /** Nothing of the placement was there. */
  readonly isNew: boolean;
}

/** What was picked, or picked again, since the record before. */
const picksOf = ({ bindings }: PlacementRecord, before: PlacementRecord | undefined): readonly Pick[] =>
  [...bindings.values()].flatMap((binding) => {
    const was = before?.bindings.get(binding.cluster);
    const isStanding =
      was !== undefined && was.state !== "Unscheduled" && was.policySnapshot === binding.policySnapshot;
    return binding.state === "Unscheduled" || isStanding ? [] : [{ binding, isNew: was === undefined }];
  });

type Objection = readonly [code: ScheduleDefectCode, why: string];

function* objections(
  { record, binding: { cluster }, isNew }: Pick & { readonly record: PlacementRecord },
  { ledger }: Plan,
  { intent, now }: World,
): Generator<Objection> {
  const { policy } = record.spec;
  const member = intent.clusters.get(cluster);
  if (member === undefined) return yield ["PickNotMember", "which is no member"];
  const known = ledger.clusters.get(cluster);
  if (policy.kind === "PickFixed") {
    if (!policy.clusterNames.includes(cluster)) yield ["PickNotNamed", "which its policy does not name"];
  } else {
    if (!isAsked(policy, member, known)) yield ["PickAffinityUnmet", "of which no required term holds"];
    if (isWithoutNamespace(record, known))
      yield ["PickNamespaceAbsent", `where there is no namespace ${record.namespace}`];
    if (!isTolerated(policy, member)) yield ["PickTaintNotTolerated", "which has a taint that it does not tolerate"];
  }
  const failure = known?.contactFailure ?? null;
  // What is there stays, be it silent: only PickN looks for others.
  if (failure === null || (!isNew && policy.kind !== "PickN")) return;
  if (failure.code === "IdentityChanged" || now >= later(later(failure.since, minutes(5)), seconds(1)))
    yield ["PickOutOfContact", "which has been out of contact for more than five minutes"];
}

type Asking = Exclude<PlacementPolicy, { readonly kind: "PickFixed" }>;

function isAsked({ required }: Asking, member: MemberCluster, known: ClusterRecord | undefined): boolean {
  const labels = { ...Object.fromEntries(known?.collection.labels ?? []), ...member.labels };
  const holds = (it: PropertyRequirement): boolean => isMet(it, knownValue(it.name, member, known));
  return (
    required.length === 0 || required.some((it) => selectsIfAny(it.labelSelector, labels) && it.properties.every(holds))
  );
}

/** Only where all namespaces of the member are on record. */
const isWithoutNamespace = ({ namespace }: PlacementRecord, known: ClusterRecord | undefined): boolean =>
  namespace !== null && known?.namespaces?.isCut === false && !known.namespaces.names.has(namespace);

/** Recorded values come before those that the file declares. */
function knownValue(name: string, member: MemberCluster, known: ClusterRecord | undefined): string | undefined {
  const recorded = known?.properties.get(name);
  if (recorded !== undefined) return recorded;
  if (!name.startsWith(resourcePrefix)) return member.properties[name]?.value;
  const [, kind = "", resource = ""] = /^([^-]*)-(.*)$/.exec(name.slice(resourcePrefix.length)) ?? [];
  const { capacity: total, allocatable, available } = member.resourceUsage;
  return new Map(Object.entries({ total, allocatable, available })).get(kind)?.[resource];
}

const isMet = ({ operator, value }: PropertyRequirement, has: string | undefined): boolean => {
  const [left, right] = [quantityOf(has ?? "")?.nanos, quantityOf(value)?.nanos];
  if (left === undefined || right === undefined) return false;
  const order = left < right ? "<" : left > right ? ">" : "=";
  return { Gt: ">", Ge: ">=", Lt: "<", Le: "<=", Eq: "=", Ne: "<>" }[operator].includes(order);
};

const isTolerated = ({ tolerations }: Asking, { taints }: MemberCluster): boolean =>
  taints.every((taint) =>
    tolerations.some(
      ({ key, operator, value, effect }) =>
        (effect === "" || effect === taint.effect) &&
        (key === taint.key || (operator === "Exists" && key === "")) &&
        (operator === "Exists" || value === taint.value),
    ),
  );

/** Where there is more of it than the policy allows, now that something was picked. */
function* excesses(
  { spec: { policy }, policySnapshots, bindings }: PlacementRecord,
  picked: readonly Pick[],
  { intent }: World,
): Generator<Objection> {
  if (policy.kind !== "PickN") return;
  const latest = policySnapshots.at(-1)?.index;
  const present = [...bindings.values()].filter(
    (it) =>
      it.state !== "Unscheduled" &&
      it.policySnapshot === latest &&
      (it.removal === null || it.state === "Scheduled") &&
      intent.clusters.has(it.cluster),
  );
  if (present.length > policy.numberOfClusters)
    yield ["PickNumberExceeded", `picks ${present.length} clusters instead of ${policy.numberOfClusters}`];
  for (const { topologyKey, maxSkew, whenUnsatisfiable } of policy.spread) {
    if (whenUnsatisfiable !== "DoNotSchedule") continue;
    const domainOf = (cluster: ClusterName): string | undefined => {
      const labels = intent.clusters.get(cluster)?.labels ?? {};
      return Object.hasOwn(labels, topologyKey) ? labels[topologyKey] : undefined;
    };
    const counts = new Map<string | undefined, number>();
    for (const { cluster } of present) counts.set(domainOf(cluster), (counts.get(domainOf(cluster)) ?? 0) + 1);
    counts.delete(undefined);
    // Domains that have none of it may not count as domains, so the fewest are those of the ones that have.
    const fewest = Math.min(...counts.values());
    const most = Math.max(...picked.map((it) => counts.get(domainOf(it.binding.cluster)) ?? 0));
    if (most - fewest > maxSkew)
      yield [
        "PickSkewExceeded",
        `picks ${most} clusters in one ${topologyKey} where another has ${fewest}, maxSkew ${maxSkew},`,
      ];
  }
}

/** Clusters that were given up although they are members, the policy is the same, and no fewer are wanted than stay. */
function dropsWithoutCause(
  { key, spec: { policy }, policySnapshots, bindings }: PlacementRecord,
  before: PlacementRecord,
  { ledger }: Plan,
  { intent, ledger: { evictions } }: World,
): readonly ClusterName[] {
  const latest = policySnapshots.at(-1)?.index;
  if (latest !== before.policySnapshots.at(-1)?.index) return [];
  const standing = [...bindings.values()].filter((it) => it.state !== "Unscheduled").length;
  if (policy.kind === "PickN" && standing >= policy.numberOfClusters) return [];
  // Where nothing was ever admitted, there is nothing to remove: that is forgotten at once, by an eviction as well.
  const evicted = new Set(
    [...ledger.evictions.values()].flatMap((it) =>
      it.placement === key && evictions.get(it.name) !== it ? it.cluster : [],
    ),
  );
  return [...before.bindings.values()]
    .filter(
      ({ cluster, state, removal, policySnapshot, target, leaving }) =>
        state !== "Unscheduled" &&
        removal === null &&
        policySnapshot === latest &&
        intent.clusters.has(cluster) &&
        (bindings.has(cluster)
          ? bindings.get(cluster)?.state === "Unscheduled"
          : target === null && leaving.length === 0 && !evicted.has(cluster)),
    )
    .map((it) => it.cluster);
}
