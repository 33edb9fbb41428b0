import type { Binding } from "../../../src/core/model/binding.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import { type Document, isExternal, optionsOf } from "../people/document.ts";
import { hasAnswered, type StateCommit, type StateCommitRule } from "../state-commit.ts";
import { availableAt } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";
import { inForce } from "./counted-answers.ts";
import { executedIn } from "./evictions.ts";
import { isProtected } from "./trust.ts";

/** Promises about rolling updates: `rollout/README.md#invariants`. */
export const rollingRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-03", removesWithinBounds],
  ["I-03", updatesWithinBounds],
  ["I-04", addsWithinBounds],
];

/** One placement that rolls out by itself, in one commit. */
interface Rolling {
  readonly document: Extract<Document, { kind: "placement" }>;
  readonly record: PlacementRecord;
  readonly bindings: readonly Binding[];
  /** What a cluster had before; null for nothing. */
  readonly was: (binding: Binding) => Binding | null;
  /** Clusters that are picked. */
  readonly targeted: number;
  /** Clusters that are not, and keep what is protected there until somebody approves that it goes. */
  readonly kept: readonly Binding[];
}

function rollingIn(page: StateCommit, judge: Judge): readonly Rolling[] {
  const { before, after } = page;
  const said = judge.inForce.at(after.sourceCommit as Commit);
  return [...after.placements.values()].flatMap((record): readonly Rolling[] => {
    const old = before?.placements.get(record.key);
    const document = said.get(`placements/${record.key}.yaml`);
    if (old === record || document?.kind !== "placement" || isExternal(document) || record.deleting !== null) return [];
    const bindings = [...record.bindings.values()];
    const targeted = bindings.filter((it) => it.state !== "Unscheduled").length;
    const kept = bindings.filter((it) => isKept(it, record, page, judge));
    const was = ({ cluster, uid }: Binding): Binding | null => {
      const found = old?.bindings.get(cluster);
      return found?.uid === uid ? found : null;
    };
    return [{ document, record, bindings, was, targeted, kept }];
  });
}

/** How many clusters are asked for: of all that match, with those that stay `kept` for now. */
function wantedBy({ document, targeted }: Rolling, kept: readonly Binding[]): number {
  const [kind, rest = ""] = document.policy.split(" ");
  if (kind === "PickN") return Number(rest);
  return kind === "PickFixed" ? rest.split(",").length : targeted + kept.length;
}

/** Those of `kept` about whom nobody can have approved anything yet: what was approved may only wait for its turn. */
const unasked = ({ record, kept }: Rolling, { before }: StateCommit): readonly Binding[] =>
  [record, before?.placements.get(record.key)].some((it) => it?.change?.request?.approval != null) ? [] : kept;

/** Percentages round up. */
function boundOf({ document }: Rolling, name: string, of: number): number {
  const written = optionsOf(document.options).get(name) ?? "25%";
  return written.endsWith("%") ? Math.ceil((Number(written.slice(0, -1)) * of) / 100) : Number(written);
}

/** Who is evicted in this commit: that is judged after the rollout, and has a budget of its own. */
function evictionsFrom({ key }: PlacementRecord, page: StateCommit, judge: Judge): (binding: Binding) => boolean {
  const own = executedIn(page, judge).flatMap((it) => (it.placement === key ? it.cluster : []));
  return ({ cluster }) => own.includes(cluster);
}

/** Whether a cluster answers and has what its target was, and well: nobody can see more. */
const isWell = (binding: Binding, target: Binding["target"], page: StateCommit): boolean =>
  target !== null &&
  binding.facts?.sequence === target.sequence &&
  binding.facts.applied === "applied" &&
  binding.facts.phase === "available" &&
  hasAnswered(page, binding.cluster);

const isNew = (binding: Binding, was: Binding | null): boolean =>
  binding.target !== null && binding.target.sequence !== was?.target?.sequence;

/** What nobody can see the health of counts, as soon as its time is over. */
const isPerhapsWell = (binding: Binding, page: StateCommit): boolean =>
  isWell(binding, binding.target, page) ||
  (binding.facts?.sequence === binding.target?.sequence && binding.facts?.phase === "untrackable");

/**
 * Whether a placement really is up on a cluster, whatever the record says: as its member had it when it was asked, as it
 * is now where nobody asked. Its member's own word that it is not counts all the same.
 */
function isReallyUp(
  { key }: PlacementRecord,
  { cluster, target, facts: told }: Binding,
  page: StateCommit,
  judge: Judge,
) {
  const { simulation } = judge;
  const { facts, commit } = page;
  const parent = simulation.hub.commitAt(commit).parent;
  const hasSaidNo = facts.answered.has(cluster) && told?.sequence === target?.sequence && told?.applied !== "pending";
  if (parent === null || hasSaidNo) return false;
  const up = facts.up.get(cluster) ?? availableAt(simulation.siteAt(cluster));
  const carried = renderedAt(simulation.hub, parent, cluster, key);
  return carried.length > 0 && carried.every((it) => up.get(`${key} ${it.key}`) === it.word);
}

