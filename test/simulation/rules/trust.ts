import type { Binding } from "../../../src/core/model/binding.ts";
import type { Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import type { TrustContent, TrustVersion } from "../people/trust-content.ts";
import { bindingsOf, type StateCommit, type StateCommitRule } from "../state-commit.ts";
import type { Hub } from "../world/hub.ts";
import { contentOf, keyOf, markOf, objectsAt } from "../world/observed-objects.ts";
import { type RenderedObject, renderedAt } from "../world/rendered.ts";
import { type ApprovedRequest, inForce, stoodThere } from "./counted-answers.ts";
import { requestsAt, runsAt, type SeenGate, type SeenRun } from "./recorded-runs.ts";

/** Promises about what a commit of the state branch takes for approved, by what people really signed. */
export const trustCommitRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-60", trustsWhatRootsSigned],
  ["I-39", opensWhatPeopleSigned],
  ["I-39", startsNothingByStolenKeys],
  ["I-59", changesWhatPeopleAllowed],
];

/** Promises about what reaches the protected places of a member. */
export const trustWriteRules: readonly (readonly [string, MemberWriteRule])[] = [["I-59", reachesWhatWasDecided]];

/** I-60: what is trusted is what enough roots signed, one version after the other, from the one that is vouched for. */
function* trustsWhatRootsSigned({ before, after }: StateCommit, judge: Judge): Generator<string> {
  const { anchor } = judge.simulation.approvers;
  const was = before?.trust ?? null;
  if (after.trust === null) {
    if (was !== null) yield "the trust file is forgotten";
    return;
  }
  if (after.trust.text === was?.text) return;
  const next = inForce(after, judge);
  if (next?.isProper !== true)
    return yield `version ${after.trust.trust.version} is trusted, and too few roots signed it`;
  judge.simulation.hit(was === null ? "trust file accepted" : "trust file renewed");
  const old = before === null ? null : inForce(before, judge);
  if (old === null ? next.digest !== anchor : next.previous !== old.digest || next.number !== old.number + 1)
    yield `version ${next.number} is trusted after ${old?.number ?? "none"}`;
}

/** Whether the trust file in force is the one that people see. */
export const standsThere = ({ trust, sourceCommit }: Ledger, { simulation }: Judge): boolean =>
  trust !== null && simulation.approvers.textAt(sourceCommit) === trust.text;

/** I-39: a gate or a change that is newly approved was approved by enough people, while the trust file stood there. */
function* opensWhatPeopleSigned(page: StateCommit, judge: Judge): Generator<string> {
  const { after, commit } = page;
  if (judge.simulation.approvers.anchor === null) return;
  const { hub } = judge.simulation;
  judge.countedAnswers.hear(page, judge);
  const known = new Set(requestsAt(hub, hub.commitAt(commit).parent).flatMap((it) => (it.isApproved ? it.digest : [])));
  for (const { name, digest, isApproved } of requestsAt(hub, commit)) {
    if (!isApproved || known.has(digest)) continue;
    const version = inForce(after, judge);
    if (version === null) yield `${name} is approved, and nothing says by whom`;
    else if (!standsThere(after, judge)) yield `${name} is approved while the trust file is broken`;
    else yield* isEnough(name, digest, version.words, page, judge);
  }
}

function* isEnough(
  name: string,
  digest: string,
  words: TrustContent,
  page: StateCommit,
  judge: Judge,
): Generator<string> {
  const { simulation, countedAnswers } = judge;
  simulation.hit(name.endsWith("-change") ? "change approved by signature" : "gate approved by signature");
  const who = countedAnswers.approvers(digest, page, judge);
  countedAnswers.opened.set(digest, { who, minimum: words.minimum });
  if (who.length < words.minimum) yield `${name} is approved by ${who.length} of ${words.minimum} people`;
  const no = simulation.approvers.votes.find(
    (it) =>
      it.digest === digest && it.decision === "Reject" && countedAnswers.counts(it) && stoodThere(it, page, judge),
  );
  if (no !== undefined) yield `${name} is approved, and ${no.who} rejected it in ${no.path}`;
}

