import type { Condition, Verdict } from "../model/condition.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { Instant } from "../model/value.ts";
import { bounded } from "./bounded.ts";
import { walk } from "./cluster-walk.ts";
import { type ExpectedCondition, expectedConditions } from "./expected-conditions.ts";
import { currentScheduling, type SelectedCluster, selectedClusters } from "./selected-clusters.ts";

/**
 * The conditions of a placement, from its scheduling and its bindings (`spec/apply.md` §5.6, S-01 to S-09;
 * `spec/rollout.md` §5.3, P1 to P4).
 *
 * Unknown beats False beats True, the first type that is not True ends the walk. Where KubeFleet leaves old conditions
 * standing that nobody vouches for (scheduling pending, selectors refused), only `Scheduled` is left (`RULINGS.md` C
 * 36).
 */
export function placementVerdicts(record: PlacementRecord): readonly Verdict[] {
  const verdict = verdictOf(record);
  const scheduled = verdict("Scheduled", ...scheduledWords(record));
  if (record.selectionError !== null || scheduled.status === "Unknown") return [scheduled];
  const selected = selectedClusters(record);
  if (selected.length === 0) return [scheduled];
  return [scheduled, ...aggregate(selected, record, verdict)];
}

type Words = readonly [status: Verdict["status"], reason: string, message: string];
type MakeVerdict = (type: string, ...words: Words) => Verdict;

const verdictOf =
  ({ scope, generation }: PlacementRecord): MakeVerdict =>
  (type, status, reason, message) => ({
    type: `${scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement"}${type}`,
    status,
    reason,
    message: bounded(message),
    observedGeneration: generation,
  });

function scheduledWords(record: PlacementRecord): Words {
  if (record.selectionError !== null) return ["False", "InvalidResourceSelectors", record.selectionError];
  const scheduling = currentScheduling(record);
  if (scheduling === null) return ["Unknown", "SchedulePending", "the scheduler has not looked at this version yet"];
  const { status, reason, message } = scheduling.condition;
  return [status, reason, message];
}

function aggregate(
  selected: readonly SelectedCluster[],
  record: PlacementRecord,
  verdict: MakeVerdict,
): readonly Verdict[] {
  // Times play no part in counting.
  const rows = selected.map((it) => ({ ...it, conditions: walk(it, record, 0 as Instant) }));
  const verdicts: Verdict[] = [];
  for (const [at, expected] of expectedConditions(record.spec).entries()) {
    const words = wordsOf(expected, rows, at);
    const isPlain = expected.type === "Overridden" && words[0] === "True" && !rows.some(hasOverrides);
    verdicts.push(verdict(expected.type, ...(isPlain ? noOverride : words)));
    if (words[0] !== "True") break;
  }
  return verdicts;
}

const noOverride: Words = ["True", "NoOverrideSpecified", "no override applies to any selected cluster"];

interface Row extends SelectedCluster {
  readonly conditions: readonly Condition[];
}

/** Status, reason and message of one type over all clusters; every row has got at least this far. */
function wordsOf({ phrases, ...reasons }: ExpectedCondition, rows: readonly Row[], at: number): Words {
  const of = (status: Verdict["status"]): readonly Row[] => rows.filter((it) => it.conditions[at]?.status === status);
  const unknown = of("Unknown");
  if (unknown.length > 0) return ["Unknown", reasons.unknown, counted(phrases.unknown, unknown, rows.length, at)];
  const failed = of("False");
  if (failed.length > 0) return ["False", reasons.false, counted(phrases.false, failed, rows.length, at)];
  return ["True", reasons.true, `${phrases.true} ${clusters(rows.length, rows.length)}`];
}

function counted(phrase: string, rows: readonly Row[], total: number, at: number): string {
  const [first] = rows;
  const detail = first === undefined ? "" : `; first ${first.cluster}: ${first.conditions[at]?.message ?? ""}`;
  return `${phrase} ${clusters(rows.length, total)}${detail}`;
}

const clusters = (count: number, total: number): string =>
  `${count} of ${total} ${total === 1 ? "cluster" : "clusters"}`;

const hasOverrides = ({ binding }: Row): boolean =>
  binding !== null &&
  binding.target !== null &&
  binding.target.clusterOverrides.length + binding.target.resourceOverrides.length > 0;
