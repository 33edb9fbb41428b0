import { boundedMessage, type Verdict } from "../model/condition.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { statusNamespace } from "../model/placement.ts";
import { type ExpectedCondition, expectedConditions, type RowStep, stepOf } from "./expected-conditions.ts";
import {
  currentScheduling,
  isExternal,
  rowIndex,
  type SelectedCluster,
  selectedClusters,
} from "./selected-clusters.ts";

/**
 * The conditions of a placement, from its scheduling and its bindings
 * (`status/README.md#the-conditions-of-a-placement`, `#s-01` to `#s-09`; `#the-conditions-of-a-placement`, `#p1` to
 * `#p4`).
 *
 * Unknown beats False beats True, and the first type that is not True is the last; what one status hides is counted in
 * the message (`#b-24`). While the clusters of an External placement are on different versions, only that is reported
 * (`#external-placements`). Where KubeFleet keeps outdated conditions (scheduling pending, selectors refused), only
 * `Scheduled` is left (`#c-36`).
 *
 * The last condition of a placement that is NamespaceAccessible is that its status is there (`#status-for-others`).
 *
 * `arithmetic` says which clusters the rollout's budget holds back, with its numbers (`rollout/README.md#b-7`): once
 * per placement, so that a changed number rewrites one message and not one per cluster.
 */
export function placementVerdicts(record: PlacementRecord, arithmetic: string | null): readonly Verdict[] {
  const verdicts = verdictsOf(record, arithmetic);
  const namespace = statusNamespace(record);
  return namespace === null ? verdicts : [...verdicts, syncedVerdict(namespace, record)];
}

/** The copy is a part of the commit that has the placement's own status: it is never behind (`status/README.md#s-10`). */
const syncedVerdict = (namespace: string, record: PlacementRecord): Verdict =>
  verdictOf(record)("StatusSynced", "True", "StatusSyncSucceeded", `the status is shown in the namespace ${namespace}`);

function verdictsOf(record: PlacementRecord, arithmetic: string | null): readonly Verdict[] {
  const verdict = verdictOf(record);
  const [status, reason, message] = scheduledWords(record);
  const scheduled = verdict("Scheduled", status, reason, message);
  if (record.selectionError !== null || scheduled.status === "Unknown") return [scheduled];
  const selected = selectedClusters(record);
  // A placement that leaves all its clusters has no conditions about them, but its removals may be held back.
  if (selected.length === 0) return [verdict("Scheduled", status, reason, held(message, arithmetic))];
  const undecided = isExternal(record) ? undecidedWords(selected, record) : null;
  if (undecided !== null) return [scheduled, verdict("RolloutStarted", ...undecided)];
  return [scheduled, ...aggregate(selected, record, { verdict, arithmetic })];
}

type Words = readonly [status: Verdict["status"], reason: string, message: string];
type MakeVerdict = (type: string, ...words: Words) => Verdict;

const verdictOf =
  ({ scope, generation }: PlacementRecord): MakeVerdict =>
  (type, status, reason, message) => ({
    type: `${scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement"}${type}`,
    status,
    reason,
    message: boundedMessage(message),
    observedGeneration: generation,
  });

function scheduledWords(record: PlacementRecord): Words {
  if (record.selectionError !== null) return ["False", "InvalidResourceSelectors", record.selectionError];
  const scheduling = currentScheduling(record);
  if (scheduling === null) return ["Unknown", "SchedulePending", "the scheduler has not looked at this version yet"];
  const { status, reason, message } = scheduling.condition;
  return [status, reason, message];
}

/** Why External clusters have no common condition; null when they have (`status/README.md#external-placements`). */
function undecidedWords(selected: readonly SelectedCluster[], record: PlacementRecord): Words | null {
  const message = mixedVersions(selected, record) ?? firstUnheard(selected, record);
  return message === null ? null : ["Unknown", "RolloutControlledByExternalController", message];
}