/**
 * I-39: what was approved last by a key that turned out to be somebody else's starts nothing more, and takes nothing away.
 */
function* startsNothingByStolenKeys({ commit, after }: StateCommit, judge: Judge): Generator<string> {
  const stolen = inForce(after, judge)?.words.stolen ?? null;
  if (stolen === null) return;
  const { hub } = judge.simulation;
  const { parent } = hub.commitAt(commit);
  for (const it of requestsAt(hub, parent))
    if (
      it.isApproved &&
      it.name.endsWith("-change") &&
      judge.countedAnswers.opened.get(it.digest)?.who.includes(stolen)
    )
      judge.simulation.hit("change approved by a stolen key");
  const before = runsAt(hub, parent);
  for (const run of runsAt(hub, commit)) {
    const last = lastOpened(run, judge);
    if (last === null || !last.who.includes(stolen)) continue;
    judge.simulation.hit("run approved by a stolen key");
    if (last.who.length > last.minimum) continue;
    const old = startedIn(before.find((it) => it.uid === run.uid));
    const fresh = [...startedIn(run)].filter((it) => !old.has(it));
    if (fresh.length > 0)
      yield `run ${run.name} starts ${fresh.join(", ")} by the word of ${stolen}, whose key was stolen`;
  }
}

/** Who let a run go as far as it may, by the last of its gates that opened. */
function lastOpened({ stages }: SeenRun, { countedAnswers }: Judge): ApprovedRequest | null {
  const own = new Set(stages.flatMap((it) => [it.before?.digest, it.after?.digest]));
  return [...countedAnswers.opened].filter(([digest]) => own.has(digest)).at(-1)?.[1] ?? null;
}

const startedIn = (run: SeenRun | undefined): ReadonlySet<string> =>
  new Set(
    [...(run?.stages.flatMap((it) => it.clusters) ?? []), ...(run?.deletions ?? [])].flatMap((it) =>
      it.startedAt === null ? [] : it.name,
    ),
  );

/**
 * I-59: nothing that lies in a protected place becomes anything else in the record, unless enough people approved that
 * of this placement before: its change, or the stage of a run that brings just this.
 */
function* changesWhatPeopleAllowed(page: StateCommit, judge: Judge): Generator<string> {
  const version = inForce(page.after, judge);
  const isSigned = judge.simulation.approvers.anchor !== null;
  if (!isSigned || version?.words.places.length === 0 || page.before === null) return;
  for (const [record, binding] of bindingsOf(page.after)) {
    const old = page.before.placements.get(record.key)?.bindings.get(binding.cluster);
    const changed = changesOf(record, binding, old, page, judge).filter(
      // As long as nobody knows what is protected, everything is.
      (it) => version === null || isProtected(it, binding, version),
    );
    if (changed.length === 0) continue;
    judge.simulation.hit("protected change");
    if (version === null || !isAllowed(record, binding, version.words, page, judge))
      yield `${record.key} changes ${changed.join(", ")} on ${binding.cluster}, which nobody allowed`;
  }
}

export const isProtected = (key: string, { cluster }: Pick<Binding, "cluster">, { words }: TrustVersion): boolean =>
  words.places.some((it) => it.cluster === cluster && it.namespace === namespaceIn(key));

/** `group/kind/namespace/name`; a Namespace lies in itself. */
function namespaceIn(key: string): string {
  const [group, kind, namespace = "", name = ""] = key.split("/");
  return group === "" && kind === "Namespace" ? name : namespace;
}

/** Keys of what is to be something else on a cluster, by the files that show it. */
function changesOf(
  { key }: PlacementRecord,
  { cluster, target, removal }: Binding,
  old: Binding | undefined,
  { commit }: StateCommit,
  { simulation }: Judge,
): readonly string[] {
  const { hub } = simulation;
  const parent = hub.commitAt(commit).parent;
  if (parent === null) return [];
  const contents = (at: Commit) => new Map(renderedAt(hub, at, cluster, key).map((it) => [it.key, it.content]));
  const nothing = new Map<string, string>();
  // What was taken away once may go for as long as it takes.
  const isThere = old !== undefined && old.target !== null && old.removal === null;
  const isStaying = target !== null && removal === null;
  if (isThere === isStaying && (!isThere || target?.digest === old.target?.digest)) return [];
  const [was, is] = [isThere ? contents(parent) : nothing, isStaying ? contents(commit) : nothing];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((it) => was.get(it) !== is.get(it));
  // A removal that is called off before it took anything away changes nothing.
  if (old?.removal == null || target?.digest !== old.target?.digest) return changed;
  const live = new Set(
    objectsAt(simulation.siteAt(cluster)).flatMap((it) => (it.mark?.placement === key ? it.key : [])),
  );
  return changed.filter((it) => !live.has(it));
}

