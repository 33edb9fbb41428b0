import { type Json, memberAt } from "../../../core/model/json.ts";
import type { PlacementRecord } from "../../../core/model/ledger.ts";
import type { PlacementKey } from "../../../core/model/value.ts";
import {
  type ClusterFilter,
  decisionsOf,
  explainPlacement,
  recordedClusters,
} from "../../../core/report/placement-text.ts";
import { summaryOf } from "../../../core/status/summary.ts";
import { recordedObjects, withRecord } from "../../hub/record.ts";
import type { HubOptions } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { unknownText } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";

export interface ExplainOptions extends HubOptions {
  readonly placement: string;
  readonly cluster?: string;
  readonly output: Format;
}

/** Says why a placement is where it is and how it is there, and why it is not elsewhere, from what was recorded. */
export async function explain(options: ExplainOptions, terminal: Terminal): Promise<ExitCode> {
  return withRecord(options, terminal, async ({ repository, state: { commit: head }, ledger, printAge }) => {
    const { placement, cluster } = options;
    const record = ledger.placements.get(placement as PlacementKey);
    if (head === null || record === undefined) {
      terminal.err(unknownText(`placement ${placement}`, [...ledger.placements.keys()]));
      return exitCodes.usage;
    }
    const places = recordedClusters(record);
    if (cluster !== undefined && !places.includes(cluster)) {
      terminal.err(unknownText(`cluster ${cluster} in ${placement}`, places));
      return exitCodes.usage;
    }
    const chosen = (name: string): boolean => cluster === undefined || name === cluster;
    if (options.output === "text") {
      await printAge();
      terminal.out(explainPlacement(record, chosen));
    } else {
      const objects = (kind: "placements" | "bindings") => recordedObjects(repository, head, kind, placement);
      const value = asValue(record, chosen, {
        placements: await objects("placements"),
        bindings: await objects("bindings"),
      });
      terminal.out(encoded(value, options.output));
    }
    return exitCodes.done;
  });
}

interface Recorded {
  readonly placements: readonly Json[];
  readonly bindings: readonly Json[];
}

/** For programs: the summary, and what is recorded in KubeFleet's own shapes, which stay as they are. */
function asValue(record: PlacementRecord, chosen: ClusterFilter, { placements, bindings }: Recorded): Json {
  return {
    placement: record.key,
    ...summaryOf(record),
    selectionError: record.selectionError,
    conditions: memberAt(placements[0], "status", "conditions") ?? [],
    decisions: decisionsOf(record, chosen) as unknown as Json,
    bindings: bindings.filter((it) => chosen(String(memberAt(it, "spec", "targetCluster")))),
  };
}