/**
 * I-03: the removal of a ready cluster leaves as many ready ones as the bound asks for, of those that are wanted. One is
 * ready that the record calls so, and one that really is and was not heard to be otherwise.
 */
function* removesWithinBounds(page: StateCommit, judge: Judge): Generator<string> {
  for (const rolling of rollingIn(page, judge)) {
    const { record, bindings, was } = rolling;
    const isEvicted = evictionsFrom(record, page, judge);
    const taken = bindings.filter((it) => {
      const old = was(it);
      const isRemoved = it.removal !== null && old !== null && old.removal === null;
      if (!isRemoved || isEvicted(it)) return false;
      return isWell(it, old.target, page) || (!mayHaveFailed(it, record, page) && isReallyUp(record, it, page, judge));
    });
    if (taken.length === 0) continue;
    const wanted = wantedBy(rolling, unasked(rolling, page));
    const least = wanted - boundOf(rolling, "unavailable", wanted);
    // Updates and removals of one pass are bounded independently; what only comes to a cluster is not there yet.
    const isUpdated = (it: Binding): boolean => was(it)?.target != null && isNew(it, was(it));
    const left = bindings.filter(
      (it) =>
        (it.removal === null || isEvicted(it)) &&
        (isUpdated(it) || isPerhapsWell(it, page) || isReallyUp(record, it, page, judge)),
    );
    if (left.length < least)
      yield `${record.key} leaves ${namesOf(taken)}, and ${left.length} ready remain of at least ${least}`;
  }
}

/**
 * I-03: an update of clusters that really are up leaves as many of those that are wanted as the bound asks for. What a
 * member said in the very pass goes with the old target and stands in no record, so what is there has to tell.
 */
function* updatesWithinBounds(page: StateCommit, judge: Judge): Generator<string> {
  for (const rolling of rollingIn(page, judge)) {
    const { record, bindings, was, targeted, kept } = rolling;
    const isEvicted = evictionsFrom(record, page, judge);
    const isLate = (old: Binding): boolean => mayHaveFailed(old, record, page);
    const updated = bindings.filter((it) => {
      const old = was(it);
      if (old === null || old.target === null || old.removal !== null || !isNew(it, old)) return false;
      return it.target?.digest !== old.target.digest && it.removal === null && !isLate(old);
    });
    const taken = updated.filter((it) => isReallyUp(record, was(it) ?? it, page, judge));
    if (taken.length === 0) continue;
    const stay = unasked(rolling, page);
    const of = Math.min(wantedBy(rolling, stay), targeted + stay.length);
    const least = of - boundOf(rolling, "unavailable", of);
    const left = bindings.filter(
      (it) =>
        (it.state !== "Unscheduled" || kept.includes(it)) &&
        (it.removal === null || isEvicted(it)) &&
        !isNew(it, was(it)) &&
        (isPerhapsWell(it, page) || isReallyUp(record, it, page, judge)),
    );
    if (left.length < least)
      yield `${record.key} changes on ${namesOf(taken)}, and ${left.length} ready remain of at least ${least}`;
  }
}

/** Whether a cluster that is not picked any more keeps what is protected there, until somebody approves that it goes. */
function isKept(binding: Binding, { key }: PlacementRecord, page: StateCommit, judge: Judge): boolean {
  const { hub } = judge.simulation;
  const version = inForce(page.after, judge);
  const { parent } = hub.commitAt(page.commit);
  if (version === null || parent === null || binding.state !== "Unscheduled" || binding.removal !== null) return false;
  return renderedAt(hub, parent, binding.cluster, key).some((it) => isProtected(it.key, binding, version));
}

/** I-04: where clusters are added, whoever may hold a placement, failed ones apart, is within what is wanted and the surge. */
function* addsWithinBounds(page: StateCommit, judge: Judge): Generator<string> {
  for (const rolling of rollingIn(page, judge)) {
    const { record, bindings, was, kept } = rolling;
    const wanted = wantedBy(rolling, kept);
    const fresh = bindings.filter((it) => it.target !== null && was(it)?.target == null);
    const most = wanted + boundOf(rolling, "surge", wanted);
    const holding = bindings.filter((it) => it.target !== null && !mayHaveFailed(it, record, page));
    if (fresh.length > 0 && holding.length > most)
      yield `${record.key} is brought to ${namesOf(fresh)}, and ${holding.length} hold it, at most ${most} may`;
  }
}

function mayHaveFailed({ target, facts }: Binding, { spec }: PlacementRecord, page: StateCommit): boolean {
  if (facts?.applied === "failed" || facts?.phase === "failed") return true;
  return target !== null && (page.facts.attempt.decidedAt ?? 0) >= target.startedAt + spec.strategy.progressDeadline;
}

const namesOf = (bindings: readonly Binding[]): string => bindings.map((it) => it.cluster).join(", ");
