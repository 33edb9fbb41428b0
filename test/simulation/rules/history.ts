import { isDeepStrictEqual } from "node:util";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import { bindingsOf, type StateCommit, type StateCommitRule } from "../state-commit.ts";
import { objectsAt } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";
import { removesForAReason } from "./removals.ts";

/** Promises about the history of the state branch. */
export const historyRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-21", losesNothing],
  ["I-22", tellsTheTruth],
  ["I-25", namesItsSource],
  ["I-32", believesOnlyWhatGoesOn],
  ["I-32", removesForAReason],
];

/** I-21: sequences are contiguous, and what was written down once is there later or followed by something later. */
function* losesNothing({ before, after }: StateCommit): Generator<string> {
  const expected = (before?.sequence ?? 0) + 1;
  if (after.sequence !== expected) yield `sequence ${after.sequence} follows ${expected - 1}`;
  if (before === null) return;
  if (after.fleet !== before.fleet) yield `the fleet is called ${after.fleet} after ${before.fleet}`;
  if (after.epoch < before.epoch) yield `epoch ${after.epoch} follows ${before.epoch}`;
  for (const [record, binding] of bindingsOf(after)) {
    const old = before.placements.get(record.key)?.bindings.get(binding.cluster);
    if (old === undefined || old.uid !== binding.uid) continue;
    // A cluster that is picked again while its removal is under way begins with nothing.
    const without = binding.removal?.sequence ?? (old.removal === null ? 0 : Infinity);
    const [was, is] = [old.target?.sequence ?? 0, binding.target?.sequence ?? without];
    if (is < was) yield `the target of ${record.key} on ${binding.cluster} goes back from sequence ${was} to ${is}`;
  }
  for (const held of before.deletions.held) {
    // The same objects may be taken away once more, by another commit.
    const now = after.deletions.held.find((it) => it.digest === held.digest && it.cause === held.cause);
    if (held.confirmed && now?.confirmed === false) yield `the confirmation ${held.digest.slice(0, 8)} was forgotten`;
  }
  yield* rewritten(before, after);
  yield* forgotten(before, after);
}

/** Snapshots that say something else than they did, and newest ones that are older than they were. */
function* rewritten(before: Ledger, after: Ledger): Generator<string> {
  for (const [key, { uid, resourceSnapshots }] of after.placements) {
    const was = before.placements.get(key);
    const snapshots = was?.uid === uid ? was.resourceSnapshots : [];
    const [newest, last] = [resourceSnapshots.at(-1)?.index ?? -1, snapshots.at(-1)?.index ?? -1];
    if (newest < last) yield `resource snapshot ${newest} of ${key} is its newest after ${last}`;
    for (const old of snapshots) {
      const now = resourceSnapshots.find((it) => it.index === old.index);
      if (now !== undefined && now.hash !== old.hash) yield `resource snapshot ${old.index} of ${key} changed`;
    }
  }
}

/** Bindings that had something to carry, are not there any more, and were never decided to go. */
function* forgotten(before: Ledger, after: Ledger): Generator<string> {
  for (const [record, { cluster, target, removal }] of bindingsOf(before)) {
    if (target === null || removal !== null || !after.clusters.has(cluster)) continue;
    if (after.placements.get(record.key)?.bindings.has(cluster) !== true)
      yield `${record.key} on ${cluster} is forgotten, and nobody took it away`;
  }
}

/** I-22: applied is what was acknowledged, available what was seen to be, and nobody is well who did not answer. */
function* tellsTheTruth({ facts, commit, before, after }: StateCommit, judge: Judge): Generator<string> {
  for (const [name, { contactFailure, kubeSystemUid }] of after.clusters) {
    const isUsable = judge.inForce.at(after.sourceCommit as Commit).has(`clusters/${name}.yaml`);
    // Who was not asked is as well as before, or as its process heard earlier and had not written down.
    const isKnown =
      before?.clusters.get(name)?.contactFailure === null || judge.heard.get(facts.process)?.has(name) === true;
    const isAsBefore = facts.attempt.unheard.has(name) && isKnown;
    if (contactFailure === null && kubeSystemUid !== null && isUsable && !facts.answered.has(name) && !isAsBefore)
      yield `${name} is well, and did not answer in this pass`;
  }
  for (const [record, binding] of bindingsOf(after)) {
    const { cluster, facts: told, target, removal } = binding;
    const old = before?.placements.get(record.key)?.bindings.get(cluster)?.facts;
    if (told?.applied !== "applied" || told.sequence !== target?.sequence || isDeepStrictEqual(told, old)) continue;
    // What goes is not said to stay as it was.
    if (removal !== null) continue;
    const uid = after.clusters.get(cluster)?.kubeSystemUid;
    // Of a member that left, what it said last stands.
    if (uid == null) continue;
    const site = judge.simulation.siteAt(cluster);
    const terminating = facts.attempt.wasHeld ? [] : objectsAt(site).filter((it) => it.isTerminating);
    for (const manifest of renderedAt(judge.simulation.hub, commit, cluster, record.key)) {
      const { key, content, image } = manifest;
      if (terminating.some((it) => it.key === key))
        yield `${record.key} is applied on ${cluster}, and ${key} is being deleted`;
      if (judge.acknowledged.get(`${uid} ${key}`)?.has(content) !== true)
        yield `${record.key} is applied on ${cluster}, and ${key} was not written like that last`;
      // What was up stays so while what others changed is put right, and each repair has to come up again.
      const stays = old?.phase === "available" && old.sequence === told.sequence;
      if (
        told.phase === "available" &&
        !stays &&
        image !== null &&
        !judge.wasUp(facts.process, `${uid} ${key}`, { image, sequence: told.sequence })
      )
        yield `${record.key} is available on ${cluster}, and ${key} was not seen available with ${image}`;
    }
  }
}

/** I-25: the record says from which commit it was made, which is one that people pushed. */
function* namesItsSource({ commit, after }: StateCommit, { simulation: { hub, people } }: Judge): Generator<string> {
  if (!hub.commitAt(commit).message.includes(`Source-Commit: ${after.sourceCommit}`))
    yield `${commit} names no source commit`;
  if (after.sourceCommit !== null && !people.pushed.includes(after.sourceCommit))
    yield `${after.sourceCommit} was accepted, and people never pushed it`;
}

/** I-32: an emptied source branch is not believed, and one that was rewritten only where the operator says so. */
function* believesOnlyWhatGoesOn({ before, after }: StateCommit, { simulation }: Judge): Generator<string> {
  const [from, to] = [before?.sourceCommit ?? null, after.sourceCommit];
  if (from === null || to === null || from === to) return;
  const { hub, people, rewrites } = simulation;
  if (people.at(to).size === 0 && people.at(from).size > 0) yield `${to} was accepted, and holds nothing`;
  if (!hub.descends(to, from) && !rewrites.has(`${from}..${to}`))
    yield `${to} was accepted after ${from}, from which it does not descend`;
}
