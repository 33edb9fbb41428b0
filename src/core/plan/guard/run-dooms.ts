import type { Binding } from "../../model/binding.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, objectKey } from "../../model/manifest.ts";
import type { RunRecord } from "../../model/update-run.ts";
import type { PlanContext } from "../context.ts";
import { plannedIn } from "../runs/run-moves.ts";
import { targetRendering } from "../target-rendering.ts";
import { carriedObjects, deletableOf } from "../transition.ts";
import { objectsOf } from "../version.ts";
import type { Doom } from "./guard.ts";

/**
 * What a run will take away wherever its turn comes, counted at once: when its plan is made, and with every commit as
 * long as it runs (`plan/README.md#d-3`). A cluster of the deletion stage loses everything, any other what the plan has
 * not.
 */
export function runDooms(
  run: RunRecord,
  before: RunRecord | null,
  record: PlacementRecord | null,
  context: PlanContext,
): readonly Doom[] {
  const isNew = context.isNewCommit || before?.plan == null;
  if (record === null || !isNew || !isRunning(run)) return [];
  return [...record.bindings.values()].flatMap((binding) => {
    const { whole, ids } = lossesOf(binding, run, record, context);
    if (whole && record.spec.strategy.propagationPolicy === "Abandon") return [];
    const deleteAdopted = whole ? record.spec.strategy.deleteAdopted : run.plan?.deleteAdopted === true;
    return ids.filter(deletableOf(deleteAdopted, binding.facts)).map((id) => ({
      cluster: binding.cluster,
      placement: record.key,
      id,
      whole,
    }));
  });
}

/** Every object once: two runs whose plans are made in one pass may both say that it goes, and it goes once. */
export function eachOnce(dooms: readonly Doom[]): readonly Doom[] {
  const known = new Set<string>();
  return dooms.filter(({ cluster, id }) => {
    const at = `${cluster} ${objectKey(id)}`;
    if (known.has(at)) return false;
    known.add(at);
    return true;
  });
}

/** Objects that a cluster carries and is to lose by one of the runs, although nothing of that has begun. */
export const doomedByRuns = (
  binding: Binding,
  runs: readonly RunRecord[],
  record: PlacementRecord,
  context: PlanContext,
): readonly ObjectId[] => runs.filter(isRunning).flatMap((it) => lossesOf(binding, it, record, context).ids);

const isRunning = ({ plan, end, spec }: RunRecord): boolean =>
  plan !== null && end === null && spec.state !== "Initialize";

interface Losses {
  readonly whole: boolean;
  readonly ids: readonly ObjectId[];
}

function lossesOf(
  binding: Binding,
  { plan, stages }: RunRecord,
  record: PlacementRecord,
  context: PlanContext,
): Losses {
  const { cluster, target, removal, state } = binding;
  const nothing: Losses = { whole: false, ids: [] };
  if (plan === null || target === null || removal !== null) return nothing;
  if (plan.deletions.includes(cluster) && state === "Unscheduled")
    return { whole: true, ids: carriedObjects(binding, record, context) };
  const planned = plannedIn(plan).get(cluster);
  const isOver = stages.some((it) => (it.clusters.get(cluster)?.end ?? null) !== null);
  if (planned === undefined || isOver || planned.digest === target.digest) return nothing;
  const { sequence, startedAt } = target;
  const { resourceIndex, applyStrategy } = plan;
  const next = { ...planned, resourceIndex, applyStrategy, sequence, startedAt };
  const rendering = targetRendering({ cluster, target: next }, record, context);
  if (rendering?.kind !== "rendered") return nothing;
  const keeps = new Set(objectsOf(rendering).map(objectKey));
  return { whole: false, ids: carriedObjects(binding, record, context).filter((it) => !keeps.has(objectKey(it))) };
}
