import type { Binding, PendingRemoval } from "../model/binding.ts";
import type { ObjectFate } from "../model/deletion.ts";
import { digestOf, type Json } from "../model/json.ts";
import type { ChangeRequest, Ledger, PlacementRecord } from "../model/ledger.ts";
import { type ObjectId, objectKey } from "../model/manifest.ts";
import type { Plan, RenderedManifest, World } from "../model/plan.ts";
import type { PlanDefect, ProtectionDefectCode } from "../model/plan-defect.ts";
import type { ProtectedTarget, Request, Trust } from "../model/trust.ts";
import type { ClusterName, Digest } from "../model/value.ts";
import {
  coversObject,
  isMet,
  isStillInSource,
  targetRequirement,
  targetsOn,
  usesCompromisedKey,
} from "./check-approvers.ts";
import { defect, inventoryKey } from "./check-defect.ts";

/**
 * Lists what a plan changes in protected targets that nobody approved before this pass, whatever path the change takes
 * (`plan/README.md#i-59`, `trust/README.md#d-17`; `#t-32` to `#t-34`).
 *
 * `isPast`: the plan is on record, and an earlier release may have made it. Their requests did not say what becomes of
 * objects, and an approval stayed valid when a cluster that it names left (`trust/README.md#t-36`, `#t-45`).
 */
export function* checkProtection(
  plan: Plan,
  world: World,
  isPast = false,
): Generator<PlanDefect<ProtectionDefectCode>> {
  const trust = plan.ledger.trust?.trust ?? (world.trustAnchor === null ? nothingProtected : anythingProtected);
  if (trust.protectedTargets.length === 0) return;
  const shown = new Map(plan.rendered.map((it) => [`${it.placement} ${it.cluster}`, it.manifests] as const));
  for (const [key, record] of plan.ledger.placements) {
    const before = world.ledger.placements.get(key);
    if (record === before || record.bindings === before?.bindings) continue;
    for (const [cluster, binding] of record.bindings) {
      const was = before?.bindings.get(cluster);
      if (binding === was) continue;
      const targets = targetsOn(trust, cluster, [plan.ledger, world.ledger]);
      if (targets.length === 0) continue;
      const ledger = isPast ? null : world.ledger;
      const move = moveOf(binding, { was, before, record, ledger, shown: shown.get(`${key} ${cluster}`) });
      if (move === null) continue;
      const reached = targets.filter((it) => move.objects === null || move.objects.some((id) => coversObject(it, id)));
      if (reached.length > 0 && !isCovered(move, reached, { trust, plan, world, isPast }))
        yield defect(
          "ProtectedTargetUnapproved",
          { kind: "binding", placement: key, cluster },
          `changes ${key} on ${cluster}, which is protected, and nobody approved that`,
        );
    }
  }
}

/** The part of a trust file that says what is protected. */
type ProtectionRules = Pick<Trust, "protectedTargets" | "revocations">;

const nothingProtected: ProtectionRules = { protectedTargets: [], revocations: [] };

/**
 * Until the trust file that the operator vouches for has been seen, everything counts as protected and nobody can
 * approve it.
 */
const anythingProtected: ProtectionRules = {
  protectedTargets: [{ clusters: ["*"], namespaces: ["*"], principals: [], minimum: 1, accept: [] }],
  revocations: [],
};

/** The change of one cluster. */
interface Move {
  readonly record: PlacementRecord;
  readonly cluster: ClusterName;
  /** Its new target; null where the placement leaves the cluster. */
  readonly target: Binding["target"];
  /** Every object that comes, goes or stays; null where that is not known. */
  readonly objects: readonly ObjectId[] | null;
  /**
   * The objects whose removal starts, each as `object fate`: the request has to say the same (`plan/README.md#d-11`).
   */
  readonly fates: readonly string[];
}

interface Step {
  readonly was: Binding | undefined;
  readonly before: PlacementRecord | undefined;
  readonly record: PlacementRecord;
  /** What was decided before; null where an earlier release may have called a removal off in spite of it. */
  readonly ledger: Ledger | null;
  /** Its manifests, as the plan shows them under `rendered/`. */
  readonly shown: readonly RenderedManifest[] | undefined;
}

/**
 * Null where the content of the cluster does not change: a removal was called off, a snapshot renamed, or facts came
 * in.
 */
