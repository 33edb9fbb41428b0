import type { Binding, ClusterDecision } from "../model/binding.ts";
import { clusterGrantsOf } from "../model/fleet.ts";
import type { Intent } from "../model/intent.ts";
import type { Ledger, PlacementRecord, PolicySnapshot } from "../model/ledger.ts";
import type { Placement } from "../model/placement.ts";
import type { World } from "../model/plan.ts";
import type { ClusterName } from "../model/value.ts";
import { isSuspended } from "../plan/placement/removal.ts";
import { selectResources } from "../render/select.ts";
import { type CycleBinding, candidatesIn, cycleBindingOf } from "../schedule/framework/cycle.ts";
import { nextPolicySnapshots } from "../schedule/policy-snapshot.ts";
import { profiles } from "../schedule/profile.ts";
import { recordVerdict, sameDecision, sameDecisions, saysTheSame } from "../schedule/record-verdict.ts";
import { type Schedule, schedule } from "../schedule/schedule.ts";
import type { AuditFinding } from "./audit-finding.ts";

/**
 * Schedules again every placement whose verdict, scores or bindings a commit changed, with the policies and members of
 * the source commit and the state of the members on record. The result has to be the same to the last score
 * (`trust/README.md#t-23`).
 */
export function* auditSchedule(world: World, after: Ledger): Generator<AuditFinding> {
  const candidates = candidatesIn(world.intent.clusters, after.clusters);
  for (const [record, placement] of changedSchedules(world, after)) {
    const subject = { kind: "placement", key: record.key } as const;
    const finding = (what: string): AuditFinding => ({ check: "scheduling", subject, what });
    if (placement === undefined) {
      yield finding(`schedules ${record.key}, which no file of its source commit defines`);
      continue;
    }
    const before = world.ledger.placements.get(record.key) ?? null;
    const { policy, revisionHistoryLimit: historyLimit } = placement.spec;
    const inUse = new Set<number>();
    const snapshots = nextPolicySnapshots(before?.policySnapshots ?? [], policy, { historyLimit, inUse });
    if (snapshots.at(-1)?.index !== latestOf(record)?.index) {
      yield finding(`schedules ${record.key} under a policy that its source commit does not have`);
      continue;
    }
    const cycleBindings = standingsIn(before, record);
    const recorded = snapshots.at(-1)?.verdict?.decisions ?? [];
    const grants = clusterGrantsOf(placement.source, world.intent.tenants);
    const cycle = { policy, namespace: record.namespace, grants, candidates, cycleBindings, recorded, now: world.now };
    const outcome = schedule(cycle, profiles[world.intent.fleet.profile]);
    for (const what of [...verdictFaults(outcome, before, record), ...bindingFaults(outcome, before, record)])
      yield finding(`${what} of ${record.key}`);
  }
}

/** How many placements {@link auditSchedule} schedules again. */
export const auditedScheduleCount = (world: World, after: Ledger): number => [...changedSchedules(world, after)].length;

/** Placements whose scheduling a commit changes, with what their files asked for then. */
function* changedSchedules(
  { ledger, intent }: World,
  after: Ledger,
): Generator<readonly [record: PlacementRecord, placement: Placement | undefined]> {
  for (const [key, record] of after.placements) {
    const before = ledger.placements.get(key) ?? null;
    // What is being removed or cannot be read is not scheduled: its last verdict stands.
    if (record === before || record.deleting !== null || isSuspended(record, intent)) continue;
    if (isScheduledAlike(before, record)) continue;
    const placement = intent.placements.get(key);
    if (placement === undefined || isScheduled(placement, intent)) yield [record, placement];
  }
}

/** A rolling update with an invalid selection is not scheduled; runs report that by themselves. */
const isScheduled = (placement: Placement, intent: Intent): boolean =>
  placement.spec.strategy.type === "External" || selectResources(placement, intent).kind === "selected";

