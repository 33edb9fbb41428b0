import type { Binding, PendingRemoval } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DefectSubject, DeletionDefectCode, PlanDefect } from "../model/plan-defect.ts";
import { defect, inventoryKey } from "./check-defect.ts";

/**
 * Lists objects that are deleted or released otherwise than decided: by the placement at the time, or by the plan of
 * the run that removes them. Once decided it must not change (`plan/README.md#d-11`, `apply/README.md#takeover`).
 */
export function* checkFates(plan: Plan, world: World): Generator<PlanDefect<DeletionDefectCode>> {
  for (const [key, record] of plan.ledger.placements) {
    const before = world.ledger.placements.get(key);
    if (record === before || record.bindings === before?.bindings) continue;
    for (const binding of record.bindings.values()) {
      const known = before?.bindings.get(binding.cluster);
      const was = known?.uid === binding.uid ? known : undefined;
      if (binding === was || (binding.leaving.length === 0 && binding.removal === null)) continue;
      const what = `${key} on ${binding.cluster}`;
      yield* keepsPropagation(what, binding, { was, record });
      for (const it of binding.leaving) {
        const old = was?.leaving.find((other) => inventoryKey(other.id) === inventoryKey(it.id));
        const object: Leaver = {
          text: `${inventoryKey(it.id)} of ${what}`,
          subject: { kind: "object", placement: key, cluster: binding.cluster, object: inventoryKey(it.id) },
        };
        const isAnew = old?.evenAdopted !== it.evenAdopted && isBack(it, binding, was, record);
        if (old !== undefined && !isAnew) yield* keepsFate(object, it, old);
        else yield* beginsAsSaid(object, it, { binding, was, record, plan, world });
      }
    }
  }
}

/**
 * Whether the object was carried in between, so that this is another removal: its cluster was to lose the placement,
 * which came back in another version, or was evicted in the same pass.
 */
function isBack(
  it: PendingRemoval,
  is: Binding,
  was: Binding | undefined,
  { resourceSnapshots }: PlacementRecord,
): boolean {
  if (was === undefined || was.removal === null || is.removal?.sequence === was.removal.sequence) return false;
  const carried = resourceSnapshots.find(({ index }) => index === was.target?.resourceIndex)?.resources ?? [];
  return carried.some(({ id }) => inventoryKey(id) === inventoryKey(it.id));
}

/** An object that is leaving a cluster, for messages. */
interface Leaver {
  readonly text: string;
  readonly subject: DefectSubject;
}

interface Step {
  readonly was: Binding | undefined;
  readonly record: PlacementRecord;
}

function* keepsPropagation(
  what: string,
  { removal, cluster }: Binding,
  { was, record }: Step,
): Generator<PlanDefect<DeletionDefectCode>> {
  if (removal === null) return;
  const old = was?.removal?.sequence === removal.sequence ? was.removal : null;
  const said = old?.propagation ?? record.spec.strategy.propagationPolicy;
  if (removal.propagation !== said)
    yield defect(
      "PropagationPolicyChanged",
      { kind: "binding", placement: record.key, cluster },
      `removes ${what} by ${removal.propagation}, which was ${said}`,
    );
}

/** An object that turns out to be adopted is released, unless it was to be deleted even so; nothing else changes. */
function* keepsFate(
  { text: object, subject }: Leaver,
  is: PendingRemoval,
  was: PendingRemoval,
): Generator<PlanDefect<DeletionDefectCode>> {
  if (was.released && !is.released)
    yield defect("ReleasedObjectDeleted", subject, `deletes ${object}, which was to be let go`);
  if (is.evenAdopted !== was.evenAdopted)
    yield defect("DeletionPolicyChanged", subject, `changes what becomes of ${object}, which is leaving`);
  if (is.released && !was.released && was.evenAdopted)
    yield defect("ObjectReleased", subject, `lets ${object} go, which was to be deleted`);
}

interface Beginning extends Step {
  readonly binding: Binding;
  readonly plan: Plan;
  readonly world: World;
}

function* beginsAsSaid(
  { text: object, subject }: Leaver,
  it: PendingRemoval,
  beginning: Beginning,
): Generator<PlanDefect<DeletionDefectCode>> {
  const { binding, was, record, plan } = beginning;
  const bringing = [...plan.ledger.runs.values()].find(
    (run) =>
      binding.removal === null &&
      run.spec.placement === record.key &&
      run.stages.some((stage) => stage.clusters.get(binding.cluster)?.sequence === binding.target?.sequence),
  );
  const said = bringing?.plan?.deleteAdopted ?? record.spec.strategy.deleteAdopted;
  if (it.evenAdopted !== said)
    yield defect(
      "AdoptedObjectPolicyMismatch",
      subject,
      `takes ${object} away otherwise than was said of objects that were there before us`,
    );
  if (!said && !it.released && wasFound(it, was, beginning))
    yield defect("AdoptedObjectNotReleased", subject, `is going to delete ${object}, which was there before us`);
}

/** Whether the object is adopted by the record, and by what its member says now if it was asked. */
function wasFound(it: PendingRemoval, was: Binding | undefined, { record, world }: Beginning): boolean {
  const target = was?.target ?? null;
  if (was?.facts?.sequence !== target?.sequence) return false;
  if (was?.facts?.adopted.some((id) => inventoryKey(id) === inventoryKey(it.id)) !== true) return false;
  const seen = world.observed.get(was.cluster);
  if (seen?.kind !== "reached") return true;
  const carried = seen.inventory.placements.get(record.key);
  return (
    carried?.sequence === target?.sequence &&
    [...(carried?.entries ?? [])].some(([key, { adopted }]) => adopted && key === inventoryKey(it.id))
  );
}
