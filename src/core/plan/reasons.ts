import type { Binding } from "../model/binding.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectId, objectKey, objectText } from "../model/manifest.ts";
import type { World } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import { compareText, type PlacementKey } from "../model/value.ts";
import type { Readiness } from "../rollout/readiness.ts";
import { conflictReasons } from "./conflicts.ts";
import { extentOf } from "./guard/judge-deletions.ts";
import type { PlanContext } from "./moves/context.ts";
import { readinessIn } from "./moves/readiness.ts";
import { lostInventories } from "./orphans.ts";
import type { PlacementResult } from "./placement/result.ts";

/** What is to be said of the bindings of a placement, once it is known what waits for a confirmation. */
export function reasonsOf(
  { record, readiness, bindingReasons: known }: PlacementResult,
  isHeld: PlanContext["isHeld"],
  context: PlanContext,
): readonly Reason[] {
  if (record === null || known !== null) return known ?? none;
  const reasons = [...record.bindings.values()].flatMap((binding) => {
    const state = readiness.get(binding.cluster) ?? readinessIn(context, record, binding);
    return bindingReasons(record, binding, { readiness: state, context, isHeld });
  });
  return gathered(reasons);
}

/** What is to be said about one binding: what it waits for, what went wrong, what it took over. */
function bindingReasons(
  record: PlacementRecord,
  binding: Binding,
  { readiness, context, isHeld }: Circumstances,
): readonly Reason[] {
  const { cluster, removal, target, facts, leaving } = binding;
  const placement = record.key;
  // Silence is said once for the member, not once for everything on it.
  if (context.ledger.clusters.get(cluster)?.contactFailure != null || isQuiet(binding, readiness)) return none;
  const reasons: Reason[] = [];
  // What waits for a confirmation is said once, with its digest, and goes only when a person lets it go.
  const going = leaving.some((it) => it.handOver !== undefined)
    ? leaving.filter((it) => it.handOver === undefined)
    : leaving;
  reasons.push(...handOverReasons(record, binding));
  const isWaiting = leaving.length > 0 && going.every((it) => isHeld(cluster, placement, it.id));
  if ((removal !== null || leaving.length > 0) && !isWaiting)
    reasons.push(leavingReason(record, { ...binding, leaving: going }, { ...context, isHeld }));
  if (removal !== null || target === null || binding.state === "Scheduled") return reasons;
  if (facts === null || facts.sequence !== target.sequence || facts.applied === "pending") {
    return [...reasons, { kind: "applying", placement, clusters: [cluster] }];
  }
  if (facts.adopted.length > 0) reasons.push({ kind: "adopted", placement, cluster, objects: facts.adopted });
  for (const it of facts.contested?.slice(0, failuresShown) ?? [])
    reasons.push({ kind: "contested", placement, cluster, ...it });
  if (facts.applied === "failed") return [...reasons, ...applyFailures(record, binding)];
  const [first] = facts.objectFailures;
  const message = first === undefined ? "not available yet" : `${objectText(first.id)}: ${first.message}`;
  if (facts.phase === "failed") reasons.push({ kind: "unhealthy", placement, cluster, since: facts.since, message });
  else if (readiness.kind === "failed") {
    const late = `not available within its progress deadline; ${message}`;
    reasons.push({ kind: "unhealthy", placement, cluster, since: facts.since, message: late });
  } else if (readiness.kind === "progressing") {
    reasons.push({ kind: "awaitingHealth", placement, cluster, until: readiness.failsAt, message });
  } else if (readiness.kind === "untrackable") {
    const counts = "its kinds tell nothing about themselves; counts as available when the period is over";
    reasons.push({ kind: "awaitingHealth", placement, cluster, until: readiness.countsFrom, message: counts });
  }
  return reasons;
}

/** What is said about a binding depends on these too. */
interface Circumstances {
  readonly readiness: Readiness;
  readonly context: PlanContext;
  /** Whether an object waits for a confirmation, now that this plan's deletions are judged. */
  readonly isHeld: PlanContext["isHeld"];
}

const none: readonly never[] = [];

/** It carries what it should, works, and nothing leaves: there is nothing to be said. */
const isQuiet = ({ state, removal, target, leaving, facts }: Binding, readiness: Readiness): boolean =>
  state === "Bound" &&
  removal === null &&
  leaving.length === 0 &&
  readiness.kind === "available" &&
  facts?.applied === "applied" &&
  facts.phase !== "failed" &&
  facts.sequence === target?.sequence &&
  facts.adopted.length === 0 &&
  facts.contested === undefined;

/** One line for all clusters that something is being applied to: there are usually many, and they say the same. */
function gathered(reasons: readonly Reason[]): readonly Reason[] {
  const applying = reasons.filter((it) => it.kind === "applying");
  const [first] = applying;
  if (first === undefined || applying.length === 1) return reasons;
  const all: Reason = { ...first, clusters: applying.flatMap((it) => it.clusters) };
  return [all, ...reasons.filter((it) => it.kind !== "applying")];
}

