import type { Intent } from "../../model/intent.ts";
import type { Ledger } from "../../model/ledger.ts";
import { remembered } from "../../model/memo.ts";
import type { RunRecord, UpdateRun } from "../../model/update-run.ts";
import type { PlacementKey } from "../../model/value.ts";

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
