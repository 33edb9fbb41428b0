import { createHash } from "node:crypto";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { HeldDeletion } from "../../../src/core/model/deletion.ts";
import { canonicalJson, type Json } from "../../../src/core/model/json.ts";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { ClusterName, Commit, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import type { StateCommit, StateCommitRule } from "../state-commit.ts";
import { type Entry, keyOf, markOf } from "../world/observed-objects.ts";
import { entryOf, setsOf, took, whatOf } from "./deletions.ts";
import { fateOf } from "./fates.ts";
import { wantersOf } from "./wanted.ts";
import { isTooNew } from "./writes.ts";

/** Promises about what people confirm: just what they were shown, and once (D 3). */
export const confirmationWriteRules: readonly (readonly [string, MemberWriteRule])[] = [
  ["I-29", deletesWhatStoodThere],
  ["I-31", sparesNamespacesOfOthers],
];

export const confirmationCommitRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-29", asksForWhatItHolds],
  ["I-29", confirmsOnce],
  ["I-29", asksForWhatIsDeleted],
];

/**
 * By a confirmation goes nothing that was placed once more after it had been given, or that another placement was to have
 * since. What its placement only puts right on its way out is placed as it was.
 */
function* deletesWhatStoodThere(write: MemberWrite, judge: Judge): Generator<string> {
  const { people } = judge.simulation;
  if (!took(write) || write.ledger === null || write.before === null) return;
  const entry = entryOf(write);
  const mark = markOf(write.before);
  if (entry === null || mark === null) return;
  const placed = bindingAt(write.ledger, write, entry)?.target?.sequence ?? mark.sequence;
  for (const { confirmed, digest } of setsOf(write.ledger, write, entry)) {
    const given = people.given.get(digest);
    if (!confirmed || given === undefined) continue;
    const what = `${whatOf(write)} by ${digest.slice(0, 8)}, given at ${given.sequence}`;
    const isPutRight = mark.placement === entry.placement && placed <= given.sequence;
    if (mark.sequence > given.sequence && !isPutRight)
      yield `${what}, although it was placed again at ${mark.sequence}`;
    for (const it of wantersSince(given.sequence, write, entry, judge))
      yield `${what}, although ${it} was to have it since`;
  }
}

const bindingAt = (ledger: Ledger, { request }: MemberWrite, { placement }: Entry): Binding | undefined =>
  ledger.placements.get(placement as PlacementKey)?.bindings.get(request.member as ClusterName);

/** Who certainly wanted an object that leaves by any record since a sequence, besides who has it. */
function wantersSince(
  since: number,
  { stateCommit, request: { member } }: MemberWrite,
  { placement, key }: Entry,
  { simulation, inForce }: Judge,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = stateCommit; at !== null; at = simulation.hub.commitAt(at).parent) {
    const ledger = simulation.ledger(at);
    if (ledger === null || ledger.sequence <= since) break;
    for (const it of wantersOf(key, { ledger, member, besides: placement }, inForce)) found.add(it);
  }
  return found;
}

/**
 * I-31: a namespace takes along nothing of others but what people were shown, by its uid, when they confirmed it. No server
 * can tell a process that was held up between its look and its deletion what another one put there meanwhile.
 */
function* sparesNamespacesOfOthers(write: MemberWrite, { simulation }: Judge): Generator<string> {
  if (!took(write) || write.request.place?.kind !== "Namespace" || write.ledger === null) return;
  const entry = entryOf(write);
  const sets = entry === null ? [] : setsOf(write.ledger, write, entry).filter((it) => it.confirmed);
  const shown = new Set(
    sets.flatMap((it) =>
      // What was approved instead is held against that when it is decided.
      shownOthers(write, it.because === "protected" ? it : simulation.people.given.get(it.digest)?.set),
    ),
  );
  for (const it of write.inside) {
    if (it.isTerminating || it.place.name === "kube-root-ca.crt" || isTooNew(write, it.object)) continue;
    if (shown.has(`${it.key} ${it.uid}`)) simulation.hit("others along");
    else if (write.isStale) simulation.hit("overtaken deletion");
    else yield `${whatOf(write)}, which holds ${it.key}`;
  }
}

/** What of others a set that was shown names in the namespace that goes. */
const shownOthers = ({ request }: MemberWrite, set: HeldDeletion | null | undefined): readonly string[] =>
  (set?.others ?? [])
    .filter((it) => it.cluster === request.member && request.place !== null && keyOf(it.id) === keyOf(request.place))
    .flatMap((it) => it.objects.map((other) => `${keyOf(other)} ${other.uid}`));

