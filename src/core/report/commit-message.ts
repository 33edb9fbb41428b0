import type { Binding } from "../model/binding.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { ChangeRequest, Ledger, PlacementRecord } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import { type AnswerRecord, approversText, type TrustRecord } from "../model/trust.ts";
import { type ClusterName, compareText, type PlacementKey } from "../model/value.ts";
import { extentOf } from "../plan/guard/judge-deletions.ts";
import { quarantineText } from "../status/quarantine.ts";
import { rolloutLines } from "./commit-message-runs.ts";
import { quantity, someNames } from "./phrases.ts";

/** What changed between two ledgers, for a state commit: a line each, placements first; at most 200, then a count. */
export function describeChanges(before: Ledger, after: Ledger): readonly string[] {
  const lines = [
    ...trustChangeLines(before, after),
    ...rolloutLines(before, after),
    ...quarantineLines(before, after),
    ...placementLines(before, after),
    ...deletionLines(before, after),
    ...clusterLines(before, after),
  ];
  if (lines.length === 0 && after.sourceCommit !== null && after.sourceCommit !== before.sourceCommit)
    return [`accepted ${after.sourceCommit.slice(0, 7)}: nothing changes`];
  if (lines.length <= linesKept) return lines;
  return [...lines.slice(0, linesKept), `and ${lines.length - linesKept} more`];
}

const linesKept = 200;

/** The subject line of a state commit: at most 72 characters. */
export function commitSubject(lines: readonly string[]): string {
  const [first = "record status"] = lines;
  const subject = lines.length <= 1 ? first : `${first} (and ${lines.length - 1} more)`;
  return subject.length <= 72 ? subject : `${subject.slice(0, 71)}…`;
}

function* quarantineLines(before: Ledger, after: Ledger): Generator<string> {
  if (before.quarantines === after.quarantines) return;
  for (const [key, it] of after.quarantines)
    if (!before.quarantines.has(key)) yield `${key} is in quarantine: ${quarantineText(it.violations)}`;
  for (const key of before.quarantines.keys()) if (!after.quarantines.has(key)) yield `${key} is planned again`;
}

function* clusterLines(before: Ledger, after: Ledger): Generator<string> {
  if (before.clusters === after.clusters) return;
  for (const [name, next] of after.clusters) {
    const was = before.clusters.get(name);
    if (was === next) continue;
    if (next.kubeSystemUid !== null && (was?.kubeSystemUid ?? null) === null)
      yield `${name} joined (${next.properties.get(kubernetesVersionProperty) ?? "unknown version"})`;
    if (next.contactFailure !== null && was?.contactFailure?.code !== next.contactFailure.code)
      yield `${name} ${next.contactFailure.code}: ${next.contactFailure.message}`;
    if (next.contactFailure === null && was?.contactFailure != null) yield `${name} answers again`;
  }
  for (const name of before.clusters.keys())
    if (!after.clusters.has(name)) yield `${name} left the fleet; nothing is written to it or deleted from it any more`;
}

function* placementLines(before: Ledger, after: Ledger): Generator<string> {
  if (before.placements === after.placements) return;
  const keys = [...new Set([...before.placements.keys(), ...after.placements.keys()])].sort(compareText);
  for (const key of keys) {
    const was = before.placements.get(key);
    const next = after.placements.get(key);
    if (was === next) continue;
    if (next === undefined)
      yield `${key} is removed from every member${letsGo(was) ? "; what it released stays there" : ""}`;
    else yield* recordLines(key, was, next);
  }
}

