import type { CascadedDeletion } from "../../model/deletion.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { ChangeRequest, PlacementRecord } from "../../model/ledger.ts";
import type { Reason } from "../../model/reason.ts";
import type { ProtectedTarget, Request, Trust, TrustRecord } from "../../model/trust.ts";
import {
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  earliest,
  type Instant,
  later,
} from "../../model/value.ts";
import { commentLine } from "../../rollout/tasks/approval.ts";
import { protectionAge, rulesFor, targetsReached } from "../../trust/protected.ts";
import { authorsOfChange } from "../authors/authors.ts";
import { rolledOutOn } from "../authors/baseline.ts";
import { carriedSince } from "../authors/carried-since.ts";
import type { PlanContext } from "../moves/context.ts";
import { sameLeaves } from "../moves/leaves.ts";
import type { ProtectedMove } from "../moves/progress.ts";
import { answerTo } from "./consent.ts";
import { protectedCluster } from "./former-names.ts";
import { nonceOf } from "./nonce.ts";
import { changeDigest } from "./request-digest.ts";
import { isCompromised, rulesDigest } from "./request-rules.ts";

/** The request of a placement after this pass, and why it waits. */
export interface ChangeRequestResult {
  readonly change: ChangeRequest | null;
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/** A change outside of runs: only protection requires its approval. */
export const outsideRuns = { placement: null, stage: null, isProtected: true } as const;

/** What a placement asks for, and what people said to that, given all that it would change of what is protected. */
export function nextChangeRequest(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, ProtectedMove>,
  trust: TrustRecord,
  context: PlanContext,
): ChangeRequestResult {
  if (asked.size === 0) return { change: null, reasons: [], wakeAt: null };
  const rules = rulesDigest(trust.trust, outsideRuns);
  const standing = standingChange(record, asked, { rules, trust: trust.trust }, context);
  const waiting = [...asked].filter(([, it]) => !it.isGranted).map(([cluster]) => cluster);
  const wait = (digest: Digest | null, because: string): readonly Reason[] =>
    waiting.length === 0
      ? []
      : [{ kind: "protected", placement: record.key, clusters: waiting.sort(compareText), digest, because }];
  // Who changed it is looked up in the next pass, which looks back as far as it has to.
  if (standing === null) {
    const reasons = wait(null, "who changed it is looked up");
    return { change: newChange(record, asked, trust, context), reasons, wakeAt: null };
  }
  if (standing.request === null) {
    const request = newRequest(record, standing, rules, { trust, context });
    return { change: { ...standing, request }, reasons: wait(request.digest, notYet), wakeAt: renewAt(request) };
  }
  const { request } = standing;
  const heard = nextRequest(request, reached(standing, asked, trust.trust, context), record, { trust, context });
  const change = heard.request === request ? standing : { ...standing, request: heard.request };
  const reasons = heard.because === null ? [] : wait(heard.request?.digest ?? null, heard.because);
  return { change, reasons, wakeAt: heard.wakeAt };
}

/** What a pass makes of a request that was there before. */
interface NextRequest {
  /** Null where a new request replaces it. */
  readonly request: Request | null;
  /** Why it waits; null in the pass in which it is approved. */
  readonly because: string | null;
  readonly wakeAt: Instant | null;
}

function nextRequest(
  request: Request,
  targets: readonly ProtectedTarget[],
  { key }: PlacementRecord,
  { trust, context }: { readonly trust: TrustRecord; readonly context: PlanContext },
): NextRequest {
  const { now } = context.world;
  const { closed } = context.consent;
  if (request.approval !== null) {
    const because = closed === null ? notYet : `${closed.code}: ${closed.because}`;
    return { request, because, wakeAt: null };
  }
  const { expires } = trust.trust;
  const answer = answerTo(request, (it) => rulesFor(it, { placement: key, stage: null, targets }), context);
  if (answer.kind === "approved")
    return { request: { ...request, approval: answer.approval }, because: null, wakeAt: null };
  if (answer.kind === "rejected") {
    const said = answer.comment === "" ? "" : `: ${commentLine(answer.comment)}`;
    const because = `rejected by ${answer.by} (${answer.path})${said}; change what was pushed, or take it back`;
    return { request, because, wakeAt: expires };
  }
  const because = answer.kind === "void" ? answer.because : notYet;
  // While no answer counts, keep the request: replacing it would drop a rejection.
  if (closed !== null || now >= expires) return { request, because, wakeAt: null };
  if (now >= renewAt(request)) return { request: null, because: "it is asked for anew", wakeAt: null };
  return { request, because, wakeAt: earliest(renewAt(request), expires) };
}

const notYet = "it is asked for";

/**
 * Whether the request covers exactly this on a cluster: the same content, the same fate of every object that leaves, and the
 * same objects of others that go along.
 */
export const isAsRequested = (
  change: Pick<ChangeRequest, "clusters" | "leaves" | "others">,
  cluster: ClusterName,
  { digest, leaves, others }: Pick<ProtectedMove, "digest" | "leaves" | "others">,
): boolean =>
  change.clusters.has(cluster) &&
  change.clusters.get(cluster) === digest &&
  sameLeaves(change.leaves.get(cluster) ?? [], leaves) &&
  sameOthers(
    change.others.filter((it) => it.cluster === cluster),
    others,
  );

const sameOthers = (a: readonly CascadedDeletion[], b: readonly CascadedDeletion[]): boolean =>
  a.length === b.length && sameJson(a as unknown as Json, b as unknown as Json);

/** The change as it was asked for, if it is all that is needed, by the same rules, and names the clusters as they are. */
function standingChange(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, ProtectedMove>,
  { rules, trust }: { readonly rules: Digest; readonly trust: Trust },
  { ledger }: PlanContext,
): ChangeRequest | null {
  const { change: before } = record;
  if (before === null) return null;
  const { request } = before;
  // Whoever approved it may not have been who they claimed to be, so ask again.
  if (request !== null && request.approval !== null && isCompromised(request.approval, trust)) return null;
  const isAll = [...asked].every(([cluster, it]) => isAsRequested(before, cluster, it));
  if (!isAll || (request !== null && request.rules !== rules)) return null;
  return request !== null && !namesCurrentClusters(record, before, request, ledger) ? null : before;
}

/**
 * Whether a request names the clusters that are there, by their UIDs: nobody was asked about a cluster that has taken over a
 * name, and once one of them is gone the rest of the change needs a new request (`trust/README.md#t-45`).
 */
export const namesCurrentClusters = (
  record: PlacementRecord,
  change: ChangeRequest,
  request: Request,
  ledger: PlanContext["ledger"],
): boolean => request.digest === changeDigest(ledger, { ...change, record }, request);

const renewAt = ({ requestedAt }: Request): Instant => later(requestedAt, protectionAge);

function newChange(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, ProtectedMove>,
  trust: TrustRecord,
  context: PlanContext,
): ChangeRequest {
  const ordered = [...asked].sort(([a], [b]) => compareText(a, b));
  return {
    clusters: new Map(ordered.map(([cluster, it]) => [cluster, it.digest])),
    leaves: new Map(
      ordered.flatMap(([cluster, { leaves }]) => (leaves.length === 0 ? [] : [[cluster, leaves] as const])),
    ),
    others: ordered.flatMap(([, it]) => it.others),
    since: oldestCommits(record, asked, trust, context),
    request: null,
  };
}

/** What the clusters carry came with these commits, or with later ones; and so did what they are taken back to. */
function oldestCommits(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, ProtectedMove>,
  { first }: TrustRecord,
  context: PlanContext,
): readonly Commit[] {
  const commits = [...asked].map(([cluster, { index }]): Commit => {
    const binding = record.bindings.get(cluster);
    const carried = binding?.target?.resourceIndex ?? null;
    if (binding === undefined || carried === null) return first;
    const isBack = index !== null && index < carried;
    return (
      (isBack
        ? rolledOutOn(cluster, record, { runs: context.ledger.runs, upTo: index })?.commit
        : carriedSince(binding, record, context)) ?? first
    );
  });
  return [...new Set(commits)].sort(compareText);
}

function newRequest(
  record: PlacementRecord,
  { clusters, leaves, others }: ChangeRequest,
  rules: Digest,
  { trust, context }: { readonly trust: TrustRecord; readonly context: PlanContext },
): Request {
  const { world, ledger } = context;
  const nonce = nonceOf(world, ["change", record.key]);
  const authors = authorsOfChange(record, clusters, { ...context, trust });
  const digest = changeDigest(ledger, { record, clusters, leaves, others }, { nonce, rules, authors });
  return { requestedAt: world.now, nonce, digest, rules, authors, approval: null };
}

/**
 * All that any of the clusters reaches, in the order of the file. Of one that seems not to change now, whatever it might:
 * what the request says of it would be approved with the rest.
 */
function reached(
  { clusters }: ChangeRequest,
  asked: ReadonlyMap<ClusterName, ProtectedMove>,
  trust: Trust,
  { ledger }: PlanContext,
): readonly ProtectedTarget[] {
  const all = new Set<ProtectedTarget>();
  for (const name of clusters.keys())
    for (const it of asked.get(name)?.targets ?? targetsReached(trust, protectedCluster(name, ledger), [null]))
      all.add(it);
  return trust.protectedTargets.filter((it) => all.has(it));
}
