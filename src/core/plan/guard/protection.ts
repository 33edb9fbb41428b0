import type { Target } from "../../model/binding.ts";
import { exceededOn } from "../../model/fleet.ts";
import { digestOf, type Json } from "../../model/json.ts";
import type { ChangeRequest, PlacementRecord } from "../../model/ledger.ts";
import type { ObjectId } from "../../model/manifest.ts";
import type { Reason } from "../../model/reason.ts";
import type { ProtectedTarget, Request, Trust } from "../../model/trust.ts";
import { type ClusterName, compareText, type Digest } from "../../model/value.ts";
import { protectionRule, targetsReached } from "../../trust/protected.ts";
import { isMetBy } from "../../trust/rules.ts";
import {
  type ChangeRequestResult,
  isAsRequested,
  namesCurrentClusters,
  nextChangeRequest,
  outsideRuns,
} from "../approval/change-request.ts";
import { isUnknown, protectedCluster } from "../approval/former-names.ts";
import { isCompromised, rulesDigest } from "../approval/request-rules.ts";
import { carriedObjects } from "../moves/begin.ts";
import { grantsAt, type PlanContext } from "../moves/context.ts";
import { leavesOf, sameLeaves } from "../moves/leaves.ts";
import { type Move, manifestsOf } from "../moves/move.ts";
import type { Guarded, ProtectedMove } from "../moves/progress.ts";

/**
 * The one place where every change of what a member carries is held against what is protected, whatever brings it
 * about (`trust/README.md#d-17`, `plan/README.md#i-59`; `trust/README.md#t-32` to `#t-34`). Gives what was said of the
 * moves of a placement before, with these: what may not begin is asked for, together with all else that waits there.
 */
export function guardMoves(moves: readonly Move[], before: Guarded, context: PlanContext): Guarded {
  const { record } = context.consent;
  const beyond = moves.filter((it) => isBeyondGrant(it, context));
  if (beyond.length === 0 && (moves.length === 0 || !isAnythingProtected(context))) return before;
  const next: Writable = {
    waiting: new Set([...before.waiting, ...beyond]),
    asked: new Map(before.asked),
    unasked: new Set(before.unasked),
  };
  if (!isAnythingProtected(context)) return next;
  const approved = new Map<ChangeRequest, Request | null>();
  for (const move of moves) {
    // Nobody is asked about what nobody's approval allows.
    if (next.waiting.has(move)) continue;
    const mayBegin = record === null ? hold(move, next) : judge(move, next, { trust: record.trust, approved, context });
    if (!mayBegin) next.waiting.add(move);
  }
  return next;
}

/**
 * Whether a move brings anything to a cluster that the placement's tenant is not granted, as it was before a grant became
 * tighter: what is there stays as it is (`intent/README.md#clusters-of-tenants`).
 */
function isBeyondGrant({ record, binding, to }: Move, { world: { intent } }: PlanContext): boolean {
  const member = intent.clusters.get(binding.cluster);
  return to !== null && member !== undefined && exceededOn(member, grantsAt(record.key, intent)) !== null;
}

interface Writable {
  readonly waiting: Set<Move>;
  readonly asked: Map<ClusterName, ProtectedMove>;
  readonly unasked: Set<ClusterName>;
}

interface ApprovalLookup {
  readonly trust: Trust;
  /** Requests that were looked at: one look for all clusters of a placement. */
  readonly approved: Map<ChangeRequest, Request | null>;
  readonly context: PlanContext;
}

/**
 * Whether moves are looked at. An operator may say which trust file counts before one is accepted, since the state
 * branch is new or was lost: nobody knows what is protected then, and nothing changes until that file stands there.
 */
const isAnythingProtected = ({ consent: { record }, world }: PlanContext): boolean =>
  record === null ? world.trustAnchor !== null : record.trust.protectedTargets.length > 0;

function hold(move: Move, { unasked }: Writable): boolean {
  if (!isBehindClosedGate(move)) unasked.add(move.binding.cluster);
  return false;
}

/** What a closed gate will be asked for is not asked for here. */
const isBehindClosedGate = ({ gate }: Move): boolean =>
  gate?.hasApprovalTask === true && gate.request?.approval == null;

function judge(move: Move, { asked, unasked }: Writable, lookup: ApprovalLookup): boolean {
  const { cluster } = move.binding;
  const { trust, context } = lookup;
  // What cannot be rendered does not begin, and nobody can be asked about it.
  if (move.to?.rendering()?.kind === "failed") return true;
  if (isUnknown(cluster, context.ledger)) {
    const isFree = !reachesAny(move, trust, context);
    if (!isFree && !isBehindClosedGate(move)) unasked.add(cluster);
    return isFree;
  }
  const targets = reachedTargets(move, manifestsOf(move), trust, context);
  if (targets.length === 0) return true;
  // What is approved in this very pass is acted upon in the next one, and is nobody else's question until then.
  if (isBehindClosedGate(move)) return false;
  const gate = move.gate?.request ?? null;
  if (gate !== null && targets.every((it) => isMetBy(protectionRule(it), gate))) return true;
  const wanted = protectedMove(move, targets, context);
  // Of two that want something else, the first one decides: the newest run goes first.
  const first = asked.get(cluster) ?? { ...wanted, isGranted: isGranted(move, wanted, lookup) };
  asked.set(cluster, first);
  return first.isGranted && first.digest === wanted.digest && sameLeaves(first.leaves, wanted.leaves);
}