function* recordLines(key: PlacementKey, was: PlacementRecord | undefined, next: PlacementRecord): Generator<string> {
  if (was === undefined) yield `${key} is new`;
  if (next.deleting !== null && was?.deleting == null) yield `${key} was removed`;
  if (next.selectionError !== null && was?.selectionError !== next.selectionError)
    yield `${key} selects nothing usable: ${next.selectionError}`;
  const latest = next.resourceSnapshots.at(-1);
  if (latest !== undefined && latest.index !== was?.resourceSnapshots.at(-1)?.index)
    yield `${key} has resource snapshot ${latest.index}: ${quantity(latest.resources.length, "object")}`;
  yield* movements(key, was, next);
  const arrived = arrivals(was, next);
  if (arrived.length > 0) yield `${key} is available on ${someNames(arrived)}`;
  for (const [cluster, binding] of next.bindings) yield* newsOf(key, cluster, was?.bindings.get(cluster), binding);
}

/** Whether a removed binding leaves objects behind: adopted objects are released, not deleted. */
const isLetGo = ({ removal, leaving }: Binding): boolean =>
  leaving.length > 0 && (removal?.propagation === "Abandon" || leaving.some((it) => it.released));

const letsGo = (was: PlacementRecord | undefined): boolean => [...(was?.bindings.values() ?? [])].some(isLetGo);

/** Changes of bindings, one line per kind of change. */
function* movements(key: PlacementKey, was: PlacementRecord | undefined, next: PlacementRecord): Generator<string> {
  const moved: Record<string, ClusterName[]> = {};
  const note = (verb: string, cluster: ClusterName): void => {
    const clusters = moved[verb] ?? [];
    clusters.push(cluster);
    moved[verb] = clusters;
  };
  for (const [cluster, binding] of next.bindings) {
    const old = was?.bindings.get(cluster);
    if (old === undefined) note("is scheduled to", cluster);
    else if (old.state === "Unscheduled" && binding.state !== "Unscheduled") note("is scheduled again to", cluster);
    const isBack = old?.removal != null && binding.removal === null && old.target?.digest === binding.target?.digest;
    if (isBack) note("is wanted again on", cluster);
    else if (binding.target !== null && old?.target?.sequence !== binding.target.sequence)
      note(`moves to resource snapshot ${binding.target.resourceIndex} on`, cluster);
    if (binding.removal !== null && old?.removal == null) note("is being removed from", cluster);
    else if (binding.state === "Unscheduled" && old?.state !== "Unscheduled")
      note("is no longer scheduled to", cluster);
  }
  for (const [cluster, it] of was?.bindings ?? [])
    if (!next.bindings.has(cluster)) note(isLetGo(it) ? "has released its objects on" : "is gone from", cluster);
  for (const [verb, clusters] of Object.entries(moved)) yield `${key} ${verb} ${someNames(clusters)}`;
}

function* newsOf(key: PlacementKey, cluster: ClusterName, was: Binding | undefined, next: Binding): Generator<string> {
  const { facts } = next;
  if (facts === null || facts === was?.facts) return;
  const before = was?.facts ?? null;
  if (
    facts.adopted.length > 0 &&
    !sameJson((before?.adopted ?? []) as unknown as Json, facts.adopted as unknown as Json)
  )
    yield `${key} took over on ${cluster}: ${someNames(facts.adopted.map(objectText))}`;
  const isNews = before === null || before.phase !== facts.phase || before.applied !== facts.applied;
  if (!isNews) return;
  const [first] = facts.objectFailures;
  const why = first === undefined ? "" : `: ${objectText(first.id)}: ${first.code}: ${first.message}`;
  if (facts.applied === "failed") yield `${key} failed to apply on ${cluster}${why}`;
  else if (facts.phase === "failed") yield `${key} is unhealthy on ${cluster}${why}`;
}

/** Clusters on which the target became available. */
const arrivals = (was: PlacementRecord | undefined, next: PlacementRecord): readonly ClusterName[] =>
  [...next.bindings.values()]
    .filter((it) => hasArrived(it) && !(was?.bindings.get(it.cluster)?.facts === it.facts || hadArrived(was, it)))
    .map((it) => it.cluster);

const hasArrived = ({ facts }: Binding): boolean =>
  facts?.applied === "applied" && (facts.phase === "available" || facts.phase === "untrackable");

