import type { Binding, ClusterDecision } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import { instantText, oneLine } from "../model/value.ts";
import { type Assessment, compareNearness } from "../schedule/assessment.ts";
import { summaryOf } from "../status/summary.ts";
import { quantity } from "./phrases.ts";

export type ClusterFilter = (cluster: string) => boolean;

export const decisionsOf = ({ policySnapshots }: PlacementRecord, chosen: ClusterFilter): readonly ClusterDecision[] =>
  (policySnapshots.at(-1)?.verdict?.decisions ?? []).filter((it) => chosen(it.cluster));

/** Clusters of which something is recorded for a placement. */
export const recordedClusters = (record: PlacementRecord): readonly string[] => [
  ...new Set([...decisionsOf(record, () => true).map((it) => it.cluster), ...record.bindings.keys()]),
];

/**
 * Why a placement is where it is: what was decided and recorded, how it is there, and how the scheduler would judge the
 * clusters now. Clusters of which nothing is recorded are shown where they are asked for, or nearest to being picked.
 */
export function explainPlacement(
  record: PlacementRecord,
  chosen: ClusterFilter,
  assessments: readonly Assessment[],
): string {
  const { wanted, selected, available, state } = summaryOf(record);
  const { policy } = record.spec;
  const assessed = new Map(assessments.map((it): [string, Assessment] => [it.cluster, it]));
  const lines = [
    `${record.key}: ${state}; ${policy.kind}: ${selected} of ${quantity(wanted, "cluster")} selected, ${available} available`,
  ];
  if (record.selectionError !== null) lines.push(`cannot select resources: ${record.selectionError}`);
  for (const condition of record.conditions) {
    const since = instantText(condition.lastTransitionTime);
    lines.push(`  ${condition.type} ${condition.status} since ${since}: ${condition.reason}: ${condition.message}`);
  }
  for (const decision of decisionsOf(record, chosen)) {
    const binding = record.bindings.get(decision.cluster);
    lines.push("", `${decision.selected ? "on" : "not on"} ${decision.cluster}: ${decision.reason}`);
    if (binding !== undefined) lines.push(...bindingLines(binding));
    lines.push(...assessmentLines(record, assessed.get(decision.cluster), decision.reason));
  }
  const decided = new Set(decisionsOf(record, chosen).map((it) => it.cluster));
  for (const binding of record.bindings.values())
    if (chosen(binding.cluster) && !decided.has(binding.cluster))
      lines.push("", `still on ${binding.cluster}, to be removed`, ...bindingLines(binding));
  const shown = new Set(recordedClusters(record));
  for (const it of assessments)
    if (chosen(it.cluster) && !shown.has(it.cluster))
      lines.push("", `not on ${it.cluster}`, ...assessmentLines(record, it, ""));
  const nearest = assessments.filter((it) => it.isNearest && chosen(it.cluster)).sort(compareNearness);
  if (nearest.length > 0) lines.push("", `nearest to being picked: ${nearest.map(nearestText).join("; ")}`);
  return `${lines.map(oneLine).join("\n")}\n`;
}

function bindingLines({ target, removal, leaving, facts, conditions }: Binding): readonly string[] {
  const lines: string[] = [];
  if (target !== null) {
    const overrides = [...target.clusterOverrides, ...target.resourceOverrides];
    const with_ = overrides.length === 0 ? "" : ` with ${overrides.join(", ")}`;
    lines.push(
      `  resource snapshot ${target.resourceIndex}${with_}, decided in ledger ${target.sequence} at ${instantText(target.startedAt)}`,
    );
  }
  if (removal !== null)
    lines.push(`  being removed since ${instantText(removal.since)} because of ${removal.cause.slice(0, 10)}`);
  if (leaving.length > 0) lines.push(`  still to go: ${leaving.map((it) => objectText(it.id)).join(", ")}`);
  for (const { type, status, reason, message } of conditions) lines.push(`  ${type} ${status}: ${reason}: ${message}`);
  for (const { id, code, message } of facts?.objectFailures ?? [])
    lines.push(`  ${objectText(id)}: ${code}: ${message}`);
  if ((facts?.adopted.length ?? 0) > 0) lines.push(`  taken over: ${facts?.adopted.map(objectText).join(", ")}`);
  return lines;
}

/** What the scheduler would say now, without what the recorded decision said already. */
function assessmentLines(
  record: PlacementRecord,
  assessment: Assessment | undefined,
  reason: string,
): readonly string[] {
  if (assessment === undefined) return [];
  const { isSelected, refusals, numbers, rank } = assessment;
  const refused = refusals.flatMap(({ plugin, because, remedy }) => {
    const refusal = `${plugin}: ${because}`;
    if (isSelected) return [`  would not be picked today: ${refusal}; stays until the policy changes`];
    const isSaid = reason === refusal;
    return [
      ...(isSaid ? [] : [`  refused today: ${refusal}`]),
      ...(remedy === null ? [] : [`  to be picked: ${remedy}`]),
    ];
  });
  const { policy } = record.spec;
  const more = policy.kind === "PickN" && rank === 1 ? policy.numberOfClusters + 1 : null;
  // With fewer than are wanted, as in quarantine, it is not the number that keeps it out.
  const isEnough = more !== null && summaryOf(record).selected + 1 >= more;
  const next = isEnough ? `; numberOfClusters: ${more} would pick it` : "";
  const place = rank === null ? [] : [`  fits today, number ${rank} of those that are not picked${next}`];
  return [...refused, ...place, ...numbers.map((it) => `  ${it}`)];
}

const nearestText = ({ cluster, refusals }: Assessment): string =>
  refusals.length === 0 ? `${cluster} (fits)` : `${cluster} (refused by ${refusals.map((it) => it.plugin).join(", ")})`;