function isAllowed(
  { key }: PlacementRecord,
  { cluster, target }: Binding,
  words: TrustContent,
  { commit, after }: StateCommit,
  judge: Judge,
): boolean {
  const { hub } = judge.simulation;
  const parent = hub.commitAt(commit).parent;
  const isFull = (digest: string | null): boolean => judge.countedAnswers.isFull(digest, words);
  const changes = standsThere(after, judge) ? requestsAt(hub, parent) : [];
  const isChange = changes.some(
    (it) => it.name === `${key}-change` && it.isApproved && it.clusters.includes(cluster) && isFull(it.digest),
  );
  if (isChange) return true;
  const isOpen = (gate: SeenGate | null): boolean => gate?.isApproved === true && isFull(gate.digest);
  return runsAt(hub, parent)
    .filter((it) => it.placement === key)
    .flatMap((it) => it.stages)
    .some(
      (it) => isOpen(it.before) && it.clusters.some((own) => own.name === cluster && own.digest === target?.digest),
    );
}

interface PlacedObject {
  readonly ledger: Ledger;
  readonly stateCommit: Commit;
  readonly member: string;
  readonly placement: string;
  readonly key: string;
}

/**
 * What a placement is to carry of an object on a member. What it keeps there for another one is put right as it was to be
 * carried last (D 9).
 */
export function decidedFor(
  { ledger, stateCommit, member, placement, key }: PlacedObject,
  hub: Hub,
): RenderedObject | null {
  const renderedBy = (commit: Commit): RenderedObject | undefined =>
    renderedAt(hub, commit, member, placement).find((it) => it.key === key);
  const current = renderedBy(stateCommit);
  const isKept = bindingsOf(ledger).some(
    ([record, { cluster, leaving }]) =>
      record.key === placement &&
      cluster === member &&
      leaving.some((it) => it.handOver !== undefined && keyOf(it.id) === key),
  );
  if (current !== undefined || !isKept) return current ?? null;
  for (let at = hub.commitAt(stateCommit).parent; at !== null; at = hub.commitAt(at).parent) {
    const last = renderedBy(at);
    if (last !== undefined) return last;
  }
  return null;
}

/** I-59: whatever is written in a protected place of a member is what was decided; nothing else is taken away there. */
function* reachesWhatWasDecided(
  { request, ledger, stateCommit, incoming, before }: MemberWrite,
  judge: Judge,
): Generator<string> {
  const { kind, place, member, body, text } = request;
  const version = ledger === null ? null : inForce(ledger, judge);
  if (version === null || ledger === null || stateCommit === null || place === null || incoming.status >= 300) return;
  const key = keyOf(place);
  if (!version.words.places.some((it) => it.cluster === member && it.namespace === namespaceIn(key))) return;
  const { hub } = judge.simulation;
  if (kind === "apply" && body !== null) {
    const decided = decidedFor({ ledger, stateCommit, member, placement: markOf(body)?.placement ?? "", key }, hub);
    if (decided?.content !== contentOf(body)) yield `${text} on ${member} is not what was decided`;
  }
  if (kind !== "delete" || before === null) return;
  const owner = markOf(before)?.placement;
  const isWanted = bindingsOf(ledger).some(
    ([record, it]) =>
      record.key === owner &&
      it.cluster === member &&
      it.target !== null &&
      it.removal === null &&
      renderedAt(hub, stateCommit, member, record.key).some((own) => own.key === key),
  );
  if (isWanted) yield `${text} on ${member}, where it is wanted`;
}
