import { type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import { wordIn } from "../people/document.ts";
import type { ObjectPlace } from "../world/call.ts";
import { claimsAt, contentOf, identityAt, keyOf, markOf, uidOf } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";

/** Promises about what is written to members. */
export const writeRules: readonly (readonly [string, MemberWriteRule])[] = [
  ["I-32", staysWhereItBelongs],
  ["I-34", takesOnlyWhatItMay],
  ["I-14", writesNothingThatGoes],
  ["I-51", claimsForwardOnly],
  ["I-51", goesForwardOnly],
  ["F-41", backsOff],
];

/**
 * I-32: nothing is written to a cluster that left the fleet, or that is another one than the one that joined. What was
 * under way when the decision fell cannot be called back.
 */
function* staysWhereItBelongs({ request, ledger, site, incoming }: MemberWrite): Generator<string> {
  if (incoming.status >= 300 || request.late !== null) return;
  const known = ledger?.clusters.get(request.member as ClusterName);
  if (known === undefined) yield `${request.text} on ${request.member}, which is no member`;
  else if (known.kubeSystemUid !== identityAt(site))
    yield `${request.text} on ${request.member}, which is another cluster than the one that joined`;
}

/**
 * I-34: what exists and is not ours is written only where whenToTakeOver allows it, and never when another placement
 * has it: of two that the inventory lists it under, the one whose mark it bears. Who was held up may find that what was its
 * own is not any more.
 */
function* takesOnlyWhatItMay(write: MemberWrite): Generator<string> {
  const { request, before, after, incoming, entries, isStale } = write;
  const { body, place } = request;
  if (request.kind !== "apply" || incoming.status >= 300 || before === null || body === null || place === null) return;
  const what = `${request.text} on ${request.member}`;
  const written = markOf(body);
  if (written === null) {
    yield `${what} without our mark`;
    return;
  }
  const mark = markOf(before);
  const holders = entries.filter((it) => it.key === keyOf(place) && it.uid === uidOf(before)).map((it) => it.placement);
  if (mark?.fleet === written.fleet && mark.placement === written.placement) return;
  const isOthers = mark !== null && holders.includes(mark.placement);
  if (isOthers && !isStale && holders.includes(written.placement) && carries(write, mark.placement, keyOf(place)))
    yield `${what}, which placement ${mark.placement} wrote and is to carry`;
  // Its mark was taken off by hand, or changed: the inventory still knows it by its uid.
  if (holders.includes(written.placement) || isTooNew(write, before) || isStale) return;
  if (isOthers) yield `${what}, which placement ${mark.placement} has`;
  const whenToTakeOver = strategyOf(write, written.placement);
  if (whenToTakeOver === "Never") yield `${what} existed before, and whenToTakeOver is Never`;
  if (whenToTakeOver === "IfNoDiff" && after !== null && wordIn(before) !== wordIn(after))
    yield `${what} existed before and said ${wordIn(before)}, and whenToTakeOver is IfNoDiff`;
}

/** Whether a placement is to carry an object there by the decision that the sender acts upon, and does not let go of it. */
function carries({ simulation, request, ledger, stateCommit }: MemberWrite, placement: string, key: string): boolean {
  const [of, cluster] = [placement as PlacementKey, request.member as ClusterName];
  const binding = ledger?.placements.get(of)?.bindings.get(cluster);
  if (stateCommit === null || binding === undefined || binding.removal !== null) return false;
  if (binding.leaving.some(({ id }) => keyOf(id) === key)) return false;
  return renderedAt(simulation.hub, stateCommit, cluster, of).some((it) => it.key === key);
}

/** Whether the sender has looked at an object, or at all of its kind, since it last stood still. */
function hasLookedSince({ facts, site }: MemberWrite, { kind, namespace, name }: ObjectPlace): boolean {
  const plural = `${kind.toLowerCase()}s`;
  const own = `${namespace === null ? "" : `/namespaces/${namespace}`}/${plural}/${name}`;
  return (
    facts.resumed === 0 ||
    [...facts.looks].some(
      ([at, event]) =>
        event >= facts.resumed && at.startsWith(`${site.name} `) && (at.endsWith(`/${plural}`) || at.endsWith(own)),
    )
  );
}

/**
 * I-14: what is known and being deleted is not written: no write keeps it, and the next pass would do it again. Who was held
 * up since it looked knows nothing of that.
 */
function* writesNothingThatGoes(write: MemberWrite): Generator<string> {
  const { request, before, incoming, entries } = write;
  const { place } = request;
  if (request.kind !== "apply" || incoming.status >= 300 || before === null || place === null) return;
  if (write.isStale || !hasLookedSince(write, place)) return;
  if (memberAt(before, "metadata", "deletionTimestamp") === null) return;
  if (entries.some((it) => it.key === keyOf(place) && it.uid === uidOf(before)))
    yield `${request.text} on ${request.member}, which is being deleted`;
}

/** An edited strategy counts for a cluster once rollout admits it there (B 9). */
const strategyOf = ({ ledger, request }: MemberWrite, placement: string) =>
  ledger?.placements.get(placement as PlacementKey)?.bindings.get(request.member as ClusterName)?.target?.applyStrategy
    .whenToTakeOver;

/** Somebody made the object when the process had last looked: no server can tell it in time. */
export function isTooNew({ site, facts }: Pick<MemberWrite, "site" | "facts">, object: JsonObject): boolean {
  const made = site.strangers.get(uidOf(object));
  if (made === undefined) return false;
  const looks = [...facts.looks].filter(([at]) => at.startsWith(`${site.name} `)).map(([, event]) => event);
  return made > Math.max(0, ...looks);
}

/**
 * I-51: the fence. What an inventory says of how far a placement has come never goes back, whoever writes it and
 * however late: its versions tell.
 */
function* claimsForwardOnly({ request, incoming, site, claims }: MemberWrite): Generator<string> {
  if (request.kind !== "note" || incoming.status >= 300) return;
  const now = new Map(claimsAt(site).map((it) => [it.placement, it]));
  for (const { placement, epoch, sequence } of claims) {
    const is = now.get(placement);
    if (is !== undefined && (is.epoch < epoch || (is.epoch === epoch && is.sequence < sequence)))
      yield `${request.text} on ${request.member} claims ${placement} with sequence ${is.sequence} after ${sequence}`;
  }
}

/**
 * I-51: the sequence that a placement wrote an object with never decreases, unless its writer was held up on the way.
 */
function* goesForwardOnly(write: MemberWrite, { sequences, simulation }: Judge): Generator<string> {
  const { request, after, incoming, isStale } = write;
  if (request.kind !== "apply" || incoming.status >= 300 || after === null) return;
  const mark = markOf(after);
  if (mark === null) return;
  const key = `${uidOf(after)} ${mark.placement}`;
  const [epoch, sequence] = sequences.get(key) ?? [0, 0];
  const isOlder = mark.epoch < epoch || (mark.epoch === epoch && mark.sequence < sequence);
  if (!isOlder) sequences.set(key, [mark.epoch, mark.sequence]);
  else if (isStale) simulation.hit("overtaken write");
  else yield `${request.text} on ${request.member} with sequence ${mark.sequence} after ${sequence}`;
}

const fightWindowMs = 600_000;
/** Three at once, then after 5, 10, 20 … seconds; some more where nobody could know that a repair was one. */
const mostRepairs = 12;

/**
 * F-41: what somebody else changes again and again is put right ever more rarely. A repair writes what was written last over
 * what others made of it; it counts by the clock of who writes, wherever that was put.
 */
function* backsOff(write: MemberWrite, { acknowledged, repairs, simulation }: Judge): Generator<string> {
  const { request, site, before, after, incoming, facts, isStale } = write;
  const { body, place, member } = request;
  if (place === null) return;
  const at = `${identityAt(site)} ${keyOf(place)}`;
  // It leaves, or is let go: whatever comes after is no repair of it.
  if (request.kind === "delete" || request.kind === "patch") repairs.delete(at);
  if (request.kind !== "apply" || incoming.status >= 300 || before === null || after === null || body === null) return;
  if (isStale || wordIn(before) === wordIn(after) || acknowledged.get(at)?.has(contentOf(body)) !== true) return;
  const now = facts.beganAt + facts.skew;
  const recent = [...(repairs.get(at) ?? []).filter((it) => Math.abs(now - it) < fightWindowMs), now];
  repairs.set(at, recent);
  if (recent.length > 3) simulation.hit("fight");
  if (recent.length > mostRepairs)
    yield `${request.text} on ${member} puts the same right ${recent.length} times in 10 minutes`;
}
