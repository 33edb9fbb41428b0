import type { Binding } from "../model/binding.ts";
import { type ConfirmationRecord, type ForeignObject, type HeldDeletion, takesOthersAlong } from "../model/deletion.ts";
import { digestOf } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DeletionDefectCode, PlanDefect } from "../model/plan-defect.ts";
import { defect, inventoryKey, placementActionsIn } from "./check-defect.ts";

/**
 * Lists where a plan deletes what nobody confirmed. A confirmation covers the objects of its set at the time, and is
 * judged once (`plan/README.md#d-3`).
 */
export function* checkConfirmations(plan: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  yield* asksForWhatItHolds(plan, world);
  yield* asksAnewAfterQuarantines(plan, world);
  yield* confirmsOnce(plan, world);
  yield* remembersWhatWasJudged(plan, world);
  yield* takesAlongWhatWasConfirmed(plan);
}

/** A digest names one set, which may shrink and never grows. */
function* asksForWhatItHolds({ ledger }: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  const { held: before, confirmations } = world.ledger.deletions;
  const digests = new Set<string>();
  for (const held of ledger.deletions.held) {
    const { digest } = held;
    const subject = { kind: "deletion", digest } as const;
    if (digests.has(digest)) yield defect("DeletionDigestDuplicate", subject, `asks for ${digest} twice`);
    digests.add(digest);
    const was = before.find((it) => it.digest === digest);
    yield* asksForWhatIsDeleted(held, ledger, world);
    if (was === held) continue;
    if (was !== undefined) {
      if (!isWithin(held, was)) yield defect("HeldDeletionGrew", subject, `adds to what waits under ${digest}`);
      continue;
    }
    if (confirmations.has(digest))
      yield defect("DeletionDigestReused", subject, `asks for ${digest}, which a confirmation named before`);
    if (!isDigestOf(held, world.ledger))
      yield defect("DeletionDigestMismatch", subject, `asks for ${digest}, which is not the digest of what waits`);
    if (takesOthersAlong(held)) yield* namesWhatMembersShow(held, world);
  }
}

/**
 * Nobody is asked about what is only released. And what leaves by another removal than it was asked about for is asked
 * about under another digest: who confirms the first was not shown the second.
 */
function* asksForWhatIsDeleted(
  { groups, digest, ...held }: HeldDeletion,
  { placements }: Ledger,
  world: World,
): Generator<PlanDefect<DeletionDefectCode>> {
  const isOld = world.ledger.deletions.held.some((it) => it.digest === digest);
  for (const { placement, clusters, objects } of groups) {
    const [before, after] = [world.ledger.placements.get(placement), placements.get(placement)];
    if (before === after) continue;
    for (const cluster of clusters) {
      const [was, is] = [before?.bindings.get(cluster), after?.bindings.get(cluster)];
      if (is === undefined) continue;
      const isAnew = isOld && was !== undefined && isOtherRemoval(is, was);
      for (const id of objects) {
        const leave = is.leaving.find((it) => inventoryKey(it.id) === inventoryKey(id));
        if (leave === undefined) continue;
        const what = `asks for ${inventoryKey(id)} of ${placement} on ${cluster} by ${digest}`;
        if (is.removal?.propagation === "Abandon" || (leave.released && !takesOthersAlong(held)))
          yield defect("HeldDeletionOutdated", { kind: "deletion", digest }, `${what}, which is released`);
        else if (isAnew && leave.cause === is.removal?.cause)
          yield defect(
            "HeldDeletionOutdated",
            { kind: "deletion", digest },
            `${what}, of a removal that was called off`,
          );
      }
    }
  }
}

/** Nobody wrote down who wanted meanwhile what leaves a placement in quarantine: what was confirmed before covers it no more. */
function* asksAnewAfterQuarantines(
  { ledger }: Plan,
  { ledger: old }: World,
): Generator<PlanDefect<DeletionDefectCode>> {
  if (old.quarantines.size === 0) return;
  for (const { digest, confirmed, groups } of ledger.deletions.held) {
    if (!confirmed || !old.deletions.held.some((it) => it.digest === digest && it.confirmed)) continue;
    for (const { placement } of groups)
      if (old.quarantines.has(placement) && !ledger.quarantines.has(placement))
        yield defect(
          "HeldDeletionOutdated",
          { kind: "deletion", digest },
          `takes ${digest} for confirmed, although ${placement} was in quarantine since`,
        );
  }
}

const isOtherRemoval = (is: Binding, was: Binding): boolean =>
  is.uid === was.uid && was.removal !== null && is.removal !== null && is.removal.sequence !== was.removal.sequence;

function isWithin(held: HeldDeletion, was: HeldDeletion): boolean {
  const known = new Set(carriedIn(was));
  const along = new Set(alongIn(was));
  return (
    held.because === was.because &&
    held.cause === was.cause &&
    [...carriedIn(held)].every((it) => known.has(it)) &&
    [...alongIn(held)].every((it) => along.has(it))
  );
}

function* carriedIn({ groups }: HeldDeletion): Generator<string> {
  for (const { placement, clusters, objects } of groups)
    for (const cluster of clusters) for (const id of objects) yield `${placement} ${cluster} ${inventoryKey(id)}`;
}

function* alongIn({ others }: HeldDeletion): Generator<string> {
  for (const { placement, cluster, id, objects } of others)
    for (const it of objects) yield `${placement} ${cluster} ${inventoryKey(id)} ${otherText(it)}`;
}

const otherText = (it: ForeignObject): string => `${inventoryKey(it)} ${it.uid}`;

/**
 * The digest computed again from the ledger before this plan. When the same set is asked for again, a counter is part
 * of it.
 */
