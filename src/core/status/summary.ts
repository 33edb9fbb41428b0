import type { Binding, Target } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { freshCondition } from "./expected-conditions.ts";
import { isQuarantineType } from "./quarantine.ts";
import { currentScheduling, isExternal, selectedClusters, wantedClusters } from "./selected-clusters.ts";

/** A placement in one line of a table. Counts are of clusters. */
interface PlacementSummary {
  readonly wanted: number;
  readonly selected: number;
  /** On the newest content, with nothing held back. For External: on the content that was rolled out last. */
  readonly updated: number;
  /** Carry their whole target, newest or not. */
  readonly applied: number;
  readonly available: number;
  /** Cannot be rendered, not applied, or explicitly failed; progressing is not failed (`rollout/README.md#b-1`). */
  readonly failed: number;
  /** Waiting for the rollout's budget; with External, for a run to bring what others got last. */
  readonly heldBack: number;
  /** Reported once and out of contact now. */
  readonly unknown: number;
  readonly state: PlacementState;
}

/** In the order in which one hides the next: see `stateOf`. */
type PlacementState =
  /** It stays as recorded, since every plan for it fails the check. */
  | "Quarantined"
  | "Deleting"
  | "Failed"
  | "Unscheduled"
  | "Progressing"
  | "HeldBack"
  | "Unknown"
  | "Unfulfilled"
  | "AwaitingRun"
  /** Valid, but without effect: the policy matches no cluster, or the selectors no object. */
  | "NoClusters"
  | "NoResources"
  | "Available";

export function summaryOf(record: PlacementRecord): PlacementSummary {
  const clusters = selectedClusters(record);
  const bindings = clusters.flatMap((it) => it.binding ?? []);
  const newest = newestIndex(bindings, record);
  const isOn = ({ target }: Binding): boolean => target !== null && target.resourceIndex === newest;
  const isWaiting = (it: Binding): boolean => isHeldBack(it) || (isExternal(record) && !isOn(it));
  const count = (holds: (binding: Binding) => boolean): number => bindings.filter(holds).length;
  const counts = {
    wanted: wantedClusters(record),
    selected: clusters.length,
    updated: count((it) => isOn(it) && says(it, "RolloutStarted") === "True"),
    applied: count((it) => (says(it, "Applied") ?? says(it, "DiffReported")) === "True"),
    available: count(isServing),
    failed: count(hasFailed),
    heldBack: count(isWaiting),
    unknown: count(isSilent),
  };
  const settled = count((it) => isWaiting(it) || isSilent(it) || (isOn(it) && isServing(it)));
  return { ...counts, state: stateOf(record, settled, counts) };
}

/** The most urgent state that applies: what needs a person, then what moves, then what waits. */
function stateOf(record: PlacementRecord, settled: number, counts: Omit<PlacementSummary, "state">): PlacementState {
  if (record.conditions.some((it) => isQuarantineType(it.type))) return "Quarantined";
  if (record.deleting !== null) return "Deleting";
  if (record.selectionError !== null || counts.failed > 0) return "Failed";
  if (currentScheduling(record) === null || (counts.selected === 0 && counts.wanted > 0)) return "Unscheduled";
  if (settled < counts.selected) return "Progressing";
  if (counts.heldBack > 0) return "HeldBack";
  if (counts.unknown > 0) return "Unknown";
  if (counts.selected < counts.wanted) return "Unfulfilled";
  if (counts.selected === 0) return "NoClusters";
  if (record.unrolled !== null) return "AwaitingRun";
  return record.resourceSnapshots.at(-1)?.resources.length === 0 ? "NoResources" : "Available";
}

/** The latest content; for External the one whose rollout started last, which may be older. */
function newestIndex(bindings: readonly Binding[], record: PlacementRecord): number | null {
  if (!isExternal(record)) return record.resourceSnapshots.at(-1)?.index ?? null;
  let last: Target | null = null;
  for (const { target } of bindings)
    if (target !== null && (last === null || target.sequence > last.sequence)) last = target;
  return last?.resourceIndex ?? null;
}

const says = (binding: Binding, type: string): string | null => freshCondition(binding, type)?.status ?? null;

const isHeldBack = (binding: Binding): boolean => says(binding, "RolloutStarted") === "False";

const isServing = (binding: Binding): boolean =>
  (says(binding, "Available") ?? says(binding, "DiffReported")) === "True";

/** The member has reported on this target, and its condition is Unknown: it has stopped answering. */
const isSilent = (binding: Binding): boolean =>
  hasAnswered(binding) && (says(binding, "Applied") ?? says(binding, "DiffReported")) === "Unknown";

const hasAnswered = ({ facts, target }: Binding): boolean =>
  facts !== null && facts.sequence === target?.sequence && facts.applied !== "pending";

function hasFailed(binding: Binding): boolean {
  const refused = ["Overridden", "WorkSynchronized", "Applied", "DiffReported"].some(
    (it) => says(binding, it) === "False",
  );
  return refused || (says(binding, "Available") === "False" && binding.facts?.phase === "failed");
}
