import { digestOf } from "../model/digest.ts";
import type { Json } from "../model/json.ts";
import type { Binding, ChangeRequest, PlacementRecord, Target } from "../model/ledger.ts";
import type { ObjectId } from "../model/manifest.ts";
import type { Reason, RenderedManifest } from "../model/plan.ts";
import type { ProtectedTarget, Request, Trust, TrustRecord } from "../model/trust.ts";
import { type ClusterName, type Commit, compareText, type Digest, type Instant, later } from "../model/value.ts";
import { commentLine } from "../rollout/comment-line.ts";
import { protectionRule, protects, rulesFor } from "../trust/protected.ts";
import { isMetBy } from "../trust/rules.ts";
import { authorsOfChange } from "./authors.ts";
import { answerTo } from "./consent.ts";
import type { PlanContext } from "./context.ts";
import { rolledOut } from "./look-back.ts";
import { nonceOf } from "./nonce.ts";
import { changeDigest } from "./request-digest.ts";
import { isCompromised, rulesDigest } from "./terms.ts";
import { carriedObjects } from "./transition.ts";
import { snapshotOf } from "./version.ts";

/** Something that would change what a member carries of a placement. */
export interface Change {
  readonly record: PlacementRecord;
  readonly binding: Binding;
  /** What it would carry; null where the placement leaves. */
  readonly next: { readonly target: NextTarget; readonly manifests: Manifests } | null;
}

/** Without an index it is of the newest snapshot. */
type NextTarget = Pick<Target, "digest" | "applyStrategy"> & Partial<Pick<Target, "resourceIndex">>;

type Manifests = readonly Pick<RenderedManifest, "id">[];

/**
 * The one place where every change of what a member carries is held against what is protected, whatever path it takes:
 * a run, a rolling update, an override, a new placement, an eviction, a deletion (`security.md` D-17, I-59; T-32 to T-34).
 */
export interface Protection {
  /** Whether a change may go ahead now. What may not is asked for, together with all else that the placement waits for. */
  readonly permits: (change: Change) => boolean;
  /** Whether anything was put to `permits` that needs an approval: its placement has to be decided, and asks for it. */
  readonly isAsked: (key: PlacementRecord["key"]) => boolean;
  /** What a placement asks for, once all of its changes of this pass were put to `permits`. */
  readonly askedFor: (record: PlacementRecord) => AskedChange;
}