function isDigestOf({ because, groups, others, digest }: HeldDeletion, before: Ledger): boolean {
  const objects = new Set<string>();
  const bases = new Set<string>();
  for (const { placement, clusters, objects: ids } of groups)
    for (const cluster of clusters) {
      const binding = before.placements.get(placement)?.bindings.get(cluster);
      const uid = before.clusters.get(cluster)?.kubeSystemUid ?? "";
      bases.add(JSON.stringify([placement, cluster, binding?.uid ?? "", binding?.target?.sequence ?? 0]));
      for (const id of ids) objects.add(JSON.stringify([cluster, uid, inventoryKey(id)]));
    }
  const along = others.flatMap(({ cluster, id, objects: all }) =>
    all.map((it) => JSON.stringify([cluster, inventoryKey(id), inventoryKey(it), it.uid])),
  );
  const said = {
    because,
    objects: [...objects].sort(),
    others: [...new Set(along)].sort(),
    bases: [...bases].sort(),
  };
  if (digestOf(said) === digest) return true;
  const most = before.deletions.held.length + before.deletions.confirmations.size + 1;
  for (let asking = 2; asking <= most; asking += 1) if (digestOf({ ...said, asking }) === digest) return true;
  return false;
}

/** The set names all objects of others that the members' inventories report. */
function* namesWhatMembersShow(
  { groups, others, digest }: HeldDeletion,
  { observed }: World,
): Generator<PlanDefect<DeletionDefectCode>> {
  for (const { placement, clusters, objects } of groups)
    for (const cluster of clusters)
      for (const id of objects) {
        const seen = observed.get(cluster);
        const carried = seen?.kind === "reached" ? seen.inventory.placements.get(placement) : undefined;
        const outcome = [...(carried?.entries ?? [])].find(([key]) => key === inventoryKey(id))?.[1].outcome;
        const found = outcome?.kind === "lingering" ? outcome.others : undefined;
        const told = others.find(
          (it) => it.placement === placement && it.cluster === cluster && inventoryKey(it.id) === inventoryKey(id),
        );
        const isTold =
          found !== undefined &&
          found.count === told?.objects.length &&
          found.objects.every((it, at) => otherText(it) === otherText(told.objects[at] ?? it));
        if (!isTold)
          yield defect(
            "HeldDeletionIncomplete",
            { kind: "deletion", digest },
            `asks for ${digest} without all that others have in ${inventoryKey(id)} on ${cluster}`,
          );
      }
}

function* confirmsOnce({ ledger }: Plan, { ledger: old, intent }: World): Generator<PlanDefect<DeletionDefectCode>> {
  const { held, confirmations } = ledger.deletions;
  for (const { digest, confirmed, because } of held) {
    // What goes only by an approval is `check-cascades.ts`'s.
    if (because === "protected") continue;
    if (!confirmed || old.deletions.held.some((it) => it.digest === digest && it.confirmed)) continue;
    if (!intent.confirmations.has(digest) || old.deletions.confirmations.has(digest))
      yield defect(
        "ConfirmationNotFound",
        { kind: "deletion", digest },
        `takes ${digest} for confirmed, which nobody did`,
      );
    else if (confirmations.get(digest)?.outcome !== "used")
      yield defect("ConfirmationNotRecorded", { kind: "deletion", digest }, `does not record that ${digest} was used`);
  }
}

/** A judged confirmation is kept while its file exists, or while the same digest could be asked for again. */
function* remembersWhatWasJudged(
  { ledger }: Plan,
  { ledger: old, intent }: World,
): Generator<PlanDefect<DeletionDefectCode>> {
  const { confirmations } = ledger.deletions;
  for (const [digest, was] of old.deletions.confirmations) {
    const now = confirmations.get(digest);
    if (now === was) continue;
    if (now !== undefined)
      yield defect(
        "ConfirmationJudgedAgain",
        { kind: "deletion", digest },
        `judges the confirmation of ${digest} again`,
      );
    else if (intent.confirmations.has(digest) || stands(was, old))
      yield defect("ConfirmationForgotten", { kind: "deletion", digest }, `forgets the confirmation of ${digest}`);
  }
  for (const digest of intent.confirmations)
    if (!confirmations.has(digest))
      yield defect(
        "ConfirmationNotJudged",
        { kind: "deletion", digest },
        `does not judge the confirmation of ${digest}`,
      );
}

function stands({ basis }: ConfirmationRecord, { placements }: Ledger): boolean {
  if (basis === null) return false;
  const binding = placements.get(basis.placement)?.bindings.get(basis.cluster);
  return (binding?.uid ?? "") === basis.binding && (binding?.target?.sequence ?? 0) === basis.sequence;
}

function* takesAlongWhatWasConfirmed({ actions, ledger }: Plan): Generator<PlanDefect<DeletionDefectCode>> {
  const confirmed = ledger.deletions.held.filter((it) => it.confirmed).flatMap((it) => it.others);
  for (const [cluster, work] of placementActionsIn(actions))
    for (const gone of work.remove) {
      if (gone.cascadesTo.length === 0) continue;
      const own = confirmed.filter(
        (it) => it.placement === work.placement && it.cluster === cluster && inventoryKey(it.id) === gone.key,
      );
      const known = new Set(own.flatMap((it) => it.objects.map(otherText)));
      const other = gone.cascadesTo.find((it) => !known.has(otherText(it)));
      if (other !== undefined)
        yield defect(
          "CascadeUnconfirmed",
          { kind: "object", placement: work.placement, cluster, object: gone.key },
          `takes along ${inventoryKey(other)} with ${gone.key} from ${cluster}, which nobody confirmed`,
        );
    }
}