/** The digest that people confirm is that of what goes: a set that is new tells it truly, and no two have the same. */
function* asksForWhatItHolds({ before, after }: StateCommit): Generator<string> {
  const known = new Set(before?.deletions.held.map((it) => it.digest));
  for (const held of after.deletions.held)
    if (!known.has(held.digest) && !digestsOf(held, before).includes(held.digest))
      yield `the digest ${held.digest.slice(0, 8)} is not that of what waits under it`;
}

/** The digest of a set, computed once more; with the numbers of a few askings. */
function digestsOf({ because, groups, others }: HeldDeletion, before: Ledger | null): readonly string[] {
  const uidOf = (cluster: ClusterName): string => before?.clusters.get(cluster)?.kubeSystemUid ?? "";
  const places = groups.flatMap((it) => it.clusters.map((cluster) => ({ ...it, cluster })));
  const lines = (rows: readonly Json[]): readonly string[] => [...new Set(rows.map((it) => JSON.stringify(it)))].sort();
  const said = {
    because,
    objects: lines(places.flatMap((it) => it.objects.map((id) => [it.cluster, uidOf(it.cluster), keyOf(id)]))),
    others: lines(others.flatMap((it) => it.objects.map((id) => [it.cluster, keyOf(it.id), keyOf(id), id.uid]))),
    bases: lines(
      places.map(({ placement, cluster }) => {
        const binding = before?.placements.get(placement)?.bindings.get(cluster);
        return [placement, cluster, binding?.uid ?? "", binding?.target?.sequence ?? 0];
      }),
    ),
  };
  const askings = Array.from({ length: 20 }, (_, at) => (at === 0 ? said : { ...said, asking: at + 1 }));
  return askings.map((it) => createHash("sha256").update(canonicalJson(it)).digest("hex"));
}

/**
 * People are asked about what is to be deleted and not about what is released; and what leaves by another removal than it
 * was asked about for is asked about anew.
 */
function* asksForWhatIsDeleted({ before, after }: StateCommit): Generator<string> {
  for (const { digest, groups, because } of after.deletions.held)
    for (const [placement, cluster, id] of groups.flatMap((it) =>
      it.clusters.flatMap((own) => it.objects.map((id) => [it.placement, own, id] as const)),
    )) {
      const [was, is] = [before, after].map((it) => it?.placements.get(placement)?.bindings.get(cluster));
      const leave = is?.leaving.find((it) => keyOf(it.id) === keyOf(id));
      if (is === undefined || leave === undefined) continue;
      const what = `${keyOf(id)} of ${placement} on ${cluster} is asked about by ${digest.slice(0, 8)}`;
      if (fateOf(leave, is) === "release" && because !== "foreign" && because !== "protected")
        yield `${what}, and is to be released`;
      // What left before its placement did is still to leave by the edit that took it away, also where the commit of the removal
      // is why nobody takes it any more.
      const left = was?.leaving.find((it) => keyOf(it.id) === keyOf(id))?.cause;
      const isFirst = left === was?.removal?.cause && leave.cause !== left;
      const isOld = before?.deletions.held.some((it) => it.digest === digest) === true;
      const isOther = was?.uid === is.uid && was.removal !== null && was.removal.sequence !== is.removal?.sequence;
      if (isOld && isFirst && isOther) yield `${what}, of a removal that was called off`;
    }
}

/** A set is confirmed by a file that was not there when the source was read last, and no digest ever twice. */
function* confirmsOnce({ before, after }: StateCommit, judge: Judge): Generator<string> {
  const { people } = judge.simulation;
  for (const { digest, confirmed, because } of after.deletions.held) {
    if (!confirmed || before?.deletions.held.some((it) => it.digest === digest && it.confirmed) === true) continue;
    if (because === "protected") continue;
    const path = `approvals/deletions/${digest}.yaml`;
    if (!people.at(after.sourceCommit as Commit).has(path)) yield `${digest.slice(0, 8)} is confirmed by no file`;
    if (before?.sourceCommit != null && people.at(before.sourceCommit).has(path))
      yield `${digest.slice(0, 8)} is confirmed by a file that was read before`;
    if (judge.confirmed.has(digest)) yield `${digest.slice(0, 8)} is confirmed twice`;
    judge.confirmed.add(digest);
  }
}
