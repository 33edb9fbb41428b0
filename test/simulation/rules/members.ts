import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { Simulation } from "../simulation.ts";
import type { Attempt } from "../world/attempt.ts";
import { entriesAt, identityAt, keyOf, objectsAt, type Seen } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";
import type { Site } from "../world/site.ts";

/** Promises about what stands in a member, at any moment. */
export const memberRules: readonly (readonly [string, (site: Site, judge: Judge) => Iterable<string>])[] = [
  ["I-33", listsWhatIsLive],
  ["I-33", keepsWhatItMade],
  ["I-34", knowsWhatItFound],
];

/** An action may take so long; after that, it may not even write down what it did. */
const actDeadlineMs = 300_000;

/** Whether a writer can not have written down what it did: it had given up on the request, or ran out of time itself. */
const isTooLate = ({ wasHeld, lastedMs }: Attempt): boolean => !wasHeld || (lastedMs ?? 0) > actDeadlineMs;

/**
 * I-33: whatever is live with the mark of a placement stands in the inventory under it. Who was held up between claim and write may find that
 * the claim was given up meanwhile, and writes down what it did at its end; what only arrives when its writer is gone
 * has nobody who could: it is an orphan, and counted.
 */
function* listsWhatIsLive(site: Site, { simulation }: Judge): Generator<string> {
  const listed = new Set(entriesAt(site).map((it) => `${it.placement} ${it.key}`));
  for (const seen of objectsAt(site)) {
    const { key, mark, uid } = seen;
    if (mark === null || mark.placement === "" || site.copies.has(uid) || site.forgotten.has(uid)) continue;
    if (listed.has(`${mark.placement} ${key}`)) {
      site.lost.delete(uid);
      continue;
    }
    if (site.lost.has(uid)) {
      yield* forgetsWhatWasLost(seen, site, simulation);
      continue;
    }
    const writer = site.overdue.get(uid);
    if (writer?.progress === "running" || writer?.progress === "held") continue;
    if (writer !== undefined && isTooLate(writer)) simulation.hit("orphan of a late write");
    else
      yield `${key} on ${site.name} carries our mark (${mark.placement}, sequence ${mark.sequence}) and stands in no inventory under it`;
  }
}

/** Whether a decision says that an object is carried, or goes: then it can be told to be ours when its inventory is lost. */
export function isExplained({ key, mark }: Seen, site: Site, simulation: Simulation): boolean {
  const { hub } = simulation;
  const ledger = simulation.ledger();
  const record = ledger?.placements.get((mark?.placement ?? "") as PlacementKey);
  if (ledger === null || hub.state === null || record === undefined) return false;
  for (const { cluster, leaving, removal } of record.bindings.values()) {
    if (ledger.clusters.get(cluster)?.kubeSystemUid !== identityAt(site)) continue;
    if (leaving.some(({ id }) => keyOf(id) === key)) return true;
    return removal === null && renderedAt(hub, hub.state, cluster, record.key).some((it) => it.key === key);
  }
  return false;
}

/**
 * I-33: what was lost with its inventory is found again before its placement is through with the cluster, or says so.
 */
function* forgetsWhatWasLost(seen: Seen, site: Site, simulation: Simulation): Generator<string> {
  if (isExplained(seen, site, simulation)) return;
  const uids = [...(simulation.ledger()?.clusters.values() ?? [])].map((it) => it.kubeSystemUid);
  // Of a cluster that left, or became another one, nobody asks any more.
  if (uids.includes(identityAt(site))) yield `${seen.key} on ${site.name} was forgotten with its inventory`;
  else site.forgotten.add(seen.uid);
}

/**
 * Of what was lost on a cluster that leaves with a commit, or becomes another one, nobody asks any more: its placement has no
 * say there, whether the cluster comes back or stays under another name.
 */
export function forgetWithTheirClusters(before: Ledger | null, after: Ledger, simulation: Simulation): void {
  for (const [name, { kubeSystemUid }] of before?.clusters ?? []) {
    if (kubeSystemUid === null || after.clusters.get(name)?.kubeSystemUid === kubeSystemUid) continue;
    for (const site of simulation.sites.values()) {
      if (identityAt(site) !== kubeSystemUid) continue;
      for (const seen of objectsAt(site)) {
        const placement = before?.placements.get((seen.mark?.placement ?? "") as PlacementKey);
        if (!site.lost.has(seen.uid) || placement?.bindings.has(name) !== true) continue;
        if (isExplained(seen, site, simulation)) continue;
        site.lost.delete(seen.uid);
        site.forgotten.add(seen.uid);
      }
    }
  }
}

/** I-33: what we made under a claim stays ours: it never counts as there before us, nor as somebody else's. */
function* keepsWhatItMade(site: Site): Generator<string> {
  if (site.own.size === 0) return;
  const entries = entriesAt(site);
  const live = new Map(objectsAt(site).map((it) => [it.uid, it]));
  for (const uid of site.own) {
    const seen = live.get(uid);
    const entry = entries.find((it) => it.key === seen?.key && it.placement === seen.mark?.placement);
    if (seen === undefined || entry === undefined) {
      site.own.delete(uid);
      continue;
    }
    const what = `${seen.key} on ${site.name}, which ${entry.placement} made,`;
    if (entry.uid === uid && entry.adopted) yield `${what} counts as there before us`;
    // A late write puts its mark on what was handed over meanwhile.
    const isHandedOver = entries.some((it) => it.uid === uid && it.placement !== entry.placement);
    if (entry.uid === null && !isHandedOver && /TakeOver|TakenOver/.test(entry.failure ?? ""))
      yield `${what} counts as somebody else's`;
  }
}

/** I-34: what somebody else made never counts as made by us: it would be deleted one day, and not released. */
function* knowsWhatItFound(site: Site): Generator<string> {
  if (site.strangers.size === 0) return;
  for (const { key, uid, placement, adopted } of entriesAt(site)) {
    if (adopted || uid === null || !site.strangers.has(uid)) continue;
    yield `${key} on ${site.name}, which was there before us, counts as made by ${placement}`;
  }
}
