import type { Ledger, ResourceSnapshot } from "../../src/core/model/ledger.ts";
import { objectKey } from "../../src/core/model/manifest.ts";
import type { Document } from "./people/document.ts";
import type { Draft } from "./people/people.ts";
import type { Outcome } from "./processes.ts";
import { strikesOnWaits } from "./strikes-runs.ts";
import { strikesOnTrust } from "./strikes-trust.ts";

const nodeCount = "kubernetes-fleet.io/node-count";

/** Objects that stood by themselves in one version and in an envelope in the next, or the other way round. */
function* strikesOnEnvelopes(was: ResourceSnapshot | undefined, is: ResourceSnapshot | undefined): Generator<string> {
  if (was === undefined || is === undefined || was === is) return;
  const before = new Map(was.resources.map((it) => [objectKey(it.id), it]));
  for (const { id, envelope } of is.resources) {
    const old = before.get(objectKey(id));
    if (old === undefined || (old.envelope === undefined) === (envelope === undefined)) continue;
    yield envelope === undefined ? "moved out of an envelope" : "moved into an envelope";
  }
}

/** Names what a commit of the state branch shows to have struck: what people did, and how workloads fared. */
export function* strikes(before: Ledger | null, after: Ledger, said: Draft): Generator<string> {
  for (const it of said.values()) {
    if (it.kind === "broken") yield `broken ${it.how}`;
    if (isTainted(it)) yield "cluster tainted";
    if (it.kind === "override") yield it.object.startsWith("Namespace ") ? "override" : "override of one object";
  }
  for (const [name, { generation, properties }] of after.clusters) {
    const old = before?.clusters.get(name);
    if (old === undefined) yield "cluster joined";
    else if (old.generation !== generation) yield "cluster relabelled";
    const nodes = old?.properties.get(nodeCount);
    if (nodes !== undefined && nodes !== properties.get(nodeCount)) yield "other number of nodes";
  }
  const unconfirmed = new Set(before?.deletions.held.flatMap((it) => (it.confirmed ? [] : it.digest)));
  if (after.deletions.held.some((it) => it.confirmed && unconfirmed.has(it.digest))) yield "confirmation";
  if (after.deletions.held.some((it) => it.others.length > 0)) yield "others asked about";
  const known = new Set(before?.deletions.held.map((it) => it.digest));
  const isBeside = after.deletions.held.some((it) => it.confirmed && known.has(it.digest));
  if (isBeside && after.deletions.held.some((it) => !it.confirmed && !known.has(it.digest)))
    yield "deletions waited beside confirmed ones";
  const judged = before?.deletions.confirmations;
  for (const { digest, outcome } of after.deletions.confirmations.values())
    if (judged?.has(digest) !== true) yield `confirmation ${outcome}`;
  yield* strikesOnLeaving(before, after);
  if (before !== null) yield* strikesOnReleases(before, after);
  for (const name of before?.clusters.keys() ?? []) if (!after.clusters.has(name)) yield "cluster left";
  for (const [key, { deleting, bindings, resourceSnapshots }] of after.placements) {
    yield* strikesOnEnvelopes(before?.placements.get(key)?.resourceSnapshots.at(-1), resourceSnapshots.at(-1));
    if (deleting !== null && before?.placements.get(key)?.deleting == null) yield "placement removed";
    for (const { facts } of bindings.values()) {
      if (facts?.applied !== "applied") continue;
      if (facts.phase === "progressing") yield "workload late";
      if (facts.phase === "failed") yield "workload failed";
    }
  }
}

/** How the scheduler decides by what is in force, and whether that is new. */
export function* strikesOnProfiles(was: Draft | null, is: Draft): Generator<string> {
  const profile = profileIn(is);
  if (profile === "kubefleet") yield "profile kubefleet";
  if (was !== null && profileIn(was) !== profile) yield "profile changed";
}

/** How the scheduler decides by what people say. */
export function profileIn(said: Draft): "default" | "kubefleet" {
  const document = said.get("fleet.yaml");
  return document?.kind === "guards" ? document.profile : "default";
}

/** What is to become of objects was changed while some of them were on their way out. */
function* strikesOnLeaving(before: Ledger | null, after: Ledger): Generator<string> {
  for (const [key, { spec, bindings }] of after.placements) {
    const was = before?.placements.get(key);
    const isOther =
      was?.spec.strategy.propagationPolicy !== spec.strategy.propagationPolicy ||
      was.spec.strategy.deleteAdopted !== spec.strategy.deleteAdopted;
    if (was !== undefined && (was.change?.leaves.size ?? 0) > 0 && isOther) yield "fate edited while asked";
    if (was === undefined || ![...bindings.values()].some((it) => it.leaving.length > 0)) continue;
    if (was.spec.strategy.propagationPolicy !== spec.strategy.propagationPolicy) yield "deleteStrategy while leaving";
    if (was.spec.strategy.deleteAdopted !== spec.strategy.deleteAdopted) yield "delete-adopted while leaving";
  }
}

/** A quarantine ended although people asked for nothing else: alone, or while a neighbour hands over or takes. */
function* strikesOnReleases(before: Ledger, after: Ledger): Generator<string> {
  if (before.sourceCommit !== after.sourceCommit) return;
  const ended = [...before.quarantines.keys()].filter((it) => !after.quarantines.has(it));
  if (ended.length === 0) return;
  yield "quarantine ended by a release";
  for (const [key, { bindings }] of before.placements)
    for (const { leaving } of bindings.values())
      for (const { handOver } of leaving)
        if (handOver !== undefined && (ended.includes(handOver.to) || ended.includes(key)))
          yield ended.includes(handOver.to) ? "release amid a hand-over to it" : "release amid a hand-over of it";
}

const isTainted = (it: Document): boolean => it.kind === "cluster" && it.words.includes("taint:");

/** Names what a pass says that it met. */
export function* strikesOn(outcome: Outcome): Generator<string> {
  if (outcome.kind === "fault" && outcome.fault.code === "SourceBranchMissing") yield "source absent";
  if (outcome.kind !== "result") return;
  if (outcome.result.kind === "superseded") yield "superseded";
  if (outcome.result.kind !== "passed") return;
  yield* strikesOnWaits(outcome.result.plan.reasons);
  yield* strikesOnTrust(outcome.result.plan.reasons);
  for (const it of outcome.result.plan.reasons) {
    if (it.kind === "confirmationNeeded") yield "deletions waited";
    if (it.kind === "sourceHeld") yield it.code === "SourceEmpty" ? "source emptied" : "source rewritten";
    if (it.kind === "unreachable" && it.code === "IdentityChanged") yield "identity changed";
  }
}