const failuresShown = 3;

const applyFailures = (record: PlacementRecord, { cluster, facts }: Binding): readonly Reason[] =>
  (facts?.objectFailures ?? [])
    .filter((it) => it.type === "Applied")
    .slice(0, failuresShown)
    .map(({ id, code, message }) => ({
      kind: "applyFailed",
      placement: record.key,
      cluster,
      object: id,
      code,
      message,
    }));

/** What is kept for others, by who takes it. */
function handOverReasons({ key: placement }: PlacementRecord, { cluster, leaving }: Binding): readonly Reason[] {
  const objects = new Map<PlacementKey, ObjectId[]>();
  for (const { id, handOver } of leaving)
    if (handOver !== undefined) objects.set(handOver.to, [...(objects.get(handOver.to) ?? none), id]);
  return [...objects].map(([to, list]) => ({
    kind: "waitingForHandOver",
    placement,
    cluster,
    to,
    objects: list,
  }));
}

function leavingReason(
  record: PlacementRecord,
  binding: Binding,
  { world, isHeld, wants }: Pick<PlanContext, "world" | "isHeld" | "wants">,
): Reason {
  const { cluster, leaving, removal } = binding;
  const base = { kind: "leaving", placement: record.key, cluster, objects: leaving.length } as const;
  const waiting = leaving.filter((it) => isHeld(cluster, record.key, it.id)).length;
  if (waiting > 0) {
    const some = waiting === leaving.length ? "" : `${waiting} of them `;
    return { ...base, message: `${some}waiting for a confirmation`, stuck: false };
  }
  const seen = world.observed.get(cluster);
  const known = seen?.kind === "reached" ? seen.inventory.placements.get(record.key) : null;
  if (known === undefined && leaving.length > 0)
    return { ...base, message: "its inventory does not know them: what carries our mark is looked for", stuck: false };
  const carried = known?.entries;
  for (const { id } of leaving) {
    const outcome = carried?.get(objectKey(id))?.outcome;
    if (outcome?.kind !== "failed" && outcome?.kind !== "lingering") continue;
    const stuck = outcome.kind === "failed" || outcome.code !== "Terminating";
    return { ...base, message: `${objectText(id)}: ${outcome.message}`, stuck };
  }
  const owner = { cluster, placement: record.key };
  const kept = leaving.find(({ id }) => wants.isAnythingWantedIn(owner, id, removal !== null));
  if (kept !== undefined)
    return { ...base, message: `${objectText(kept.id)} stays while something in it is wanted`, stuck: false };
  return { ...base, message: leaving.length === 0 ? "the member is told" : "being removed", stuck: false };
}

/** What is to be said about the fleet as a whole: members out of reach, and what waits for a person. */
export function fleetReasons(ledger: Ledger, context: PlanContext): readonly Reason[] {
  const { world } = context;
  const reasons: Reason[] = [];
  for (const { name, contactFailure } of ledger.clusters.values()) {
    if (contactFailure !== null) reasons.push({ kind: "unreachable", cluster: name, ...contactFailure });
  }
  for (const { placement, since, violations } of ledger.quarantines.values())
    reasons.push({ kind: "quarantined", placement, since, violations });
  for (const held of ledger.deletions.held) {
    if (held.confirmed) continue;
    const { objects, clusters } = extentOf(held);
    const placements = [...new Set(held.groups.map((it) => it.placement))].sort(compareText);
    reasons.push({
      kind: "confirmationNeeded",
      cause: held.cause,
      because: held.because,
      digest: held.digest,
      objects,
      clusters,
      placements,
      groups: held.groups,
      others: held.others,
    });
  }
  for (const { digest, outcome, commit } of ledger.deletions.confirmations.values())
    if (outcome === "void") reasons.push({ kind: "confirmationVoid", digest, commit });
  const { suspects } = world.intent;
  for (const { id, commit } of ledger.holds)
    reasons.push({ kind: "held", object: id, commit, because: suspects.get(objectKey(id)) ?? null });
  reasons.push(
    ...departedReasons(ledger, world),
    ...conflictReasons(ledger, context),
    ...lostInventories(ledger, context),
  );
  return reasons;
}

/** Members whose file is gone: said once, in the pass that lets go of them. */
function departedReasons(ledger: Ledger, world: World): readonly Reason[] {
  return [...world.ledger.clusters.keys()]
    .filter((it) => !ledger.clusters.has(it))
    .flatMap((cluster): Reason[] => {
      const placements = [...world.ledger.placements.values()]
        .filter((it) => it.bindings.has(cluster))
        .map((it) => it.key);
      return placements.length === 0 ? [] : [{ kind: "left", cluster, placements }];
    });
}