function moveOf(
  { cluster, target, removal, leaving, uid }: Binding,
  { was, before, record, ledger, shown }: Step,
): Move | null {
  const old = was?.uid === uid ? was : undefined;
  const isGoing = removal !== null && old?.removal == null;
  // What was removed and comes back is rendered; a removal that is called off is not.
  const isBack = old?.removal != null && removal === null && shown !== undefined;
  const isOther = target !== null && target !== old?.target && !hasSameContent(target, old?.target ?? null);
  const isLosing = leaving !== old?.leaving && hasMore(leaving, old?.leaving ?? []);
  const carried = plainly(old, before);
  const isLost = (it: Binding): boolean =>
    hasLost(it.leaving, carried) || (ledger !== null && carried.some((id) => isToldToGo(id, it, record, ledger)));
  const isBroughtBack = target !== null && old?.removal != null && removal === null && isLost(old);
  const fates = newFates(leaving, old?.leaving ?? [], removal?.propagation === "Abandon");
  if (!isGoing && !isBack && !isOther && !isLosing && isBroughtBack)
    return { record, cluster, target, objects: [...leaving.map((it) => it.id), ...carried], fates };
  if (!isGoing && !isBack && !isOther && !isLosing) return null;
  const gone = [...leaving.map((it) => it.id), ...(isBack ? [] : carried)];
  if (isGoing || (!isOther && !isBack))
    return { record, cluster, target: isGoing ? null : target, objects: gone, fates };
  return {
    record,
    cluster,
    target,
    objects: shown === undefined ? null : [...gone, ...shown.map((it) => it.id)],
    fates,
  };
}

const fateText = (it: ObjectFate): string =>
  `${objectKey(it.object)} ${it.fate === "handOver" ? `handOver ${it.to}` : it.fate}`;

function newFates(
  leaving: readonly PendingRemoval[],
  before: readonly PendingRemoval[],
  isAbandoned: boolean,
): readonly string[] {
  const known = new Set(before.map((it) => objectKey(it.id)));
  return leaving
    .filter((it) => !known.has(objectKey(it.id)))
    .map(({ id, released, handOver }) => {
      const alone = isAbandoned || released ? "release" : "delete";
      return `${objectKey(id)} ${handOver === undefined ? alone : `handOver ${handOver.to}`}`;
    });
}

function hasMore(leaving: readonly PendingRemoval[], before: readonly PendingRemoval[]): boolean {
  const known = new Set(before.map((it) => objectKey(it.id)));
  return leaving.some((it) => !known.has(objectKey(it.id)));
}

/** Whether a removal of everything has already taken some objects away. */
function hasLost(leaving: readonly PendingRemoval[], carried: readonly ObjectId[]): boolean {
  const there = new Set(leaving.map((it) => objectKey(it.id)));
  return carried.some((it) => !there.has(objectKey(it)));
}

/**
 * Whether something that leaves may be gone by now, whatever was seen of the member: nobody is asked to confirm it, or another
 * placement that takes it has had its turn.
 */
function isToldToGo(
  id: ObjectId,
  { cluster, leaving }: Binding,
  { key }: PlacementRecord,
  { deletions, placements }: Ledger,
): boolean {
  const own = inventoryKey(id);
  const isIt = (other: ObjectId): boolean => inventoryKey(other) === own;
  const leave = leaving.find((it) => isIt(it.id));
  if (leave === undefined) return false;
  if (leave.handOver === undefined)
    return !deletions.held.some(
      ({ confirmed, groups }) =>
        !confirmed &&
        groups.some((it) => it.placement === key && it.clusters.includes(cluster) && it.objects.some(isIt)),
    );
  return [...placements.values()].some((other) => {
    const there = other.key === key ? undefined : other.bindings.get(cluster);
    return there !== undefined && [...plainly(there, other), ...there.leaving.map((it) => it.id)].some(isIt);
  });
}

/** The objects that a cluster certainly carries: nothing where overrides may have dropped some. */
function plainly(binding: Binding | undefined, record: PlacementRecord | undefined): readonly ObjectId[] {
  const target = binding?.target ?? null;
  if (target === null || target.clusterOverrides.length + target.resourceOverrides.length > 0) return [];
  return record?.resourceSnapshots.find((it) => it.index === target.resourceIndex)?.resources.map((it) => it.id) ?? [];
}

const hasSameContent = (a: NonNullable<Binding["target"]>, b: Binding["target"]): boolean =>
  b !== null && contentOf(a) === contentOf(b);

