import type { Binding } from "../model/binding.ts";
import { type Condition, conditionOf } from "../model/condition.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { PlacementSpec } from "../model/placement.ts";
import type { Instant } from "../model/value.ts";
import { isExternal, type SelectedCluster } from "./selected-clusters.ts";

/** One expected condition: its type, the reasons that a placement gives for it, and phrases for messages. */
export interface ExpectedCondition {
  readonly type: string;
  readonly unknown: string;
  readonly false: string;
  readonly true: string;
  /** Phrases that a placement puts before the clusters it counts. */
  readonly phrases: { readonly unknown: string; readonly false: string; readonly true: string };
}

const rollout: readonly ExpectedCondition[] = [
  {
    type: "RolloutStarted",
    unknown: "RolloutStartedUnknown",
    false: "RolloutNotStartedYet",
    true: "RolloutStarted",
    phrases: {
      unknown: "not decided yet whether to start the newest version on",
      false: "the newest version waits for the rollout's budget on",
      true: "the newest version has started on",
    },
  },
  {
    type: "Overridden",
    unknown: "OverriddenPending",
    false: "OverriddenFailed",
    true: "OverriddenSucceeded",
    phrases: {
      unknown: "overrides are not applied yet for",
      false: "overrides cannot be applied for",
      true: "overrides are applied for",
    },
  },
  {
    type: "WorkSynchronized",
    unknown: "WorkSynchronizedUnknown",
    false: "WorkNotSynchronizedYet",
    true: "WorkSynchronized",
    phrases: { unknown: "not rendered yet for", false: "cannot be rendered for", true: "rendered and recorded for" },
  },
];

const apply: readonly ExpectedCondition[] = [
  ...rollout,
  {
    type: "Applied",
    unknown: "ApplyPending",
    false: "ApplyFailed",
    true: "ApplySucceeded",
    phrases: { unknown: "not confirmed yet by", false: "not every object could be applied to", true: "applied to" },
  },
  {
    type: "Available",
    unknown: "ResourceAvailableUnknown",
    false: "ResourceNotAvailableYet",
    true: "ResourceAvailable",
    phrases: { unknown: "availability is not known on", false: "not available yet on", true: "available on" },
  },
];

const diff: readonly ExpectedCondition[] = [
  ...rollout,
  {
    type: "DiffReported",
    unknown: "DiffReportingPending",
    false: "DiffReportingIncompleteOrFailed",
    true: "DiffReportingCompleted",
    phrases: {
      unknown: "differences are not reported yet by",
      false: "not all differences could be reported by",
      true: "differences are reported by",
    },
  },
];

/** External placements wait for no budget, and may move to an older version. */
const byRuns: ExpectedCondition["phrases"] = {
  unknown: "no update run has decided yet about",
  false: "another version waits for an update run on",
  true: "the version has started on",
};

/** The conditions that a placement's clusters reach, in order (`status/README.md#the-row-of-a-cluster`). */
export function expectedConditions({ strategy }: PlacementSpec): readonly ExpectedCondition[] {
  const expected = strategy.applyStrategy.type === "ReportDiff" ? diff : apply;
  if (strategy.type !== "External") return expected;
  return expected.map((it) => (it.type === "RolloutStarted" ? { ...it, phrases: byRuns } : it));
}

/** A binding's condition; one of an earlier revision counts as absent (`rollout/README.md#the-binding`). */
export function freshCondition(binding: Binding, type: string): Condition | null {
  const condition = conditionOf(binding.conditions, type);
  return condition !== null && condition.observedGeneration === binding.generation ? condition : null;
}

/** Whether the target of a binding has the latest content. */
const isLatest = ({ target }: Binding, { resourceSnapshots }: PlacementRecord): boolean =>
  target !== null && target.resourceIndex === resourceSnapshots.at(-1)?.index;

/**
 * The conditions of one cluster's row after `Scheduled`: up to the first that is not True
 * (`status/README.md#the-row-of-a-cluster`).
 *
 * A cluster on older content is held back or undecided, whatever it reports on that content, unless the newest cannot
 * be rendered for it: then the failure is shown (`render/README.md#o-04`). With External no content counts as older
 * (`status/README.md#the-row-of-a-cluster`). Transition times are the binding's, or `since` where it has none.
 */
export function rowConditions(
  selected: SelectedCluster,
  record: PlacementRecord,
  since: Instant,
): readonly Condition[] {
  const { binding } = selected;
  const row: Condition[] = [];
  for (const expected of expectedConditions(record.spec)) {
    const step = stepOf(binding, expected, record);
    const lastTransitionTime =
      "lastTransitionTime" in step ? step.lastTransitionTime : (row.at(-1)?.lastTransitionTime ?? since);
    const reason = step.status === "Unknown" ? expected.unknown : step.reason;
    row.push({ ...step, reason, observedGeneration: record.generation, lastTransitionTime });
    if (step.status !== "True") break;
  }
  return row;
}

/** One condition of one cluster. Without a time where nothing is known yet. */
export type RowStep = Condition | Omit<Condition, "lastTransitionTime">;

/** One condition of a cluster: the binding's own, if it is of the current revision, or Unknown. */
export function stepOf(binding: Binding | null, expected: ExpectedCondition, record: PlacementRecord): RowStep {
  const own = binding === null || isUndecided(binding, record) ? null : freshCondition(binding, expected.type);
  return own ?? pending(expected);
}

/** On older content, and neither held back nor failing to get the newest. */
function isUndecided(binding: Binding, record: PlacementRecord): boolean {
  if (isExternal(record) || isLatest(binding, record)) return false;
  const says = (type: string): boolean => freshCondition(binding, type)?.status === "False";
  return !says("RolloutStarted") && !says("Overridden") && !says("WorkSynchronized");
}

const pending = ({ type, unknown, phrases }: ExpectedCondition): Omit<Condition, "lastTransitionTime"> => ({
  type,
  status: "Unknown",
  reason: unknown,
  message: `${phrases.unknown} this cluster`,
  observedGeneration: 0,
});
