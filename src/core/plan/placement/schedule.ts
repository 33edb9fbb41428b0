import type { Binding, ClusterDecision } from "../../model/binding.ts";
import { exceededOn, type Tenant } from "../../model/fleet.ts";
import { remembered, rememberedPair, revised, sameList, sameMap } from "../../model/identity.ts";
import type { Intent } from "../../model/intent.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import type { Reason } from "../../model/reason.ts";
import { type ClusterName, compareText, type Instant } from "../../model/value.ts";
import { bindingName } from "../../schedule/binding-name.ts";
import { type CycleBinding, cycleBindingOf, type Membership, membershipOf } from "../../schedule/framework/cycle.ts";
import { nextPolicySnapshots } from "../../schedule/policy-snapshot.ts";
import { profiles } from "../../schedule/profile.ts";
import { recordVerdict } from "../../schedule/record-verdict.ts";
import { type Schedule, schedule } from "../../schedule/schedule.ts";
import { grantsAt, type PlanContext, uidOf } from "../moves/context.ts";

/** Where a placement goes. */
export interface Scheduled {
  /** With policy snapshots, decisions and bindings brought up to date; the same one when they are. */
  readonly record: PlacementRecord;
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/** Runs one scheduling cycle over a placement and carries it out on the bindings. */
export function scheduleOf(record: PlacementRecord, { world, ledger, candidates }: PlanContext): Scheduled {
  const { intent, now } = world;
  const { policy } = record.spec;
  const inUse = snapshotsInUse(record.bindings);
  const historyLimit = record.spec.revisionHistoryLimit;
  const snapshots = nextPolicySnapshots(record.policySnapshots, policy, { historyLimit, inUse });
  const latest = snapshots.at(-1)?.index ?? 0;
  const cycleBindings = cycleBindingsIn(record.bindings)(latest);
  const recorded = snapshots.at(-1)?.verdict?.decisions ?? nothing;
  const grants = grantsAt(record.key, intent);
  const cycle = { policy, namespace: record.namespace, grants, candidates, cycleBindings, recorded, now };
  const outcome = schedule(cycle, profiles[intent.fleet.profile]);
  const bindings = carryOut(outcome, { record, latest, ledger, membership: membershipOf(candidates) });
  const told = snapshots.map((it) => (it.index === latest ? recordVerdict(it, outcome, record.generation, now) : it));
  const policySnapshots = sameList(told, record.policySnapshots) ? record.policySnapshots : told;
  return {
    record: revised(record, { bindings, policySnapshots }),
    reasons: [...shortfall(record, outcome), ...beyondGrants(record.key, bindings, grants, intent)],
    wakeAt: outcome.wakeAt,
  };
}

/** What stays on clusters that its tenant is not granted: a grant that became tighter takes nothing away. */
function beyondGrants(
  placement: PlacementRecord["key"],
  bindings: PlacementRecord["bindings"],
  grants: readonly Tenant[],
  { clusters: members }: Intent,
): readonly Reason[] {
  if (grants.length === 0) return [];
  const clusters: ClusterName[] = [];
  let exceeded: Tenant | null = null;
  for (const { cluster, state } of bindings.values()) {
    const member = members.get(cluster);
    const grant = state === "Unscheduled" || member === undefined ? null : exceededOn(member, grants);
    if (grant === null) continue;
    clusters.push(cluster);
    exceeded ??= grant;
  }
  return exceeded === null ? [] : [{ kind: "beyondGrant", placement, clusters, grant: exceeded.place }];
}

const snapshotsInUse = remembered(
  (bindings: PlacementRecord["bindings"]): ReadonlySet<number> =>
    new Set([...bindings.values()].map((it) => it.policySnapshot)),
);

/** As the scheduler sees them under the snapshot in force: the same list as long as nothing about them changes. */
const cycleBindingsIn = remembered((bindings: PlacementRecord["bindings"]) => {
  const known = new Map<number, readonly CycleBinding[]>();
  return (latest: number): readonly CycleBinding[] => {
    const found = known.get(latest) ?? [...bindings.values()].map((it) => cycleBindingOf(it, latest));
    known.set(latest, found);
    return found;
  };
});

/** Clusters that left the fleet. */
const leftIn = rememberedPair((bindings: PlacementRecord["bindings"], { places }: Membership) =>
  [...bindings.keys()].filter((it) => !places.has(it)),
);

interface ScheduleInput {
  readonly record: PlacementRecord;
  readonly latest: number;
  readonly ledger: Ledger;
  readonly membership: Membership;
}

function carryOut(outcome: Schedule, input: ScheduleInput): ReadonlyMap<ClusterName, Binding> {
  const { record, latest, membership } = input;
  const left = leftIn(record.bindings, membership);
  if (outcome.drop.length + outcome.keep.length + outcome.create.length + left.length === 0) return record.bindings;
  const next = new Map<ClusterName, Binding>(record.bindings);
  // Nothing is deleted from a member that left the fleet (`plan/README.md#d-2`).
  for (const cluster of left) next.delete(cluster);
  for (const { cluster } of outcome.drop) {
    const binding = next.get(cluster);
    if (binding === undefined || binding.state === "Unscheduled") continue;
    // Where nothing was ever admitted, there is nothing to remove.
    if (binding.target === null && binding.leaving.length === 0) {
      next.delete(cluster);
      continue;
    }
    next.set(cluster, {
      ...binding,
      state: "Unscheduled",
      previousState: binding.state,
      generation: binding.generation + 1,
    });
  }
  for (const { decision, state } of outcome.keep) {
    const binding = next.get(decision.cluster);
    if (binding !== undefined)
      next.set(decision.cluster, rejudged(binding, { decision, state, policySnapshot: latest }));
  }
  for (const decision of outcome.create) {
    const binding = next.get(decision.cluster);
    const made =
      binding === undefined
        ? newBinding(decision, input)
        : rejudged(binding, { decision, state: "Scheduled", policySnapshot: latest });
    next.set(decision.cluster, made);
  }
  const sorted = new Map([...next].sort(([a], [b]) => compareText(a, b)));
  return sameMap(sorted, record.bindings) ? record.bindings : sorted;
}

function rejudged(
  binding: Binding,
  { decision, state, policySnapshot }: Pick<Binding, "decision" | "state" | "policySnapshot">,
): Binding {
  const previousState = null;
  const same =
    binding.state === state && binding.policySnapshot === policySnapshot && binding.previousState === previousState;
  const isSaid = sameJson(binding.decision as unknown as Json, decision as unknown as Json);
  if (same && isSaid) return binding;
  return {
    ...binding,
    decision: isSaid ? binding.decision : decision,
    state,
    policySnapshot,
    previousState,
    generation: binding.generation + 1,
  };
}

function newBinding(decision: ClusterDecision, { record, latest, ledger }: ScheduleInput): Binding {
  return {
    cluster: decision.cluster,
    name: bindingName(record.name, decision.cluster),
    uid: uidOf(ledger, "Binding", `${record.key}/${decision.cluster}`),
    generation: 1,
    state: "Scheduled",
    previousState: null,
    policySnapshot: latest,
    decision,
    target: null,
    removal: null,
    leaving: nothing,
    facts: null,
    conditions: nothing,
  };
}

// One for all: a hundred thousand bindings begin with it.
const nothing: readonly never[] = [];

function shortfall({ key }: PlacementRecord, { wanted, found, decisions, fulfilled }: Schedule): readonly Reason[] {
  if (fulfilled) return [];
  const because = decisions.filter((it) => !it.selected).map((it) => `${it.cluster}: ${it.reason}`);
  return [{ kind: "unfulfilled", placement: key, wanted, found, because: because.slice(0, 8) }];
}