function isScheduledAlike(before: PlacementRecord | null, record: PlacementRecord): boolean {
  if (before === null || latestOf(before)?.index !== latestOf(record)?.index) return false;
  if (!sameVerdict(latestOf(before), latestOf(record))) return false;
  const selected = selectedIn(record);
  const was = selectedIn(before);
  if (selected.size !== was.size) return false;
  return [...selected].every(([name, { decision }]) => {
    const old = was.get(name)?.decision;
    return old !== undefined && sameDecision(old, decision);
  });
}

const latestOf = ({ policySnapshots }: PlacementRecord): PolicySnapshot | undefined => policySnapshots.at(-1);

const selectedIn = ({ bindings }: PlacementRecord): ReadonlyMap<ClusterName, Binding> =>
  new Map([...bindings].filter(([, it]) => it.state !== "Unscheduled"));

/** The bindings before, without those that this commit saw end. */
function standingsIn(before: PlacementRecord | null, record: PlacementRecord): readonly CycleBinding[] {
  const latest = latestOf(record)?.index ?? 0;
  const isOver = ({ cluster, uid, removal }: Binding): boolean =>
    removal !== null && record.bindings.get(cluster)?.uid !== uid;
  return [...(before?.bindings.values() ?? [])].filter((it) => !isOver(it)).map((it) => cycleBindingOf(it, latest));
}

function* verdictFaults(outcome: Schedule, before: PlacementRecord | null, record: PlacementRecord): Generator<string> {
  const latest = latestOf(record);
  if (latest === undefined) return yield "leaves out the policy snapshot";
  const was = before?.policySnapshots.find((it) => it.index === latest.index);
  const recorded = was ?? { ...latest, verdict: null };
  const again = recordVerdict(recorded, outcome, record.generation, 0 as never);
  if (!sameVerdict(again, latest))
    yield `records a verdict that does not follow from its inputs: ${difference(again, latest)}`;
}

function difference(again: PolicySnapshot, latest: PolicySnapshot): string {
  const recorded = new Map(latest.verdict?.decisions.map((it) => [it.cluster, it]));
  for (const it of again.verdict?.decisions ?? []) {
    const other = recorded.get(it.cluster);
    if (other === undefined || !sameDecision(other, it))
      return `${it.cluster} is recorded as ${wordsOf(other)}, and is ${wordsOf(it)}`;
  }
  return "its condition or its list of clusters is another one";
}

const wordsOf = (it: ClusterDecision | undefined): string => {
  if (it === undefined) return "not listed";
  const score = it.score === null ? "no score" : `affinity ${it.score.affinity} and topology ${it.score.topology}`;
  return `${it.selected ? "selected" : "not selected"} with ${score}`;
};

function* bindingFaults(outcome: Schedule, before: PlacementRecord | null, record: PlacementRecord): Generator<string> {
  const picked = new Map([...outcome.create, ...outcome.keep.map((it) => it.decision)].map((it) => [it.cluster, it]));
  const dropped = new Set(outcome.drop.map((it) => it.cluster));
  const was = before === null ? new Map<ClusterName, Binding>() : selectedIn(before);
  const is = selectedIn(record);
  for (const [cluster, binding] of is) {
    const decision = picked.get(cluster) ?? (dropped.has(cluster) ? undefined : was.get(cluster)?.decision);
    if (decision === undefined) yield `keeps a binding to ${cluster}, which is not picked,`;
    else if (!sameDecision(decision, binding.decision))
      yield `records ${wordsOf(binding.decision)} for the binding to ${cluster}, which is ${wordsOf(decision)},`;
  }
  for (const cluster of picked.keys())
    if (!is.has(cluster)) yield `leaves out the binding to ${cluster}, which is picked,`;
}

/** The same verdict, whatever its transition time. */
function sameVerdict(a: PolicySnapshot | undefined, b: PolicySnapshot | undefined): boolean {
  const [one, other] = [a?.verdict ?? null, b?.verdict ?? null];
  if (one === null || other === null) return one === other;
  return saysTheSame(one.condition, other.condition) && sameDecisions(one.decisions, other.decisions);
}
