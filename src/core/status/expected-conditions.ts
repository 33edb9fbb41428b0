import type { PlacementSpec } from "../model/placement.ts";

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