const protectedMove = (
  move: Move,
  targets: readonly ProtectedTarget[],
  context: PlanContext,
): Omit<ProtectedMove, "isGranted"> => ({
  digest: contentOf(move),
  leaves: leavesOf(move, context),
  others: [],
  index: move.to?.target.resourceIndex ?? null,
  targets,
});

const contentOf = ({ to }: Move): Digest | null => (to === null ? null : requestedContent(to.target));

/** Of what a cluster is to carry and how it is applied, as requests have it. */
export const requestedContent = ({ digest, applyStrategy }: Pick<Target, "digest" | "applyStrategy">): Digest =>
  digestOf([digest, applyStrategy as unknown as Json]);

/** The protected targets that a change reaches, by what is there and by what it brings. */
export const reachedTargets = (
  { record, binding }: Pick<Move, "record" | "binding">,
  brought: Brought,
  trust: Pick<Trust, "protectedTargets">,
  context: PlanContext,
): readonly ProtectedTarget[] =>
  targetsReached(
    trust,
    protectedCluster(binding.cluster, context.ledger),
    namespacesOf(record, binding, brought, context),
  );

type Brought = readonly { readonly id: ObjectId }[];

/** Whether a move reaches anything that is protected on one cluster or another. */
function reachesAny(move: Move, { protectedTargets }: Trust, context: PlanContext): boolean {
  const { record, binding } = move;
  const all = { protectedTargets: protectedTargets.map((it) => ({ ...it, clusters: ["*"] })) };
  const anywhere = { name: binding.cluster, uid: null, formerly: [] };
  return targetsReached(all, anywhere, namespacesOf(record, binding, manifestsOf(move), context)).length > 0;
}

/** Looked at for a cluster that is protected only: what it carries has to be rendered. */
function* namespacesOf(
  record: PlacementRecord,
  binding: Move["binding"],
  brought: Brought,
  context: PlanContext,
): Generator<string | null> {
  for (const id of carriedObjects(binding, record, context)) yield namespaceOf(id);
  for (const { id } of binding.leaving) yield namespaceOf(id);
  for (const { id } of brought) yield namespaceOf(id);
}

/** A Namespace belongs to itself; what is in none may matter to all of them. */
export const namespaceOf = ({ group, kind, namespace, name }: ObjectId): string | null =>
  group === "" && kind === "Namespace" ? name : namespace;

/** Whether just this was approved for a cluster of a placement before this pass. */
export function isApprovedBefore(
  record: PlacementRecord,
  cluster: ClusterName,
  wanted: Omit<ProtectedMove, "isGranted">,
  context: PlanContext,
): boolean {
  const trust = context.consent.record?.trust ?? null;
  return trust !== null && isGranted({ record, binding: { cluster } }, wanted, { trust, approved: new Map(), context });
}

function isGranted(
  { record, binding }: { readonly record: PlacementRecord; readonly binding: { readonly cluster: ClusterName } },
  { targets, ...wanted }: Omit<ProtectedMove, "isGranted">,
  { trust, approved, context }: ApprovalLookup,
): boolean {
  // What was approved goes no further either while nobody's word counts (`plan/README.md#d-6`).
  if (context.consent.closed !== null) return false;
  const { change } = record;
  if (change === null || !isAsRequested(change, binding.cluster, wanted)) return false;
  const known = approved.get(change);
  const request = known === undefined ? approvedRequest(record, change, trust, context) : known;
  approved.set(change, request);
  return request !== null && targets.every((it) => isMetBy(protectionRule(it), request));
}

/** The request for a placement's change, if it is approved and stands. */
function approvedRequest(
  record: PlacementRecord,
  change: ChangeRequest,
  trust: Trust,
  { ledger }: PlanContext,
): Request | null {
  const { request } = change;
  const stands =
    request?.approval != null &&
    request.rules === rulesDigest(trust, outsideRuns) &&
    !isCompromised(request.approval, trust) &&
    namesCurrentClusters(record, change, request, ledger);
  return stands ? request : null;
}

/** Whether anything was judged that needs an approval. */
export const isAnyAsked = ({ asked, unasked }: Guarded): boolean => asked.size + unasked.size > 0;

/** What a placement asks people for, once all of its moves of this pass were judged; its request as it stands otherwise. */
export function changeOf(
  record: PlacementRecord,
  { asked, unasked }: Guarded,
  context: PlanContext,
): ChangeRequestResult {
  const { record: trust } = context.consent;
  if (!isAnythingProtected(context)) return { change: null, reasons: [], wakeAt: null };
  if (trust === null)
    return { change: record.change, reasons: unaskedReasons(record, unasked, notYetTrusted), wakeAt: null };
  const it = nextChangeRequest(record, asked, trust, context);
  const unreached = unaskedReasons(record, unasked, notYetReached).map(
    (reason) => ({ ...reason, isUnreached: true }) as const,
  );
  return { ...it, reasons: [...it.reasons, ...unreached] };
}

const notYetTrusted = "what is protected is unknown until trust/root.yaml is the one that the trust anchor names";

/** Nobody is asked about a cluster that may turn out to be another one than people think. */
const notYetReached =
  "nothing comes to protected namespaces there before the first contact, which may show a cluster that is protected under another name";

/** What waits and cannot be asked for. */
const unaskedReasons = (
  { key: placement }: PlacementRecord,
  unasked: ReadonlySet<ClusterName>,
  because: string,
): readonly Extract<Reason, { kind: "protected" }>[] =>
  unasked.size === 0
    ? []
    : [{ kind: "protected", placement, clusters: [...unasked].sort(compareText), digest: null, because }];