/** The number of clusters per version, in order, those without one last; null when all are on the same. */
function mixedVersions(selected: readonly SelectedCluster[], record: PlacementRecord): string | null {
  const counts = new Map<string, number>();
  for (const { binding } of selected) {
    const index = rowIndex(binding, record);
    counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  if (!counts.has("") && counts.size === 1) return null;
  const ordered = [...counts].sort(([a], [b]) => (a === "" ? 1 : b === "" ? -1 : Number(a) - Number(b)));
  const versions = ordered.map(
    ([index, count]) => `${index === "" ? "no version" : `index ${index}`} on ${clusters(count, selected.length)}`,
  );
  return `an update run decides which version goes where: ${versions.join(", ")}`;
}

function firstUnheard(selected: readonly SelectedCluster[], record: PlacementRecord): string | null {
  const [started] = expectedConditions(record.spec);
  if (started === undefined) return null;
  for (const { cluster, binding } of selected) {
    const step = stepOf(binding, started, record);
    if (step.status === "Unknown") return `an update run decides, and has not yet about ${cluster}`;
  }
  return null;
}

function aggregate(
  selected: readonly SelectedCluster[],
  record: PlacementRecord,
  { verdict, arithmetic }: { readonly verdict: MakeVerdict; readonly arithmetic: string | null },
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  for (const expected of expectedConditions(record.spec)) {
    const words = wordsOf(expected, selected, record);
    const isPlain = expected.type === "Overridden" && words[0] === "True" && !selected.some(hasOverrides);
    const [status, reason, message] = isPlain ? noOverride : words;
    const numbers = expected.type === "RolloutStarted" ? arithmetic : null;
    verdicts.push(verdict(expected.type, status, reason, held(message, numbers)));
    if (status !== "True") break;
  }
  return verdicts;
}

const held = (message: string, arithmetic: string | null): string =>
  arithmetic === null ? message : `${message}; ${arithmetic}`;

const noOverride: Words = ["True", "NoOverrideSpecified", "no override applies to any selected cluster"];

/** Clusters with the same status, and the first of them. */
interface Group {
  count: number;
  first: string;
}

/** Status, reason and message of one type over all clusters, each of which has got at least this far. */
function wordsOf(expected: ExpectedCondition, selected: readonly SelectedCluster[], record: PlacementRecord): Words {
  const unknown: Group = { count: 0, first: "" };
  const failed: Group = { count: 0, first: "" };
  for (const it of selected) {
    const step = stepOf(it.binding, expected, record);
    if (step.status !== "True") add(step.status === "Unknown" ? unknown : failed, it, step);
  }
  const { phrases } = expected;
  const right = selected.length - unknown.count - failed.count;
  const counts = `(True ${right}, False ${failed.count}, Unknown ${unknown.count})`;
  const counted = (phrase: string, { count, first }: Group): string =>
    `${phrase} ${clusters(count, selected.length)} ${counts}; first ${first}`;
  if (unknown.count > 0) return ["Unknown", expected.unknown, counted(phrases.unknown, unknown)];
  if (failed.count > 0) return ["False", expected.false, counted(phrases.false, failed)];
  const isEmpty = record.resourceSnapshots.at(-1)?.resources.length === 0;
  const nothing = isEmpty ? "; nothing is selected, so there is nothing to be done" : "";
  return ["True", expected.true, `${phrases.true} ${clusters(selected.length, selected.length)}${nothing}`];
}

function add(group: Group, { cluster }: SelectedCluster, { message }: RowStep): void {
  if (group.count === 0) group.first = `${cluster}: ${message}`;
  group.count += 1;
}

const clusters = (count: number, total: number): string =>
  `${count} of ${total} ${total === 1 ? "cluster" : "clusters"}`;

const hasOverrides = ({ binding }: SelectedCluster): boolean =>
  binding !== null &&
  binding.target !== null &&
  binding.target.clusterOverrides.length + binding.target.resourceOverrides.length > 0;
