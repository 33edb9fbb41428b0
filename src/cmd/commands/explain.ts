import type { Binding } from "../../core/model/binding.ts";
import { type Json, memberAt } from "../../core/model/json.ts";
import type { ClusterDecision, PlacementRecord } from "../../core/model/ledger.ts";
import { objectText } from "../../core/model/manifest.ts";
import { instantText, type PlacementKey } from "../../core/model/value.ts";
import { count } from "../../core/report/explain.ts";
import { summaryOf } from "../../core/status/summary.ts";
import { oneLine } from "../../shell/reconcile/one-line.ts";
import { readState } from "../../shell/reconcile/state.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { encoded, type Format } from "../output.ts";
import { noteAge } from "../record-age.ts";
import { recorded } from "../recorded.ts";
import { nothingOf } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { forReading, type HubOptions, now, openHub } from "../wire.ts";

/** What `flotilla explain` is given. */
export interface ExplainOptions extends HubOptions {
  readonly placement: string;
  readonly cluster?: string;
  readonly output: Format;
}

/** Says why a placement is where it is and how it is there, and why it is not elsewhere, from what was recorded. */
export async function explain(options: ExplainOptions, terminal: Terminal): Promise<ExitCode> {
  const repository = await openHub(await forReading(options, terminal), terminal.environment);
  try {
    const heads = await repository.heads();
    const { state: head } = heads;
    const { ledger } = await readState(repository, head);
    const { placement, cluster } = options;
    const record = ledger.placements.get(placement as PlacementKey);
    if (head === null || record === undefined) {
      terminal.err(nothingOf(`placement ${placement}`, [...ledger.placements.keys()]));
      return exitCodes.usage;
    }
    const places = placesOf(record);
    if (cluster !== undefined && !places.includes(cluster)) {
      terminal.err(nothingOf(`cluster ${cluster} in ${placement}`, places));
      return exitCodes.usage;
    }
    const chosen = (name: string): boolean => cluster === undefined || name === cluster;
    if (options.output === "text") {
      const { sourceCommit } = ledger;
      await noteAge(repository, { ...heads, sourceCommit, branch: options.branch, now: now() }, terminal);
      terminal.out(explanation(record, chosen));
    } else {
      const objects = (kind: "placements" | "bindings") => recorded(repository, head, kind, placement);
      const value = asValue(record, chosen, {
        placements: await objects("placements"),
        bindings: await objects("bindings"),
      });
      terminal.out(encoded(value, options.output));
    }
    return exitCodes.done;
  } finally {
    await repository.close();
  }
}

type Chosen = (cluster: string) => boolean;

const decisionsOf = ({ policySnapshots }: PlacementRecord, chosen: Chosen): readonly ClusterDecision[] =>
  (policySnapshots.at(-1)?.verdict?.decisions ?? []).filter((it) => chosen(it.cluster));

/** Clusters of which something is recorded for a placement. */
const placesOf = (record: PlacementRecord): readonly string[] => [
  ...new Set([...decisionsOf(record, () => true).map((it) => it.cluster), ...record.bindings.keys()]),
];

function explanation(record: PlacementRecord, chosen: Chosen): string {
  const { wanted, selected, available, state } = summaryOf(record);
  const { policy } = record.spec;
  const lines = [
    `${record.key}: ${state}; ${policy.kind}: ${selected} of ${count(wanted, "cluster")} selected, ${available} available`,
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
  }
  const decided = new Set(decisionsOf(record, chosen).map((it) => it.cluster));
  for (const binding of record.bindings.values())
    if (chosen(binding.cluster) && !decided.has(binding.cluster))
      lines.push("", `still on ${binding.cluster}, to be removed`, ...bindingLines(binding));
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
  for (const { id, code, message } of facts?.troubles ?? []) lines.push(`  ${objectText(id)}: ${code}: ${message}`);
  if ((facts?.adopted.length ?? 0) > 0) lines.push(`  taken over: ${facts?.adopted.map(objectText).join(", ")}`);
  return lines;
}

interface Recorded {
  readonly placements: readonly Json[];
  readonly bindings: readonly Json[];
}

/** For programs: the summary, and what is recorded in KubeFleet's own shapes, which stay as they are. */
function asValue(record: PlacementRecord, chosen: Chosen, { placements, bindings }: Recorded): Json {
  return {
    placement: record.key,
    ...summaryOf(record),
    selectionError: record.selectionError,
    conditions: memberAt(placements[0], "status", "conditions") ?? [],
    decisions: decisionsOf(record, chosen) as unknown as Json,
    bindings: bindings.filter((it) => chosen(String(memberAt(it, "spec", "targetCluster")))),
  };
}