const hadArrived = (was: PlacementRecord | undefined, { cluster, facts }: Binding): boolean => {
  const before = was?.bindings.get(cluster)?.facts ?? null;
  return before?.phase === facts?.phase && before?.applied === facts?.applied;
};

function* deletionLines(before: Ledger, after: Ledger): Generator<string> {
  for (const held of after.deletions.held) {
    const was = before.deletions.held.find((it) => it.digest === held.digest);
    const { objects, clusters } = extentOf(held);
    const what = `${quantity(objects, "deletion")} on ${someNames(clusters)}`;
    if (held.confirmed && was?.confirmed !== true)
      yield held.because === "protected"
        ? `${what} ${objects === 1 ? "was" : "were"} approved, with objects of others`
        : `${what} ${objects === 1 ? "was" : "were"} confirmed by ${held.digest}`;
    else if (was === undefined) {
      const answer = held.because === "protected" ? "an approval" : `a confirmation of ${held.digest}`;
      yield `${what} ${objects === 1 ? "waits" : "wait"} for ${answer}`;
    }
  }
  for (const { digest, outcome } of after.deletions.confirmations.values())
    if (outcome === "void" && !before.deletions.confirmations.has(digest))
      yield `the confirmation of ${digest} confirms nothing: no deletion waits for it`;
}

/** Changes of trust, answers and requests for protected changes, in words. */
function* trustChangeLines(before: Ledger, after: Ledger): Generator<string> {
  if (after.trust !== null && after.trust !== before.trust) yield acceptedText(after.trust);
  if (after.answers !== before.answers)
    for (const [path, it] of after.answers)
      if (before.answers.get(path)?.judgement !== it.judgement) yield judgedText(path, it);
  if (after.formerNames !== before.formerNames) yield* formerNameLines(before.formerNames, after.formerNames);
  if (after.placements === before.placements) return;
  for (const [key, { change }] of after.placements) {
    const was = before.placements.get(key)?.change ?? null;
    if (change !== was) yield* changeLines(key, was, change);
  }
}

function* formerNameLines(before: Ledger["formerNames"], after: Ledger["formerNames"]): Generator<string> {
  for (const [uid, { names: known }] of after) {
    const fresh = known.filter((it) => before.get(uid)?.names.includes(it) !== true);
    if (fresh.length > 0)
      yield `the cluster formerly named ${someNames(fresh)} (kube-system uid ${uid}) stays protected under any name`;
  }
  for (const [uid, { names: known }] of before) {
    const left = after.get(uid)?.names ?? [];
    const gone = known.filter((it) => !left.includes(it));
    if (gone.length > 0)
      yield `the cluster formerly named ${someNames(gone)} (kube-system uid ${uid}) is no longer protected as such`;
  }
}

const acceptedText = ({ trust: { version, digest }, by }: TrustRecord): string => {
  const who = by === "anchor" ? "the operator's anchor vouches for it" : `signed by ${by.join(" and ")}`;
  return `version ${version} of trust/root.yaml is in force (SHA-256 ${digest}): ${who}`;
};

const judgedText = (path: string, { file, judgement }: AnswerRecord): string =>
  judgement.kind === "counts"
    ? `${path} counts: ${file.decision} by ${file.principal} (${judgement.proofs.map((it) => it.key).join(", ")})`
    : `${path} of ${file.principal} does not count: ${judgement.code}: ${judgement.because}`;

function* changeLines(key: string, was: ChangeRequest | null, change: ChangeRequest | null): Generator<string> {
  const request = change?.request ?? null;
  if (change === null || request === null) return;
  if (request.digest !== was?.request?.digest)
    yield `${key} requests an approval to change ${someNames([...change.clusters.keys()])}: ${request.digest}`;
  if (request.approval !== null && was?.request?.approval == null)
    yield `the change to ${key} was approved by ${approversText(request.approval)}`;
}