const contentOf = ({ digest, applyStrategy }: NonNullable<Binding["target"]>): Digest =>
  digestOf([digest, applyStrategy as unknown as Json]);

interface ProtectionContext {
  readonly trust: ProtectionRules;
  readonly plan: Plan;
  readonly world: World;
  readonly isPast: boolean;
}

const isCovered = (move: Move, reached: readonly ProtectedTarget[], context: ProtectionContext): boolean =>
  [...gatesFor(move, context), ...changeFor(move, context)].some((it) => isApprovedFor(it, reached, context));

/** Requests of the gates before stages of runs that start exactly this change in this pass. */
function gatesFor({ record, cluster, target }: Move, { plan, world }: ProtectionContext): readonly Request[] {
  if (target === null) return [];
  return [...world.ledger.runs].flatMap(([key, run]) => {
    const now = plan.ledger.runs.get(key);
    if (run.spec.placement !== record.key || run.plan === null || run.end !== null || now?.uid !== run.uid) return [];
    const isSame = contentOf({ ...target, applyStrategy: run.plan.applyStrategy }) === contentOf(target);
    return run.plan.stages.flatMap(({ clusters }, at) => {
      const isPlanned = clusters.some((it) => it.cluster === cluster && it.digest === target.digest);
      const isBegun = now.stages[at]?.clusters.get(cluster)?.sequence === target.sequence;
      return isSame && isPlanned && isBegun ? (run.stages[at]?.before.Approval ?? []) : [];
    });
  });
}

/**
 * The change request of the placement, if it covers exactly this change and the present clusters. It does not count
 * while the trust file in force is not the one in the source.
 */
function changeFor(
  { record, cluster, target, fates }: Move,
  { plan, world, isPast }: ProtectionContext,
): readonly Request[] {
  const before = world.ledger.placements.get(record.key);
  const change = before?.uid === record.uid ? before.change : null;
  const { trust } = plan.ledger;
  if (change?.request == null || trust === null || !isStillInSource(world.intent, trust)) return [];
  const content = target === null ? null : contentOf(target);
  const asked = new Set(change.leaves.get(cluster)?.map(fateText));
  const isSaid = fates.every((it) => asked.has(it)) || (isPast && change.leaves.size === 0);
  if (!isSaid || change.clusters.get(cluster) !== content) return [];
  return isPast || saidOf(record, change, plan.ledger) === change.request.digest ? [change.request] : [];
}

/** The digest of a change request with the clusters that are members now (`trust/README.md#t-45`). */
export function saidOf(
  { uid, key }: Pick<PlacementRecord, "uid" | "key">,
  { clusters, leaves, others, request }: ChangeRequest,
  ledger: Ledger,
): Digest {
  const said = [...clusters].map(([cluster, content]) => {
    const gone = leaves.get(cluster) ?? [];
    const fates = digestOf(
      gone.map((it) =>
        it.fate === "handOver" ? [it.fate, objectKey(it.object), it.to] : [it.fate, objectKey(it.object)],
      ),
    );
    const known = ledger.clusters.get(cluster)?.kubeSystemUid ?? null;
    return { cluster, uid: known, content, ...(gone.length === 0 ? {} : { leaves: fates }) };
  });
  const along = others.map(({ cluster, id, objects }) => [
    cluster,
    objectKey(id),
    objects.map((it) => [objectKey(it), it.uid]),
  ]);
  const { nonce = null, rules = null, authors = null } = request ?? {};
  return digestOf({
    fleet: ledger.fleet,
    uid,
    placement: key,
    clusters: said,
    ...(along.length === 0 ? {} : { others: along }),
    nonce,
    rules,
    authors: authors === null ? null : { principals: authors.principals, unknown: authors.unknown },
  });
}

/** Whether its approvers meet the requirements of every target it reaches, and none used a compromised key. */
export function isApprovedFor(
  request: Request,
  reached: readonly ProtectedTarget[],
  { trust }: { readonly trust: Pick<Trust, "revocations"> },
): boolean {
  const { approval, requestedAt } = request;
  if (approval === null) return false;
  const isStolen = approval.by.some(
    ({ proofs }) => proofs.length > 0 && proofs.every((it) => usesCompromisedKey(it, trust.revocations)),
  );
  if (isStolen) return false;
  const voices = approval.by.map((it) => ({ ...it, at: requestedAt }));
  return reached.every((it) => isMet(targetRequirement(it), request, voices));
}