/** What becomes of a placement's request. */
export interface AskedChange {
  readonly change: ChangeRequest | null;
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/** Nothing is protected. */
export const unprotected: Protection = {
  permits: () => true,
  isAsked: () => false,
  askedFor: () => ({ change: null, reasons: [], wakeAt: null }),
};

/** The protection that the trust file in force asks for. */
export function protectionIn(context: PlanContext): Protection {
  const { record } = context.consent;
  if (record === null || record.trust.protectedTargets.length === 0) return unprotected;
  const asked = new Map<PlacementRecord["key"], Map<ClusterName, Asked>>();
  return {
    permits(change) {
      const targets = targetsOf(change, record.trust, context);
      if (targets.length === 0) return true;
      const { key } = change.record;
      const { cluster } = change.binding;
      const all = asked.get(key) ?? new Map<ClusterName, Asked>();
      asked.set(key, all);
      const digest = contentOf(change);
      // Of two that want something else, the first one decides: the newest run goes first.
      const index = change.next?.target.resourceIndex ?? null;
      const first = all.get(cluster) ?? {
        digest,
        index,
        targets,
        isGranted: isGranted(change, digest, { targets, trust: record.trust }),
      };
      all.set(cluster, first);
      return first.isGranted && first.digest === digest;
    },
    isAsked: (key) => asked.has(key),
    askedFor: (placement) => askedFor(placement, asked.get(placement.key) ?? new Map(), record, context),
  };
}

/** What a change of one cluster comes to. */
interface Asked {
  readonly digest: Digest | null;
  readonly index: number | null;
  readonly targets: readonly ProtectedTarget[];
  readonly isGranted: boolean;
}

const contentOf = ({ next }: Change): Digest | null =>
  next === null ? null : digestOf([next.target.digest, next.target.applyStrategy as unknown as Json]);

/** The protected targets that a change reaches, by what is there and by what would be. */
export function targetsOf(
  { record, binding, next }: Change,
  trust: Pick<Trust, "protectedTargets">,
  context: PlanContext,
): readonly ProtectedTarget[] {
  const { cluster } = binding;
  const uid = context.ledger.clusters.get(cluster)?.kubeSystemUid ?? null;
  const ids = [
    ...carriedObjects(binding, record, context),
    ...binding.leaving.map((it) => it.id),
    ...(next?.manifests ?? []).map((it) => it.id),
  ];
  return protects(trust, { name: cluster, uid }, ids.map(namespaceOf));
}

/** A Namespace belongs to itself; what is in none may matter to all of them. */
const namespaceOf = ({ group, kind, namespace, name }: ObjectId): string | null =>
  group === "" && kind === "Namespace" ? name : namespace;

function isGranted(
  { record: { change }, binding }: Change,
  digest: Digest | null,
  { targets, trust }: { readonly targets: readonly ProtectedTarget[]; readonly trust: Trust },
): boolean {
  const request = change?.request ?? null;
  if (change === null || request === null || request.approval === null) return false;
  if (request.rules !== rulesDigest(trust, changing) || isCompromised(request.approval, trust)) return false;
  if (!change.clusters.has(binding.cluster) || change.clusters.get(binding.cluster) !== digest) return false;
  return targets.every((it) => isMetBy(protectionRule(it), request));
}

/** A change that no run makes: protection alone asks for that one. */
const changing = { placement: null, stage: null, isProtected: true } as const;

function askedFor(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, Asked>,
  trust: TrustRecord,
  context: PlanContext,
): AskedChange {
  if (asked.size === 0) return { change: null, reasons: [], wakeAt: null };
  const rules = rulesDigest(trust.trust, changing);
  const standing = standingChange(record, asked, { rules, trust: trust.trust }, context);
  const change = standing ?? newChange(record, asked, trust, context);
  const waiting = [...asked].filter(([, it]) => !it.isGranted).map(([cluster]) => cluster);
  const wait = (digest: Digest | null, because: string): readonly Reason[] =>
    waiting.length === 0
      ? []
      : [{ kind: "protected", placement: record.key, clusters: waiting.sort(compareText), digest, because }];
  // Who changed it is looked up in the next pass, which looks back as far as it has to.
  if (standing !== record.change || standing === null)
    return { change, reasons: wait(null, "who changed it is looked up"), wakeAt: null };
  const request = change.request ?? newRequest(record, change, rules, { trust, context });
  const next = request === change.request ? change : { ...change, request };
  if (request !== change.request)
    return { change: next, reasons: wait(request.digest, notYet), wakeAt: oldAt(request) };
  if (request.approval !== null) return { change: next, reasons: wait(request.digest, notYet), wakeAt: null };
  const targets = reached(change, asked, trust.trust, context);
  const subject = { placement: record.key, stage: null, targets };
  const answer = answerTo(request, (it) => rulesFor(it, subject), context);
  if (answer.kind === "approved")
    return { change: { ...change, request: { ...request, approval: answer.approval } }, reasons: [], wakeAt: null };
  if (answer.kind === "rejected") {
    const said = answer.comment === "" ? "" : `: ${commentLine(answer.comment)}`;
    const because = `rejected by ${answer.by} (${answer.path})${said}; change what was pushed, or take it back`;
    return { change, reasons: wait(request.digest, because), wakeAt: null };
  }
  if (context.world.now >= oldAt(request))
    return { change: { ...change, request: null }, reasons: wait(null, "it is asked for anew"), wakeAt: null };
  const because = answer.kind === "void" ? answer.because : notYet;
  return { change, reasons: wait(request.digest, because), wakeAt: oldAt(request) };
}

const notYet = "it is asked for";

/** The change as it was asked for, if it is all that is needed, by the same rules, and names the clusters as they are. */
function standingChange(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, Asked>,
  { rules, trust }: { readonly rules: Digest; readonly trust: Trust },
  { ledger }: PlanContext,
): ChangeRequest | null {
  const { change: before } = record;
  if (before === null) return null;
  const { clusters, request } = before;
  // Who approved it may not have been himself: others are asked.
  if (request !== null && request.approval !== null && isCompromised(request.approval, trust)) return null;
  const isAll = [...asked].every(([cluster, { digest }]) => clusters.has(cluster) && clusters.get(cluster) === digest);
  if (!isAll || (request !== null && request.rules !== rules)) return null;
  // A cluster that was reached in the meantime has a UID now: what is open names it by that.
  const isOpen = request !== null && request.approval === null;
  return isOpen && request.digest !== changeDigest(ledger, { record, clusters }, request) ? null : before;
}

const oldAt = ({ requestedAt }: Request): Instant => later(requestedAt, protectionRule(anyTarget).maxAge);

const anyTarget: ProtectedTarget = { clusters: [], namespaces: [], principals: [], minimum: 1, accept: [] };

function newChange(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, Asked>,
  trust: TrustRecord,
  context: PlanContext,
): ChangeRequest {
  const ordered = [...asked].sort(([a], [b]) => compareText(a, b));
  return {
    clusters: new Map(ordered.map(([cluster, it]) => [cluster, it.digest])),
    since: oldest(record, asked, trust, context),
    request: null,
  };
}

/** What the clusters carry came with these commits, or with later ones; and so did what they are taken back to. */
function oldest(
  record: PlacementRecord,
  asked: ReadonlyMap<ClusterName, Asked>,
  { first }: TrustRecord,
  { ledger }: PlanContext,
): readonly Commit[] {
  const commits = [...asked].map(([cluster, { index }]): Commit => {
    const carried = record.bindings.get(cluster)?.target?.resourceIndex ?? null;
    if (carried === null) return first;
    const isBack = index !== null && index < carried;
    return (isBack ? rolledOut(record.key, ledger, index) : snapshotOf(record, carried)?.commit) ?? first;
  });
  return [...new Set(commits)].sort(compareText);
}

function newRequest(
  record: PlacementRecord,
  { clusters, since }: ChangeRequest,
  rules: Digest,
  { trust, context }: { readonly trust: TrustRecord; readonly context: PlanContext },
): Request {
  const { world, ledger } = context;
  const nonce = nonceOf(world, ["change", record.key]);
  const authors = authorsOfChange(record, since, { world, ledger, trust });
  const digest = changeDigest(ledger, { record, clusters }, { nonce, rules, authors });
  return { requestedAt: world.now, nonce, digest, rules, authors, approval: null };
}

/**
 * All that any of the clusters reaches, in the order of the file. Of one that seems not to change now, whatever it might:
 * what the request says of it would be approved with the rest.
 */
function reached(
  { clusters }: ChangeRequest,
  asked: ReadonlyMap<ClusterName, Asked>,
  trust: Trust,
  { ledger }: PlanContext,
): readonly ProtectedTarget[] {
  const all = new Set<ProtectedTarget>();
  for (const name of clusters.keys()) {
    const uid = ledger.clusters.get(name)?.kubeSystemUid ?? null;
    for (const it of asked.get(name)?.targets ?? protects(trust, { name, uid }, [null])) all.add(it);
  }
  return trust.protectedTargets.filter((it) => all.has(it));
}
