import type { Binding } from "../model/binding.ts";
import { type Condition, conditionOf } from "../model/condition.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { PlacementSpec } from "../model/placement.ts";
import type { Instant } from "../model/value.ts";
import { isExternal, type SelectedCluster } from "./selected-clusters.ts";

/** One step of KubeFleet's walk: a condition type and the reasons a placement gives for it. */
export interface ExpectedCondition {
  readonly type: string;
  readonly unknown: string;
  readonly false: string;
  readonly true: string;
  /** What a placement says of the clusters it counts. */
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

/** What moves by update runs alone waits for no budget, and may well move to an older version. */
const byRuns: ExpectedCondition["phrases"] = {
  unknown: "no update run has decided yet about",
  false: "another version waits for an update run on",
  true: "the version has started on",
};

/**
 * The conditions that every cluster of a placement goes through, in order (`status/README.md#the-row-of-a-cluster` and
 * `#the-conditions-of-a-placement`).
 */
export function expectedConditions({ strategy }: PlacementSpec): readonly ExpectedCondition[] {
  const expected = strategy.applyStrategy.type === "ReportDiff" ? diff : apply;
  if (strategy.type !== "External") return expected;
  return expected.map((it) => (it.type === "RolloutStarted" ? { ...it, phrases: byRuns } : it));
}

/**
 * The condition of a binding's current revision; one of an earlier revision counts as absent
 * (`rollout/README.md#the-binding`).
 */
export function freshCondition(binding: Binding, type: string): Condition | null {
  const condition = conditionOf(binding.conditions, type);
  return condition !== null && condition.observedGeneration === binding.generation ? condition : null;
}

/** Whether a binding's target is of the latest content. */
const isLatest = ({ target }: Binding, { resourceSnapshots }: PlacementRecord): boolean =>
  target !== null && target.resourceIndex === resourceSnapshots.at(-1)?.index;

/**
 * The conditions of one cluster's row after `Scheduled`: up to the first that is not True
 * (`status/README.md#the-row-of-a-cluster`).
 *
 * A cluster on older content is held back or undecided, whatever it says of that content, unless the newest could not
 * be rendered for it: that is said, or nobody would learn of it (`render/README.md#o-04`). For External no content is
 * older: it says what it says (`status/README.md#the-row-of-a-cluster`). Transition times are the binding's; where it
 * has none, `since`.
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

/** What one cluster says of one expected condition. Without a time where it has not said anything yet. */
export type RowStep = Condition | Omit<Condition, "lastTransitionTime">;

/** One step of a cluster's walk: its own fresh condition, or that nothing is known yet. */
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
