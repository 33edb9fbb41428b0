import { digestOf, type Json } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { ObjectId } from "../../model/manifest.ts";
import type { Reason } from "../../model/plan.ts";
import type { ProtectedTarget, Request, Trust } from "../../model/trust.ts";
import { type ClusterName, compareText, type Digest } from "../../model/value.ts";
import { protectionRule, protects } from "../../trust/protected.ts";
import { isMetBy } from "../../trust/rules.ts";
import type { PlanContext } from "../context.ts";
import { leavesOf, sameLeaves } from "../guard/leaves.ts";
import { carriedObjects } from "../transition.ts";
import { type AskedMove, askedFor, changing, isWhatWasAsked, namesWhoIsThere } from "./asked-change.ts";
import { isUnknown, protectedCluster } from "./former-names.ts";
import { type Change, type Protection, unprotected } from "./guarded-change.ts";
import { isCompromised, rulesDigest } from "./terms.ts";

/** The protection that the trust file in force asks for. */
export function protectionIn(context: PlanContext): Protection {
  const { record, closed } = context.consent;
  if (record === null) return context.world.trustAnchor === null ? unprotected : undisclosed();
  if (record.trust.protectedTargets.length === 0) return unprotected;
  const asked = new Map<PlacementRecord["key"], Map<ClusterName, AskedMove>>();
  const unknown = new Map<PlacementRecord["key"], Set<ClusterName>>();
  const approved = approvedIn(record.trust, context);
  return {
    permits(change) {
      if (isUnknown(change.binding.cluster, context.ledger)) {
        const isFree = !reachesAny(change, record.trust, context);
        if (!isFree) note(unknown, change);
        return isFree;
      }
      const targets = targetsOf(change, record.trust, context);
      if (targets.length === 0) return true;
      const { key } = change.record;
      const { cluster } = change.binding;
      const all = asked.get(key) ?? new Map<ClusterName, AskedMove>();
      asked.set(key, all);
      const digest = contentOf(change);
      const leaves = leavesOf(change, context);
      // Of two that want something else, the first one decides: the newest run goes first.
      const index = change.next?.target.resourceIndex ?? null;
      const first = all.get(cluster) ?? {
        digest,
        leaves,
        index,
        targets,
        // What was approved goes no further either while nobody's word counts (`plan/README.md#d-6`).
        isGranted: closed === null && isGranted(change, { digest, leaves, targets }, approved(change.record)),
      };
      all.set(cluster, first);
      return first.isGranted && first.digest === digest && sameLeaves(first.leaves, leaves);
    },
    isAsked: (key) => asked.has(key) || unknown.has(key),
    askedFor(placement) {
      const it = askedFor(placement, asked.get(placement.key) ?? new Map(), record, context);
      const unreached = waiting(unknown, placement.key, whoIsThat).map((it) => ({ ...it, isUnreached: true }) as const);
      return { ...it, reasons: [...it.reasons, ...unreached] };
    },
  };
}

/** Nobody is asked about a cluster that may turn out to be another one than people think. */
const whoIsThat =
  "nothing comes to protected namespaces there before the first contact, which may show a cluster that is protected under another name";

const note = (all: Map<PlacementRecord["key"], Set<ClusterName>>, { record: { key }, binding: { cluster } }: Change) =>
  void all.set(key, (all.get(key) ?? new Set()).add(cluster));

/** What waits and cannot be asked for. */
function waiting(
  all: ReadonlyMap<PlacementRecord["key"], ReadonlySet<ClusterName>>,
  placement: PlacementRecord["key"],
  because: string,
): readonly Extract<Reason, { kind: "protected" }>[] {
  const clusters = [...(all.get(placement) ?? [])].sort(compareText);
  return clusters.length === 0 ? [] : [{ kind: "protected", placement, clusters, digest: null, because }];
}

/**
 * An operator said which trust file counts, and none was accepted yet: the state branch is new, or was lost. Nobody knows
 * what is protected, so nothing changes and nobody is asked until that file stands there.
 */
function undisclosed(): Protection {
  const asked = new Map<PlacementRecord["key"], Set<ClusterName>>();
  const because = "nobody knows what is protected until trust/root.yaml is the one that the trust anchor names";
  return {
    permits(change) {
      note(asked, change);
      return false;
    },
    isAsked: (key) => asked.has(key),
    askedFor: ({ key, change }) => ({ change, reasons: waiting(asked, key, because), wakeAt: null }),
  };
}

const contentOf = ({ next }: Change): Digest | null =>
  next === null ? null : digestOf([next.target.digest, next.target.applyStrategy as unknown as Json]);

/** The protected targets that a change reaches, by what is there and by what would be. */
export const targetsOf = (
  change: Change,
  trust: Pick<Trust, "protectedTargets">,
  context: PlanContext,
): readonly ProtectedTarget[] =>
  protects(trust, protectedCluster(change.binding.cluster, context.ledger), namespacesOf(change, context));

/** Whether a change reaches anything that is protected on one cluster or another. */
const reachesAny = (change: Change, { protectedTargets }: Trust, context: PlanContext): boolean => {
  const all = { protectedTargets: protectedTargets.map((it) => ({ ...it, clusters: ["*"] })) };
  const anywhere = { name: change.binding.cluster, uid: null, formerly: [] };
  return protects(all, anywhere, namespacesOf(change, context)).length > 0;
};

/** Looked at for a cluster that is protected only: what it carries has to be rendered. */
function* namespacesOf({ record, binding, next }: Change, context: PlanContext): Generator<string | null> {
  for (const id of carriedObjects(binding, record, context)) yield namespaceOf(id);
  for (const { id } of binding.leaving) yield namespaceOf(id);
  for (const { id } of next?.manifests ?? []) yield namespaceOf(id);
}

/** A Namespace belongs to itself; what is in none may matter to all of them. */
const namespaceOf = ({ group, kind, namespace, name }: ObjectId): string | null =>
  group === "" && kind === "Namespace" ? name : namespace;

/**
 * The request for a placement's change, if it is approved and stands: one look for all of its clusters. Nobody decides twice
 * about a change in one pass.
 */
function approvedIn(trust: Trust, { ledger }: PlanContext): (record: PlacementRecord) => Request | null {
  const rules = rulesDigest(trust, changing);
  const found = new Map<PlacementRecord["key"], Request | null>();
  return (record) => {
    const known = found.get(record.key);
    if (known !== undefined) return known;
    const request = record.change?.request ?? null;
    const stands =
      record.change !== null &&
      request?.approval != null &&
      request.rules === rules &&
      !isCompromised(request.approval, trust) &&
      namesWhoIsThere(record, record.change, request, ledger);
    found.set(record.key, stands ? request : null);
    return stands ? request : null;
  };
}

function isGranted(
  { record: { change }, binding }: Change,
  { targets, ...move }: Pick<AskedMove, "digest" | "leaves" | "targets">,
  approved: Request | null,
): boolean {
  if (change === null || approved === null || !isWhatWasAsked(change, binding.cluster, move)) return false;
  return targets.every((it) => isMetBy(protectionRule(it), approved));
}
