import { remembered } from "../../model/identity.ts";
import type { Intent } from "../../model/intent.ts";
import type { Ledger } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import type { RunRecord, UpdateRun } from "../../model/update-run.ts";
import { compareText, type PlacementKey } from "../../model/value.ts";
import { notStartedDeletion } from "../../rollout/run-progress.ts";
import { type PlanContext, uidOf } from "../moves/context.ts";

/** The update runs that the repository has for a placement. */
export const runsOf = ({ runs }: Pick<Intent, "runs">, placement: PlacementKey): readonly UpdateRun[] =>
  runsByPlacement(runs).get(placement) ?? none;

/** The runs on record for a placement. */
export const recordsOf = ({ runs }: Pick<Ledger, "runs">, placement: PlacementKey): readonly RunRecord[] =>
  recordsByPlacement(runs).get(placement) ?? none;

const none: readonly never[] = [];

const runsByPlacement = remembered((runs: Intent["runs"]) => grouped(runs.values(), (it) => it.spec.placement));
const recordsByPlacement = remembered((runs: Ledger["runs"]) => grouped(runs.values(), (it) => it.spec.placement));

function grouped<T>(
  items: Iterable<T>,
  placementOf: (item: T) => PlacementKey,
): ReadonlyMap<PlacementKey, readonly T[]> {
  const groups = new Map<PlacementKey, T[]>();
  for (const it of items) {
    const group = groups.get(placementOf(it));
    if (group === undefined) groups.set(placementOf(it), [it]);
    else group.push(it);
  }
  return groups;
}

/** The records of all runs, as their documents have them now. One whose document is gone is forgotten. */
export function runsNewestFirst(
  asked: readonly UpdateRun[],
  kept: readonly RunRecord[],
  context: PlanContext,
): readonly RunRecord[] {
  const records = new Map(kept.map((it) => [it.key, it]));
  const unusable = kept.filter((it) => isUnusable(it, context));
  const current = asked.map((it) => recorded(it, records.get(it.key), context));
  return [...current, ...unusable.filter((it) => !asked.some(({ key }) => key === it.key))].sort(
    (a, b) => b.since - a.since || compareText(b.key, a.key),
  );
}

/** Its document is there and cannot be used: neither gone nor changed (`plan/README.md#d-2`). */
export const isUnusable = ({ namespace, name }: RunRecord, { world: { intent } }: PlanContext): boolean =>
  intent.unusable.has(
    objectKey({
      group: placementGroup,
      kind: namespace === null ? "ClusterStagedUpdateRun" : "StagedUpdateRun",
      namespace,
      name,
    }),
  );

function recorded(
  { key, scope, namespace, name, spec }: UpdateRun,
  before: RunRecord | undefined,
  context: PlanContext,
) {
  if (before === undefined) {
    return {
      key,
      scope,
      namespace,
      name,
      uid: uidOf(context.ledger, "UpdateRun", key),
      generation: 1,
      spec,
      since: context.sequence,
      plan: null,
      stages: [],
      deletion: notStartedDeletion,
      end: null,
      conditions: [],
    } satisfies RunRecord;
  }
  // Only the state may change, and of a run that is over nothing does (`rollout/README.md#u34`).
  if (before.end !== null || before.spec.state === spec.state) return before;
  return { ...before, spec, generation: before.generation + 1 };
}
