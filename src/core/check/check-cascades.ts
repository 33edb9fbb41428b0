import type { CascadedDeletion, HeldDeletion } from "../model/deletion.ts";
import { objectKey } from "../model/manifest.ts";
import type { Plan, World } from "../model/plan.ts";
import type { PlanDefect, ProtectionDefectCode } from "../model/plan-defect.ts";
import type { Trust } from "../model/trust.ts";
import { coversObject, isStillInSource, targetsOn } from "./check-approvers.ts";
import { defect } from "./check-defect.ts";
import { isApprovedFor, saidOf } from "./check-protection.ts";

/**
 * Lists what a plan lets go with objects of others in protected places although no approval of the placement's change says
 * just that: a confirmation, which nobody signs, covers none of it (`plan/README.md#d-3`, `#i-59`).
 *
 * `isPast`: the plan is on record, and an earlier release may have made it, for which a confirmation was enough.
 */
export function* checkCascades(plan: Plan, world: World, isPast = false): Generator<PlanDefect<ProtectionDefectCode>> {
  const trust = plan.ledger.trust?.trust ?? null;
  const before = world.ledger.deletions.held;
  for (const held of plan.ledger.deletions.held) {
    if (isPast && held.because === "foreign") continue;
    if (!held.confirmed || before.some((it) => it.digest === held.digest && it.confirmed)) continue;
    for (const along of held.others)
      if (isProtected(along, trust, plan, world) && !isApproved(along, held, { trust, plan, world }))
        yield defect(
          "ProtectedCascadeUnapproved",
          { kind: "object", placement: along.placement, cluster: along.cluster, object: objectKey(along.id) },
          `deletes objects of others with ${objectKey(along.id)} on ${along.cluster}, which is protected, and nobody approved that`,
        );
  }
}

/** While nobody has seen the trust file that the operator vouches for, everything is. */
function isProtected(
  { cluster, id, objects }: CascadedDeletion,
  trust: Trust | null,
  { ledger }: Plan,
  world: World,
): boolean {
  if (trust === null) return world.trustAnchor !== null;
  return targetsOn(trust, cluster, [ledger, world.ledger]).some((it) =>
    [id, ...objects].some((object) => coversObject(it, object)),
  );
}

interface Judging {
  readonly trust: Trust | null;
  readonly plan: Plan;
  readonly world: World;
}

/** The request stood approved before this pass, says just this of the cluster, and is about the clusters as they are. */
function isApproved(
  { placement, cluster, id, objects }: CascadedDeletion,
  { because }: HeldDeletion,
  { trust, plan, world }: Judging,
): boolean {
  const [record, known] = [plan.ledger, world.ledger].map((it) => it.placements.get(placement));
  const change = record !== undefined && known?.uid === record.uid ? known.change : null;
  if (trust === null || because !== "protected" || change?.request == null || record === undefined) return false;
  if (plan.ledger.trust === null || !isStillInSource(world.intent, plan.ledger.trust)) return false;
  const said = change.others.find((it) => it.cluster === cluster && objectKey(it.id) === objectKey(id));
  const asked = new Set(said?.objects.map((it) => `${objectKey(it)} ${it.uid}`));
  if (!objects.every((it) => asked.has(`${objectKey(it)} ${it.uid}`))) return false;
  const reached = targetsOn(trust, cluster, [plan.ledger, world.ledger]).filter((it) =>
    [id, ...objects].some((object) => coversObject(it, object)),
  );
  return (
    saidOf(record, change, plan.ledger) === change.request.digest && isApprovedFor(change.request, reached, { trust })
  );
}
