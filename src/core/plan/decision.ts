import type { Binding } from "../model/binding.ts";
import type { Condition } from "../model/condition.ts";
import type { ClusterRecord, Ledger, PlacementRecord } from "../model/ledger.ts";

/**
 * Names the rules by which this planner decides; every commit of the state branch says under which it was made. Raised with
 * every change after which the same world may give another schedule: who judges old commits again by other rules would find
 * differences that are nobody's fault.
 */
export const decisionVersion = 1;

/**
 * Whether a ledger holds a new decision, or only news that decides nothing by itself.
 *
 * A decision is committed before anything is touched. News about members may wait for the next decision: losing it
 * costs nothing, since the next pass hears it again (`plan/README.md#a-pass`). That a binding or a placement has come
 * to its end is not news: what begins after it begins anew, and a process that has not heard of the end would go on
 * with the old one.
 */
export function isDecision(before: Ledger, after: Ledger): boolean {
  return (
    before.fleet !== after.fleet ||
    before.sourceCommit !== after.sourceCommit ||
    before.holds !== after.holds ||
    before.deletions !== after.deletions ||
    before.runs !== after.runs ||
    before.evictions !== after.evictions ||
    before.quarantines !== after.quarantines ||
    before.hasTrust !== after.hasTrust ||
    before.trust !== after.trust ||
    before.answers !== after.answers ||
    before.takenAway !== after.takenAway ||
    before.formerNames !== after.formerNames ||
    hasNew(before.overrides, after.overrides) ||
    someDiffers(before.clusters, after.clusters, clusterDecides) ||
    someDiffers(before.placements, after.placements, placementDecides) ||
    someEnded(before.placements, after.placements)
  );
}

/**
 * Whether news that decides nothing ends something that people wait for: a placement has come to be in place, or one of its
 * conditions turned False; something on one of its clusters has begun to fail; a member stopped answering or is back.
 */
export const isFinalNews = (before: Ledger, after: Ledger): boolean =>
  someDiffers(before.clusters, after.clusters, contactChanges) ||
  someDiffers(before.placements, after.placements, placementEnds);

const contactChanges = (was: ClusterRecord | undefined, is: ClusterRecord): boolean =>
  was?.contactFailure?.code !== is.contactFailure?.code;

const placementEnds = (was: PlacementRecord | undefined, is: PlacementRecord): boolean =>
  (isInPlace(is) && (was === undefined || !isInPlace(was))) ||
  is.conditions.some((it) => it.status === "False" && conditionStatus(was, it.type) !== "False") ||
  someDiffers(was?.bindings ?? new Map(), is.bindings, bindingFails);

const isInPlace = ({ conditions }: PlacementRecord): boolean =>
  conditions.length > 0 && conditions.every((it) => it.status === "True");

const conditionStatus = (record: PlacementRecord | undefined, type: string): Condition["status"] | undefined =>
  record?.conditions.find((it) => it.type === type)?.status;

const bindingFails = (was: Binding | undefined, is: Binding): boolean => hasFailed(is) && !(was && hasFailed(was));

const hasFailed = ({ facts }: Binding): boolean => facts?.applied === "failed" || facts?.phase === "failed";

function someDiffers<K, V>(
  before: ReadonlyMap<K, V>,
  after: ReadonlyMap<K, V>,
  decides: (was: V | undefined, is: V) => boolean,
): boolean {
  if (before === after) return false;
  for (const [key, value] of after) {
    const was = before.get(key);
    if (was !== value && decides(was, value)) return true;
  }
  return false;
}

/** Whether something that stood in the ledger has come to its end. */
function someEnded<K>(before: ReadonlyMap<K, unknown>, after: ReadonlyMap<K, unknown>): boolean {
  if (before === after) return false;
  for (const key of before.keys()) if (!after.has(key)) return true;
  return false;
}

/** Old snapshots that are trimmed once nothing names them any more decide nothing. */
function hasNew<T>(before: readonly T[], after: readonly T[]): boolean {
  if (before === after) return false;
  const known = new Set(before);
  return after.some((it) => !known.has(it));
}

/** Which cluster a member is has to be written down before anything is written to it (`plan/README.md#d-8`). */
const clusterDecides = (was: ClusterRecord | undefined, is: ClusterRecord): boolean =>
  was === undefined || was.kubeSystemUid !== is.kubeSystemUid || was.specDigest !== is.specDigest;

const placementDecides = (was: PlacementRecord | undefined, is: PlacementRecord): boolean =>
  was === undefined ||
  was.specDigest !== is.specDigest ||
  hasNew(was.resourceSnapshots, is.resourceSnapshots) ||
  was.policySnapshots.at(-1)?.policy !== is.policySnapshots.at(-1)?.policy ||
  (was.deleting === null) !== (is.deleting === null) ||
  was.change !== is.change ||
  someDiffers(was.bindings, is.bindings, bindingDecides) ||
  someEnded(was.bindings, is.bindings);

const bindingDecides = (was: Binding | undefined, is: Binding): boolean =>
  was === undefined ||
  was.state !== is.state ||
  was.target !== is.target ||
  was.removal !== is.removal ||
  was.policySnapshot !== is.policySnapshot ||
  // That something is gone by now is news; what becomes of it, and by which commit, is decided.
  hasNew(was.leaving, is.leaving);
