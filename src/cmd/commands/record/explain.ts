import { type Json, memberAt } from "../../../core/model/json.ts";
import type { Ledger, PlacementRecord } from "../../../core/model/ledger.ts";
import { type ClusterName, oneLine, type PlacementKey } from "../../../core/model/value.ts";
import {
  type ClusterFilter,
  decisionsOf,
  explainPlacement,
  recordedClusters,
} from "../../../core/report/placement-text.ts";
import { knownPlacements, quarantineLines, unplannedItems } from "../../../core/report/quarantine-text.ts";
import { type Assessment, assessPlacement } from "../../../core/schedule/assessment.ts";
import { summaryOf } from "../../../core/status/summary.ts";
import { newMemory } from "../../../shell/reconcile/memory.ts";
import { acceptedIntent } from "../../../shell/reconcile/source.ts";
import { recordedObjects, withRecord } from "../../hub/record.ts";
import { type HubOptions, now } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { unknownText } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";

export interface ExplainOptions extends HubOptions {
  readonly placement: string;
  readonly cluster?: string;
  readonly output: Format;
}

/**
 * Says why a placement is where it is and how it is there, and why it is not elsewhere, from what was recorded; and how
 * the scheduler would judge the clusters now, with the files that were accepted last.
 */
export async function explain(options: ExplainOptions, terminal: Terminal): Promise<ExitCode> {
  return withRecord(options, terminal, async ({ repository, state, ledger, printAge }) => {
    const { commit: head } = state;
    const { placement, cluster } = options;
    const record = ledger.placements.get(placement as PlacementKey);
    if (record === undefined && ledger.quarantines.has(placement as PlacementKey)) {
      if (options.output === "text") await printAge();
      return explainUnplanned(options, ledger, terminal);
    }
    if (head === null || record === undefined) {
      terminal.err(unknownText(`placement ${placement}`, knownPlacements(ledger)));
      return exitCodes.usage;
    }
    const intent = await acceptedIntent(repository, state, newMemory());
    const assessments = assessPlacement(record, { intent, ledger, now: now() });
    const places = [...new Set([...recordedClusters(record), ...assessments.map((it) => it.cluster)])];
    if (cluster !== undefined && !places.includes(cluster)) {
      terminal.err(unknownText(`cluster ${cluster} in ${placement}`, places));
      return exitCodes.usage;
    }
    const chosen = (name: string): boolean => cluster === undefined || name === cluster;
    if (options.output === "text") {
      await printAge();
      terminal.out(explainPlacement(record, chosen, assessments));
    } else {
      const objects = (kind: "placements" | "bindings") => recordedObjects(repository, head, kind, placement);
      const value = asValue(record, chosen, {
        placements: await objects("placements"),
        bindings: await objects("bindings"),
        assessments: assessments.filter((it) => chosen(it.cluster)),
      });
      terminal.out(encoded(value, options.output));
    }
    return exitCodes.done;
  });
}

/** Says why a placement that was never planned soundly is nowhere, or not on the cluster that is asked about. */
function explainUnplanned(
  { placement, cluster, output }: ExplainOptions,
  ledger: Ledger,
  terminal: Terminal,
): ExitCode {
  if (cluster !== undefined && !ledger.clusters.has(cluster as ClusterName)) {
    terminal.err(unknownText(`cluster ${cluster} in ${placement}`, [...ledger.clusters.keys()]));
    return exitCodes.usage;
  }
  const said =
    output === "text"
      ? quarantineLines(ledger, placement).map((it) => `${oneLine(it)}\n`)
      : unplannedItems(ledger, placement).map((it) => encoded(it, output));
  terminal.out(said.join(""));
  return exitCodes.done;
}

interface Recorded {
  readonly placements: readonly Json[];
  readonly bindings: readonly Json[];
  readonly assessments: readonly Assessment[];
}

/** For programs: the summary, and what is recorded in KubeFleet's own shapes, which stay as they are. */
function asValue(
  record: PlacementRecord,
  chosen: ClusterFilter,
  { placements, bindings, assessments }: Recorded,
): Json {
  return {
    placement: record.key,
    ...summaryOf(record),
    selectionError: record.selectionError,
    conditions: memberAt(placements[0], "status", "conditions") ?? [],
    decisions: decisionsOf(record, chosen) as unknown as Json,
    assessments: assessments as unknown as Json,
    bindings: bindings.filter((it) => chosen(String(memberAt(it, "spec", "targetCluster")))),
  };
}
