import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { RunRecord } from "../model/update-run.ts";

/** The version and strategy of a rollback; or why there is none, and what to give. */
export type RollbackChoice =
  | { readonly kind: "chosen"; readonly index: number; readonly strategy: string }
  | { readonly kind: "refused"; readonly message: string; readonly fix: string };

/** What was asked for; null for the default. */
interface RollbackRequest {
  readonly index: string | null;
  readonly strategy: string | null;
}

/**
 * Chooses the version that a placement goes back to.
 *
 * By default it is older than the version that is being rolled out, or was last: that of the last succeeded run; else
 * the one that most clusters run; else the next older one on record. So it undoes a rollout that got stuck half-way as
 * well as one that completed. The strategy is that of the placement's last run.
 */
export function chooseRollback({ runs }: Ledger, placement: PlacementRecord, request: RollbackRequest): RollbackChoice {
  if (placement.spec.strategy.type !== "External")
    return refused(`${placement.key} rolls out by itself, without runs`, "revert the commit that brought the version");
  const its = [...runs.values()].filter((it) => it.spec.placement === placement.key).sort((a, b) => b.since - a.since);
  const kept = placement.resourceSnapshots.map((it) => it.index);
  const strategy = request.strategy ?? its[0]?.spec.strategy.split("/").at(-1) ?? null;
  if (strategy === null) return refused(`${placement.key} has had no run yet`, "give its strategy with --strategy");
  if (request.index !== null) {
    const wrong = indexObjection(placement.key, placement, request.index);
    if (wrong === null) return { kind: "chosen", index: Number(request.index), strategy };
    return refused(wrong.message, wrong.fix);
  }
  const index = olderVersion(placement, its, kept);
  if (index !== null) return { kind: "chosen", index, strategy };
  const message = `there is no version of ${placement.key} before the current one`;
  return refused(message, `give one with --to: ${listed(kept)}`);
}

const refused = (message: string, fix: string): RollbackChoice => ({ kind: "refused", message, fix });

const listed = (kept: readonly number[]): string =>
  kept.length === 0 ? "none is kept; roll out a version first" : kept.join(", ");

function olderVersion(
  placement: PlacementRecord,
  newestFirst: readonly RunRecord[],
  kept: readonly number[],
): number | null {
  const planned = newestFirst.flatMap((it) => (it.plan === null ? [] : [{ run: it, index: it.plan.resourceIndex }]));
  const succeeded = planned.filter((it) => it.run.end?.kind === "succeeded").map((it) => it.index);
  const carried = mostCarried(placement);
  const present = planned[0]?.index ?? carried ?? kept.at(-1);
  if (present === undefined) return null;
  const candidates = [...succeeded, ...(carried === null ? [] : [carried]), ...[...kept].reverse()];
  return candidates.find((it) => it < present && kept.includes(it)) ?? null;
}

/** The version that most clusters run; of several the newest. */
function mostCarried({ bindings }: PlacementRecord): number | null {
  const counts = new Map<number, number>();
  for (const { target } of bindings.values())
    if (target !== null) counts.set(target.resourceIndex, (counts.get(target.resourceIndex) ?? 0) + 1);
  const [most] = [...counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || b - a);
  return most?.[0] ?? null;
}

/** What is wrong with an argument, and what to do instead. */
export interface Objection {
  readonly message: string;
  readonly fix: string;
}

/** What is wrong with the index of a resource snapshot, as it was typed; null when nothing is. */
export function indexObjection(
  placement: string,
  record: PlacementRecord | undefined,
  index: string,
): Objection | null {
  const kept = (record?.resourceSnapshots ?? []).map((it) => String(it.index));
  if (kept.includes(index)) return null;
  return {
    message: `no resource snapshot ${index} of ${placement} is kept`,
    fix: kept.length === 0 ? "none is kept; roll out a version first" : `give one of ${kept.join(", ")}`,
  };
}
